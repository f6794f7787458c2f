"""A plan: the question, every candidate's verdict, the short list, the choice among it, the frontier.

The short list says how sure each candidate is, and what it costs to be wrong. Whoever buys what turns out too small
must buy again: then the safe machine is paid, and of the first only what was not spent yet is saved. That, times its
probability, is the expected regret.
"""

import datetime as dt
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import islice
from statistics import NormalDist

import numpy as np

from oltpsim.calibration.fit import engine_doubts
from oltpsim.calibration.predict import UncertainValue
from oltpsim.models.catalogue import Prices, catalogue_names, chassis_specs, read_entry, volume_specs
from oltpsim.models.catalogue.importers import shorten_list
from oltpsim.models.input import did_you_mean
from oltpsim.scenarios.questions.plan.belief import ParameterUncertainty, beliefs
from oltpsim.scenarios.questions.plan.bill import BillLine, Till
from oltpsim.scenarios.questions.plan.candidates import Stock, add_chassis, add_instance, add_machine
from oltpsim.scenarios.questions.plan.confirm import SimulatedCandidate, Simulations, failed
from oltpsim.scenarios.questions.plan.loads import Assembly, answers, capacities
from oltpsim.scenarios.questions.plan.question import PlanQuestion
from oltpsim.scenarios.questions.plan.screening import ScreenedStock, Tell, Verdict, ranking_key, screened
from oltpsim.scenarios.run import LostWorkers, Store
from oltpsim.simulator.analytic import DECIDED_FACTOR
from oltpsim.simulator.errors import InputError

MOST_NAMED = 8
"""parts in a sentence"""

LISTED = 10
"""candidates that are looked at closely at least"""
SAFE = 0.95
"""probability of what is bought if the choice was wrong"""
MOST_EXAMINED = 120
MOST_CANDIDATES = 1_000_000
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
    belief: UncertainValue
    chance: float
    short_by_per_min: float
    regret: float
    bill: tuple[BillLine, ...]
    notes: tuple[str, ...]
    doubts: tuple[str, ...]
    """where the analytic engine's assumptions don't hold, and objectives that it can't decide"""

    @property
    def expected_cost(self) -> float:
        """Cost and the expected regret."""
        return self.cost + (1.0 - self.chance) * self.regret

    @property
    def cost_per_1000(self) -> float:
        """Cost of 1,000 new orders per minute."""
        return self.cost / self.belief.value * 1000.0 if self.belief.value > 0 else float("inf")


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
    found = _believed(screened, left, numbers[:LISTED])
    tell(0.3, f"{len(found)} candidates")
    if question.target_per_min is not None:
        strong = _strong_enough(screened, left, numbers[LISTED:])
        for batch in iter(lambda: list(islice(strong, BATCH)), []):
            sure = sum(belief.chance_of(question.target_per_min) >= question.sure for belief in found.values())
            if sure >= LISTED // 2 or len(found) >= MOST_EXAMINED:
                break
            found |= _believed(screened, left, batch)
            tell(0.3 + 0.6 * len(found) / MOST_EXAMINED, f"{len(found)} candidates")
    return _ranked(screened, till, found)


def chosen(screened: ScreenedStock, candidates: Iterable[ShortListed]) -> ShortListed | None:
    """The cheapest that is sure enough of the target; without a target the best one. None if there is none."""
    question = screened.stock.question
    if question.target_per_min is None:
        return next(iter(candidates), None)
    sure = [each for each in candidates if each.chance >= question.sure]
    return min(sure, key=lambda each: (each.cost, -each.chance, each.number), default=None)


def _believed(screened: ScreenedStock, left: ParameterUncertainty, numbers: list[int]) -> dict[int, UncertainValue]:
    stock = screened.stock
    scenarios = [stock.scenario(stock.candidates[each]) for each in numbers]
    found = beliefs(scenarios, left, stock.question.objectives, screened.assembly.reader)
    return dict(zip(numbers, found, strict=True))


def _strong_enough(screened: ScreenedStock, left: ParameterUncertainty, numbers: list[int]) -> Iterator[int]:
    """Candidates, in their order, that hold at least the load which even the surest of machines would have to hold."""
    question = screened.stock.question
    sigmas = NormalDist().inv_cdf(min(max(question.sure, 0.5), 0.999))
    surplus = math.exp(sigmas * left.least_sd)
    for begin in range(0, len(numbers), AT_ONCE):
        chunk = numbers[begin : begin + AT_ONCE]
        holds = np.zeros(len(chunk), dtype=bool)
        for rows, machines in screened.assembly.candidates(chunk):
            at = answers(machines.at_load(surplus), question.objectives)
            holds[rows] = at.fits & ~at.misses(question.objectives)
        yield from (chunk[int(each)] for each in np.flatnonzero(holds))


