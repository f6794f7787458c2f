"""Page cleaners: pages written twice, oldest first, as fast as their age asks for; commits that wait for them."""

from dataclasses import replace
from types import ModuleType

import pytest

from oltpsim.simulator import kernel, reference
from oltpsim.simulator.form import (
    Assembler,
    Daemon,
    DaemonStep,
    FlashDevice,
    Flushing,
    Log,
    SsdDevice,
    System,
    Writing,
    from_s,
)
from tests.simulator.conftest import make_model
from tests.simulator.daemons import page_cleaner
from tests.simulator.kernel.test_page_writes import PAGES, TRANSACTIONS, writes, writing_model

MS, SECOND = 1_000_000, 1_000_000_000
ENGINES = pytest.mark.parametrize("engine", [kernel, reference], ids=["kernel", "reference"])
NEVER = 10**15
LAW = Flushing(
    whole_age_bytes=NEVER, full_bytes=NEVER, cleaners=1, milli_pages=1000, most_milli_pages=1_000_000, rounds=1000,
    percent_by_age=(0,), percent_by_dirty=(0,),
)  # fmt: skip


@ENGINES
@pytest.mark.parametrize(("doubled", "copies"), [(True, 1), (False, 0)])
def test_a_batch_is_written_once_in_one_request_and_then_page_by_page(
    engine: ModuleType, doubled: bool, copies: int
) -> None:
    result = engine.simulate(replace(writing_model(coalesced=1), writing=Writing(32, 1, doubled)), 1)
    assert (writes(result), writes(result, "doublewrite")) == ([PAGES], [copies])


@ENGINES
def test_each_batch_has_its_copies(engine: ModuleType) -> None:
    """Ten pages in batches of four: three requests of copies more; neighbours that go along are copied too."""
    batches = engine.simulate(replace(writing_model(1, batch=4), writing=Writing(4, 1, True)), 1)
    assert (writes(batches), writes(batches, "doublewrite")) == ([PAGES], [3])
    neighbours = engine.simulate(replace(writing_model(4), writing=Writing(32, 4, True)), 1)
    assert (writes(neighbours), writes(neighbours, "doublewrite")) == ([3], [1])


@ENGINES
@pytest.mark.parametrize("is_volatile", [0, 1])
def test_copies_are_appended_and_flushed_and_so_is_the_end_of_a_batch(engine: ModuleType, is_volatile: int) -> None:
    """On an SSD where nothing but programs and flushes takes time: ten pages of 8 KiB, 10 ms each as scattered writes.

    Copies are in one request: 10 ms in all, as if appended, and a flush of 1 ms. Then the pages, and a flush: nobody
    waits for their programs but where the buffer isn't protected.
    """
    drain = 10 * MS * (1 << 20) // 8192
    ssd = SsdDevice(
        name="ssd", read_ns=1, write_ns=1, command_read_ns=1, command_write_ns=1, read_mib_ns=1, write_mib_ns=1,
        dies=1, die_ns=1, channel_mib_ns=1, program_ns=1, drain_mib_ns=drain, append_mib_ns=drain // 10,
        buffer_bytes=1 << 30, flush_ns=MS, is_volatile=is_volatile,
    )  # fmt: skip
    model = replace(writing_model(coalesced=1, step=2), writing=Writing(32, 1, True))
    model = replace(model, storage=replace(model.storage, devices=(ssd,)))
    [disk] = engine.simulate(model, 1).devices
    waited_s = disk.mean_response_s * (disk.reads_per_s + disk.writes_per_s)  # reads wait for nothing
    waited_ms = 1e3 * waited_s / disk.writes_per_s * (PAGES + 1)
    assert waited_ms == pytest.approx((10 + 1) + (100 + 1) if is_volatile else 1 + 1, rel=0.01)


@ENGINES
@pytest.mark.parametrize(
    ("files", "flushes"), [((), 1), (((0, 0),), 1), (((0, 0), (5, 1)), 2), (((0, 0), (3, 1), (6, 0)), 2)]
)
def test_every_file_of_a_batch_is_flushed(engine: ModuleType, files: tuple[tuple[int, int], ...], flushes: int) -> None:
    """An SSD whose flush alone takes time, one after the other: that of the copies and one for each file.

    A flush is no write, so that as many writes are counted as without files.
    """
    ssd = SsdDevice(
        name="ssd", read_ns=1, write_ns=1, command_read_ns=1, command_write_ns=1, read_mib_ns=1, write_mib_ns=1,
        dies=1, die_ns=1, channel_mib_ns=1, program_ns=1, drain_mib_ns=1, append_mib_ns=1, buffer_bytes=1 << 30,
        flush_ns=MS, is_volatile=0,
    )  # fmt: skip
    model = replace(writing_model(coalesced=1), writing=Writing(32, 1, True, files=files))
    model = replace(model, storage=replace(model.storage, devices=(ssd,)))
    result = engine.simulate(model, 1)
    [disk] = result.devices
    assert (writes(result), writes(result, "doublewrite")) == ([PAGES], [1])
    waited_ms = 1e3 * disk.mean_response_s * (disk.reads_per_s + disk.writes_per_s) * result.duration_s / TRANSACTIONS
    assert waited_ms == pytest.approx(1 + flushes, abs=0.05)


