"""Groups of page references and the misses that pools make of them, against runs in which nothing takes time."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator.analytic import Solution, parameters_of, read_workload, solve
from oltpsim.simulator.analytic.reading.page_groups import PageGroups
from oltpsim.simulator.analytic.reading.pages import PageReader
from oltpsim.simulator.analytic.reading.pool_table import pool_table, reach
from oltpsim.simulator.expectation import ProgramReader
from oltpsim.simulator.form import Assembler, System
from tests.simulator.analytic.columns import with_columns
from tests.simulator.rounds import Rounds, without_time
from tests.simulator.tpcc_systems import TINY

FloatArray = npt.NDArray[np.float64]
WAREHOUSES, CLIENTS = 5, 200
LOADED, LATER = (150, 250), (500, 1000)
"""Rounds, each a transaction of every client, that warm up and that are counted; misses have a standard deviation of
0.6 and 0.3 %. In the first all orders that are delivered are loaded ones, as the formulas take them, in the second
none: each of 50 districts has 900, 180 of which go in a hundred rounds. Popular customers get theirs then (2.1.6),
and only a pool that holds all customers knows no difference."""
SETTINGS = [
    "machine.memory_gib=16",
    f"workload.warehouses={WAREHOUSES}",
    f"workload.arrivals={{kind: closed, clients: {CLIENTS}, think_time_s: 0}}",
    # deliveries that keep up, so that the frontiers' lag stays as it is at the start
    "workload.mix={new_order: 0.45, payment: 0.425, order_status: 0.04, delivery: 0.045, stock_level: 0.04}",
]
FEW, SOME, MOST = 6_000, 15_000, 45_000
"""buffers: misses that windows matter for; that popularity decides; that only frontiers still make"""


@cache
def model_of(buffers: int, policy: str) -> System:
    pool = [f"database.pool.buffers={buffers}", f"database.pool.replacement={policy}"]
    return build(load_scenario(TINY, SETTINGS + pool))


@cache
def reader() -> ProgramReader:
    model = model_of(FEW, "lru")
    return ProgramReader(model.program, model.client_registers)


@cache
def groups() -> PageGroups:
    return PageReader(reader()).groups()


@cache
def counted(buffers: int, policy: str, periods: tuple[int, int] = LOADED) -> float:
    """Misses of pages that exist, per transaction."""
    rounds = Rounds(without_time(model_of(buffers, policy)), 5)
    found = []
    for number in periods:
        rounds.run(number)
        tables = rounds.engine.kernel.figures().counters.tables
        missed = (np.array([getattr(table, name) for table in tables]) for name in ("page_cache_hits", "disk_reads"))
        found.append(sum(int(column.sum()) for column in missed))
    return (found[1] - found[0]) / (periods[1] * CLIENTS)


def predicted(buffers: float, policy: str, of: PageGroups | None = None) -> float:
    return float(pools(np.array([float(buffers)]), policy, of).pool.misses[0])


def pools(buffers: FloatArray, policy: str, of: PageGroups | None = None) -> Solution:
    """Machines with so many buffers, all of which have memory."""
    workload = read_workload(model_of(FEW, "lru"))
    p = parameters_of(model_of(FEW, "lru"), workload).repeated(len(buffers))
    workload = replace(workload, groups=groups() if of is None else of)
    return solve(workload, with_columns(p, pool_buffers=buffers, pool_resident=buffers), policy)


def off(found: float, expected: float) -> float:
    return abs(expected / found - 1.0)


def without_windows(of: PageGroups) -> PageGroups:
    """As if what windows remember were not referred to again."""
    return replace(of, offspring=0.0)


def without_lags(of: PageGroups) -> PageGroups:
    """As if the next frontier never came."""
    return replace(of, gap=np.full_like(of.gap, np.inf))


def lags_of_a_third(of: PageGroups) -> PageGroups:
    return replace(of, gap=of.gap / 3.0)


# Totals


def expected_references() -> FloatArray:
    """By region, of one transaction of the mix."""
    program = reader().program
    found = np.zeros(len(program.regions))
    for share, work in zip(reader().mix, reader().works, strict=True):
        for touches in work.touches.values():
            found[program.references[touches.reference, 1]] += share * touches.visits
    below = program.regions[:, 4]
    found[below[below >= 0]] = found[below >= 0]
    return found


def grouped_references(of: PageGroups) -> FloatArray:
    return np.bincount(of.region, weights=of.references, minlength=len(of.repeated)) + of.repeated


def test_groups_hold_every_reference() -> None:
    np.testing.assert_allclose(grouped_references(groups()), expected_references(), rtol=1e-6)
    repeated = replace(groups(), repeated=0.0 * groups().repeated)
    assert not np.allclose(grouped_references(repeated), expected_references(), rtol=1e-3)


def test_views_of_the_classes_are_the_whole_mix() -> None:
    mix = reader().mix
    found = mix @ groups().views[: len(mix)]
    np.testing.assert_allclose(found, groups().references, rtol=1e-9)
    assert not np.allclose(mix[::-1] @ groups().views[: len(mix)], groups().references, rtol=1e-3)


def test_drawn_groups_have_no_more_pages_than_their_regions() -> None:
    of, program = groups(), reader().program
    drawn = np.where(np.isfinite(of.gap) | (of.recent > 0), 0.0, of.pages)
    there = program.regions[:, 1] * program.regions[:, 2]
    pages = np.bincount(of.region, weights=drawn, minlength=len(there))
    stock = program.region_names.index("stock")
    assert pages[stock] == pytest.approx(there[stock], rel=1e-6)
    assert (pages <= there * (1 + 1e-9)).all()


# A popularity by hand


def drawn_by_hand() -> PageGroups:
    """Pages of 10:1 popularity, half of them each, twice in a transaction."""
    asm = Assembler()
    draws, group = asm.stream("draws"), asm.register("group")
    asm.emit("choose", asm.table("mix", [1.0]), draws)
    pages = asm.region("pages", 1, 200, 1)
    weights = np.where(np.arange(200) < 100, 10.0, 1.0)
    page = asm.reference("page", "popular", pages, group, table=asm.table("two", weights), stream=draws)
    asm.begin_class("look")
    for _ in range(2):
        asm.emit("touch", page, 0, 0)
    asm.emit("end")
    return PageReader(ProgramReader(asm.finish("look"), np.zeros((1, 1), dtype=np.int64))).groups()


def test_two_popularities_are_two_groups() -> None:
    of = drawn_by_hand()
    assert sorted(of.pages.tolist()) == pytest.approx([100, 100])
    assert sorted(of.references.tolist()) == pytest.approx([2 / 11, 20 / 11])
    assert sorted(of.rate.tolist()) == pytest.approx([2 / 1100, 20 / 1100], rel=1e-6)
    assert not of.write.any()


def test_a_pool_of_two_popularities_is_filled_as_by_hand() -> None:
    table = pool_table(drawn_by_hand(), "lru")
    expected = 200.0 - 100.0 * (np.exp(-table.times / 550.0) + np.exp(-table.times / 55.0))
    np.testing.assert_allclose(table.filled, expected, rtol=1e-5, atol=1e-4)
    wrong = 200.0 * (1.0 - np.exp(-table.times / 100.0))
    assert not np.allclose(table.filled, wrong, rtol=1e-2)


# Index pages


def appended(fanout: int) -> tuple[FloatArray, FloatArray]:
    """Shares of misses that are read, of the pages that rows are appended to, and of the index pages above them."""
    asm = Assembler()
    draws, group, row = asm.stream("draws"), asm.register("group"), asm.register("row")
    asm.emit("choose", asm.table("mix", [1.0]), draws)
    rows = asm.region("rows", 1, 200, 4, fanout=fanout)
    next_row = asm.reference("next", "append", rows, group, row=row, appended_pages=0)
    asm.begin_class("append")
    asm.emit("take", row, asm.counter("next row", 1, 0), group, 1)
    asm.emit("touch", next_row, 1, 0)
    asm.emit("end")
    of = PageReader(ProgramReader(asm.finish("append"), np.zeros((1, 2), dtype=np.int64))).groups()
    asked = of.references > 0
    return of.read[asked & (of.region == rows)], of.read[asked & (of.region != rows)]


@pytest.mark.parametrize("fanout", [1, 10])
def test_index_pages_are_read_and_not_created(fanout: int) -> None:
    """The page of a new row is created; the index page above it is read, even where each page has one of its own."""
    pages, index_pages = appended(fanout)
    assert pages.min() == 0.0
    assert index_pages.tolist() == [1.0] * len(index_pages)
    assert len(index_pages)


# Misses


@pytest.mark.parametrize(
    ("policy", "buffers", "within"), [("lru", FEW, 0.05), ("lru", SOME, 0.06), ("clock", SOME, 0.04)]
)
def test_misses_are_those_of_a_run(policy: str, buffers: int, within: float) -> None:
    found = counted(buffers, policy)
    assert off(found, predicted(buffers, policy)) < within
    assert off(found, predicted(0.85 * buffers, policy)) > within
    assert off(found, predicted(1.15 * buffers, policy)) > within


def test_orders_of_the_run_are_popular_customers() -> None:
    """Loaded orders are any customer's (clause 4.3.3.1): once they are through, fewer pages are missed."""
    loaded, later = counted(SOME, "lru"), counted(SOME, "lru", LATER)
    assert later < 0.92 * loaded
    assert off(later, predicted(SOME, "lru")) > 0.1


