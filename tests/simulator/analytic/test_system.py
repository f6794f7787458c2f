"""Whole machines solved: Little's law, limits that are known, and how the rate goes with the machine's parts."""

from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator.analytic import (
    Parameters,
    Solution,
    Workload,
    parameters_of,
    rates,
    read_workload,
    solve,
    stacked,
)
from oltpsim.simulator.analytic.equations.solution import at_rate
from tests.simulator.analytic.columns import by_name, column_of, with_columns
from tests.simulator.tpcc_systems import TINY

FloatArray = npt.NDArray[np.float64]
DURABLE = ("database.log={commit: durable, flush_overhead_us: 50}", "machine.cpu.cores=2")
FEW_BUFFERS = ("database.pool.buffers=300",)
DIRECT = ("database.io=direct",)
THINKING = ("database.pool.replacement=clock", "workload.arrivals={kind: closed, clients: 20, think_time_s: 0.05}")
MANY = ("machine.memory_gib=2", "workload.arrivals={kind: closed, clients: 200, think_time_s: 0}")
EVERY: list[tuple[str, ...]] = [(), DURABLE, FEW_BUFFERS, DIRECT, THINKING, MANY]
SOME_CLIENTS = (
    "workload.arrivals={kind: closed, clients: 20, think_time_s: 0.02}",
    "workload.warehouses=2",
    "machine.memory_gib=2",
)
IN_MEMORY = (
    "database.pool.buffers=300000",
    "machine.memory_gib=16",
    "database.critical_section={share_of_path: 0, entries_per_transaction: 10}",
)


@cache
def machine(*settings: str) -> tuple[Workload, Parameters, str]:
    model = build(load_scenario(TINY, list(settings)))
    workload = read_workload(model)
    return workload, parameters_of(model, workload), model.pool.replacement


@cache
def solved(*settings: str) -> Solution:
    return solve(*machine(*settings))


def variants(p: Parameters, **changed: FloatArray) -> Parameters:
    """The machine as often as the changed figures have values; dirty marks follow the buffers."""
    length = len(next(iter(changed.values())))
    if "pool_buffers" in changed:
        more = changed["pool_buffers"] / p.pool.buffers
        parts = ("resident", "dirty_high", "dirty_low")
        changed |= {f"pool_{name}": getattr(p.pool, name) * more for name in parts}
    return with_columns(p.repeated(length), **changed)


def a_few(p: Parameters) -> list[Parameters]:
    """Machines that differ in buffers, clients and cores."""
    some = variants(
        p,
        pool_buffers=p.pool.buffers * np.array([0.5, 0.8, 1.0, 1.5, 2.5, 4.0]),
        clients_number=p.clients.number * np.arange(1, 7),
        cpu_processors=np.array([1.0, 2, 3, 1, 2, 3]),
    )
    return [some.take(slice(k, k + 1)) for k in range(6)]


# Little's law and utilisation


def population(settings: tuple[str, ...], of: Solution) -> float:
    """Clients that a solution accounts for, thinking or waiting."""
    workload, _, _ = machine(*settings)
    return float(of.rate[0] * (of.classes.total_s[0] @ workload.mix + workload.think_s))


@pytest.mark.parametrize("settings", EVERY)
def test_every_client_is_thinking_or_waiting(settings: tuple[str, ...]) -> None:
    """Where two hundred clients wait for locks, the response is so steep that a rate to 1e-8 leaves 1e-5 of them."""
    of, (_, p, _) = solved(*settings), machine(*settings)
    expected = pytest.approx(p.clients.number[0], rel=3e-5 if settings == MANY else 1e-6)
    assert population(settings, of) == expected
    assert population(settings, replace(of, rate=of.rate * 1.001)) != expected
    shorter = with_columns(of, classes_total_s=of.classes.total_s - 0.5 * of.classes.cpu_s)
    assert population(settings, shorter) != expected


def processors_needed(of: Solution) -> float:
    return float(of.rate[0] * (of.cpu.path_s[0] + of.cpu.section_s[0] + of.cpu.background_s[0]))


@pytest.mark.parametrize("settings", EVERY)
def test_no_processor_does_more_than_it_can(settings: tuple[str, ...]) -> None:
    of, (_, p, _) = solved(*settings), machine(*settings)
    assert 0 < processors_needed(of) <= p.cpu.processors[0] * (1 + 1e-3)
    assert of.cpu.busy[0] == pytest.approx(processors_needed(of) / p.cpu.processors[0], rel=1e-3)
    assert processors_needed(replace(of, rate=of.rate * 40.0)) > p.cpu.processors[0]
    for name in ("cpu.busy", "cpu.section_busy", "disks.busy", "disks.first_busy", "log.busy"):
        assert 0 <= column_of(of, name)[0] <= 1


