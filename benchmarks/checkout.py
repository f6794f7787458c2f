"""Checkouts of this project: this one, and beside it another, such as an older commit, which runs its own benchmarks/.

The other has its own `.venv`. Where it keeps compiled code in a home folder, HOME or XDG_CACHE_HOME says which.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.race import Contestant, Outcome

ROOT = Path(__file__).resolve().parent.parent
WORKER = """
import json, sys
from dataclasses import asdict, is_dataclass
from time import process_time
from benchmarks import closed_network, engines, million_orders, network, pages, v20z
from benchmarks.engines import run_engine
engines.perf_counter = process_time  # older commits take wall time
for line in sys.stdin:
    number = int(line)
    found = {expression}
    print(json.dumps(asdict(found) if is_dataclass(found) else found, default=float), flush=True)
"""


@dataclass(frozen=True)
class Checkout:
    """A folder with the project's files, and the programs of its environment."""

    folder: Path
    programs: Path

    @property
    def name(self) -> str:
        """The commit that is checked out."""
        command = ["git", "-C", str(self.folder), "rev-parse", "--short", "HEAD"]
        return f"commit {subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()}"

    @property
    def environment(self) -> dict[str, str]:
        """The variables with which its programs import its own packages."""
        return os.environ | {"PYTHONPATH": str(self.folder)}

    def command(self, program: str, *words: str) -> list[str]:
        return [str(self.programs / program), *words]

    def answer(self, command: list[str], given: str = "") -> dict[str, Any]:
        """The JSON that a command writes; stops if it fails."""
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=False,
                              env=self.environment, cwd=self.folder)  # fmt: skip
        if done.returncode != 0:
            sys.exit(f"{done.stderr.strip()}\nThat was: {' '.join(command)}")
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def run_module(self, module: str, *words: str) -> dict[str, Any]:
        """The answer of a module in a process of its own, with nothing in memory that others have left there."""
        return self.answer(self.command("python", "-m", module, *words))

    def worker(self, expression: str, until: ExitStack) -> Callable[[int], dict[str, Any]]:
        """A process that computes an expression of a round's `number` over its benchmarks/, and ends with `until`."""
        command = self.command("python", "-c", WORKER.format(expression=expression))
        pipe = subprocess.PIPE
        process = until.enter_context(
            subprocess.Popen(command, env=self.environment, cwd=self.folder, text=True, stdin=pipe, stdout=pipe)
        )

        def run(number: int) -> dict[str, Any]:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{number}\n")
            process.stdin.flush()
            line = process.stdout.readline()
            if not line:
                sys.exit(f"{self.name} could not compute {expression}")
            found: dict[str, Any] = json.loads(line)
            return found

        return run

    def contestant(self, expression: str, until: ExitStack) -> Contestant:
        """A contestant by the name of the commit. `expression`: the outcome of a round."""
        run = self.worker(expression, until)
        return Contestant(self.name, lambda number: Outcome(**run(number)))


THIS = Checkout(ROOT, Path(sys.executable).parent)


@dataclass(frozen=True)
class Options:
    """How to measure: `full`: the long sizes; `beside`: a checkout that is measured in turn with this one."""

    full: bool = False
    beside: Checkout | None = None