def _ranked(screened: ScreenedStock, till: Till, found: dict[int, UncertainValue]) -> tuple[ShortListed, ...]:
    question, stock = screened.stock.question, screened.stock
    target = question.target_per_min
    chances = {n: belief.chance_of(target) if target is not None else 1.0 for n, belief in found.items()}
    cost = {n: float(screened.cost[n]) for n in found}
    safe = min((cost[n] for n in found if chances[n] >= SAFE), default=max(cost.values(), default=0.0))
    doubts = _doubts(screened, found)
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
                short_by_per_min=belief.mean_shortfall(target) if target is not None else 0.0,
                regret=max(safe - (cost[n] - spent), 0.0) if target is not None else 0.0,
                bill=bill,
                notes=candidate.notes,
                doubts=doubts[n],
            )
        )
    if target is not None:
        return tuple(sorted(answer, key=lambda each: (each.expected_cost, each.number)))
    by = ranking_key(
        question, np.array([each.cost for each in answer]), np.array([each.belief.value for each in answer])
    )
    return tuple(answer[at] for at in np.lexsort((np.array([each.number for each in answer]), by)).tolist())


def _doubts(screened: ScreenedStock, believed: dict[int, UncertainValue]) -> dict[int, tuple[str, ...]]:
    """Of candidates, by number: the engine's, and objectives that it can't decide at the load or at the most."""
    stock, objectives = screened.stock, screened.stock.question.objectives
    numbers = list(believed)
    doubts = dict(zip(numbers, engine_doubts([stock.scenario(stock.candidates[n]) for n in numbers]), strict=True))
    for rows, machines in screened.assembly.candidates(numbers) if objectives else ():
        most_per_s = np.array([believed[numbers[row]].value for row in rows.tolist()]) / machines.per_min
        at_load = np.isnan(answers(machines, objectives).times_s)
        at_most = np.isnan(answers(replace(machines, per_s=most_per_s), objectives).times_s)
        for row, *undecided in zip(rows.tolist(), at_load.tolist(), at_most.tolist(), strict=True):
            for each, is_at_load, is_at_most in zip(objectives, *undecided, strict=True):
                if is_at_load or is_at_most:
                    where = "" if is_at_load else "at the most that it holds "
                    what = f"{where}p{100 * each.share:g} of {each.transaction}"
                    why = f"its model error is above a factor of {DECIDED_FACTOR:g}"
                    doubts[numbers[row]] += (f"{what} can't be decided by the analytic engine: {why}",)
    return doubts


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
    rates = reach[near]
    if stock.question.target_per_min is not None:
        for rows, machines in screened.assembly.candidates(near.tolist()):
            rates[rows] = capacities(machines, stock.question.objectives)
    points: list[FrontierPoint] = []
    for number, per_min in zip(near.tolist(), rates.tolist(), strict=True):
        if per_min > (points[-1].per_min if points else 0.0):
            if points and points[-1].cost == float(cost[number]):
                points.pop()
            points.append(FrontierPoint(number, stock.candidates[number].name, float(cost[number]), per_min))
    return tuple(points)


@dataclass(frozen=True)
class Plan:
    """The whole answer. `listed`: what was looked at closely, best first; `confirmed`: by number, if simulated."""

    question: PlanQuestion
    screened: ScreenedStock
    till: Till
    left: ParameterUncertainty
    listed: tuple[ShortListed, ...]
    choice: ShortListed | None
    frontier: tuple[FrontierPoint, ...]
    confirmed: dict[int, SimulatedCandidate]

    @property
    def rejected(self) -> dict[Verdict, int]:
        """Numbers of candidates that fell out, by verdict."""
        kinds, counts = np.unique(self.screened.verdict, return_counts=True)
        return {
            Verdict(kind): count
            for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True)
            if kind != Verdict.MEETS
        }