def test_the_table_of_the_other_policy_is_refused() -> None:
    assert off(counted(FEW, "clock"), predicted(FEW, "lru")) > 0.02
    assert off(counted(FEW, "lru"), predicted(FEW, "clock")) > 0.03


@pytest.mark.parametrize("policy", ["lru", "clock"])
def test_a_small_pool_needs_the_windows(policy: str) -> None:
    found = counted(FEW, policy)
    less = off(found, predicted(FEW, policy, without_windows(groups())))
    assert less > off(found, predicted(FEW, policy)) + 0.03


@pytest.mark.parametrize("change", [without_lags, lags_of_a_third])
def test_a_large_pool_needs_the_lags(change: Callable[[PageGroups], PageGroups]) -> None:
    """Nearly all that is missed then are pages that a frontier comes back to."""
    found = counted(MOST, "lru", LATER)
    assert off(found, predicted(MOST, "lru")) < 0.2
    assert off(found, predicted(MOST, "lru", change(groups()))) > 0.5


# Tables


@dataclass(frozen=True)
class Rises:
    """Whether a table's columns go the way they must."""

    filled: bool
    missing: bool
    dirty: bool


def rises(times: FloatArray, filled: FloatArray, missing: FloatArray, dirty: FloatArray) -> Rises:
    assert (np.diff(times) > 0).all()
    return Rises(
        bool((np.diff(filled) > 0).all()),
        bool((np.diff(missing, axis=0) <= 1e-9).all()),
        bool((dirty <= filled + 1e-3).all()),
    )


