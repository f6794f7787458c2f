"""Progress on stderr: a bar on a terminal, elsewhere a line now and then."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

from scenarios.run import Display, Silent

FIRST_LINE_AFTER_S = 2.0
LINE_EVERY_S = 10.0


class TerminalBar:
    """A bar with time left; it vanishes when the work is done."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("starting", total=None, detail="")
        self._measurable = False

    def step(self, name: str) -> None:
        """A moving bar with the step's name."""
        self._measurable = False
        self._progress.reset(self._task, description=name, total=None, detail="")

    def advance(self, fraction: float, detail: str) -> None:
        """A filled bar; the clock for the time left starts with the first call."""
        if not self._measurable:
            self._measurable = True
            self._progress.reset(self._task, description="simulation", total=1.0)
        self._progress.update(self._task, completed=fraction, detail=f"left · {detail}")


class PlainLines:
    """Plain lines for logs and pipes; nothing at all for work of less than two seconds."""

    def __init__(self) -> None:
        self._text = "starting"
        self._measured_from: tuple[float, float] | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._speak, daemon=True)
        self._thread.start()

    def step(self, name: str) -> None:
        """The next line carries the step's name."""
        self._measured_from = None
        self._text = name

    def advance(self, fraction: float, detail: str) -> None:
        """The next line carries share, time left and detail."""
        now = time.monotonic()
        if self._measured_from is None:
            self._measured_from = (now, fraction)
        began, first = self._measured_from
        left = ""
        if fraction > first:
            left = f", about {(now - began) / (fraction - first) * (1 - fraction):.0f} s left"
        self._text = f"simulation: {fraction:.0%}{left}, {detail}"

    def close(self) -> None:
        """Stop speaking."""
        self._over.set()
        self._thread.join()

    def _speak(self) -> None:
        pause_s = FIRST_LINE_AFTER_S
        while not self._over.wait(pause_s):
            sys.stderr.write(self._text + "\n")
            sys.stderr.flush()
            pause_s = LINE_EVERY_S


@contextmanager
def progress_display(quiet: bool) -> Iterator[Display]:
    """The display that fits stderr, closed at the end whatever happens."""
    if quiet:
        yield Silent()
    elif sys.stderr.isatty():
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TaskProgressColumn(),
            TimeRemainingColumn(compact=True, elapsed_when_finished=True),
            TextColumn("{task.fields[detail]}"),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            yield TerminalBar(progress)
    else:
        lines = PlainLines()
        try:
            yield lines
        finally:
            lines.close()
