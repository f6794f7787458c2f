"""Batches by buffered I/O that are synced: through the page cache, on the disks before the next one, with flushes.

The same pages as in test_page_writes.py; the negative twins are batches that nobody syncs.
"""

from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from oltpsim.simulator import kernel, reference
from oltpsim.simulator.form import Assembler, FlashDevice, SsdDevice, System, Writing, from_s
from oltpsim.simulator.form.checking import faults as faults_of
from oltpsim.simulator.results import Result
from tests.simulator.conftest import make_model
from tests.simulator.daemons import page_cleaner
from tests.simulator.kernel.test_page_cleaners import LAW
from tests.simulator.kernel.test_page_writes import PAGES, TRANSACTIONS, writes, writing_model

MS = 1_000_000
ENGINES = pytest.mark.parametrize("engine", [kernel, reference], ids=["kernel", "reference"])
SSD = SsdDevice(
    name="ssd", read_ns=1, write_ns=1, command_read_ns=1, command_write_ns=1, read_mib_ns=1, write_mib_ns=1,
    dies=1, die_ns=1, channel_mib_ns=1, program_ns=1, drain_mib_ns=1, append_mib_ns=1, buffer_bytes=1 << 30,
    flush_ns=MS, is_volatile=0,
)  # fmt: skip


def synced_model(writing: Writing, **parts: Any) -> System:
    """Ten pages a second by buffered I/O, whose write-back would come only after the run."""
    model = writing_model(1, direct_io=False, **{"step": 2, "costs": (0, MS, 0, 2 * MS)} | parts)
    return replace(model, writing=writing)


@ENGINES
@pytest.mark.parametrize(("doubled", "copies"), [(True, 3), (False, 0)])
def test_each_page_goes_through_the_page_cache_to_the_disk_behind_its_copy(
    engine: ModuleType, doubled: bool, copies: int
) -> None:
    """Ten pages in batches of 4, 4 and 2: a request for each, and one more for a batch's copies.

    A page costs a call of 1 ms and a request of 2 ms, copies are paid as one more. Pages stay in the page cache, clean.
    """
    result = engine.simulate(synced_model(Writing(4, 1, doubled, synced=True)), 1)
    assert (writes(result, "write-back"), writes(result, "doublewrite")) == ([PAGES], [copies])
    paid_s = result.cpu.by_activity["background writer"] * result.duration_s
    assert paid_s == pytest.approx((PAGES + copies) * TRANSACTIONS * 0.003, rel=1e-6)
    assert result.caches[1].dirty_fraction * result.caches[1].capacity_pages < 0.5


@ENGINES
def test_what_is_not_synced_stays_dirty_in_the_page_cache(engine: ModuleType) -> None:
    """The negative twin: no page reaches the disk, and none has a copy."""
    result = engine.simulate(synced_model(Writing(4, 1, True)), 1)
    assert (writes(result, "write-back"), writes(result, "doublewrite")) == ([0], [0])


def queue_when_busy(engine: ModuleType, writing: Writing) -> float:
    """Mean number of requests at the disk while there are some."""
    [disk] = engine.simulate(synced_model(writing, costs=(0, 0, 0, 0)), 1).devices
    return float(disk.mean_queue / disk.utilisation)


@ENGINES
def test_the_next_batch_waits_until_the_disk_has_the_last_one(engine: ModuleType) -> None:
    """Requests of 1 ms: four at a time, of which 2.5 are there on average; pushed only, all ten are."""
    assert queue_when_busy(engine, Writing(4, synced=True)) < 3
    assert queue_when_busy(engine, Writing(4, pushed=True)) > 5


@ENGINES
def test_write_back_has_room_for_a_part_of_a_batch(engine: ModuleType) -> None:
    """One page on its way at a time; with room for all of a batch there are more."""
    model = synced_model(Writing(10, synced=True))
    narrow = replace(model, page_cache=replace(model.page_cache, in_flight_pages=1))
    queues = [engine.simulate(each, 1).devices[0].mean_queue for each in (narrow, model)]
    assert queues[0] < queues[1] / 2


@ENGINES
def test_neighbours_go_along_and_are_merged_as_write_back_does(engine: ModuleType) -> None:
    """Ten pages side by side in batches of 2 with up to 5 neighbours: two batches; a request takes 4 pages."""
    model = synced_model(Writing(1, 5, True, synced=True), step=1, merged_pages=4)
    result = engine.simulate(model, 1)
    assert (writes(result, "write-back"), writes(result, "doublewrite")) == ([4], [2])
    alone = engine.simulate(synced_model(Writing(1, 1, True, synced=True), step=1, merged_pages=4), 1)
    assert (writes(alone, "write-back"), writes(alone, "doublewrite")) == ([PAGES], [PAGES])


