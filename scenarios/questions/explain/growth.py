"""When growth exhausts a machine: the last month in which it still does what is asked of it.

Data and load grow together, by the same share a year. The load that is asked for arrives by itself: it is exhausted
when the machine can't do it, or when its response times miss the objective, or when the data no longer fit.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from models.build import clients_of
from models.reading import with_values
from models.scenario import ScenarioSpec
from models.workloads import OpenArrivalsSpec
from scenarios.questions.explain.machines import MachineSolver, PercentileObjective, SolvedMachine, saturated
from scenarios.questions.explain.room import with_warehouses
from scenarios.questions.explain.search import largest
from simulator.errors import Infeasible, InputError

MOST_MONTHS = 240
MONTHS = 12
WRITTEN = re.compile(r"^\s*([0-9]+(?:\.[0-9]+)?)\s*%\s*(?:/|per|a)\s*(year|month)\s*$")
MOST_PER_YEAR = 100.0
"""hundredfold: beyond it somebody took a rate for a share"""


@dataclass(frozen=True)
class Growth:
    """The last month that the machine lasts, 0 if it is exhausted already, None if after 20 years it isn't."""

    per_year_fraction: float
    load_per_min: float
    """new orders that are asked for now"""
    rate_per_min: float
    """new orders that the machine could do now"""
    month: int | None
    warehouses: int
    """in that month"""
    by: str | None
    """what gives out after it"""


def parse_growth(text: str) -> float:
    """`20 %/year` or `2 %/month` as a share per year. Raises InputError."""
    found = WRITTEN.match(text)
    if found is None:
        raise InputError(f"--growth {text}: expected a share and its time, for example '20 %/year' or '1.5 %/month'")
    share = float(found[1]) / 100.0
    per_year = share if found[2] == "year" else (1.0 + share) ** MONTHS - 1.0
    if not 0.0 < per_year <= MOST_PER_YEAR:
        raise InputError(f"--growth {text}: {100 * per_year:,.3g} % a year; must be above 0 and at most 10,000 %")
    return per_year


def growth(
    scenario: ScenarioSpec,
    most: SolvedMachine,
    solver: MachineSolver,
    objective: PercentileObjective | None,
    per_year: float,
    load_per_min: float | None,
) -> Growth:
    """`most`: the machine of `saturated(scenario)`. `load_per_min`: asked now; without one what the scenario does."""
    share = scenario.workload.mix.new_order
    if share <= 0:
        raise InputError("--growth: the mix has no new orders to count")
    if load_per_min is None:
        arrivals = scenario.workload.arrivals
        load_per_min = most.rate_per_min
        if isinstance(arrivals, OpenArrivalsSpec):
            load_per_min = arrivals.transactions_per_s * 60.0 * share
    asked = load_per_min
    fails: dict[int, str] = {}

    def after(month: int) -> float:
        return float((1.0 + per_year) ** (month / MONTHS))

    def warehouses(month: int) -> int:
        return round(scenario.workload.warehouses * after(month))

    def margin(month: int) -> float:
        try:
            more = with_warehouses(scenario, warehouses(month))
        except Infeasible:
            fails[month] = "room for the data"
            return -math.inf
        if objective is None:
            [machine] = solver(saturated(more))
            found = math.log(machine.rate_per_min / (asked * after(month)))
            fails[month] = machine.bottleneck.name
            return found
        per_s = asked * after(month) / 60.0 / share
        coming = {"kind": "open", "transactions_per_s": per_s, "connections": clients_of(more.workload)}
        [machine] = solver(with_values(more, {"workload.arrivals": coming}))
        fails[month] = f"{objective.percentile}: {machine.bottleneck.name}"
        return objective.margin(machine)

    last = largest(margin, MONTHS, MOST_MONTHS)
    beyond = min((month for month in fails if month > (last or 0)), default=None)
    return Growth(
        per_year_fraction=per_year,
        load_per_min=asked,
        rate_per_min=most.rate_per_min,
        month=None if last == MOST_MONTHS else last or 0,
        warehouses=warehouses(last or 0),
        by=None if beyond is None else fails[beyond],
    )
