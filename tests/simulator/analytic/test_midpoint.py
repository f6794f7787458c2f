"""InnoDB's list in the formulas: against the oracle for independent references, and against the kernel on TPC-C."""

import dataclasses
from functools import cache

import numpy as np
import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.scenarios.library import scenario_loader
from oltpsim.simulator import analytic, kernel
from oltpsim.simulator.analytic.reading.page_groups import PageGroups
from oltpsim.simulator.analytic.reading.pool_table import pool_table
from oltpsim.simulator.analytic.reading.workload import read_workload
from oltpsim.simulator.form import System
from oltpsim.simulator.results import Result
from tests.oracles.replacement import missing_by_group
from tests.simulator.analytic.test_pages import drawn_by_hand, without_windows
from tests.simulator.tpcc_systems import TINY

CUT = (
    "workload.warehouses=100",
    "workload.arrivals.clients=40",
    "database.page_cleaner.redo_capacity_gib=3.2",
    "interval={start: warm, warm_up_s: 20, duration_s: 10}",
)
MEDIUM, LARGE = 131_072, 196_608
"""buffers: a fifth and three tenths of the pages"""


@cache
def system(buffers: int, *more: str) -> System:
    """A tenth of HammerDB's runs on MySQL."""
    return build(scenario_loader("innodb/hammerdb-80-users")([*CUT, f"database.pool.buffers={buffers}", *more]))


@cache
def simulated(buffers: int) -> float:
    """Reads of a transaction."""
    return reads(kernel.simulate(system(buffers), 1))


def reads(result: Result) -> float:
    return sum(device.reads_per_s for device in result.devices) / result.transactions_per_s


def by_formula(buffers: int, of: PageGroups | None = None) -> float:
    """Misses of a transaction."""
    groups = of or read_workload(system(buffers)).groups
    table = pool_table(groups, "midpoint")
    filled = np.log(table.filled)
    pages = np.log(system(buffers).pool.pages)
    misses = table.missing @ (groups.references * groups.read)
    return float(np.interp(pages, filled, misses))


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6, 0.9])
def test_independent_references_miss_as_by_the_oracle(share: float) -> None:
    groups = drawn_by_hand()
    table = pool_table(groups, "midpoint")
    capacity = share * float(groups.pages.sum())
    expected = missing_by_group("midpoint", groups.rate, groups.pages, capacity)
    found = [np.interp(capacity, table.filled, column) for column in table.missing.T]
    np.testing.assert_allclose(found, expected, rtol=0.01, atol=1e-6)
    as_lru = missing_by_group("lru", groups.rate, groups.pages, capacity)
    assert not np.allclose(found, as_lru, rtol=0.01)


@pytest.mark.parametrize("buffers", [MEDIUM, LARGE])
def test_pages_that_stock_levels_come_back_to(buffers: int) -> None:
    found = simulated(buffers)
    assert by_formula(buffers) == pytest.approx(found, rel=0.05)
    assert by_formula(round(0.85 * buffers)) > 1.1 * found
    groups = read_workload(system(buffers)).groups
    assert by_formula(buffers, without_windows(groups)) != pytest.approx(found, rel=0.1)


def test_a_writer_beside_a_midpoint_is_in_doubt() -> None:
    def is_in_doubt(*settings: str) -> bool:
        found = analytic.simulate(build(load_scenario(TINY, ["database.io=direct", *settings])), 1).warnings
        return any("midpoint without page cleaners" in line for line in found)

    assert is_in_doubt("database.pool.replacement=midpoint")
    assert not is_in_doubt("database.pool.replacement=lru")


def test_a_pool_that_fills_is_a_plain_list() -> None:
    """Nothing has been replaced when an interval of a second ends that begins with an empty pool."""
    cold = "interval={start: cold, warm_up_s: 0, duration_s: 1}"
    ours, plain = (
        analytic.simulate(system(LARGE, cold, f"database.pool.replacement={policy}"), 1)
        for policy in ("midpoint", "lru")
    )
    assert reads(ours) == pytest.approx(reads(plain), rel=1e-9)
    later = "interval={start: cold, warm_up_s: 2000, duration_s: 1000}"
    ours, plain = (
        analytic.simulate(system(MEDIUM, later, f"database.pool.replacement={policy}"), 1)
        for policy in ("midpoint", "lru")
    )
    assert reads(ours) != pytest.approx(reads(plain), rel=0.01)


def test_warm_pools_are_those_of_a_long_run() -> None:
    """Reads right after a drawn start are those of later, but for stays that windows make longer (7 %)."""
    at_once = dataclasses.replace(system(MEDIUM).interval, warm_up_ns=1_000_000_000, duration_ns=5_000_000_000)
    begins = kernel.simulate(dataclasses.replace(system(MEDIUM), interval=at_once), 1)
    assert reads(begins) == pytest.approx(simulated(MEDIUM), rel=0.1)
