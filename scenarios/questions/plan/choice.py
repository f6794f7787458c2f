"""The choice among candidates: which are looked at closely, how sure each is, what it costs to be wrong; the frontier.

Whoever buys what turns out too small must buy again: then the safe machine is paid, and of the first only what was
not spent yet is saved. That, times its probability, is the expected regret.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from scenarios.questions.plan.belief import Belief, ParameterUncertainty, beliefs
from scenarios.questions.plan.bill import BillLine, Till
from scenarios.questions.plan.loads import answers, capacities
from scenarios.questions.plan.screening import ScreenedStock, Tell, worth
from simulator.form import FloatArray, IntArray

LISTED = 10
"""candidates that are looked at closely at least"""
SAFE = 0.95
"""probability of what is bought if the choice was wrong"""
MOST_EXAMINED = 120
BATCH = 6
AT_ONCE = 512
NEAR, MOST_NEAR = 0.9, 128
"""a candidate is looked at for the frontier if its busiest part allows this share of the most that any allows which
costs no more; how many are, evenly among them"""


@dataclass(frozen=True)
class ShortListed:
    """A candidate that was looked at closely. Money in the bill's currency; `chance`: of reaching the target."""

    number: int
    name: str
    cost: float
    belief: Belief
    chance: float
    short_by_per_min: float
    regret: float
    bill: tuple[BillLine, ...]
    notes: tuple[str, ...]

    @property
    def expected_cost(self) -> float:
        """With the regret, as probable as it is."""
        return self.cost + (1.0 - self.chance) * self.regret

    @property
    def cost_per_1000(self) -> float:
        """Cost of 1,000 new orders per minute."""
        return self.cost / self.belief.per_min * 1000.0 if self.belief.per_min > 0 else float("inf")


@dataclass(frozen=True)
class FrontierPoint:
    """No candidate that costs no more holds more."""

    number: int
    name: str
    cost: float
    per_min: float


def listed(screened: ScreenedStock, till: Till, left: ParameterUncertainty, tell: Tell) -> tuple[ShortListed, ...]:
    """The candidates that are looked at closely, best first: the cheapest, and among them the cheapest sure ones.

    Nobody is left out for whom the load that sureness asks for at least is too much: the cheapest sure one is the
    cheapest of all.
    """
    question = screened.stock.question
    numbers = [int(each) for each in screened.meets]
    first = numbers[:LISTED]
    found = dict(zip(first, _believed(screened, left, first), strict=True)) if first else {}
    tell(0.3, f"{len(found)} candidates")
    if question.target_per_min is not None:
        sure = sum(found[each].chance(question.target_per_min) >= question.sure for each in first)
        for batch in _batches(_worth(screened, left, numbers[LISTED:])):
            if sure >= LISTED // 2 or len(found) >= MOST_EXAMINED:
                break
            more = _believed(screened, left, batch)
            found |= dict(zip(batch, more, strict=True))
            sure += sum(each.chance(question.target_per_min) >= question.sure for each in more)
            tell(0.3 + 0.6 * len(found) / MOST_EXAMINED, f"{len(found)} candidates")
    return _ranked(screened, till, found)


def chosen(screened: ScreenedStock, candidates: Iterable[ShortListed]) -> ShortListed | None:
    """The cheapest that is sure enough of the target; without a target the best one. None if there is none."""
    question = screened.stock.question
    if question.target_per_min is None:
        return next(iter(candidates), None)
    sure = [each for each in candidates if each.chance >= question.sure]
    return min(sure, key=lambda each: (each.cost, -each.chance, each.number), default=None)


def _believed(screened: ScreenedStock, left: ParameterUncertainty, numbers: list[int]) -> list[Belief]:
    stock = screened.stock
    scenarios = [stock.scenario(stock.candidates[each]) for each in numbers]
    return beliefs(scenarios, left, stock.question.objectives, screened.assembly.reader)


