"""Running scenarios: one, replications of one, or many, in this process or in several.

The order of results and every figure in them depend on scenarios and seeds, never on the number of workers.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from models.scenario import ScenarioSpec
from scenarios.run.executors import KERNEL_STEP, Line, Meter, OnStep, place_for, work_through
from scenarios.run.progress import Display
from simulator.errors import InputError
from simulator.form import OnProgress
from simulator.results import Estimate, Result

MODEL_STEP = "model"
START_STEP = "caches at the start"
SLOW_ENGINE = (
    "by the reference engine, which is slower: the kernel's machine code can't be kept in {}; "
    "let XDG_CACHE_HOME name a folder that can be written"
)


@dataclass(frozen=True)
class Task:
    """One run: what to simulate and with which seed."""

    scenario: ScenarioSpec
    seed: int


Outcome = Result | InputError
"""What came of a task; a machine that cannot run the workload is an answer too."""


def simulate(task: Task, on_progress: OnProgress | None = None, on_step: OnStep | None = None) -> Result:
    """Build the model and let its engine answer. Raises InputError (Infeasible) if the machine cannot run it.

    The analytic engine tells neither progress nor steps: it is done before anybody could read them.
    """
    from models.build import build, cluster, remarks, sampling

    if task.scenario.engine == "analytic":
        from simulator import analytic

        result = analytic.simulate(build(task.scenario), task.seed)
    else:
        result = _by_events(task, on_progress, on_step or _ignored)
    more = [*remarks(task.scenario), *sampling.warnings(task.scenario, result), *cluster.remarks(task.scenario, result)]
    if task.scenario.cluster is not None:
        from models.build import failover_of

        lost = failover_of(task.scenario, result, lambda after: _by_events(Task(after, task.seed), None, _ignored))
        more += [lost.said()] if lost else []
    if result.engine != task.scenario.engine:
        from simulator import kernel

        more.append(SLOW_ENGINE.format(kernel.MACHINE_CODE_NOT_KEPT))
    return replace(result, warnings=[*result.warnings, *more])


def _ignored(_: str) -> None:
    """A step that nobody wants to know."""


def _by_events(task: Task, on_progress: OnProgress | None, on_step: OnStep) -> Result:
    on_step(MODEL_STEP)
    from models.build import build

    model = build(task.scenario)
    from simulator import kernel, reference

    on_step(START_STEP if kernel.is_compiled_already(task.scenario.engine) else KERNEL_STEP)
    if task.scenario.engine == "kernel" and not kernel.MACHINE_CODE_NOT_KEPT:
        return kernel.simulate(model, task.seed, on_progress)
    return reference.simulate(model, task.seed, on_progress)


def run_all(tasks: Sequence[Task], workers: int, display: Display) -> Generator[tuple[int, Outcome]]:
    """Run every task; yields number and outcome as each is finished. Stops cleanly when the consumer does."""
    meter = Meter(display, len(tasks))
    engines = [task.scenario.engine for task in tasks]
    with (
        place_for(engines, workers, meter) as place,
        closing(work_through(Line(enumerate(tasks)), place, _answered, meter)) as finished,
    ):
        for some in finished:
            yield from some


def _answered(task: Task, on_progress: OnProgress | None, on_step: OnStep | None) -> Outcome:
    try:
        return simulate(task, on_progress, on_step)
    except InputError as error:
        return error


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
    from simulator.results.recording import mean_of_replications

    seeds = f"seeds {first.seed}..{results[-1].seed}"

    def mean(rates: Iterable[float]) -> Estimate:
        over = mean_of_replications(list(rates))
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
