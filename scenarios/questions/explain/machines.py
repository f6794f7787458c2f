"""Machines once they are warm, by the analytic engine: what every question is answered from.

All questions are about the steady machine, whatever state a scenario starts from. Transactions that arrive by
themselves are the load; what a machine can do at most is asked with all connections busy. Volumes have no credits
left: bursts are a question of their own (credits.py).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from oltpsim.calibration.fit import AnalyticInput, AnalyticReader, solve_inputs
from oltpsim.models.reading import with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.workloads import ClosedClientsSpec
from oltpsim.simulator.analytic import (
    DECIDED_FACTOR,
    Case,
    Parameters,
    Rates,
    Solution,
    Workload,
    doubts,
    result_of,
    rows,
    sustained,
)
from oltpsim.simulator.form import System
from oltpsim.simulator.results import Bottleneck, Result, main_class_of

Percentile = Literal["p95", "p99"]
LEAST_S = 1e-9
LEAST_MISSES = 1e-6
"""pages per transaction; of fewer a share says nothing"""
SEED = 1
"""noted in results; the analytic engine draws nothing"""


@dataclass(frozen=True)
class SolvedMachine:
    """Steady machine, solved by the analytic engine."""

    point: AnalyticInput
    parameters: Parameters
    solution: Solution

    @property
    def rate_per_min(self) -> float:
        """New orders per minute."""
        workload = self.point.workload
        return float(self.solution.rate[0] * workload.mix[workload.main_class]) * 60.0

    @property
    def system(self) -> System:
        """System that was solved."""
        return self.point.system

    @cached_property
    def workload(self) -> Workload:
        """Workload with this machine's CPU times: that of the point may have other times."""
        return self.point.timed_workload

    @cached_property
    def result(self) -> Result:
        """Result with every figure that the engine has."""
        return result_of(self.case(sustained(self.system)), SEED, self.doubts)

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """Where the engine's assumptions don't hold of it."""
        return tuple(doubts(self.case(sustained(self.system))))

    def case(self, rates: Rates) -> Case:
        """Case for the engine's figures; `rates`: what the limits of volumes let through, as it was solved with."""
        return Case(self.system, self.workload, self.parameters, self.solution, None, rates)

    @property
    def bottleneck(self) -> Bottleneck:
        """Bottleneck of the machine."""
        return self.result.bottleneck

    @property
    def page_cache_share(self) -> float | None:
        """Share of the pool's reads that the page cache serves; None if nothing is read, or past the page cache."""
        misses, from_disk = float(self.solution.pool.misses[0]), float(self.solution.pool.reads[0])
        if self.system.direct_io or misses < LEAST_MISSES:
            return None
        return min(max(1.0 - from_disk / misses, 0.0), 1.0)

    @property
    def no_percentiles(self) -> str:
        """Reason why a percentile decides no objective."""
        return f"the model error of its percentiles is above a factor of {DECIDED_FACTOR:g}"

    def response_s(self, percentile: Percentile) -> float | None:
        """Percentile of the main class's response time; None if its model error is above `DECIDED_FACTOR`."""
        main = main_class_of(self.result)
        interval = getattr(main.intervals, percentile, None)
        if interval is None or interval.high_s is None or interval.high_s > DECIDED_FACTOR**2 * interval.low_s:
            return None
        return main.p95_s if percentile == "p95" else main.p99_s


@dataclass(frozen=True)
class PercentileObjective:
    """Objective for new orders: the percentile of their response time is at most `within_s`."""

    percentile: Percentile
    within_s: float

    def margin(self, machine: SolvedMachine) -> float:
        """Logarithm of the time allowed over the time taken: not negative if the objective is known to be met."""
        time_s = machine.response_s(self.percentile)
        return -math.inf if time_s is None else math.log(self.within_s / max(time_s, LEAST_S))


class MachineSolver:
    """Solves scenarios together; keeps what it has read of their programs."""

    def __init__(self) -> None:
        self._reader = AnalyticReader()

    def point(self, scenario: ScenarioSpec) -> AnalyticInput:
        """A scenario in the engine's terms. Raises InputError."""
        return self._reader.read(scenario)

    def __call__(self, *scenarios: ScenarioSpec) -> list[SolvedMachine]:
        """Machines of scenarios, in their order. Raises InputError."""
        return machines([self.point(each) for each in scenarios])

    def solved(self, points: Sequence[AnalyticInput]) -> list[SolvedMachine]:
        """Machines of points that `point` has read, in their order."""
        return machines(points)


def machines(points: Sequence[AnalyticInput]) -> list[SolvedMachine]:
    """Machines of points, in their order."""
    found: dict[int, SolvedMachine] = {}
    for _, parameters, solution, numbers in solve_inputs(points):
        every = parameters.filled()
        for row, number in enumerate(numbers):
            one = rows(solution, np.array([row]))
            found[number] = SolvedMachine(points[number], every.take(slice(row, row + 1)), one)
    return [found[number] for number in range(len(points))]


def for_analytic_engine(scenario: ScenarioSpec) -> ScenarioSpec:
    """The scenario for the analytic engine."""
    return with_values(scenario, {"engine": "analytic"})


def with_busy_connections(scenario: ScenarioSpec) -> ScenarioSpec:
    """The scenario with all connections busy, if transactions arrive by themselves; else itself."""
    if isinstance(scenario.workload.arrivals, ClosedClientsSpec):
        return scenario
    closed = {"kind": "closed", "clients": scenario.workload.clients, "think_time_s": 0.0}
    changes: dict[str, object] = {"workload.arrivals": closed}
    if scenario.workload.arrivals.kind == "terminals":  # of all warehouses
        changes |= scenario.workload.keys_of_all
    return with_values(scenario, changes)
