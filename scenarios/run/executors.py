"""Where runs are run: in this process, in worker processes, or wherever an executor of concurrent.futures takes them.

What comes back depends on the tasks alone, never on the place or on the order in which they are finished.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import platform
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from scenarios.run.progress import Display
from simulator.errors import InputError
from simulator.form import OnProgress, Progress

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event

    from scenarios.run.runs import Task

KERNEL_STEP = "kernel (compiled once)"
POLL_S = 0.2
SHORT_BATCH_S = 0.02
LONG_BATCH_S = 1.0
SHORTEST_S = 1e-4

T = TypeVar("T")
K = TypeVar("K")
OnStep = Callable[[str], None]


Work = Callable[["Task", OnProgress | None, OnStep | None], T]
"""What is done with a task: a function of a module, so that other processes find it."""


@dataclass(frozen=True)
class Batch(Generic[T]):
    """What came of some tasks, in their order, and how long they took where they were run."""

    answers: list[T]
    took_s: float


class Meter:
    """Turns what is known of runs under way into progress of all. `count` may grow."""

    def __init__(self, display: Display, count: int = 0) -> None:
        self.display, self.count, self.finished = display, count, 0
        self.under_way: dict[int, float] = {}

    def inside(self, progress: Progress) -> None:
        """The one run of this process goes on."""
        detail = f"{progress.simulated_s:,.0f} of {progress.end_s:,.0f} s, {progress.transactions:,} transactions"
        if self.count > 1:
            detail = f"run {self.finished + 1} of {self.count}: {detail}"
        self.display.advance((self.finished + progress.simulated_s / progress.end_s) / self.count, detail)

    def show(self) -> None:
        """Runs elsewhere go on, or a run is finished."""
        done = self.finished + math.fsum(self.under_way.values())
        if done:
            self.display.advance(done / self.count, f"{self.finished:,} of {self.count:,} runs finished")


class Place(Protocol):
    """Where tasks are run. `most_in_flight` batches are given to it at a time, each of about `batch_s` seconds."""

    batch_s: float

    @property
    def most_in_flight(self) -> int:
        """How many batches keep it busy."""
        ...

    def submit(self, work: Work[T], tasks: Sequence[Task]) -> Future[Batch[T]]:
        """Do the work of some tasks, one after the other."""
        ...

    def look(self) -> None:
        """Called now and then: a place that hears of runs under way tells its meter."""
        ...


class Queue(Protocol[K]):
    """Tasks that wait, each with the key by which its consumer knows it."""

    @property
    def left(self) -> int:
        """About how many there are."""
        ...

    def take(self, most: int) -> list[tuple[K, Task]]:
        """Some of them, which leave the queue; none if there are none for now."""
        ...


class Line(Generic[K]):
    """The plain queue."""

    def __init__(self, tasks: Iterable[tuple[K, Task]]) -> None:
        self._tasks = deque(tasks)

    @property
    def left(self) -> int:
        """How many there are."""
        return len(self._tasks)

    def take(self, most: int) -> list[tuple[K, Task]]:
        """The first ones."""
        return [self._tasks.popleft() for _ in range(min(most, len(self._tasks)))]


def work_through(queue: Queue[K], place: Place, work: Work[T], meter: Meter) -> Generator[list[tuple[K, T]]]:
    """Do the work of every task; yields those that are finished since the last time. The consumer may add tasks.

    Stops cleanly when the consumer does; after Ctrl-C, what is finished comes first.
    """
    pending: dict[Future[Batch[T]], list[K]] = {}
    mean_s = math.inf
    try:
        while True:
            while len(pending) < place.most_in_flight:
                fair = queue.left // (2 * place.most_in_flight)
                largest, least = int(place.batch_s / mean_s), int(place.batch_s / 10 / mean_s)
                some = queue.take(max(1, min(max(fair, least), largest)))
                if not some:
                    break
                pending[place.submit(work, [task for _, task in some])] = [key for key, _ in some]
            if not pending:
                return
            done, _ = wait(pending, POLL_S, FIRST_COMPLETED)
            place.look()
            good = [future for future in done if not future.cancelled() and future.exception() is None]
            meter.finished += sum(len(pending[future]) for future in good)
            meter.show()
            if good:
                mean_s = max(good[0].result().took_s / len(pending[good[0]]), SHORTEST_S)
                yield [pair for future in good for pair in _finished(future, pending.pop(future))]
            for future in done.difference(good):
                future.result()
    except KeyboardInterrupt:
        ready = [future for future in pending if future.done() and not future.cancelled() and not future.exception()]
        if ready:
            yield [pair for future in ready for pair in _finished(future, pending.pop(future))]
        raise
    finally:
        for future in pending:
            future.cancel()


def _finished(future: Future[Batch[T]], keys: list[K]) -> list[tuple[K, T]]:
    return list(zip(keys, future.result().answers, strict=True))


def batch(work: Work[T], tasks: Sequence[Task]) -> Batch[T]:
    """Do the work of some tasks on a machine that may be another, with nobody to tell of it. Raises InputError."""
    began = time.perf_counter()
    with one_compiles(tasks) as not_kept:
        if not_kept:
            raise InputError(
                f"{platform.node()}: the kernel's machine code can't be kept there ({not_kept}), and results would be "
                "the reference engine's: let XDG_CACHE_HOME name a folder that its workers can write"
            )
        answers = [work(task, None, None) for task in tasks]
    return Batch(answers, time.perf_counter() - began)


class Here:
    """This process. The work is done before `submit` returns; Ctrl-C ends it."""

    batch_s = 0.0
    most_in_flight = 1

    def __init__(self, meter: Meter) -> None:
        self._meter = meter

    def submit(self, work: Work[T], tasks: Sequence[Task]) -> Future[Batch[T]]:
        """The answers are there at once."""
        future: Future[Batch[T]] = Future()
        answers = [work(task, self._meter.inside, self._meter.display.step) for task in tasks]
        future.set_result(Batch(answers, 0.0))
        return future

    def look(self) -> None:
        """Progress was told from inside."""


class Elsewhere:
    """Any executor: a pool of threads or processes, or one of a library. It runs `slots` tasks at a time."""

    batch_s = LONG_BATCH_S

    def __init__(self, executor: Executor, slots: int) -> None:
        self._executor = executor
        self.in_flight_of(slots)

    def in_flight_of(self, slots: int) -> None:
        """Keep so many slots busy, each with a batch that waits for it and one on its way."""
        self.most_in_flight = 3 * slots

    def submit(self, work: Work[T], tasks: Sequence[Task]) -> Future[Batch[T]]:
        """One task of the executor for all."""
        return self._executor.submit(batch, work, tasks)

    def look(self) -> None:
        """Nothing is heard of runs under way."""


class Processes:
    """Worker processes that end with this one, tell how far their runs are, and stop when told."""

    batch_s = SHORT_BATCH_S

    def __init__(self, workers: int, meter: Meter) -> None:
        context = multiprocessing.get_context("spawn")
        self._messages: Any = context.SimpleQueue()
        self._stop = context.Event()
        self._executor = ProcessPoolExecutor(workers, context, _start_worker, (self._messages, self._stop))
        self._meter, self.most_in_flight = meter, 2 * workers + 1
        self._numbers: dict[Future[Any], int] = {}
        self._submitted = 0
        meter.display.step(f"{workers} worker processes, {KERNEL_STEP}")

    def submit(self, work: Work[T], tasks: Sequence[Task]) -> Future[Batch[T]]:
        """One task of a worker for all."""
        with _interrupts_held_back():
            future = self._executor.submit(_perform, self._submitted, work, tasks)
        self._numbers[future] = self._submitted
        self._submitted += 1
        return future

    def look(self) -> None:
        """Hear how far the runs under way are, and forget those that are finished."""
        self._numbers = {future: number for future, number in self._numbers.items() if not future.done()}
        told: dict[int, float] = {}
        while not self._messages.empty():
            number, done = self._messages.get()
            told[number] = done
        heard = self._meter.under_way | told
        self._meter.under_way = {number: heard[number] for number in self._numbers.values() if number in heard}

    def close(self) -> None:
        """Stop what is under way and end the workers."""
        self._stop.set()
        self._executor.shutdown(wait=True, cancel_futures=True)


@contextmanager
def place_for(engines: Sequence[str], workers: int, meter: Meter) -> Iterator[Place]:
    """The place for runs by these engines: this process for one worker or one run, else worker processes.

    The analytic engine alone stays in this process: others would start in more time than they'd save.
    """
    if min(workers, sum(engine != "analytic" for engine in engines)) < 2:
        yield Here(meter)
        return
    processes = Processes(min(workers, len(engines)), meter)
    try:
        yield processes
    except BrokenExecutor as error:
        raise InputError(
            "a worker process was ended from outside, most likely because memory ran out: give fewer by --workers"
        ) from error
    finally:
        processes.close()


@contextmanager
def one_compiles(tasks: Sequence[Task]) -> Iterator[str]:
    """Of workers that share a folder for machine code, the first one compiles and the others wait for it.

    Yields why machine code can't be kept; empty if it can, or if the tasks need none.
    """
    if all(task.scenario.engine != "kernel" for task in tasks):
        yield ""
        return
    import fcntl

    from simulator import kernel

    if kernel.MACHINE_CODE_NOT_KEPT or kernel.is_compiled_already("kernel"):
        yield kernel.MACHINE_CODE_NOT_KEPT
        return
    with (kernel.MACHINE_CODE_FOLDER / "compiling").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if kernel.is_compiled_already("kernel"):
            fcntl.flock(lock, fcntl.LOCK_UN)
        yield ""


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Processes started inside never see Ctrl-C: it is this process that tells them to stop."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Stopped(Exception):
    """Raised inside a worker that was told to stop."""


class _Worker:
    """What a worker process was given at its start: where to tell progress, and when to stop."""

    messages: Any
    stop: Event


def _start_worker(messages: Any, stop: Event) -> None:
    _Worker.messages, _Worker.stop = messages, stop
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A killed parent cannot tell its workers to stop."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _perform(number: int, work: Work[T], tasks: Sequence[Task]) -> Batch[T]:
    answers: list[T] = []

    def tell(progress: Progress) -> None:
        if _Worker.stop.is_set():
            raise Stopped
        _Worker.messages.put((number, len(answers) + progress.simulated_s / progress.end_s))

    began = time.perf_counter()
    with one_compiles(tasks):
        for task in tasks:
            answers.append(work(task, tell, None))  # noqa: PERF401 - told how many there are on the way
    return Batch(answers, time.perf_counter() - began)
