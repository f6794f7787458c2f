"""How credits of cloud volumes are spent over a run: a rate while all have some, another once the first are gone.

A solved machine asks each limit for so many requests or MiB per second. What exceeds the sustained rate is taken from
the bucket, which therefore lasts for credits / (asked - sustained). At that moment the machine is solved anew with
that limit at its sustained rate, until no other runs out before the run's end. Where the counted interval has several
of these phases its machine is one whose limits let through what they did on average. What such a machine counts while
it gets warm, it counts phase by phase.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from oltpsim.simulator.analytic.answer.device_figures import demand_on_limits
from oltpsim.simulator.analytic.answer.figures import Bucket, Case
from oltpsim.simulator.analytic.equations import joined_courses
from oltpsim.simulator.analytic.reading import Places, Rates, places_of
from oltpsim.simulator.form import System, to_s

LITTLE = 1e-6
"""share of the sustained rate by which more is asked for than is refilled"""
Solve = Callable[[Rates], Case]


class Key(NamedTuple):
    """A limit: where it is, and which of those there, as in `Places`."""

    where: int
    number: int


@dataclass(frozen=True)
class Phase:
    """A time in which all limits stay as they are."""

    begin_s: float
    end_s: float
    case: Case
    asked: Rates


@dataclass
class Spending:
    """A run's phases so far."""

    places: Places
    rates: Rates
    buckets: dict[Key, Bucket]
    phases: list[Phase] = field(default_factory=list)

    def sustained_from_now(self, key: Key) -> None:
        """A limit has no credits any more."""
        limits = [list(rates) for rates in self.rates]
        limits[key.where][key.number] = self.places[key.where][key.number].per_s
        self.rates = Rates(*map(tuple, limits))


def with_credits(system: System, solve: Solve) -> Case:
    """The machine of the counted interval. `solve`: the machine whose limits let through so much."""
    places = places_of(system)
    run = Spending(places, places.rates(lambda limit: limit.burst_per_s), _buckets(places))
    at_s, done = 0.0, 0.0
    while done < 1.0 - LITTLE:
        case = solve(run.rates)
        asked = demand_on_limits(case)
        lasts_s = {key: _lasts_s(run, key, asked) for key, one in run.buckets.items() if one.lasted_s is None}
        first = min(lasts_s, key=lambda key: lasts_s[key], default=None)
        phase_s = (1.0 - done) * case.end_s
        out = first is not None and lasts_s[first] < phase_s
        phase_s = lasts_s[first] if first is not None and out else phase_s
        _spend(run, asked, phase_s)
        run.phases.append(Phase(at_s, at_s + phase_s, case, asked))
        at_s, done = at_s + phase_s, done + phase_s / case.end_s
        if first is not None and out:
            run.buckets[first] = run.buckets[first]._replace(left=0.0, lasted_s=at_s)
            run.sustained_from_now(first)
    case = _counted(system, run, solve)
    courses = [(phase.end_s, phase.case.warming) for phase in run.phases if phase.case.warming is not None]
    warming = joined_courses(courses) if courses else None
    return replace(case, warming=warming, buckets=tuple(run.buckets.values()))


def _buckets(places: Places) -> dict[Key, Bucket]:
    return {
        Key(where, number): Bucket(where, number, limit.credits_at_start, None)
        for where, limits in enumerate(places)
        for number, limit in enumerate(limits)
        if limit.burst_per_s > limit.per_s
    }


def _lasts_s(run: Spending, key: Key, asked: Rates) -> float:
    limit = run.places[key.where][key.number]
    more = asked[key.where][key.number] - limit.per_s
    return run.buckets[key].left / more if more > LITTLE * limit.per_s else float("inf")


def _spend(run: Spending, asked: Rates, phase_s: float) -> None:
    for key, bucket in run.buckets.items():
        if bucket.lasted_s is None:
            limit = run.places[key.where][key.number]
            spent = (asked[key.where][key.number] - limit.per_s) * phase_s
            run.buckets[key] = bucket._replace(left=min(max(bucket.left - spent, 0.0), limit.credits))


def _counted(system: System, run: Spending, solve: Solve) -> Case:
    """The machine of the counted interval: of the one phase that it lies in, or of their mean rates."""
    begin_s = to_s(system.interval.warm_up_ns)
    shares = [max(phase.end_s - max(phase.begin_s, begin_s), 0.0) for phase in run.phases]
    whole = sum(shares)
    inside = [(share / whole, phase) for share, phase in zip(shares, run.phases, strict=True) if share > LITTLE * whole]
    if len(inside) == 1:
        return inside[0][1].case
    rates = [list(of) for of in run.rates]
    for key, bucket in run.buckets.items():
        if bucket.lasted_s is not None:
            rates[key.where][key.number] = sum(share * phase.asked[key.where][key.number] for share, phase in inside)
    return solve(Rates(*map(tuple, rates)))
