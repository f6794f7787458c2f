"""Merges of changes put aside in mean values: as many pages a second as the kernel, whatever the clients do."""

from dataclasses import replace
from functools import cache
from types import ModuleType

import pytest

from oltpsim.models.reading import load_scenario, with_values
from oltpsim.models.wiring import build
from oltpsim.scenarios.library import library_files
from oltpsim.simulator import analytic, kernel
from oltpsim.simulator.analytic.reading.page_writes import merged_per_s, writing_numbers
from oltpsim.simulator.form import CODES, System
from oltpsim.simulator.results import Result
from tests.simulator.daemons import merging

FILE = library_files()["innodb/hammerdb-80-users"]
SMALL = {
    "workload.warehouses": 200,
    "database.pool.buffers": 100_000,
    "database.page_cleaner.io_capacity_per_s": 4_000,
    "database.page_cleaner.io_capacity_max_per_s": 8_000,
    "interval.warm_up_s": 10,
    "interval.duration_s": 20,
}
INDEXED = ["workload.layout.line_item_entries_per_page=270", "workload.layout.index_changes_put_aside_fraction=1"]
ENGINES = pytest.mark.parametrize("engine", [kernel, analytic], ids=["kernel", "formulas"])
MS, SECOND = 1_000_000, 1_000_000_000


@cache
def model(fraction: float, **settings: float) -> System:
    """A machine on SSDs that merges so much of its 4,000 pages a second."""
    keys = SMALL | {"database.page_cleaner.background_merge_fraction": fraction} | settings
    return build(with_values(load_scenario(FILE, INDEXED), keys))


@cache
def solved(fraction: float) -> tuple[Result, Result]:
    """By the kernel and by the formulas."""
    return kernel.simulate(model(fraction), 1), analytic.simulate(model(fraction), 1)


def per_s(result: Result, purpose: str) -> float:
    return sum(device.by_purpose_per_s.get(purpose, 0.0) for device in result.devices)


def test_as_many_pages_are_read_as_by_the_kernel() -> None:
    """Five per cent of 4,000; none with a fraction of 0."""
    ours, theirs = solved(0.05)
    assert per_s(theirs, "merge read") == pytest.approx(200, rel=1e-3)
    assert per_s(ours, "merge read") == pytest.approx(200, rel=0.01)
    assert [per_s(one, "merge read") for one in solved(0.0)] == [0.0, 0.0]


@pytest.mark.parametrize("number", [0, 1], ids=["kernel", "formulas"])
def test_merged_pages_are_written_too_and_come_in_for_others(number: int) -> None:
    """They are no reads of a table's, and take time of the disk."""
    without, much = solved(0.0)[number], solved(0.5)[number]
    assert per_s(much, "merge read") == pytest.approx(2_000, rel=0.02)
    more_written = (
        per_s(much, "writer") - per_s(without, "writer") * much.transactions_per_s / without.transactions_per_s
    )
    assert 0.8 * 2_000 < more_written < 1.2 * 2_000
    assert [law.name for law in much.laws if not law.holds] == [law.name for law in without.laws if not law.holds]
    evicted = [one.caches[0].evictions / one.duration_s for one in (without, much)]
    assert evicted[1] - evicted[0] * much.transactions_per_s / without.transactions_per_s > 0.8 * 2_000
    assert much.transactions_per_s < without.transactions_per_s


def never_changed(system: System) -> System:
    """The same, where nobody makes the changes that may be put aside; they take their CPU time."""
    operations = system.program.operations.copy()
    aside = operations[:, 0] == CODES["put_aside"]
    operations[aside, 1] = operations[aside, 3]
    operations[aside, 0], operations[aside, 2:] = CODES["cpu"], 0
    return replace(system, program=replace(system.program, operations=operations))


def written(result: Result) -> float:
    """Pages that page cleaners write, per transaction."""
    return per_s(result, "writer") / result.transactions_per_s


def test_changes_of_leaves_that_somebody_reads_are_written_as_by_the_kernel() -> None:
    """At once where the pool has the leaf of orders by customer, and else when it is read: nobody merges here."""
    system = model(0.0, **{"database.pool.buffers": 30_000, "interval.warm_up_s": 40})
    ours, theirs = (
        written(engine.simulate(system, 1)) - written(engine.simulate(never_changed(system), 1))
        for engine in (kernel, analytic)
    )
    assert ours > 0.3
    assert theirs == pytest.approx(ours, rel=0.2)


@cache
def in_large_pool(engine: ModuleType, fraction: float) -> Result:
    """Of a machine whose pool has most pages that somebody reads."""
    return engine.simulate(model(fraction, **{"database.pool.buffers": 400_000}), 1)


@ENGINES
def test_merged_leaves_take_room_in_the_pool(engine: ModuleType) -> None:
    """Clients miss more of the other pages."""
    reads = [
        per_s(one, "data read") / one.transactions_per_s for one in (in_large_pool(engine, each) for each in (0, 0.5))
    ]
    assert 1.02 < reads[1] / reads[0] < 1.1


def test_what_merged_leaves_add_is_the_kernels() -> None:
    """In a large pool they stay, and are changed again: more is written than merged."""
    more = []
    for engine in (kernel, analytic):
        without, much = (in_large_pool(engine, fraction) for fraction in (0, 0.5))
        more.append((written(much) - written(without)) / (per_s(much, "merge read") / much.transactions_per_s))
    assert more[0] > 1.2
    assert more[1] == pytest.approx(more[0], rel=0.1)


def test_the_rate_is_the_kernels() -> None:
    for fraction in (0.0, 0.05, 0.5):
        ours, theirs = solved(fraction)
        assert theirs.transactions_per_s == pytest.approx(ours.transactions_per_s, rel=0.1)


def test_no_more_are_merged_than_changes_put_aside_for_pages_that_are_not_in_the_pool() -> None:
    """Some thousands of them a second, for a daemon that would merge 400,000; a pool for all pages has none."""
    endless = replace(model(0.0), daemons=(*model(0.0).daemons, merging(SECOND, 400_000_000)))
    workload = analytic.read_workload(endless)
    found = analytic.simulate(endless, 1)
    put_aside = float(workload.put_aside[:, 0].sum()) * found.transactions_per_s
    assert 0.3 * put_aside < per_s(found, "merge read") < put_aside
    large = {"database.pool.buffers": 4_000_000, "machine.memory_gib": 128}
    assert per_s(analytic.simulate(model(0.5, **large), 1), "merge read") < 0.02 * 2_000


def test_marks_are_those_of_the_daemons() -> None:
    system = model(0.05)
    assert merged_per_s(system) == pytest.approx(200)
    assert writing_numbers(system).merged_per_s == pytest.approx([200])
    twice = replace(system, daemons=(*system.daemons, merging(250 * MS, 1_500)))
    assert merged_per_s(twice) == pytest.approx(206)
    assert merged_per_s(model(0.0)) == 0.0