# Limits


def test_one_client_waits_for_nobody() -> None:
    settings = (*IN_MEMORY, "workload.arrivals={kind: closed, clients: 1, think_time_s: 0.01}")
    workload, _, _ = machine(*settings)
    of = solved(*settings)
    demand = float(
        ((of.classes.cpu_s[0] + of.classes.section_s[0]) / of.cpu.slowdown[0] + workload.network_s) @ workload.mix
    )
    assert of.pool.reads[0] < 1e-6
    assert of.rate[0] == pytest.approx(1.0 / (demand + workload.think_s), rel=1e-6)
    assert of.rate[0] != pytest.approx(1.0 / demand, rel=1e-3)


@pytest.mark.parametrize("cores", [1, 4])
def test_many_clients_keep_all_processors_busy(cores: int) -> None:
    """Twenty warehouses, so that no locks are waited for."""
    settings = (
        *IN_MEMORY,
        f"machine.cpu.cores={cores}",
        "workload.warehouses=20",
        "workload.arrivals={kind: closed, clients: 60, think_time_s: 0}",
    )
    of = solved(*settings)
    demand = float((of.cpu.path_s + of.cpu.background_s)[0])
    assert of.rate[0] == pytest.approx(cores / demand, rel=0.01)
    assert of.rate[0] != pytest.approx((cores + 1) / demand, rel=0.01)


@pytest.mark.parametrize("arrivals_per_s", [50, 300])
def test_an_open_system_does_what_arrives(arrivals_per_s: int) -> None:
    arrivals = "workload.arrivals={{kind: open, connections: 8, transactions_per_s: {}}}"
    assert solved(arrivals.format(arrivals_per_s)).rate[0] == pytest.approx(arrivals_per_s, rel=1e-9)
    most = solved(arrivals.format(5000)).rate[0]
    assert arrivals_per_s < most < 5000


# Several machines at once


@pytest.mark.parametrize("settings", [(), SOME_CLIENTS, DIRECT])
def test_machines_solved_together_are_those_solved_alone(settings: tuple[str, ...]) -> None:
    workload, p, policy = machine(*settings)
    some = a_few(p)
    alone = np.concatenate([rates(workload, one, policy) for one in some])
    together = rates(workload, stacked(some), policy)
    np.testing.assert_allclose(together, alone, rtol=1e-3)
    order = [3, 0, 5, 1, 4, 2]
    permuted = rates(workload, stacked([some[k] for k in order]), policy)
    np.testing.assert_allclose(permuted, alone[order], rtol=1e-3)
    assert not np.allclose(permuted, alone, rtol=1e-3)


def test_solutions_of_several_machines_are_those_of_each() -> None:
    workload, p, policy = machine(*SOME_CLIENTS)
    some = a_few(p)
    alone = np.concatenate([solve(workload, one, policy).rate for one in some])
    np.testing.assert_allclose(solve(workload, stacked(some), policy).rate, alone, rtol=2e-3)
    assert not np.allclose(solve(workload, stacked(some[::-1]), policy).rate, alone, rtol=2e-3)


@pytest.mark.parametrize("settings", [(), THINKING, SOME_CLIENTS, MANY, DIRECT])
def test_quick_rates_are_those_of_solutions(settings: tuple[str, ...]) -> None:
    workload, p, policy = machine(*settings)
    quick = rates(workload, stacked(a_few(p)), policy)
    exact = solve(workload, stacked(a_few(p)), policy).rate
    np.testing.assert_allclose(quick, exact, rtol=1e-3)
    assert not np.allclose(quick, 1.01 * exact, rtol=1e-3)


@pytest.mark.parametrize("settings", [(), THINKING, SOME_CLIENTS, MANY, DIRECT])
def test_caches_and_writes_were_solved_at_about_the_rate_found(settings: tuple[str, ...]) -> None:
    """At the rate of the solution as many clients are busy as there are, and there is as much to read and to write."""
    workload, p, policy = machine(*settings)
    some = stacked(a_few(p)).filled()
    found = solve(workload, some, policy)
    again = at_rate(workload, some, policy, found.rate)
    np.testing.assert_allclose(again.population, 1.0, rtol=1e-5)
    some_names = ("pool.reads", "writes.pages", "writes.requests", "pool.dirty", "writes.page_s", "pool.cache_time")
    for name in (*some_names, "response_s"):
        np.testing.assert_allclose(column_of(again, name), column_of(found, name), rtol=1e-5, atol=1e-12)
    assert (at_rate(workload, some, policy, 1.01 * found.rate).population > 1.0 + 1e-3).all()


