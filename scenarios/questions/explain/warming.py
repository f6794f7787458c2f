"""Warm-up: the time until a machine does 95 % of its steady rate, from empty caches, and from its own start."""

from dataclasses import dataclass

import numpy as np

from oltpsim.models.reading import with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.questions.explain.machines import MachineSolver, SolvedMachine
from oltpsim.simulator.analytic import STEADY, course

HOUR_S = 3600.0
"""run of a scenario whose own has no length"""


@dataclass(frozen=True)
class Warming:
    """Times until 95 % of the steady rate; `own_s` if the scenario starts from a load or a prewarm, else None."""

    cold_s: float
    own_s: float | None
    steady_per_min: float


def warming(scenario: ScenarioSpec, solver: MachineSolver) -> Warming:
    """Warm-up from cold, and from the load or prewarm and lead-in if the scenario starts there."""
    values: dict[str, object] = {"interval.start": "cold", "interval.prewarm": None, "interval.lead_in": None}
    if scenario.interval.sustained:
        values |= {"interval.duration_s": HOUR_S}
    cold = with_values(scenario, values)
    machines = solver(cold, *([scenario] if scenario.interval.start not in {"cold", "warm"} else []))
    times = [_until_steady_s(each) for each in machines]
    return Warming(times[0], times[1] if len(times) > 1 else None, machines[0].rate_per_min)


def _until_steady_s(machine: SolvedMachine) -> float:
    """Time after which the rate stays at its share of the steady one, interpolated between two moments."""
    warm_up = course(machine.system, machine.workload, machine.parameters, machine.solution)
    steady_per_s = STEADY * warm_up.steady_per_s
    slow = np.flatnonzero(warm_up.rates_per_s < steady_per_s)
    if not len(slow):
        return 0.0
    last = int(slow[-1])
    if last + 1 == len(warm_up.times_s):
        return float(warm_up.times_s[last])
    return float(np.interp(steady_per_s, warm_up.rates_per_s[last : last + 2], warm_up.times_s[last : last + 2]))
