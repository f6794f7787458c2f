"""Capacity of a machine: data, users at the specification's pace, clients of the scenario; and how long it lasts.

The objective is a percentile of the new orders' response time. Without one, data are held as long as the rate is 90 %
of what the same machine would do if all of its data were in the pool, and users as long as it keeps their pace.
Of growth, data and load grow together, by the same share a year. The load that is asked for arrives by itself: the
machine is exhausted when it can't do it, or when its response times miss the objective, or when the data no longer fit.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from oltpsim.calibration.fit import AnalyticInput
from oltpsim.models.reading import with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import memory_plan
from oltpsim.models.workloads import ClosedClientsSpec, OpenArrivalsSpec
from oltpsim.scenarios.questions.explain.machines import (
    MachineSolver,
    PercentileObjective,
    SolvedMachine,
    machines,
    with_busy_connections,
)
from oltpsim.simulator.errors import Infeasible, InputError
from oltpsim.simulator.form import GIB, KIB

HELD_RATE_FRACTION = 0.9
"""share of the rate in memory that counts as held"""
MOST_UNITS = 10_000_000
MOST_CLIENTS = 1_000_000
"""as workloads allow"""
STRIDE = 2.0
"""what a number grows or shrinks by until one that holds and one that doesn't are found"""
NEAR = 1.05
"""how near these two come to each other at last"""
MOST_OFF = 0.25
"""how far a trial may be from the middle of these two, as a share of their logarithmic distance"""
MOST_MONTHS = 240
MONTHS = 12
WRITTEN = re.compile(r"^\s*([0-9]+(?:\.[0-9]+)?)\s*%\s*(?:/|per|a)\s*(year|month)\s*$")
MOST_PER_YEAR = 100.0
"""hundredfold: beyond it somebody took a rate for a share"""


@dataclass(frozen=True)
class CapacityLimit:
    """The most that is held; `number` 0: not even one. `full`: what stops it is that more data don't fit.

    `undecided`: why the analytic engine can't say whether the next that was tried is held, if it can't.
    """

    number: int
    data_gib: float
    rate_per_min: float
    clients: int
    full: bool
    undecided: str = ""


@dataclass(frozen=True)
class Capacity:
    """Capacity of a machine: warehouses by data, warehouses with their ten users each, clients of the scenario."""

    objective: PercentileObjective | None
    warehouses: CapacityLimit
    paced: CapacityLimit | None
    """warehouses whose users key and think; None if the mix has no new orders"""
    clients: CapacityLimit | None
    """on the scenario's data; None without an objective, or if transactions arrive by themselves"""


def capacity_of(
    scenario: ScenarioSpec, machine: SolvedMachine, solver: MachineSolver, objective: PercentileObjective | None
) -> Capacity:
    """Capacity at the objective. `machine`: of `with_busy_connections(scenario)`.

    The pace's transactions arrive by themselves with an objective; else all connections do what they can.
    """
    search, most, workload = _Search(solver, objective), most_units(scenario), scenario.unit_workload
    per_unit = workload.unit_users
    assert per_unit is not None
    memory_pages = max(scenario.database.pool.buffers, memory_plan(scenario).page_cache_pages)
    in_memory_now = int(memory_pages * workload.loaded / workload.loaded_pages)

    def busy(units: int) -> ScenarioSpec:
        return with_busy_connections(with_units(scenario, units))

    def paced(units: int) -> ScenarioSpec:
        if objective is None:
            return busy(units)
        return with_load(with_units(scenario, units), per_unit.per_min * units)

    def keeps_rate(_: int, found: SolvedMachine) -> float:
        [ideal] = machines([in_memory(found.point)])
        return math.log(found.rate_per_min / (HELD_RATE_FRACTION * ideal.rate_per_min))

    def keeps_pace(units: int, found: SolvedMachine) -> float:
        return math.log(found.rate_per_min / (per_unit.per_min * units))

    warehouses = search.most(busy, max(1, in_memory_now), most, keeps_rate)
    users = clients = None
    if workload.main_share > 0:
        held = search.most(paced, round(machine.rate_per_min / per_unit.per_min), most, keeps_pace)
        per_min, number = per_unit.per_min * held.number, per_unit.number * held.number
        users = replace(held, rate_per_min=per_min, clients=number)
    if objective is not None and isinstance(workload.arrivals, ClosedClientsSpec):

        def with_clients(number: int) -> ScenarioSpec:
            return with_values(scenario, {"workload.arrivals.clients": number})

        clients = search.most(with_clients, workload.arrivals.clients, MOST_CLIENTS)
    return Capacity(objective, warehouses, users, clients)


def with_units(scenario: ScenarioSpec, units: int) -> ScenarioSpec:
    """The scenario with so many units, as TPC-C's warehouses, the same share of them active.

    Clients that stay at one unit each come with it, as many as now; others go to all of them and stay as many.
    Raises InputError (Infeasible) if disks or memory don't suffice.
    """
    changes = scenario.workload.keys_of_size(units, MOST_CLIENTS)
    try:
        return with_values(scenario, changes)
    except Infeasible:
        raise
    except InputError:  # so many units can't be sampled as the scenario's are
        return with_values(scenario, changes | {"sampling_fraction": 1.0})


def with_load(scenario: ScenarioSpec, main_per_min: float) -> ScenarioSpec:
    """The scenario whose transactions arrive by themselves, at a rate of the main class, on as many connections."""
    per_s = main_per_min / 60.0 / scenario.workload.main_share
    arrivals = {"kind": "open", "transactions_per_s": per_s, "connections": scenario.workload.clients}
    return with_values(scenario, {"workload.arrivals": arrivals})


