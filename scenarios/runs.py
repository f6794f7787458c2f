"""Running scenarios: one, replications of one, or many, in this process or in several.

The order of results and every figure in them depend on scenarios and seeds, never on the number of workers.
"""

from __future__ import annotations

import itertools
import math
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from models.specs import ScenarioSpec
from scenarios.progress import Display
from simulator.errors import InputError
from simulator.model import OnProgress, Progress
from simulator.results import Estimate, Result

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event

MODEL_STEP = "model"
KERNEL_STEP = "kernel (compiled once)"
START_STEP = "caches at the start"
SLOW_ENGINE = (
    "by the reference engine, which is slower: the kernel's machine code can't be kept in {}; "
    "let XDG_CACHE_HOME name a folder that can be written"
)
POLL_S = 0.2


@dataclass(frozen=True)
class Task:
    """One run: what to simulate and with which seed."""

    scenario: ScenarioSpec
    seed: int


Outcome = Result | InputError
"""What came of a task; a machine that cannot run the workload is an answer too."""


class Stopped(Exception):
    """Raised inside a worker that was told to stop."""


def simulate(task: Task, on_progress: OnProgress | None = None, on_step: Callable[[str], None] | None = None) -> Result:
    """Build the model and let its engine answer. Raises InputError (Infeasible) if the machine cannot run it.

    The analytic engine tells neither progress nor steps: it is done before anybody could read them.
    """
    from models import sampling
    from models.remarks import remarks
    from models.system import build

    if task.scenario.engine == "analytic":
        from simulator.analytic import engine

        result = engine.simulate(build(task.scenario), task.seed)
    else:
        result = _by_events(task, on_progress, on_step or _ignored)
    more = [*remarks(task.scenario), *sampling.warnings(task.scenario, result)]
    if result.engine != task.scenario.engine:
        from simulator.compiled import NOT_KEPT

        more.append(SLOW_ENGINE.format(NOT_KEPT))
    return replace(result, warnings=[*result.warnings, *more])


def _ignored(_: str) -> None:
    """A step that nobody wants to know."""


def _by_events(task: Task, on_progress: OnProgress | None, on_step: Callable[[str], None]) -> Result:
    on_step(MODEL_STEP)
    from models.system import build

    model = build(task.scenario)
    from simulator import compiled, kernel, reference

    on_step(START_STEP if compiled.is_compiled_already(task.scenario.engine) else KERNEL_STEP)
    if task.scenario.engine == "kernel" and not compiled.NOT_KEPT:
        return kernel.simulate(model, task.seed, on_progress)
    return reference.simulate(model, task.seed, on_progress)


def run_all(tasks: Sequence[Task], workers: int, display: Display) -> Generator[tuple[int, Outcome]]:
    """Run every task; yields number and outcome as each is finished. Stops cleanly when the consumer does.

    Tasks of the analytic engine alone stay in this process: others would start in more time than they'd save.
    """
    simulated = sum(task.scenario.engine != "analytic" for task in tasks)
    if min(workers, simulated) > 1:
        yield from _in_processes(tasks, min(workers, len(tasks)), display)
        return
    for number, task in enumerate(tasks):
        display_one = _Share(display, number, len(tasks))
        try:
            outcome: Outcome = simulate(task, display_one.advance, display.step)
        except InputError as error:
            outcome = error
        if task.scenario.engine == "analytic":
            display.advance((number + 1) / len(tasks), f"{number + 1:,} of {len(tasks):,} runs finished")
        yield number, outcome


def replicate(scenario: ScenarioSpec, seed: int, replications: int, workers: int, display: Display) -> list[Result]:
    """The results of runs with seeds `seed`, `seed` + 1, ..., for `pool`. Raises InputError if it cannot be run.

    After Ctrl-C those that are finished, from the first of them to the first gap; KeyboardInterrupt if none is.
    """
    tasks = [Task(scenario, seed + number) for number in range(replications)]
    results: dict[int, Result] = {}
    try:
        with closing(run_all(tasks, workers, display)) as outcomes:
            for number, outcome in outcomes:
                if isinstance(outcome, InputError):
                    raise outcome
                results[number] = outcome
    except KeyboardInterrupt:
        if not results:
            raise
    first = min(results)
    numbers = itertools.takewhile(results.__contains__, range(first, replications))
    return [results[number] for number in numbers]


def pool(results: Sequence[Result]) -> Result:
    """One result for several replications: the first one's, its rates replaced by means with a t interval."""
    first = results[0]
    if len(results) == 1:
        return first
    from simulator.statistics import replications

    seeds = f"seeds {first.seed}..{results[-1].seed}"

    def mean(rates: Iterable[float]) -> Estimate:
        over = replications(list(rates))
        return replace(over, method=f"t interval over {over.method}, {seeds}")

    return replace(
        first,
        rate_per_min=mean(result.rate_per_min.mean for result in results),
        steady_rate_per_min=mean(result.steady_rate_per_min.mean for result in results),
    )


def check_replications(scenarios: Iterable[ScenarioSpec], replications: int) -> None:
    """Refuse several replications of what every seed answers alike. Raises InputError."""
    if replications > 1 and any(scenario.engine == "analytic" for scenario in scenarios):
        raise InputError(
            f"--replications: got {replications}; the analytic engine draws nothing at random and answers every seed "
            "alike: leave --replications out, or take --engine kernel"
        )


def default_workers() -> int:
    """One worker per core that this process may use."""
    return len(os.sched_getaffinity(0))


class _Share:
    """Turns the progress of one task into progress of all, when tasks run one after the other."""

    def __init__(self, display: Display, number: int, count: int) -> None:
        self._display, self._number, self._count = display, number, count

    def advance(self, progress: Progress) -> None:
        detail = f"{progress.simulated_s:,.0f} of {progress.end_s:,.0f} s, {progress.transactions:,} transactions"
        if self._count > 1:
            detail = f"run {self._number + 1} of {self._count}: {detail}"
        self._display.advance((self._number + progress.simulated_s / progress.end_s) / self._count, detail)


def _in_processes(tasks: Sequence[Task], workers: int, display: Display) -> Iterator[tuple[int, Outcome]]:
    context = multiprocessing.get_context("spawn")
    messages: Any = context.SimpleQueue()
    stop = context.Event()
    executor = ProcessPoolExecutor(workers, context, _start_worker, (messages, stop))
    pending: dict[Future[Outcome], int] = {}
    fractions = [0.0] * len(tasks)
    display.step(f"{workers} worker processes, {KERNEL_STEP}")
    try:
        with _interrupts_held_back():
            for number, task in enumerate(tasks):
                pending[executor.submit(_perform, number, task)] = number
        while pending:
            finished, _ = wait(pending, POLL_S, FIRST_COMPLETED)
            while not messages.empty():
                number, fractions[number] = messages.get()
            for future in finished:
                fractions[pending[future]] = 1.0
            done = len(tasks) - len(pending) + len(finished)
            if any(fractions):
                display.advance(math.fsum(fractions) / len(tasks), f"{done} of {len(tasks)} runs finished")
            for future in finished:
                yield pending.pop(future), future.result()
    finally:
        stop.set()
        executor.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Processes started inside never see Ctrl-C: it is this process that tells them to stop."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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


def _perform(number: int, task: Task) -> Outcome:
    def tell(progress: Progress) -> None:
        if _Worker.stop.is_set():
            raise Stopped
        _Worker.messages.put((number, progress.simulated_s / progress.end_s))

    try:
        return simulate(task, tell)
    except InputError as error:
        return error