def test_repeating_and_taking_keep_every_figure() -> None:
    _, p, _ = machine()
    many = variants(p, clients_number=np.arange(1.0, 8.0))
    assert len(many) == 7
    second = many.take(slice(1, 2))
    assert second.clients.number.tolist() == [2.0]
    for name, value in by_name(many).items():
        assert len(value) == 7
        assert len(column_of(stacked([p, p]), name)) == 2
        if name != "clients.number":
            np.testing.assert_array_equal(value[3:4], column_of(p, name))
    assert not np.array_equal(many.clients.number[3:4], p.clients.number)


# Rising and smooth


def falls(values: FloatArray) -> float:
    """The most by which a value lies below one before it, relative."""
    return float(1.0 - (values / np.maximum.accumulate(values)).min())


FACTORS = np.geomspace(0.5, 8.0, 60)


@pytest.mark.parametrize("settings", [(), SOME_CLIENTS, FEW_BUFFERS, THINKING])
@pytest.mark.parametrize("part", ["pool.buffers", "cpu.processors", "cpu.speed", "page_cache.pages"])
def test_more_of_a_part_is_never_slower(settings: tuple[str, ...], part: str) -> None:
    workload, p, policy = machine(*settings)
    factors = np.arange(1.0, 17.0) if part == "cpu.processors" else FACTORS
    found = solve(workload, variants(p, **{part.replace(".", "_"): column_of(p, part) * factors}), policy).rate
    assert falls(found) < 3e-3
    assert falls(found[::-1]) > 3e-3 or found.max() < 1.003 * found.min()


SMALL = "machine.memory_gib=0.23"


@pytest.mark.parametrize(
    "settings", [(SMALL,), (*SOME_CLIENTS[:2], "machine.memory_gib=0.4"), (*FEW_BUFFERS, SMALL), DIRECT]
)
def test_a_faster_disk_is_never_slower(settings: tuple[str, ...]) -> None:
    workload, p, policy = machine(*settings)
    slowness = FACTORS[::-1, None]
    found = solve(
        workload,
        variants(p, storage_read_s=p.storage.read_s * slowness, storage_write_s=p.storage.write_s * slowness),
        policy,
    ).rate
    assert falls(found) < 3e-3
    assert falls(found[::-1]) > 0.03


@pytest.mark.parametrize("settings", [(), SOME_CLIENTS, FEW_BUFFERS])
def test_a_disk_that_nobody_reads_makes_no_difference(settings: tuple[str, ...]) -> None:
    """The page cache holds the whole database; that draws from windows miss the pool doesn't fill it twice."""
    workload, p, policy = machine(*settings)
    assert p.page_cache.pages[0] > 4 * workload.groups.pages.sum()
    found = solve(workload, variants(p, storage_read_s=p.storage.read_s * FACTORS[:, None]), policy)
    assert found.pool.misses.min() > 1
    assert found.pool.reads.max() < 1e-3
    assert found.rate.max() < 1.003 * found.rate.min()


@pytest.mark.parametrize("settings", [SOME_CLIENTS, THINKING])
def test_more_clients_do_hardly_less(settings: tuple[str, ...]) -> None:
    workload, p, policy = machine(*settings)
    found = solve(workload, variants(p, clients_number=np.geomspace(1.0, 60.0, 40)), policy).rate
    assert falls(found) < 0.015
    assert falls(found[::-1]) > 0.1


def jump(values: FloatArray) -> float:
    """The largest relative step."""
    return float(np.abs(np.diff(np.log(values))).max())


@pytest.mark.parametrize("policy", ["lru", "clock"])
def test_the_rate_has_no_jumps_over_buffers(policy: str) -> None:
    """Steps of 0.1 % where a page more makes the greatest difference, and further out."""
    workload, p, _ = machine(*SOME_CLIENTS)
    for start in (300.0, 1200.0, 4000.0, 12_000.0):
        buffers = start * np.exp(0.001 * np.arange(60))
        found = solve(workload, variants(p, pool_buffers=buffers), policy).rate
        assert jump(found) < 2e-3
        assert jump(np.where(buffers > 1.02 * start, 1.01 * found, found)) > 2e-3


@pytest.mark.parametrize("settings", [SOME_CLIENTS, FEW_BUFFERS, DIRECT])
def test_the_rate_has_no_jumps_over_clients_and_think_times(settings: tuple[str, ...]) -> None:
    workload, p, policy = machine(*settings)
    for start in (2.0, 15.0, 80.0):
        found = solve(workload, variants(p, clients_number=start * np.exp(0.001 * np.arange(60))), policy).rate
        assert jump(found) < 3e-3
    some = with_columns(p, clients_number=np.array([10.0]))
    think = 0.01 * np.exp(0.001 * np.arange(20))
    found = np.concatenate([solve(replace(workload, think_s=t), some, policy).rate for t in think.tolist()])
    assert jump(found) < 2e-3
    assert found[-1] < found[0]
