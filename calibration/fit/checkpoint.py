"""State of a long fit in a file: one that was killed goes on where it was and gives the same bytes.

Floats are written shortest and read back exactly, so that nothing depends on where it was stopped.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from models.input import read_document, write_document
from simulator.errors import InputError

FORMAT = "oltpsim-fit-state-1"


class FitState:
    """Steps that are done, by name. `task` names all that determines them: a state of another task is not used."""

    def __init__(self, path: Path | None, task: str) -> None:
        self.path, self.task = path, task
        self.reused = 0
        self._done: dict[str, Any] = self._read()

    def __contains__(self, name: str) -> bool:
        """Whether a step is done."""
        return name in self._done

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """The result of a step, made and written to the file if it isn't there. It must be plain JSON."""
        if name in self._done:
            self.reused += 1
        else:
            self._done[name] = make()
            if self.path is not None:
                write_document(self.path, FORMAT, {"task": self.task, "done": self._done})
        return self._done[name]

    def close(self) -> None:
        """The task is finished and its result is written: nothing is left to go on from."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def _read(self) -> dict[str, Any]:
        if self.path is None or not self.path.exists():
            return {}
        try:
            data = read_document(self.path, FORMAT, "the state of a fit", "")
        except InputError:
            return {}  # half-written by somebody else: the steps are done again
        done = data.get("done")
        return done if data.get("task") == self.task and isinstance(done, dict) else {}
