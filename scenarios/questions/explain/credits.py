"""Credits of cloud volumes: when they run out, and what the machine does before and after.

Asked of the scenario's own load: all limits at their burst rates, what is asked of each then, and how long its bucket
gives more than comes back (simulator.form.credits). Of several the first matters: after it the others last longer.
"""

from dataclasses import dataclass, replace

from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.questions.explain.machines import MachineSolver, machines
from oltpsim.simulator.analytic import demand_on_limits, parameters_of, places_of
from oltpsim.simulator.form import ALL_VOLUMES, minutes_of_credits

WHOSE = ("disk 1", "log disk", ALL_VOLUMES)
"""in the order of `oltpsim.simulator.analytic.reading.volumes.Places`"""


@dataclass(frozen=True)
class CreditBucket:
    """Bucket of credits. `lasts_s`: None if as much comes back as is asked for."""

    name: str
    lasts_s: float | None
    credits: float
    asked_per_s: float
    sustained_per_s: float


@dataclass(frozen=True)
class CreditUse:
    """All buckets, the first to run out first; new orders per minute with all credits and with none."""

    buckets: tuple[CreditBucket, ...]
    burst_rate_per_min: float
    sustained_rate_per_min: float


def credits_of(scenario: ScenarioSpec, solver: MachineSolver) -> CreditUse | None:
    """None if no limit has a bucket."""
    point = solver.point(scenario)
    places = places_of(point.system)
    if not any(limit.burst_per_s > limit.per_s for limits in places for limit in limits):
        return None
    [spent] = machines([point])
    burst = places.rates(lambda limit: limit.burst_per_s)
    [full] = machines([replace(point, parameters=parameters_of(point.system, spent.workload, burst))])
    asked = demand_on_limits(full.case(burst))
    found = [
        CreditBucket(
            name=limit.label(whose),
            lasts_s=None if (minutes := minutes_of_credits(limit, per_s)) is None else 60.0 * minutes,
            credits=limit.credits_at_start,
            asked_per_s=per_s,
            sustained_per_s=limit.per_s,
        )
        for whose, limits, demands in zip(WHOSE, places, asked, strict=True)
        for limit, per_s in zip(limits, demands, strict=True)
        if limit.burst_per_s > limit.per_s
    ]
    order = sorted(found, key=lambda one: (one.lasts_s is None, one.lasts_s or 0.0, one.name))
    return CreditUse(tuple(order), full.rate_per_min, spent.rate_per_min)