@ENGINES
@pytest.mark.parametrize(("files", "flushes"), [((), 0), (((0, 0), (5, 1)), 2), (((0, 0), (3, 1), (6, 0)), 2)])
def test_every_file_of_a_batch_is_flushed(engine: ModuleType, files: tuple[tuple[int, int], ...], flushes: int) -> None:
    """An SSD whose flush alone takes time: the copies' one, and one for each file where the files are known."""
    model = synced_model(Writing(32, 1, True, files=files, synced=True), step=1)
    model = replace(model, storage=replace(model.storage, devices=(SSD,)))
    [disk] = engine.simulate(model, 1).devices
    waited_ms = 1e3 * disk.mean_response_s * (disk.reads_per_s + disk.writes_per_s) * (TRANSACTIONS + 0.5)
    assert waited_ms / TRANSACTIONS == pytest.approx(1 + flushes, abs=0.05)


def evicting_model(writing: Writing, direct_io: bool = False) -> System:
    """A client that changes forty pages in turn; twenty have room in the pool, all in the page cache."""
    asm = Assembler()
    row, group, count = asm.register("row"), asm.register("group"), asm.counter("changes", 1, 0)
    page = asm.reference("page", "row", asm.region("table", 1, 40, 1), group, row=row)
    asm.emit("think", asm.distribution("constant", from_s(0.01)), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("write")
    asm.emit("take", row, count, group, 1)
    asm.emit("affine", row, row, 1, 0, 40)
    asm.emit("touch", page, 1, 0)
    asm.emit("commit")
    asm.emit("end")
    disk = FlashDevice("disk", MS, MS, 1)
    model = make_model(asm, devices=(disk,), direct_io=direct_io, pool_pages=20, cache_pages=100, duration_s=10)
    return replace(model, writing=writing, daemons=())


def figures(result: Result) -> tuple[float, float, float]:
    """Requests per change by purpose: victims, their copies, and reads."""
    each = result.devices[0].by_purpose_per_s
    return tuple(  # type: ignore[return-value]
        round(each.get(name, 0.0) / result.transactions_per_s, 1)
        for name in ("eviction write", "doublewrite", "data read")
    )


@ENGINES
@pytest.mark.parametrize(("doubled", "copies"), [(True, 1.0), (False, 0.0)])
def test_a_victim_is_written_by_whoever_needs_its_buffer_and_stays_in_the_page_cache(
    engine: ModuleType, doubled: bool, copies: float
) -> None:
    """As by direct I/O, but for reads, which the page cache answers; where nothing is synced it takes the victim."""
    victims, copied, reads = figures(engine.simulate(evicting_model(Writing(doubled=doubled, synced=True)), 1))
    assert (victims, copied) == (1.0, copies)
    assert reads < 0.1
    direct = figures(engine.simulate(evicting_model(Writing(doubled=doubled), direct_io=True), 1))
    assert direct == (1.0, copies, 1.0)
    assert figures(engine.simulate(evicting_model(Writing(doubled=doubled)), 1))[:2] == (0.0, 0.0)


@ENGINES
def test_old_changes_are_written_by_buffered_io_too(engine: ModuleType) -> None:
    """All forty are dirty; the rules ask for as many as there are, and each round writes them."""
    model = evicting_model(Writing(8, 1, True, synced=True))
    roomy = replace(model.pool, pages=100, resident_pages=100)
    law = replace(LAW, milli_pages=30_000, percent_by_dirty=(0, 100))
    cleaned = replace(model, pool=roomy, flushing=law, daemons=(page_cleaner(100 * MS, 0, 10**15),))
    result = engine.simulate(cleaned, 1)
    assert result.devices[0].by_purpose_per_s["write-back"] > 20
    assert result.caches[0].dirty_fraction < 0.3
    assert engine.simulate(replace(model, pool=roomy), 1).caches[0].dirty_fraction > 0.3


@pytest.mark.parametrize(("synced", "faults"), [(True, 0), (False, 1)])
def test_flushing_by_age_needs_writes_that_are_waited_for(synced: bool, faults: int) -> None:
    model = evicting_model(Writing(synced=synced))
    model = replace(model, flushing=LAW, daemons=(page_cleaner(100 * MS, 0, 10**15),))
    assert sum("write_aged needs" in fault for fault in faults_of(model)) == faults