def _worth(screened: ScreenedStock, left: ParameterUncertainty, numbers: list[int]) -> Iterator[int]:
    """Those, in their order, that hold at least the load which even the surest of machines would have to hold."""
    question = screened.stock.question
    sigmas = NormalDist().inv_cdf(min(max(question.sure, 0.5), 0.999))
    more = math.exp(sigmas * left.least_sd)
    limits = np.array([each.limit_s for each in question.objectives])
    for begin in range(0, len(numbers), AT_ONCE):
        some = numbers[begin : begin + AT_ONCE]
        holds = np.zeros(len(some), dtype=bool)
        for mine, machines in screened.assembly.of(some):
            at = answers(machines.at_load(more), question.objectives)
            holds[mine] = at.fits & (at.times_s <= limits).all(axis=1)
        yield from (some[int(each)] for each in np.flatnonzero(holds))


def _batches(numbers: Iterator[int]) -> Iterator[list[int]]:
    batch: list[int] = []
    for number in numbers:
        batch.append(number)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _ranked(screened: ScreenedStock, till: Till, found: dict[int, Belief]) -> tuple[ShortListed, ...]:
    question, stock = screened.stock.question, screened.stock
    target = question.target_per_min
    chances = {n: belief.chance(target) if target is not None else 1.0 for n, belief in found.items()}
    cost = {n: float(screened.cost[n]) for n in found}
    safe = min((cost[n] for n in found if chances[n] >= SAFE), default=max(cost.values(), default=0.0))
    answer = []
    for n, belief in found.items():
        candidate = stock.candidates[n]
        bill = till.lines(candidate.items)
        spent = sum(line.amount for line in bill if line.per == "piece")
        answer.append(
            ShortListed(
                number=n,
                name=candidate.name,
                cost=cost[n],
                belief=belief,
                chance=chances[n],
                short_by_per_min=belief.short_by(target) if target is not None else 0.0,
                regret=max(safe - (cost[n] - spent), 0.0) if target is not None else 0.0,
                bill=bill,
                notes=candidate.notes,
            )
        )
    if target is not None:
        return tuple(sorted(answer, key=lambda each: (each.expected_cost, each.number)))
    by = worth(question, np.array([each.cost for each in answer]), np.array([each.belief.per_min for each in answer]))
    return tuple(answer[at] for at in np.lexsort((np.array([each.number for each in answer]), by)).tolist())


def frontier(screened: ScreenedStock) -> tuple[FrontierPoint, ...]:
    """Candidates with more for more money, by cost. Those whose busiest part promises enough are looked at exactly."""
    stock, cost, reach = screened.stock, screened.cost, screened.reach_per_min
    there = np.flatnonzero(np.isfinite(cost) & np.isfinite(reach))
    order = there[np.lexsort((there, -reach[there], cost[there]))]
    _, first = np.unique(screened.kind[order], return_index=True)
    order = order[np.sort(first)]  # of each kind of machine the cheapest
    if not len(order):
        return ()
    near = order[reach[order] >= NEAR * np.maximum.accumulate(reach[order])]
    near = near[np.unique(np.linspace(0, len(near) - 1, MOST_NEAR).round().astype(np.int64))]
    points: list[FrontierPoint] = []
    for number, per_min in zip(near.tolist(), _exact(screened, near).tolist(), strict=True):
        if per_min > (points[-1].per_min if points else 0.0):
            if points and points[-1].cost == float(cost[number]):
                points.pop()
            points.append(FrontierPoint(number, stock.candidates[number].name, float(cost[number]), per_min))
    return tuple(points)


def _exact(screened: ScreenedStock, numbers: IntArray) -> FloatArray:
    question, judged = screened.stock.question, screened.judged
    if question.target_per_min is None:
        return judged.reach_per_min[screened.kind[numbers]]
    found = np.zeros(len(numbers))
    for mine, machines in screened.assembly.of(numbers.tolist()):
        found[mine] = capacities(machines, question.objectives)
    return found
