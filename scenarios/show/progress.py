"""Progress on stderr: a bar on a terminal, elsewhere a line now and then."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TaskProgressColumn, TextColumn
from rich.text import Text

from oltpsim.scenarios.run import Display, Silent

FIRST_LINE_AFTER_S = 2.0
LINE_EVERY_S = 10.0


class TimeLeft:
    """Time left of a part of the work by the share that is done of it, at the mean pace so far.

    Between two words about the share, work goes on at that pace, but at most as far as the next word is expected to
    say: one that stays out makes the time left longer, not shorter. A share that falls begins another part.
    """

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Nothing is known of the part that begins."""
        self._began: tuple[float, float] | None = None
        self._last, self._growth = (0.0, 0.0), 0.0

    def advance(self, now_s: float, share: float) -> None:
        """So much is done at a time, s."""
        if self._began is None or share < self._last[1]:
            self._began, self._growth = (now_s, share), 0.0
        elif share > self._last[1]:
            self._growth = share - self._last[1]
        else:
            return
        self._last = now_s, share

    def at(self, now_s: float) -> float | None:
        """Time left, s; None before anything was seen to be finished."""
        if self._began is None or self._last[1] <= self._began[1]:
            return None
        (began_s, first), (last_s, share) = self._began, self._last
        pace = (share - first) / max(last_s - began_s, 1e-9)
        share = min(share + min(pace * (now_s - last_s), self._growth), 1.0)
        return (now_s - began_s) / (share - first) * (1.0 - share)

    def words(self, now_s: float) -> str:
        """Time left in words; empty where it isn't known."""
        left_s = self.at(now_s)
        if left_s is None:
            return ""
        hours, minutes = divmod(round(left_s / 60.0), 60)
        words = f"{hours} h {minutes} min" if hours else f"{minutes} min" if minutes > 2 else f"{left_s:.0f} s"
        return f", about {words} left"


class TimeLeftColumn(ProgressColumn):
    """Time left, counted down between two words about the work."""

    def __init__(self, left: TimeLeft) -> None:
        super().__init__()
        self._left = left

    def render(self, task: Task) -> Text:  # noqa: ARG002 - of the base class
        """The words of now."""
        return Text(self._left.words(time.monotonic()).removeprefix(", "))


class TerminalBar:
    """A bar with time left; it vanishes when the work is done."""

    def __init__(self, progress: Progress, left: TimeLeft) -> None:
        self._progress, self._left = progress, left
        self._task = progress.add_task("starting", total=None, detail="")
        self._measurable = False

    def step(self, name: str) -> None:
        """A moving bar with the step's name."""
        self._measurable = False
        self._left.restart()
        self._progress.reset(self._task, description=name, total=None, detail="")

    def advance(self, fraction: float, detail: str) -> None:
        """A filled bar; the clock for the time left starts with the first call."""
        if not self._measurable:
            self._measurable = True
            self._progress.reset(self._task, description="at work", total=1.0)
        self._left.advance(time.monotonic(), fraction)
        self._progress.update(self._task, completed=fraction, detail=detail)


class PlainLines:
    """Plain lines for logs and pipes, none twice; nothing at all for work of less than two seconds."""

    def __init__(self) -> None:
        self._text = "starting"
        self._share: float | None = None
        self._left = TimeLeft()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._speak, daemon=True)
        self._thread.start()

    def step(self, name: str) -> None:
        """The next line carries the step's name."""
        self._left.restart()
        self._share, self._text = None, name

    def advance(self, fraction: float, detail: str) -> None:
        """The next line carries share, time left and detail."""
        self._left.advance(time.monotonic(), fraction)
        self._share, self._text = fraction, detail

    def close(self) -> None:
        """Stop speaking."""
        self._over.set()
        self._thread.join()

    def _speak(self) -> None:
        pause_s, before = FIRST_LINE_AFTER_S, ""
        while not self._over.wait(pause_s):
            share = "" if self._share is None else f"{self._share:.0%} done{self._left.words(time.monotonic())}: "
            line = f"{share}{self._text}\n"
            if line != before:
                sys.stderr.write(line)
                sys.stderr.flush()
            pause_s, before = LINE_EVERY_S, line


@contextmanager
def progress_display(quiet: bool) -> Iterator[Display]:
    """The display that fits stderr, closed at the end whatever happens."""
    if quiet:
        yield Silent()
    elif sys.stderr.isatty():
        left = TimeLeft()
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TaskProgressColumn(),
            TimeLeftColumn(left),
            TextColumn("{task.fields[detail]}"),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            yield TerminalBar(progress, left)
    else:
        lines = PlainLines()
        try:
            yield lines
        finally:
            lines.close()