def most_units(scenario: ScenarioSpec) -> int:
    """Most units that disks and memory hold at all; the scenario's own number fits."""

    def fits(units: int) -> bool:
        try:
            with_units(scenario, units)
        except Infeasible:
            return False
        return True

    good = scenario.workload.loaded
    bad = good * 2
    while bad < MOST_UNITS and fits(bad):
        good, bad = bad, bad * 2
    bad = min(bad, MOST_UNITS + 1)
    while bad - good > max(1, good // 1000):
        middle = (good + bad) // 2
        good, bad = (middle, bad) if fits(middle) else (good, middle)
    return good


def in_memory(point: AnalyticInput) -> AnalyticInput:
    """The same machine with a pool that holds every page, and memory for it."""
    p = point.parameters
    pages = np.array([float(point.system.program.pages)])
    factor = np.maximum(pages / p.pool.buffers, 1.0)
    held = np.maximum(pages, p.pool.buffers)
    marks = {"dirty_high": p.pool.dirty_high * factor, "dirty_low": p.pool.dirty_low * factor}
    pool = replace(p.pool, buffers=held, resident=held, **marks)
    return replace(point, parameters=replace(p, pool=pool))


@dataclass(frozen=True)
class _Search:
    """Search for the most that machines hold at an objective, or without one by a margin of their own."""

    solver: MachineSolver
    objective: PercentileObjective | None

    def most(
        self,
        make: Callable[[int], ScenarioSpec],
        start: int,
        most: int,
        margin: Callable[[int, SolvedMachine], float] = lambda *_: 0.0,
    ) -> CapacityLimit:
        """The largest number whose machine has no negative margin; what the machine can't run at all isn't held."""
        tried: dict[int, tuple[ScenarioSpec, SolvedMachine]] = {}
        undecided: dict[int, str] = {}

        def at(number: int) -> float:
            try:
                scenario = make(number)
            except Infeasible:
                return -math.inf
            [machine] = self.solver(scenario)
            tried[number] = scenario, machine
            if self.objective is None:
                return margin(number, machine)
            if machine.response_s(self.objective.percentile) is None:
                undecided[number] = machine.no_percentiles
            return self.objective.margin(machine)

        found = largest(at, start, most)
        beyond = min((number for number in tried if number > (found or 0)), default=0)
        why = undecided.get(beyond, "")
        if found is None:
            return CapacityLimit(0, 0.0, 0.0, 0, full=False, undecided=why)
        scenario, machine = tried[found]
        workload = scenario.workload
        gib = workload.loaded_pages * scenario.database.page_kib * KIB / GIB
        return CapacityLimit(found, gib, machine.rate_per_min, workload.clients, found == most, why)


def largest(margin: Callable[[int], float], start: int, most: int) -> int | None:
    """The largest number from 1 to `most` whose margin is not negative, to 5 %; None if 1 has none.

    `margin` falls with the number. Between a number that holds and one that doesn't the next trial is where the margin
    would be 0 if it fell evenly with the number's logarithm. The answer itself has been tried. Trials are few:
    each costs a program read anew.
    """
    tried: dict[int, float] = {}
    at = max(1, min(start, most))
    while True:
        tried[at] = margin(at)
        good = max((number for number, value in tried.items() if value >= 0), default=0)
        bad = min((number for number, value in tried.items() if value < 0 and number > good), default=most + 1)
        if good + 1 >= bad or (good and bad <= most and bad <= good * NEAR):
            return good or None
        if bad > most:
            at = min(most, max(good + 1, int(good * STRIDE)))
        elif not good:
            at = max(1, int(bad / STRIDE))
        else:
            fall = tried[good] - tried[bad]
            share = tried[good] / fall if math.isfinite(fall) else 0.5
            share = min(max(share, 0.5 - MOST_OFF), 0.5 + MOST_OFF)
            at = min(max(round(good * math.exp(share * math.log(bad / good))), good + 1), bad - 1)


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
    """`most`: machine with busy connections. `load_per_min`: asked now; without one what the scenario does."""
    share, arrivals = scenario.unit_workload.main_share, scenario.workload.arrivals
    if share <= 0:
        raise InputError("--growth: the mix has no new orders to count")
    now_per_min = most.rate_per_min if load_per_min is None else load_per_min
    if load_per_min is None and isinstance(arrivals, OpenArrivalsSpec):
        now_per_min = arrivals.transactions_per_s * 60.0 * share
    fails: dict[int, str] = {}

    def after(month: int) -> float:
        return float((1.0 + per_year) ** (month / MONTHS))

    def warehouses(month: int) -> int:
        return round(scenario.workload.loaded * after(month))

    def margin(month: int) -> float:
        try:
            larger = with_units(scenario, warehouses(month))
        except Infeasible:
            fails[month] = "room for the data"
            return -math.inf
        if objective is None:
            [machine] = solver(with_busy_connections(larger))
            fails[month] = machine.bottleneck.name
            return math.log(machine.rate_per_min / (now_per_min * after(month)))
        [machine] = solver(with_load(larger, now_per_min * after(month)))
        unknown = machine.response_s(objective.percentile) is None
        fails[month] = f"{objective.percentile}: {machine.no_percentiles if unknown else machine.bottleneck.name}"
        return objective.margin(machine)

    last = largest(margin, MONTHS, MOST_MONTHS)
    beyond = min((month for month in fails if month > (last or 0)), default=None)
    return Growth(
        per_year_fraction=per_year,
        load_per_min=now_per_min,
        rate_per_min=most.rate_per_min,
        month=None if last == MOST_MONTHS else last or 0,
        warehouses=warehouses(last or 0),
        by=None if beyond is None else fails[beyond],
    )
