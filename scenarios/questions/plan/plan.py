"""A plan: the question, every candidate's verdict, the short list, the choice, the frontier."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import numpy as np

from models.catalogue import Prices, catalogue_names, chassis, instances, read_entry, volumes
from models.input import nearest
from scenarios.questions.plan.belief import ParameterUncertainty
from scenarios.questions.plan.bill import Till
from scenarios.questions.plan.choice import FrontierPoint, ShortListed, chosen, frontier, listed
from scenarios.questions.plan.confirm import SimulatedCandidate
from scenarios.questions.plan.expand import add_chassis, add_instance, add_machine
from scenarios.questions.plan.loads import Assembly
from scenarios.questions.plan.question import PlanQuestion
from scenarios.questions.plan.screening import MEETS, ScreenedStock, screened, worth
from scenarios.questions.plan.stock import Stock
from simulator.errors import InputError

MOST_CANDIDATES = 1_000_000
Tell = Callable[[float, str], None]


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
    def rejected(self) -> dict[int, int]:
        """How many candidates fell out, by verdict."""
        kinds, counts = np.unique(self.screened.verdict, return_counts=True)
        return {kind: count for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True) if kind != MEETS}


def stock_of(question: PlanQuestion, prices: Prices, patterns: Sequence[str]) -> Stock:
    """Candidates of all shapes of the catalogue that the lists have prices of, or of those that match a pattern.

    Raises InputError if nothing matches.
    """
    stock = Stock(question)
    priced = {row.part for each in prices.lists for row in each.rows}
    names = {
        "chassis": catalogue_names("chassis"),
        "instances": catalogue_names("instances"),
        "machines": catalogue_names("machines"),
    }
    wanted = {kind: _wanted(kind, every, priced, patterns) for kind, every in names.items()}
    if not any(wanted.values()):
        known = sorted(part for part in priced if part.partition("/")[0] in names)
        asked = ", ".join(patterns) or "the price lists"
        raise InputError(
            f"plan: {asked}: no candidates{nearest(patterns[0], known) if patterns else ''}; "
            f"with a price: {', '.join(known[:20])}"
        )
    boxes, rented = (chassis() if wanted["chassis"] else {}), (instances() if wanted["instances"] else {})
    attached = {name: each for name, each in volumes().items() if f"volumes/{name}" in priced} if rented else {}
    for name in wanted["chassis"]:
        add_chassis(stock, name, boxes[name])
    for name in wanted["instances"]:
        add_instance(stock, name, rented[name], attached)
    for name in wanted["machines"]:
        add_machine(stock, name, read_entry("machines", name))
    if len(stock.candidates) > MOST_CANDIDATES:
        raise InputError(
            f"plan: {len(stock.candidates):,} candidates, at most {MOST_CANDIDATES:,}; name fewer with --candidates"
        )
    return stock


def _wanted(kind: str, names: Iterable[str], priced: set[str], patterns: Sequence[str]) -> list[str]:
    if not patterns:
        return [name for name in names if f"{kind}/{name}" in priced]
    return [
        name
        for name in names
        if any(fnmatchcase(name, each) or fnmatchcase(f"{kind}/{name}", each) for each in patterns)
    ]


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
        rate = {each.number: each.belief.per_min for each in close}
        rate |= {number: each.rate_per_min for number, each in found.items() if not each.fault}
        by = worth(question, np.array([each.cost for each in close]), np.array([rate[each.number] for each in close]))
        close = tuple(close[at] for at in np.argsort(by, kind="stable").tolist())
    choice = chosen(plan.screened, [each for each in close if each.number not in refuted])
    return replace(plan, listed=close, choice=choice, confirmed=found)


def today() -> dt.date:
    """By which prices are told old."""
    return dt.datetime.now(dt.UTC).date()
