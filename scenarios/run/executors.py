"""Executors for simulations: this process, worker processes, or any executor of concurrent.futures.

Results depend on the tasks alone, never on the executor or on the order in which tasks end.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from typing import Any, Generic, Protocol, TypeVar

from oltpsim.calibration.workers import SPAWN, WorkerPool
from oltpsim.scenarios.run.progress import Display
from oltpsim.scenarios.run.simulation import OnStep, SimulationTask
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import OnProgress, Progress

POLL_S = 0.2
SHORT_BATCH_S = 0.02
LONG_BATCH_S = 1.0
SHORTEST_S = 1e-4

T = TypeVar("T")
K = TypeVar("K")
TaskFunction = Callable[[SimulationTask, OnProgress | None, OnStep | None], T]
"""What is done with a task: a function of a module, so that other processes find it."""


@dataclass(frozen=True)
class Batch(Generic[T]):
    """Answers of some tasks, in their order, and the wall time where they were made."""

    answers: list[T]
    took_s: float


class LostWorkers(InputError):
    """Workers, or a whole cluster, were lost amid work; what they had answered before is kept."""


class ProgressMeter:
    """Meter of the progress of all tasks, from that of single ones. `count` may grow."""

    def __init__(self, display: Display, count: int = 0) -> None:
        self.display, self.count, self.finished = display, count, 0
        self.fractions: dict[int, float] = {}
        """of tasks in other processes"""

    def on_progress(self, progress: Progress) -> None:
        """The one task of this process goes on."""
        detail = f"{progress.simulated_s:,.0f} of {progress.end_s:,.0f} s, {progress.transactions:,} transactions"
        if self.count > 1:
            detail = f"run {self.finished + 1} of {self.count}: {detail}"
        self.display.advance((self.finished + progress.simulated_s / progress.end_s) / self.count, detail)

    def refresh(self) -> None:
        """Tasks in other processes go on, or a task is finished."""
        done = self.finished + math.fsum(self.fractions.values())
        if done:
            self.display.advance(done / self.count, f"{self.finished:,} of {self.count:,} runs finished")


class TaskExecutor(Protocol):
    """Executor of tasks. It takes `most_in_flight` batches at a time, each of about `batch_s` seconds."""

    batch_s: float
    most_in_flight: int
    """batches that keep it busy"""

    def submit(self, work: TaskFunction[T], tasks: Sequence[SimulationTask]) -> Future[Batch[T]]:
        """Do the work of some tasks, one after the other."""
        ...

    def poll(self) -> None:
        """Called now and then, to pass on progress, if it has any."""
        return


class TaskSource(Protocol[K]):
    """Waiting tasks, each with the key by which its consumer knows it."""

    @property
    def count(self) -> int:
        """Number of waiting tasks, about."""
        ...

    def take(self, most: int) -> list[tuple[K, SimulationTask]]:
        """Remove and return at most so many; none if none is ready."""
        ...


class TaskQueue(Generic[K]):
    """Tasks in their order."""

    def __init__(self, tasks: Iterable[tuple[K, SimulationTask]]) -> None:
        self._tasks = deque(tasks)

    @property
    def count(self) -> int:
        """Number of waiting tasks."""
        return len(self._tasks)

    def take(self, most: int) -> list[tuple[K, SimulationTask]]:
        """Remove and return the first ones."""
        return [self._tasks.popleft() for _ in range(min(most, len(self._tasks)))]


def work_through(
    source: TaskSource[K], executor: TaskExecutor, work: TaskFunction[T], meter: ProgressMeter
) -> Generator[list[tuple[K, T]]]:
    """Do the work of every task; yields those that are finished since the last time. The consumer may add tasks.

    Stops cleanly when the consumer does; after Ctrl-C, what is finished is yielded first.
    """
    pending: dict[Future[Batch[T]], list[K]] = {}
    mean_s = math.inf
    try:
        while True:
            while len(pending) < executor.most_in_flight:
                fair = source.count // (2 * executor.most_in_flight)
                largest, least = int(executor.batch_s / mean_s), int(executor.batch_s / 10 / mean_s)
                batch = source.take(max(1, min(max(fair, least), largest)))
                if not batch:
                    break
                pending[executor.submit(work, [task for _, task in batch])] = [key for key, _ in batch]
            if not pending:
                return
            done, _ = wait(pending, POLL_S, FIRST_COMPLETED)
            executor.poll()
            good = [future for future in done if _has_result(future)]
            meter.finished += sum(len(pending[future]) for future in good)
            meter.refresh()
            if good:
                mean_s = max(good[0].result().took_s / len(pending[good[0]]), SHORTEST_S)
                yield _answers(good, pending)
            for future in done.difference(good):
                future.result()
    except KeyboardInterrupt:
        ready = [future for future in pending if future.done() and _has_result(future)]
        if ready:
            yield _answers(ready, pending)
        raise
    finally:
        for future in pending:
            future.cancel()


def _has_result(future: Future[Batch[T]]) -> bool:
    return not future.cancelled() and future.exception() is None


def _answers(futures: list[Future[Batch[T]]], pending: dict[Future[Batch[T]], list[K]]) -> list[tuple[K, T]]:
    """Answers by key; their futures are pending no more."""
    return [pair for future in futures for pair in zip(pending.pop(future), future.result().answers, strict=True)]


def remote_batch(work: TaskFunction[T], tasks: Sequence[SimulationTask]) -> Batch[T]:
    """Do the work of some tasks on a machine that may be another, without progress."""
    began = time.perf_counter()
    answers = [work(task, None, None) for task in tasks]
    return Batch(answers, time.perf_counter() - began)


class LocalExecutor(TaskExecutor):
    """This process. The work is done before `submit` returns; Ctrl-C ends it."""

    batch_s = 0.0
    most_in_flight = 1

    def __init__(self, meter: ProgressMeter) -> None:
        self._meter = meter

    def submit(self, work: TaskFunction[T], tasks: Sequence[SimulationTask]) -> Future[Batch[T]]:
        """A finished future."""
        future: Future[Batch[T]] = Future()
        answers = [work(task, self._meter.on_progress, self._meter.display.step) for task in tasks]
        future.set_result(Batch(answers, 0.0))
        return future


class FuturesExecutor(TaskExecutor):
    """Any executor of concurrent.futures, or one of a library, that runs `slots` tasks at a time. No progress."""

    batch_s = LONG_BATCH_S

    def __init__(self, executor: Executor, slots: int) -> None:
        self._executor = executor
        self.resize(slots)

    def resize(self, slots: int) -> None:
        """Keep so many slots busy, each with a batch that waits for it and one on its way."""
        self.most_in_flight = 3 * slots

    def submit(self, work: TaskFunction[T], tasks: Sequence[SimulationTask]) -> Future[Batch[T]]:
        """Submit all tasks as one of the executor's."""
        return self._executor.submit(remote_batch, work, tasks)


