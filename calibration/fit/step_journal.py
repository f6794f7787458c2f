"""Journal of a long question's steps in a file: one that was killed goes on where it was and gives the same bytes.

A line of JSON for each step, on the disk before the next one is waited for. Floats are written shortest and read back
exactly, so that nothing depends on where it was stopped. A last line that was cut is a step that isn't done.
"""

import json
import os
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from oltpsim.calibration.workers import finished_calls
from oltpsim.models.input import write_whole
from oltpsim.simulator.errors import InputError

FORMAT = "oltpsim-steps-1"


class StepJournal:
    """Results of steps that are done, by name. `task` names all that determines them: a journal of another is not used.

    Raises InputError if the file can't be written, or is there and holds something else.
    """

    def __init__(self, path: Path | None, task: str) -> None:
        self.path, self.task = path, task
        self.reused = 0
        self._asked: set[str] = set()
        self._done: dict[str, Any] = {}
        self._is_sound = self._read()
        """whether the file holds just the steps that are done"""

    def __contains__(self, name: str) -> bool:
        """Whether a step is done."""
        return name in self._done

    @property
    def finished(self) -> int:
        """Number of steps that are done."""
        return len(self._done)

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """The result of a step, made and written to the file if it isn't there. It must be plain JSON."""
        self._ask(name)
        if name not in self._done:
            self._keep(name, make())
        return self._done[name]

    def once_each(
        self,
        work: Callable[..., Any],
        calls: Mapping[str, tuple[Any, ...]],
        executor: Executor | None,
        report: Callable[[int, str], None] = lambda *_: None,
    ) -> list[Any]:
        """Results of steps that don't need one another, by their names; each is written as soon as it is there.

        `report`: called with the number that is done, and the name of the one that begins in this process, if one does.
        """
        for name in calls:
            self._ask(name)
        missing = {name: arguments for name, arguments in calls.items() if name not in self._done}

        def say(begins: str = "") -> None:
            report(sum(each in self._done for each in calls), begins)

        if executor is not None:
            say()
        for name, answer in finished_calls(executor, work, missing, say):
            self._keep(name, answer)
            say()
        return [self._done[name] for name in calls]

    def close(self) -> None:
        """The task is finished and its result is written: nothing is left to go on from."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def _ask(self, name: str) -> None:
        if name in self._done and name not in self._asked:
            self.reused += 1
        self._asked.add(name)

    def _keep(self, name: str, value: Any) -> None:
        """Write a step's result, and then call it done."""
        if self.path is not None and self._is_sound:
            try:
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(_line([name, value]))
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                message = f"{self.path}: cannot be written: {error.strerror}; give --save another place"
                raise InputError(message) from error
        elif self.path is not None:
            steps = map(list, (self._done | {name: value}).items())
            write_whole(self.path, "".join(map(_line, [{"format": FORMAT, "task": self.task}, *steps])))
            self._is_sound = True
        self._done[name] = value

    def _read(self) -> bool:
        """Take the steps of a file of this task; whether it holds nothing else. Raises InputError for no journal."""
        if self.path is None or not self.path.exists() or self.path.stat().st_size == 0:
            return False
        try:
            head, *lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True)
            first = json.loads(head)
        except (OSError, ValueError):
            first, lines = None, []
        if not isinstance(first, dict) or first.get("format") != FORMAT:
            raise InputError(
                f"{self.path}: holds no steps of a stopped command; give --save another place, or remove it"
            )
        if first.get("task") != self.task:
            return False  # of another task: the steps are done again
        for line in lines:
            try:
                name, value = json.loads(line if line.endswith("\n") else "")
                self._done[name] = value
            except (ValueError, TypeError):
                return False
        return True


def _line(value: Any) -> str:
    return json.dumps(value, allow_nan=False) + "\n"
