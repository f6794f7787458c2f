"""How much a machine holds: data, users at the specification's pace, and clients of the scenario's own kind.

The objective is a percentile of the new orders' response time. Without one, data are held as long as the rate is 90 %
of what the same machine would do if all of its data were in the pool, and users as long as it keeps their pace.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from calibration.fit import AnalyticInput
from models.build import clients_of, memory_plan
from models.reading import with_values
from models.scenario import ScenarioSpec
from models.workloads import ClosedClientsSpec
from models.workloads.tpcc import loaded_pages
from scenarios.questions.explain.machines import MachineSolver, PercentileObjective, SolvedMachine, machines, saturated
from scenarios.questions.explain.search import largest
from simulator.errors import Infeasible, InputError
from simulator.form import GIB, KIB

KEEPS = 0.9
"""share of the rate in memory that counts as held"""
PER_WAREHOUSE_PER_MIN = 12.86
"""most new orders of a warehouse's ten keying and thinking users: TPC-C specification 5.11, clause 4.2"""
USERS_PER_WAREHOUSE = 10
MOST_WAREHOUSES = 10_000_000
MOST_CLIENTS = 1_000_000
"""as models/workloads/workload.py allows"""


@dataclass(frozen=True)
class CapacityLimit:
    """The most that is held; `number` 0: not even one. `full`: what stops it is that more data don't fit."""

    number: int
    data_gib: float
    rate_per_min: float
    clients: int
    full: bool


@dataclass(frozen=True)
class Capacity:
    """What fits on a machine: warehouses by data, warehouses with their ten users each, clients of the scenario."""

    objective: PercentileObjective | None
    warehouses: CapacityLimit
    paced: CapacityLimit | None
    """warehouses whose users key and think; None if the mix has no new orders"""
    clients: CapacityLimit | None
    """on the scenario's data; None without an objective, or if transactions arrive by themselves"""


def capacity_of(
    scenario: ScenarioSpec, machine: SolvedMachine, solver: MachineSolver, objective: PercentileObjective | None
) -> Capacity:
    """How much fits at the objective. `machine`: of `saturated(scenario)`."""
    most = most_warehouses(scenario)
    return Capacity(
        objective=objective,
        warehouses=_by_data(scenario, solver, objective, most),
        paced=_paced(scenario, machine, solver, objective, most),
        clients=_clients(scenario, solver, objective),
    )


def data_gib(scenario: ScenarioSpec, warehouses: int) -> float:
    """What a bulk load of so many warehouses fills."""
    return loaded_pages(scenario.workload.layout, warehouses) * scenario.database.page_kib * KIB / GIB


def with_warehouses(scenario: ScenarioSpec, warehouses: int) -> ScenarioSpec:
    """The scenario with so many warehouses, the same share of them active.

    Clients that stay at one warehouse each come with it, as many as now; others go to all of them and stay as many.
    Raises InputError (Infeasible) if disks or memory don't suffice.
    """
    workload = scenario.workload
    factor = warehouses / workload.warehouses
    changes: dict[str, object] = {"workload.warehouses": warehouses}
    if workload.active_warehouses is not None:
        changes["workload.active_warehouses"] = max(1, round(workload.active_warehouses * factor))
    arrivals = workload.arrivals
    if isinstance(arrivals, ClosedClientsSpec) and workload.tpcc.home_warehouse == "bound":
        changes["workload.arrivals.clients"] = min(max(1, round(arrivals.clients * factor)), MOST_CLIENTS)
    try:
        return with_values(scenario, changes)
    except Infeasible:
        raise
    except InputError:  # so many warehouses can't be sampled as the scenario's are
        return with_values(scenario, changes | {"sampling_fraction": 1.0})


