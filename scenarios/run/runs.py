"""Many simulations: over scenarios or seeds, in this process or in several.

The order of results and every figure in them depend on scenarios and seeds, never on the number of workers.
"""

import itertools
import os
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.run.executors import ProgressMeter, TaskQueue, work_through
from oltpsim.scenarios.run.places import executor_for
from oltpsim.scenarios.run.progress import Display
from oltpsim.scenarios.run.simulation import OnStep, SimulationTask, simulate
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import OnProgress
from oltpsim.simulator.results import Estimate, Result
from oltpsim.simulator.results.recording import mean_of_replications

TaskAnswer = Result | InputError
"""Answer to a task; a machine that cannot run the workload is an answer too."""


def run_all(
    tasks: Sequence[SimulationTask], workers: int, display: Display, cluster: str | None = None
) -> Generator[tuple[int, TaskAnswer]]:
    """Run every task; yields number and outcome as each is finished. Stops cleanly when the consumer does."""
    meter = ProgressMeter(display, len(tasks))
    engines = [task.scenario.engine for task in tasks]
    with (
        executor_for(engines, workers, meter, cluster) as executor,
        closing(work_through(TaskQueue(enumerate(tasks)), executor, _outcome, meter)) as finished,
    ):
        for batch in finished:
            yield from batch


def _outcome(task: SimulationTask, on_progress: OnProgress | None, on_step: OnStep | None) -> TaskAnswer:
    try:
        return simulate(task, on_progress, on_step)
    except InputError as error:
        return error


def replicate(scenario: ScenarioSpec, seed: int, replications: int, workers: int, display: Display) -> list[Result]:
    """Results with seeds `seed`, `seed` + 1, ..., for `pool_replications`. Raises InputError if it cannot be run.

    After Ctrl-C those that are finished, from the first of them to the first gap; KeyboardInterrupt if none is.
    """
    tasks = [SimulationTask(scenario, seed + number) for number in range(replications)]
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


@dataclass(frozen=True)
class PooledRates:
    """Rates over replications: means with a t interval, which is one of runs of this length; of one run its own.

    `warnings`: the first run's, and one where most of the runs aren't steady.
    """

    rate_per_min: Estimate
    steady_rate_per_min: Estimate
    warnings: list[str]


def pool_rates(results: Sequence[Result]) -> PooledRates:
    """Rates of several replications, with seeds in a row."""
    first = results[0]
    if len(results) == 1:
        return PooledRates(first.rate_per_min, first.steady_rate_per_min, first.warnings)

    def mean(rates: Iterable[float]) -> Estimate:
        over = mean_of_replications(list(rates))
        return replace(over, method=f"t interval over {over.method}, {_seeds(results)}")

    unsteady = [result.rate_per_min.method for result in results if not result.rate_per_min.is_steady]
    warnings = [each for each in first.warnings if each != first.rate_per_min.method]
    if 2 * len(unsteady) > len(results):
        warnings.append(f"{unsteady[0]}; the interval is one of runs of this length")
    return PooledRates(
        mean(result.rate_per_min.mean for result in results),
        mean(result.steady_rate_per_min.mean for result in results),
        warnings,
    )


def pool_replications(results: Sequence[Result]) -> Result:
    """Result of several replications: the first one's with the pooled rates, and a warning that says which is which."""
    first, pooled = results[0], pool_rates(results)
    if len(results) == 1:
        return first
    of_one = f"all else, percentiles with their intervals too, is of seed {first.seed}"
    return replace(
        first,
        rate_per_min=pooled.rate_per_min,
        steady_rate_per_min=pooled.steady_rate_per_min,
        warnings=[*pooled.warnings, f"only the rate is of {_seeds(results)}: {of_one}"],
    )


def _seeds(results: Sequence[Result]) -> str:
    return f"seeds {results[0].seed}..{results[-1].seed}"


def check_replications(scenarios: Iterable[ScenarioSpec], replications: int) -> None:
    """Refuse several replications of what every seed answers alike. Raises InputError."""
    if replications > 1 and any(scenario.engine == "analytic" for scenario in scenarios):
        raise InputError(
            f"--replications: got {replications}; the analytic engine draws nothing at random and answers every seed "
            "alike: leave --replications out, or take --engine kernel"
        )


def default_workers() -> int:
    """One worker per core that this process may use; of all where the system doesn't say which, as macOS."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