@pytest.mark.parametrize("policy", ["lru", "clock", "midpoint"])
def test_longer_times_fill_more_and_miss_less(policy: str) -> None:
    table = pool_table(groups(), policy)
    assert rises(table.times, table.filled, table.missing, table.dirty) == Rises(True, True, True)
    turned = rises(table.times, table.filled[::-1], table.missing[::-1], 2.0 * table.filled)
    assert turned == Rises(False, False, False)


@pytest.mark.parametrize("policy", ["lru", "clock", "midpoint"])
def test_the_time_of_a_size_fills_that_size(policy: str) -> None:
    table = pool_table(groups(), policy)
    sizes = np.geomspace(500.0, 50_000.0, 30)
    times = pools(sizes, policy).pool.time
    filled = np.exp(np.interp(np.log(times), np.log(table.times), np.log(table.filled)))
    np.testing.assert_allclose(filled, sizes, rtol=1e-9)
    halves = np.exp(np.interp(np.log(times / 2.0), np.log(table.times), np.log(table.filled)))
    assert not np.allclose(halves, sizes, rtol=1e-2)


def test_misses_fall_with_every_buffer_more() -> None:
    sizes = np.geomspace(500.0, 50_000.0, 60)
    for policy in ("lru", "clock", "midpoint"):
        misses = pools(sizes, policy).pool.misses
        assert (np.diff(misses) < 0).all()
        assert not (np.diff(misses[::-1]) < 0).any()


def test_what_windows_remember_reaches_further_back() -> None:
    of, times = groups(), np.geomspace(1.0, 1e5, 50)
    assert np.isfinite(of.window)
    assert of.offspring > 0
    far = reach(of, times)
    assert (far >= times * (1 - 1e-12)).all()
    assert (far > 1.01 * times).any()
    np.testing.assert_array_equal(reach(without_windows(of), times), times)


@pytest.mark.parametrize("draws", [1, 3])
def test_of_all_draws_from_a_window_only_the_first_of_each_entry_can_miss(draws: int) -> None:
    """Whether one operation draws them or several: 200 entries, drawn from `draws` times for each."""
    model = build(load_scenario(TINY, [*SETTINGS, f"workload.tpcc.stock_level_draws_per_line={draws}"]))
    of_program = ProgramReader(model.program, model.client_registers)
    found = PageReader(of_program).groups()
    entries = 200
    distinct = entries * (1.0 - (1.0 - 1.0 / entries) ** (entries * draws))
    share = of_program.mix[model.program.classes.index("stock level")]
    assert found.references[found.recent > 0].sum() == pytest.approx(share * distinct, rel=1e-6)