@ENGINES
@pytest.mark.parametrize("doubled", [True, False])
def test_every_disk_of_a_batch_is_flushed(engine: ModuleType, doubled: bool) -> None:
    """Pages one by one over two SSDs, whose flush alone takes time: the copies' one, and one for each disk."""
    ssd = SsdDevice(
        name="ssd", read_ns=1, write_ns=1, command_read_ns=1, command_write_ns=1, read_mib_ns=1, write_mib_ns=1,
        dies=1, die_ns=1, channel_mib_ns=1, program_ns=1, drain_mib_ns=1, append_mib_ns=1, buffer_bytes=1 << 30,
        flush_ns=MS, is_volatile=0,
    )  # fmt: skip
    model = replace(writing_model(coalesced=1, disks=2), writing=Writing(32, 1, doubled))
    model = replace(model, storage=replace(model.storage, devices=(ssd, replace(ssd, name="other"))))
    result = engine.simulate(model, 1)
    waited_ms = [
        1e3 * disk.mean_response_s * (disk.reads_per_s + disk.writes_per_s) * result.duration_s / TRANSACTIONS
        for disk in result.devices
    ]
    assert waited_ms == pytest.approx([2, 1] if doubled else [0, 0], abs=0.05)


@ENGINES
@pytest.mark.parametrize(("depth", "pages"), [(0, 0), (4, 4), (100, PAGES)])
def test_the_end_of_the_list_is_kept_clean(engine: ModuleType, depth: int, pages: int) -> None:
    """The transaction makes all ten pages dirty; those among the `depth` that are replaced first are written."""
    steps = DaemonStep("sleep", (SECOND // 4,)), DaemonStep("write_tail", (depth,))
    model = replace(writing_model(coalesced=1), daemons=(Daemon("list cleaner", steps),))
    assert writes(engine.simulate(model, 1)) == [pages]


def logging_model(law: Flushing, clients: int = 1, write_ns: int = MS, **parts: object) -> System:
    """Clients that change a page of 40 each, one after the other, and log 1000 bytes each ms."""
    asm = Assembler()
    row, group, count = asm.register("row"), asm.register("group"), asm.counter("changes", 1, 0)
    region = asm.region("table", 1, 40, 1)
    page = asm.reference("page", "row", region, group, row=row)
    asm.emit("think", asm.distribution("constant", MS), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("write")
    asm.emit("take", row, count, group, 1)
    asm.emit("affine", row, row, 1, 0, 40)
    asm.emit("touch", page, 1, 0)
    asm.emit("log", 1000)
    asm.emit("commit")
    asm.emit("end")
    devices = (FlashDevice("disk", MS // 100, write_ns, 1), FlashDevice("log", MS // 100, MS // 100, 1))
    model = make_model(asm, devices=devices, direct_io=True, clients=clients, duration_s=20)
    storage = replace(model.storage, data_devices=1, log_device=1)
    return replace(
        model, flushing=law, storage=storage, daemons=(page_cleaner(100 * MS, 0, law.whole_age_bytes),), **parts
    )


def pages_per_s(engine: ModuleType, model: System) -> float:
    return float(engine.simulate(model, 1).devices[0].by_purpose_per_s.get("writer", 0))


@ENGINES
def test_the_end_of_the_list_is_looked_at_sooner_when_pages_leave_the_pool(engine: ModuleType) -> None:
    """Each of some 300 transactions a second brings in a page for another; a round writes the two replaced first.

    A hundred pages make a round, or the interval does.
    """

    def figures(*operands: int) -> tuple[float, float]:
        steps = DaemonStep("every_or_evicted", operands), DaemonStep("write_tail", (2,))
        model = logging_model(LAW, write_ns=2 * MS)
        small = replace(model.pool, pages=20, resident_pages=20)
        result = engine.simulate(replace(model, pool=small, daemons=(Daemon("list cleaner", steps),)), 1)
        return result.devices[0].by_purpose_per_s["writer"] / 2, result.caches[0].evictions / result.duration_s

    rounds_per_s, evictions_per_s = figures(SECOND, 100)
    assert evictions_per_s > 250
    assert rounds_per_s == pytest.approx(evictions_per_s / 100, rel=0.05)
    each_second, each_fifth = (figures(interval_ns, 10**9)[0] for interval_ns in (SECOND, SECOND // 5))
    assert 0 < each_second <= 1
    assert 3 * each_second < each_fifth <= 5


@ENGINES
def test_pages_go_as_the_dirty_share_asks_for(engine: ModuleType) -> None:
    """40 of 1000 buffers are dirty, 4 %: 200 % of 30 pages a round are asked for, of which a third is 20 a round."""
    law = replace(LAW, milli_pages=30_000, percent_by_dirty=(0, 0, 0, 200))
    assert pages_per_s(engine, logging_model(law)) == pytest.approx(200, rel=0.05)
    assert pages_per_s(engine, logging_model(replace(law, most_milli_pages=7_500))) == pytest.approx(75, rel=0.05)
    assert pages_per_s(engine, logging_model(replace(law, percent_by_dirty=(0,)))) == 0


@ENGINES
def test_pages_go_as_the_oldest_ones_age_asks_for(engine: ModuleType) -> None:
    """Nothing before the oldest change is 50 % old, then as many as come of that age: 40 pages of 40 kB each 50 kB."""
    by_age = tuple(0 if age < 50 else 1000 for age in range(101))
    law = replace(LAW, whole_age_bytes=1_000_000, percent_by_age=by_age)
    model = logging_model(law)
    result = engine.simulate(model, 1)
    logged_per_s = 1000 * result.transactions_per_s
    written = result.devices[0].by_purpose_per_s["writer"]
    assert 0 < written < 2 * PAGES * 4 * logged_per_s / 500_000


@ENGINES
def test_commits_wait_where_too_much_log_lies_behind_the_oldest_change(engine: ModuleType) -> None:
    """No more changes than pages written where at most 20 lie behind; the negative twin has room for all.

    The disk writes 50 pages/s, and each of 20 changes is of another page.
    """
    law = replace(LAW, whole_age_bytes=10_000, full_bytes=20_000)
    slow = logging_model(law, write_ns=20 * MS)
    assert 25 < engine.simulate(slow, 1).transactions_per_s < 52
    free = logging_model(replace(law, whole_age_bytes=NEVER, full_bytes=NEVER), write_ns=20 * MS)
    assert engine.simulate(free, 1).transactions_per_s > 500


@ENGINES
def test_a_group_of_two_writes_takes_twice_as_long(engine: ModuleType) -> None:
    durable = Log(True, 0)
    once = engine.simulate(logging_model(LAW, log=durable), 1)
    twice = engine.simulate(logging_model(LAW, log=replace(durable, writes_per_group=2)), 1)
    assert twice.classes[0].time_by_s["log"] == pytest.approx(2 * once.classes[0].time_by_s["log"])
    assert twice.log.flushes_per_s / twice.log.commits_per_s == pytest.approx(2, rel=1e-3)


@ENGINES
def test_a_clean_victim_is_taken_before_a_dirty_one(engine: ModuleType) -> None:
    """Of each four pages one is changed: among four there is a clean one, and nobody writes a victim."""
    asm = Assembler()
    row, group, count = asm.register("row"), asm.register("group"), asm.counter("reads", 1, 0)
    region = asm.region("table", 1, 400, 1)
    page = asm.reference("page", "row", region, group, row=row)
    asm.emit("think", asm.distribution("constant", MS), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("scan")
    for write in (1, 0, 0, 0):
        asm.emit("take", row, count, group, 1)
        asm.emit("affine", row, row, 1, 0, 400)
        asm.emit("touch", page, write, 0)
    asm.emit("commit")
    asm.emit("end")
    model = make_model(asm, devices=(FlashDevice("disk", MS, MS, 1),), direct_io=True, pool_pages=100, duration_s=5)
    steps = DaemonStep("every", (from_s(0.01),)), DaemonStep("write_tail", (50,))
    cleaned = replace(model, daemons=(Daemon("list cleaner", steps),))
    for clean_search, most in ((1, 1.0), (4, 0.1)):
        found = replace(cleaned, pool=replace(model.pool, clean_search_pages=clean_search))
        victims = engine.simulate(found, 1).devices[0].by_purpose_per_s.get("eviction write", 0)
        assert victims <= most * 50
    alone = engine.simulate(replace(model, daemons=()), 1).devices[0].by_purpose_per_s["eviction write"]
    assert alone > 50


def test_transactions_of_the_model_are_as_many_as_its_clients_make() -> None:
    """The model that the figures above stand on."""
    assert kernel.simulate(writing_model(1), 1).transactions_per_s == pytest.approx(TRANSACTIONS / 20.5, rel=0.1)


@ENGINES
@pytest.mark.parametrize(("buffers", "waits"), [(PAGES // 2, PAGES), (PAGES, 0)])
def test_whoever_brings_a_page_into_a_full_pool_waits_for_a_buffer(
    engine: ModuleType, buffers: int, waits: int
) -> None:
    """Ten pages in turn through five buffers: each reference misses and waits; with a buffer for each none does."""
    model = writing_model(coalesced=1)
    pool = replace(model.pool, pages=buffers, resident_pages=buffers)
    lasts_s = [
        engine.simulate(replace(model, pool=replace(pool, free_wait_ns=wait_ns)), 1).classes[0].mean_s
        for wait_ns in (0, 5 * MS)
    ]
    assert lasts_s[1] - lasts_s[0] == pytest.approx(waits * 0.005, rel=0.15)
