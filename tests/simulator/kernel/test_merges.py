"""Changes put aside, and their merges: of leaves that the pool lacks, so many a second, read at once and changed."""

import io
import itertools
from dataclasses import replace
from types import ModuleType

import pytest

from oltpsim.simulator import kernel, reference
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import Assembler, Daemon, DaemonStep, FlashDevice, System, load, save
from oltpsim.simulator.results import Result
from tests.simulator.conftest import make_model
from tests.simulator.daemons import merging
from tests.simulator.twins import differences

MS, SECOND = 1_000_000, 1_000_000_000
ENGINES = pytest.mark.parametrize("engine", [kernel, reference], ids=["kernel", "reference"])
DURATION_S = 10
LEAVES = 100_000


def putting_aside(
    *daemons: Daemon,
    changes: int = 1,
    leaves: int = LEAVES,
    buffers: int = 2_000,
    read_ms: int = 1,
    write: int = 0,
    reads: int = 0,
    operation: str = "put_aside",
) -> System:
    """A client that refers to one of a thousand pages each 10 ms, reads some leaves and changes others."""
    asm = Assembler()
    row, group, entry = asm.register("row"), asm.register("group"), asm.register("entry")
    table, index = asm.region("table", 1, 1_000, 1), asm.region("index", 1, leaves, 1)
    asm.loaded(index, 0, leaves)
    page = asm.reference("page", "row", table, group, row=row)
    leaf = asm.reference("leaf", "row", index, group, row=entry)
    asm.emit("think", asm.distribution("constant", 10 * MS), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("change")
    asm.emit("uniform", row, 1_000, 0, asm.stream("rows"))
    asm.emit("touch", page, write, 0)
    for number in range(reads + changes):
        asm.emit("uniform", entry, leaves, 0, asm.stream("entries"))
        asm.emit(*(("touch", leaf, 0, 0) if number < reads else (operation, leaf, 1, 0)))
    asm.emit("commit")
    asm.emit("end")
    disk = FlashDevice("disk", read_ms * MS, MS, 1)
    return make_model(
        asm, devices=(disk,), direct_io=True, pool_pages=buffers, duration_s=DURATION_S, daemons=daemons,
        costs=(10, 20, 30, 40),
    )  # fmt: skip


def merged(result: Result) -> float:
    """Pages read to be merged, in the whole run."""
    return result.devices[0].by_purpose_per_s.get("merge read", 0.0) * DURATION_S


TAIL = Daemon("list cleaner", (DaemonStep("every", (100 * MS,)), DaemonStep("write_tail", (100_000,))))


@ENGINES
def test_so_many_pages_are_read_each_second_and_written_later(engine: ModuleType) -> None:
    """Nine rounds of twenty pages; no daemon, nothing put aside: nothing is read but what the client misses."""
    result = engine.simulate(putting_aside(merging(SECOND, 20_000), TAIL), 1)
    assert merged(result) == 9 * 20
    assert result.devices[0].by_purpose_per_s["writer"] * DURATION_S == 9 * 20, "the client changes no page"
    assert merged(engine.simulate(putting_aside(TAIL), 1)) == 0
    assert merged(engine.simulate(putting_aside(merging(SECOND, 20_000), TAIL, changes=0), 1)) == 0


@ENGINES
def test_parts_of_a_page_add_up(engine: ModuleType) -> None:
    assert merged(engine.simulate(putting_aside(merging(SECOND, 2_500)), 1)) == 9 * 2.5 // 1


@ENGINES
def test_merges_stop_when_no_leaf_waits(engine: ModuleType) -> None:
    """Some 100 changes a second; the daemon would merge 1,000."""
    every = merging(SECOND, 1_000_000), TAIL
    result = engine.simulate(putting_aside(*every, read_ms=0), 1)
    ended = result.transactions_per_s * DURATION_S
    assert 0.85 * ended < merged(result) <= ended
    twice = engine.simulate(putting_aside(*every, read_ms=0, changes=2), 1)
    assert merged(twice) == pytest.approx(2 * merged(result), rel=0.05)


@ENGINES
def test_changes_of_a_page_are_merged_together(engine: ModuleType) -> None:
    """Some 2,000 changes until the only round: of 200 leaves each is read once, and of many nearly one for each."""
    every = merging(5 * SECOND, 3_000_000), Daemon("list cleaner", (DaemonStep("every", (MS,)), *TAIL.steps[1:]))
    few, many = (
        engine.simulate(putting_aside(*every, changes=4, leaves=leaves, buffers=20, read_ms=0), 1)
        for leaves in (200, LEAVES)
    )
    assert merged(few) == 200
    assert merged(many) > 0.9 * 4 * 500


@ENGINES
def test_a_leaf_in_the_pool_is_changed_at_once(engine: ModuleType) -> None:
    """A pool with room for all 30 leaves reads each once, and finds it there for every later change."""
    large, small = (
        engine.simulate(putting_aside(merging(SECOND, 50_000), TAIL, leaves=30, buffers=buffers, changes=5), 1)
        for buffers in (2_000, 20)
    )
    assert merged(large) == 30
    assert merged(small) > 5 * 30
    for result in (large, small):
        index = result.tables[1]
        assert index.references == index.pool_hits
        assert index.disk_reads == 0
    changed = 5 * large.transactions_per_s * DURATION_S
    assert 0.85 * changed < large.tables[1].references < changed
    assert small.tables[1].references < 0.5 * changed
    assert large.devices[0].by_purpose_per_s["writer"] * DURATION_S > 5 * 30, "they become dirty again"


@ENGINES
def test_a_leaf_that_is_read_takes_what_waits_for_it_along(engine: ModuleType) -> None:
    """It is written later, though nobody merges in the background; without changes put aside it comes in clean."""
    waiting, plain, rare = (
        engine.simulate(putting_aside(TAIL, changes=changes, reads=1, leaves=leaves, buffers=20, read_ms=0), 1)
        for changes, leaves in ((2, 100), (0, 100), (2, LEAVES))
    )
    written = [one.devices[0].by_purpose_per_s.get("writer", 0.0) * DURATION_S for one in (waiting, plain, rare)]
    read = waiting.tables[1].disk_reads
    assert 0.5 * read < written[0] < 0.9 * read + waiting.tables[1].pool_hits
    assert written[1] == 0
    assert written[2] < 0.05 * read, "a leaf of many is seldom read again"


@ENGINES
def test_the_same_change_in_the_pool_is_a_touch(engine: ModuleType) -> None:
    """Where a pool holds all leaves from the start, nothing is put aside, and all is as if it never were."""
    found = []
    for operation, buffers in itertools.product(("put_aside", "touch"), (2_000, 200)):
        model = putting_aside(TAIL, leaves=300, changes=2, buffers=buffers, operation=operation)
        held = replace(model.interval, start="after_prewarm", prewarm_regions=(1,), prewarm_pages=300)
        found.append(engine.simulate(replace(model, interval=held), 1))
    large, small, touched, touched_small = found
    assert large.tables == touched.tables
    assert large.devices == touched.devices
    assert small.tables[1].disk_reads == 0 < touched_small.tables[1].disk_reads


@ENGINES
def test_they_are_read_all_at_once(engine: ModuleType) -> None:
    """Twenty reads of 10 ms each, one after the other: the last takes 200 ms. One page each 50 ms is as much."""
    at_once, spread = (
        engine.simulate(putting_aside(merging(*times), read_ms=10), 1) for times in ((SECOND, 20_000), (50 * MS, 1_000))
    )
    assert merged(at_once) == pytest.approx(merged(spread), rel=0.12)
    assert at_once.devices[0].mean_response_s > 2 * spread.devices[0].mean_response_s


@ENGINES
def test_they_are_requests_and_evictions_but_no_misses_of_the_tables(engine: ModuleType) -> None:
    plain, merging_too = (
        engine.simulate(putting_aside(*daemons, buffers=500), 1) for daemons in ((), (merging(SECOND, 20_000), TAIL))
    )
    for result in (plain, merging_too):
        by_tables = sum(table.disk_reads for table in result.tables)
        assert result.devices[0].by_purpose_per_s["data read"] * DURATION_S == pytest.approx(by_tables)
        assert all(law.holds for law in result.laws)
        assert result.tables[1].references == result.tables[1].pool_hits < 20
        assert result.caches[0].references == result.tables[0].references + result.tables[1].references
    found = merging_too.caches[0].evictions, merging_too.tables[0].disk_reads + merged(merging_too)
    assert found[0] == pytest.approx(found[1] - 500, abs=1)


@ENGINES
def test_a_page_waits_for_a_clean_buffer(engine: ModuleType) -> None:
    """A client that changes its pages leaves nothing else in a small pool, unless a cleaner writes them."""
    small = replace(putting_aside(merging(SECOND, 20_000), write=1, buffers=30))
    alone, cleaned = (engine.simulate(replace(small, daemons=(*small.daemons, *more)), 1) for more in ((), (TAIL,)))
    assert merged(alone) < 0.5 * merged(cleaned)
    assert merged(cleaned) > 0.9 * 9 * 20


@ENGINES
def test_reading_them_takes_processor_time_of_the_database(engine: ModuleType) -> None:
    """Read call, replacement and request: 10 + 30 + 40 ns each."""
    result = engine.simulate(putting_aside(merging(SECOND, 20_000)), 1)
    assert result.cpu.by_activity["background writer"] * DURATION_S == pytest.approx(9 * 20 * 80e-9)


@pytest.mark.parametrize("replacement", ["lru", "clock", "midpoint"])
@pytest.mark.parametrize("buffers", [8, 300])
def test_the_kernel_is_the_reference(replacement: str, buffers: int) -> None:
    """Of any replacement, memory for half of the buffers, two daemons."""
    daemons = merging(70 * MS, 1_700), merging(200 * MS, 9_000), TAIL
    model = putting_aside(*daemons, write=1, buffers=buffers, changes=3, reads=1, leaves=900)
    if replacement == "clock":
        model = replace(model, daemons=model.daemons[:2])
    for resident in (buffers, buffers // 2):
        pool = replace(model.pool, replacement=replacement, resident_pages=resident)
        assert differences(replace(model, pool=pool), 3) == []


def test_it_needs_direct_io_and_a_region() -> None:
    def loaded(model: System) -> System:
        file = io.BytesIO()
        save(model, file)
        file.seek(0)
        return load(file)

    model = putting_aside(merging(SECOND, 1_000))
    assert loaded(model).daemons == model.daemons
    with pytest.raises(InputError, match="daemon merger: merge needs direct I/O"):
        loaded(replace(model, direct_io=False))
    operations = model.program.operations.copy()
    operations[operations[:, 1] == 1, 1] = 7
    with pytest.raises(InputError, match="there are 2"):
        loaded(replace(model, program=replace(model.program, operations=operations)))