def candidate_stock(question: PlanQuestion, prices: Prices, patterns: Sequence[str]) -> Stock:
    """Candidates of all shapes of the catalogue that the lists have prices of, or of those that match a pattern.

    Raises InputError for a pattern that nothing matches, and if nothing that was asked for has all its prices.
    """
    stock = Stock(question)
    priced = {row.part for each in prices.lists for row in each.rows}
    names = {kind: catalogue_names(kind) for kind in ("chassis", "instances", "machines")}

    def matches(kind: str, name: str, pattern: str) -> bool:
        return fnmatchcase(name, pattern) or fnmatchcase(f"{kind}/{name}", pattern)

    def is_wanted(kind: str, name: str) -> bool:
        part = f"{kind}/{name}"
        exact = name in patterns or part in patterns
        return exact or (part in priced and (not patterns or any(matches(kind, name, each) for each in patterns)))

    known = sorted(part for part in priced if part.partition("/")[0] in names)
    remedy = f"with a price: {shorten_list(known, MOST_NAMED)}; 'oltpsim catalog list prices' names the lists"
    for pattern in patterns:
        if not any(matches(kind, name, pattern) for kind, every in names.items() for name in every):
            raise InputError(
                f"plan: --candidates {pattern}: none in the catalogue{did_you_mean(pattern, known)}; {remedy}"
            )
    wanted = {kind: [name for name in every if is_wanted(kind, name)] for kind, every in names.items()}
    asked = f"--candidates {', '.join(patterns)}" if patterns else "--prices"
    without = [f"{kind}/{name}" for kind, every in wanted.items() for name in every if f"{kind}/{name}" not in priced]
    if len(without) == sum(map(len, wanted.values())):
        lists = ", ".join(each.name for each in prices.lists)
        raise InputError(
            f"plan: {asked}: no price of {shorten_list(without, MOST_NAMED) or 'any'} in {lists}; {remedy}"
        )
    boxes, volumes = (chassis_specs() if wanted["chassis"] else {}), (volume_specs() if wanted["instances"] else {})
    attached = {name: each for name, each in volumes.items() if f"volumes/{name}" in priced}
    for name in wanted["chassis"]:
        add_chassis(stock, name, boxes[name])
    for name in wanted["instances"]:
        add_instance(stock, name, read_entry("instances", name), attached)
    for name in wanted["machines"]:
        add_machine(stock, name, read_entry("machines", name))
    if len(stock.candidates) > MOST_CANDIDATES:
        raise InputError(
            f"plan: {len(stock.candidates):,} candidates, at most {MOST_CANDIDATES:,}; name fewer with --candidates"
        )
    return stock


def make_plan(
    stock: Stock, prices: Prices, left: ParameterUncertainty, today: dt.date, tell: Tell = lambda *_: None
) -> Plan:
    """The plan, by the analytic engine. `tell`: called with the share that is done. Raises InputError."""
    question = stock.question
    till = Till(prices, question.years, question.spares, today)
    found = screened(Assembly(stock), till, lambda share, words: tell(0.6 * share, words))
    close = listed(found, till, left, lambda share, words: tell(0.6 + 0.3 * share, words))
    points = frontier(found)
    return Plan(question, found, till, left, close, chosen(found, close), points, {})


def confirmed_plan(
    found: Plan, confirm: int, seed: int, store: Store, run: Callable[[Simulations], bool]
) -> tuple[Plan, bool]:
    """The best candidates by the kernel, and others as long as it refutes the choice; what is done if it is stopped.

    `run`: runs simulations, and says whether it was interrupted.
    """
    best = list(found.listed[:confirm])
    if confirm and found.choice is not None and found.choice not in best:
        best = [found.choice, *best[: confirm - 1]]
    stock, done = found.screened.stock, dict[int, SimulatedCandidate]()
    interrupted = False
    while best and not interrupted:
        simulations = Simulations(
            [(each.number, stock.scenario(stock.candidates[each.number]), each.belief.value) for each in best],
            found.question,
            seed,
            store,
        )
        lost = ""
        try:
            interrupted = run(simulations)
        except LostWorkers as error:
            lost = str(error)
        done |= {each.number: each for each in simulations.finished()}
        if lost:
            done |= {each.number: failed(each.number, lost) for each in best if each.number not in done}
        found = with_simulations(found, done)
        best = [found.choice] if found.choice is not None and found.choice.number not in done else []
    return found, interrupted


def with_simulations(plan: Plan, found: dict[int, SimulatedCandidate]) -> Plan:
    """The plan once some machines were simulated: what they refute isn't chosen, and rates are theirs.

    Simulated rates rank what is ranked by the cost for a rate.
    """
    question = plan.question
    refuted = {
        number
        for number, each in found.items()
        if question.target_per_min is not None and not each.holds and not each.fault
    }
    close = plan.listed
    if question.target_per_min is None:
        rate = {each.number: each.belief.value for each in close}
        rate |= {number: each.rate_per_min for number, each in found.items() if not each.fault}
        by = ranking_key(
            question, np.array([each.cost for each in close]), np.array([rate[each.number] for each in close])
        )
        close = tuple(close[at] for at in np.argsort(by, kind="stable").tolist())
    choice = chosen(plan.screened, [each for each in close if each.number not in refuted])
    return replace(plan, listed=close, choice=choice, confirmed=found)


def current_date() -> dt.date:
    """The date by which prices are old."""
    return dt.datetime.now(dt.UTC).date()
