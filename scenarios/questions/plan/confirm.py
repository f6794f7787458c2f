"""The short list by simulation: each machine under the load that is asked for, by the kernel."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from oltpsim.models.reading import check_consistency
from oltpsim.models.scenario import IntervalSpec, ScenarioSpec
from oltpsim.scenarios.questions.plan.question import PlanQuestion, even_parts, per_s
from oltpsim.scenarios.questions.sweep import ReplicationRule, SweepPoint, SweepRunner
from oltpsim.scenarios.run import Store
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results import Result

MOST_PAGES = 1_000_000
"""pages of a simulated database; a larger one is sampled, warehouse by warehouse"""
TRANSACTIONS = 800_000.0
"""that a simulation runs through, at most about"""
LEAST_S = 10.0
CHECKPOINTS = 2.0
"""intervals of checkpoints that a simulation lasts, if they are not too many transactions; half of it warms up"""
SERVED = 0.98
"""share of what arrives that must be completed: less is not chance any more"""


@dataclass(frozen=True)
class SimulatedCandidate:
    """Candidate as the kernel simulates it. `times_s`: by objective; `holds`: whether all of them and the rate hold.

    `unsteady`: why the rate has no interval, empty if it has one.
    """

    number: int
    rate_per_min: float
    low_per_min: float | None
    high_per_min: float | None
    times_s: tuple[float, ...]
    bottleneck: str
    holds: bool
    sampling_fraction: float
    fault: str = ""
    unsteady: str = ""


class Simulations:
    """Simulations of numbered scenarios, each with about what it does per minute. `runner` runs them into a store."""

    def __init__(
        self, scenarios: Sequence[tuple[int, ScenarioSpec, float]], question: PlanQuestion, seed: int, store: Store
    ) -> None:
        self._question = question
        self._points: list[SweepPoint] = []
        for number, scenario, per_min in scenarios:
            try:
                answer: ScenarioSpec | InputError = kernel_scenario(scenario, question.target_per_min or per_min)
            except InputError as error:
                answer = error
            self._points.append(SweepPoint((str(number),), answer))
        self.runner = SweepRunner(self._points, store, seed, ReplicationRule())

    def finished(self) -> Iterator[SimulatedCandidate]:
        """Those that are done; those that can't be say why."""
        for point, reason in zip(self._points, self.runner.reasons(), strict=True):
            if reason:
                yield failed(int(point.values[0]), reason)
        for _, point, key in self.runner.runs():
            record = self.runner.store.find(key)
            assert record is not None
            assert not isinstance(point.scenario, InputError)
            result = record.full_result(f"run {key.hash}")
            fraction = point.scenario.sampling_fraction
            yield _confirmed(int(point.values[0]), result, self._question, fraction)


def failed(number: int, reason: str) -> SimulatedCandidate:
    """A candidate that could not be simulated."""
    return SimulatedCandidate(number, 0.0, 0.0, 0.0, (), "", False, 1.0, reason)


def kernel_scenario(scenario: ScenarioSpec, main_per_min: float) -> ScenarioSpec:
    """A scenario, which does about so much, as the kernel runs it in seconds. Raises InputError."""
    pages, active = scenario.workload.loaded_pages, scenario.workload.size
    share = max((1.0 / parts for parts in even_parts(active, 1) if pages / parts <= MOST_PAGES), default=1.0 / active)
    rate = per_s(scenario, main_per_min)
    checkpoint = scenario.database.checkpoint
    whole_s = TRANSACTIONS / max(rate, 1.0)
    whole_s = min(CHECKPOINTS * checkpoint.interval_s, whole_s) if checkpoint else whole_s
    half_s = round(max(whole_s, LEAST_S) / 2.0)
    interval = IntervalSpec(start="warm", warm_up_s=half_s, duration_s=half_s)
    changed = scenario.model_copy(update={"engine": "kernel", "interval": interval, "sampling_fraction": share})
    check_consistency(changed, scenario.name)
    return changed


def _confirmed(number: int, result: Result, question: PlanQuestion, fraction: float) -> SimulatedCandidate:
    times = []
    for objective in question.objectives:
        answer = next(each for each in result.classes if each.name.replace("_", " ") == objective.transaction)
        percentiles = {
            0.5: answer.p50_s,
            0.9: answer.p90_s,
            0.95: answer.p95_s,
            0.99: answer.p99_s,
            0.999: answer.p999_s,
        }
        time_s = percentiles[objective.share]
        assert time_s is not None, "the kernel has every percentile"
        times.append(time_s)
    rate = result.rate_per_min
    holds = all(time <= each.limit_s for time, each in zip(times, question.objectives, strict=True))
    if question.target_per_min is not None:
        holds = holds and (rate.mean if rate.high is None else rate.high) >= SERVED * question.target_per_min
    limit = result.bottleneck.name
    return SimulatedCandidate(
        number, rate.mean, rate.low, rate.high, tuple(times), limit, holds, fraction, unsteady=rate.reason
    )
