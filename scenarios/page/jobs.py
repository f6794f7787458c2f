"""Work in the background, each piece in a process of its own: its progress, its end before time, what it left."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from typing import Any

from oltpsim.calibration.workers import SPAWN, WorkerPool
from oltpsim.scenarios.show.progress import TimeLeft
from oltpsim.simulator.errors import InputError

POLL_S = 0.1
MOST_AT_ONCE = 2
MOST_WAITING = 16
WAITING, RUNNING, DONE, FAILED, CANCELLED = "waiting", "running", "done", "failed", "cancelled"
ReportShare = Callable[[float], None]

_share: Any = None
"""of the work of this process that is done, in memory that it has in common with the page's"""


def _begin_work(shared: Any) -> None:
    global _share  # noqa: PLW0603 - set once, before the only task of this process
    _share = shared


def report_share(share: float) -> None:
    """Say, in a process that works for a job, how much of the work is done."""
    if _share is not None:
        _share.value = share


@dataclass(frozen=True)
class JobState:
    """State of a job at one moment."""

    state: str
    share: float
    left: str
    """time left in words"""
    message: str
    """why it failed"""

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of it."""
        return self.state in {DONE, FAILED, CANCELLED}


class BackgroundJob:
    """A call in a process of its own, which ends it at once when it is cancelled."""

    def __init__(self, call: Callable[..., None], arguments: tuple[Any, ...], places: threading.Semaphore) -> None:
        self._call, self._arguments, self._places = call, arguments, places
        self._shared = SPAWN.RawValue("d", 0.0)
        self._left = TimeLeft()
        self._cancelled = threading.Event()
        self._state, self._message = WAITING, ""
        self._thread = threading.Thread(target=self._wait_and_run, daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """End it; what it hasn't written whole is nowhere."""
        self._cancelled.set()

    def wait(self) -> None:
        """Until it is over."""
        self._thread.join()

    def now(self) -> JobState:
        """Its state."""
        share = min(max(float(self._shared.value), 0.0), 1.0)
        now_s = time.monotonic()
        self._left.advance(now_s, share)
        left = self._left.words(now_s) if self._state == RUNNING else ""
        return JobState(self._state, share, left.removeprefix(", "), self._message)

    def _wait_and_run(self) -> None:
        while not self._places.acquire(timeout=POLL_S):
            if self._cancelled.is_set():
                self._state = CANCELLED
                return
        try:
            self._state = RUNNING
            self._run()
            self._state = DONE
        except KeyboardInterrupt:
            self._state = CANCELLED
        except (InputError, MemoryError, BrokenExecutor, OSError) as error:
            ended = "its process ended, most likely because memory ran out: make pool, clients or data smaller"
            self._message = ended if isinstance(error, BrokenExecutor | MemoryError) else str(error)
            self._state = FAILED
        except Exception as error:  # noqa: BLE001 - a defect of one job must not leave the page without an answer
            self._message = f"a defect of oltpsim: {type(error).__name__}: {error}"
            self._state = FAILED
        finally:
            self._places.release()

    def _run(self) -> None:
        with WorkerPool(1, _begin_work, (self._shared,)) as pool:
            future = pool.submit(self._call, *self._arguments)
            while not future.done():
                if self._cancelled.wait(POLL_S):
                    raise KeyboardInterrupt
            future.result()


class JobBoard:
    """Jobs by their names; of one name there is one at a time."""

    def __init__(self) -> None:
        self._jobs: dict[str, BackgroundJob] = {}
        self._lock = threading.Lock()
        self._places = threading.Semaphore(MOST_AT_ONCE)

    def begin(self, name: str, call: Callable[..., None], *arguments: Any) -> None:
        """Begin a job, unless one of its name is at work. Raises InputError if too many wait."""
        with self._lock:
            before = self._jobs.get(name)
            if before is not None and not before.now().is_over:
                return
            over = [key for key, job in self._jobs.items() if job.now().is_over]
            if len(self._jobs) - len(over) >= MOST_WAITING:
                raise InputError(f"{MOST_WAITING} pieces of work wait already; try again when one of them is done")
            for key in over[:-MOST_WAITING]:
                del self._jobs[key]
            self._jobs[name] = BackgroundJob(call, arguments, self._places)

    def state(self, name: str) -> JobState | None:
        """State of a job; None if there was none."""
        job = self._jobs.get(name)
        return None if job is None else job.now()

    def cancel(self, name: str) -> None:
        """Cancel a job, if there is one."""
        job = self._jobs.get(name)
        if job is not None:
            job.cancel()

    def close(self) -> None:
        """Cancel all, and wait for them."""
        for job in self._jobs.values():
            job.cancel()
        for job in self._jobs.values():
            job.wait()