def most_warehouses(scenario: ScenarioSpec) -> int:
    """As many as disks and memory hold at all; those of the scenario are."""

    def fits(warehouses: int) -> bool:
        try:
            with_warehouses(scenario, warehouses)
        except Infeasible:
            return False
        return True

    good = scenario.workload.warehouses
    bad = good * 2
    while bad < MOST_WAREHOUSES and fits(bad):
        good, bad = bad, bad * 2
    bad = min(bad, MOST_WAREHOUSES + 1)
    while bad - good > max(1, good // 1000):
        middle = (good + bad) // 2
        good, bad = (middle, bad) if fits(middle) else (good, middle)
    return good


def in_memory(point: AnalyticInput) -> AnalyticInput:
    """The same machine with a pool that holds every page, and memory for it."""
    p = point.parameters
    pages = np.array([float(point.model.program.pages)])
    factor = np.maximum(pages / p.buffers, 1.0)
    held = np.maximum(pages, p.buffers)
    marks = {"dirty_high": p.dirty_high * factor, "dirty_low": p.dirty_low * factor}
    return replace(point, parameters=replace(p, buffers=held, resident=held, **marks))


def _by_data(
    scenario: ScenarioSpec, solver: MachineSolver, objective: PercentileObjective | None, most: int
) -> CapacityLimit:
    def margin(_: int, machine: SolvedMachine) -> float:
        if objective is not None:
            return objective.margin(machine)
        [ideal] = machines([in_memory(machine.point)])
        return math.log(machine.rate_per_min / (KEEPS * ideal.rate_per_min))

    return _most(
        lambda number: saturated(with_warehouses(scenario, number)), margin, solver, _in_memory_now(scenario), most
    )


def _in_memory_now(scenario: ScenarioSpec) -> int:
    """About as many warehouses as memory holds."""
    plan, workload = memory_plan(scenario), scenario.workload
    pages = max(scenario.database.pool.buffers, plan.page_cache_pages)
    return max(1, int(pages * workload.warehouses / loaded_pages(workload.layout, workload.warehouses)))


def _paced(
    scenario: ScenarioSpec,
    machine: SolvedMachine,
    solver: MachineSolver,
    objective: PercentileObjective | None,
    most: int,
) -> CapacityLimit | None:
    """With an objective the pace's transactions arrive by themselves; else all connections do what they can."""
    share = scenario.workload.mix.new_order
    if share <= 0:
        return None

    def paced(number: int) -> ScenarioSpec:
        more = with_warehouses(scenario, number)
        if objective is None:
            return saturated(more)
        per_s = PER_WAREHOUSE_PER_MIN * number / 60.0 / share
        arrivals = {"kind": "open", "transactions_per_s": per_s, "connections": clients_of(more.workload)}
        return with_values(more, {"workload.arrivals": arrivals})

    def margin(number: int, found: SolvedMachine) -> float:
        if objective is not None:
            return objective.margin(found)
        return math.log(found.rate_per_min / (PER_WAREHOUSE_PER_MIN * number))

    start = round(machine.rate_per_min / PER_WAREHOUSE_PER_MIN)
    held = _most(paced, margin, solver, start, most)
    return replace(held, rate_per_min=PER_WAREHOUSE_PER_MIN * held.number, clients=USERS_PER_WAREHOUSE * held.number)


def _clients(
    scenario: ScenarioSpec, solver: MachineSolver, objective: PercentileObjective | None
) -> CapacityLimit | None:
    arrivals = scenario.workload.arrivals
    if objective is None or not isinstance(arrivals, ClosedClientsSpec):
        return None

    def more(number: int) -> ScenarioSpec:
        return with_values(scenario, {"workload.arrivals.clients": number})

    return _most(more, lambda _, found: objective.margin(found), solver, arrivals.clients, MOST_CLIENTS)


def _most(
    make: Callable[[int], ScenarioSpec],
    margin: Callable[[int, SolvedMachine], float],
    solver: MachineSolver,
    start: int,
    most: int,
) -> CapacityLimit:
    """The largest number whose machine has no negative margin; what the machine can't run at all isn't held."""
    tried: dict[int, tuple[ScenarioSpec, SolvedMachine]] = {}

    def at(number: int) -> float:
        try:
            scenario = make(number)
        except Infeasible:
            return -math.inf
        [machine] = solver(scenario)
        tried[number] = scenario, machine
        return margin(number, machine)

    found = largest(at, start, most)
    if found is None:
        return CapacityLimit(0, 0.0, 0.0, 0, full=False)
    scenario, machine = tried[found]
    gib = data_gib(scenario, scenario.workload.warehouses)
    return CapacityLimit(found, gib, machine.rate_per_min, clients_of(scenario.workload), full=found == most)