class ProcessExecutor(TaskExecutor):
    """Worker processes that end with this one, report progress, and stop in the middle of a simulation."""

    batch_s = SHORT_BATCH_S

    def __init__(self, workers: int, meter: ProgressMeter) -> None:
        self._messages: Any = SPAWN.SimpleQueue()
        self._stop = SPAWN.Event()
        self._pool = WorkerPool(workers, _start_worker, (self._messages, self._stop))
        self._meter, self.most_in_flight = meter, 2 * workers + 1
        self._numbers: dict[Future[Any], int] = {}
        self._submitted = 0
        meter.display.step(f"{workers} worker processes")

    def submit(self, work: TaskFunction[T], tasks: Sequence[SimulationTask]) -> Future[Batch[T]]:
        """Submit all tasks as one of a worker's."""
        future = self._pool.submit(_worker_batch, self._submitted, work, tasks)
        self._numbers[future] = self._submitted
        self._submitted += 1
        return future

    def poll(self) -> None:
        """Take the workers' progress into the meter; finished batches leave it."""
        self._numbers = {future: number for future, number in self._numbers.items() if not future.done()}
        known = dict(self._meter.fractions)
        while not self._messages.empty():
            number, done = self._messages.get()
            known[number] = done
        self._meter.fractions = {number: known[number] for number in self._numbers.values() if number in known}

    def close(self) -> None:
        """Stop what is under way and end the workers."""
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)


class Stopped(Exception):
    """Raised inside a simulation whose worker must stop."""


class _WorkerState:
    """State of a worker process: queue for progress, and the event that stops it."""

    messages: Any
    stop: Event


def _start_worker(messages: Any, stop: Event) -> None:
    _WorkerState.messages, _WorkerState.stop = messages, stop


def _worker_batch(number: int, work: TaskFunction[T], tasks: Sequence[SimulationTask]) -> Batch[T]:
    answers: list[T] = []

    def on_progress(progress: Progress) -> None:
        if _WorkerState.stop.is_set():
            raise Stopped
        _WorkerState.messages.put((number, len(answers) + progress.simulated_s / progress.end_s))

    began = time.perf_counter()
    for task in tasks:
        answers.append(work(task, on_progress, None))  # noqa: PERF401 - progress counts them on the way
    return Batch(answers, time.perf_counter() - began)
