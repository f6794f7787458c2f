"""Writes of the background writer.

By direct I/O dirty neighbours go along in one request, up to a number of pages. By buffered I/O what it writes stays
in the page cache, or is pushed on to the disks at once.
"""

from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from oltpsim.simulator import kernel, reference
from oltpsim.simulator.analytic import simulate as calculate
from oltpsim.simulator.form import Assembler, FlashDevice, RotatingDevice, System, Writing, from_s
from oltpsim.simulator.reference.page_cache import OsPageCache
from oltpsim.simulator.results import Result
from tests.simulator.conftest import make_model
from tests.simulator.daemons import sleeping_writer, write_back, writer

MS = 1_000_000
DISK = FlashDevice("disk", read_ns=MS, write_ns=MS, parallel=1)
PAGES, TRANSACTIONS = 10, 20


def writing_model(coalesced: int, batch: int = 32, disks: int = 1, step: int = 1, **parts: Any) -> System:
    """A client that dirties pages 0, step, 2 step, ... each second; the writer then writes all that is dirty."""
    asm = Assembler()
    row, group = asm.register("row"), asm.register("group")
    region = asm.region("table", 1, PAGES * step, 1)
    page = asm.reference("page", "row", region, group, row=row)
    asm.emit("think", asm.distribution("constant", from_s(1.0)), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("write")
    asm.emit("cpu", MS, 0, 0)
    for number in range(PAGES):
        asm.emit("set", row, number * step)
        asm.emit("touch", page, 1, 0)
    asm.emit("commit")
    asm.emit("end")
    devices = tuple(replace(DISK, name=f"disk {number}") for number in range(disks))
    model = make_model(asm, **{"devices": devices, "direct_io": True, "duration_s": TRANSACTIONS + 0.5} | parts)
    return replace(model, daemons=(writer(0, 0),), writing=Writing(batch, coalesced))


def writes(result: Result, purpose: str = "writer") -> list[int]:
    """Requests of the writer at each disk, for one transaction."""
    return [round(each.by_purpose_per_s.get(purpose, 0) * result.duration_s / TRANSACTIONS) for each in result.devices]


@pytest.mark.parametrize(("coalesced", "requests"), [(1, 10), (4, 3), (16, 1)])
def test_neighbours_go_along(coalesced: int, requests: int) -> None:
    """10 dirty pages side by side: 10 requests, or 4 + 4 + 2, or one."""
    model = writing_model(coalesced)
    result = kernel.simulate(model, 1)
    assert writes(result) == [requests]
    assert result.caches[0].dirty_fraction < 0.01, "all of them are clean afterwards"
    assert writes(reference.simulate(model, 1)) == [requests]


def test_pages_apart_do_not() -> None:
    """The negative twin: every other page is dirty, and nobody lies beside another."""
    assert writes(kernel.simulate(writing_model(16, step=2), 1)) == [10]


def test_neighbours_are_those_on_the_same_disk() -> None:
    """Striped over two disks page by page, every other page is the next one of its disk."""
    assert writes(kernel.simulate(writing_model(16, disks=2), 1)) == [1, 1]
    assert writes(kernel.simulate(writing_model(16, disks=2, step=2), 1)) == [1, 0]


def test_a_batch_is_waited_for() -> None:
    """Requests of 1 ms at a disk that serves one at a time: one after the other, whatever the batch; none is lost."""
    assert writes(kernel.simulate(writing_model(1, batch=3), 1)) == [10]


def pushing_model(pushed: bool, **parts: Any) -> System:
    """The same by buffered I/O, whose pages are old enough for write-back only after the run."""
    model = writing_model(1, batch=4, direct_io=False, costs=(0, MS, 0, 2 * MS), **parts)
    return replace(model, writing=Writing(4, pushed=pushed))


@pytest.mark.parametrize(("merged_pages", "requests"), [(1, 10), (4, 3), (64, 3)])
def test_pushed_pages_are_on_the_disks_each_time(merged_pages: int, requests: int) -> None:
    """10 pages side by side in batches of 4, 4 and 2: each goes to the disk, neighbours of a batch in one request."""
    results = [each.simulate(pushing_model(True, merged_pages=merged_pages), 1) for each in (kernel, reference)]
    for result in results:
        assert writes(result, "write-back") == [requests]
        assert result.cpu.by_activity["background writer"] * result.duration_s == pytest.approx(
            PAGES * TRANSACTIONS * 0.003, rel=1e-6
        ), "1 ms for each call, 2 ms for what is handed to the disks"


def test_what_is_not_pushed_is_written_over_in_the_page_cache() -> None:
    """The negative twin: no page is old enough, and none reaches the disk."""
    for each in (kernel, reference):
        result = each.simulate(pushing_model(False), 1)
        assert writes(result, "write-back") == [0]
        assert result.cpu.by_activity["background writer"] * result.duration_s == pytest.approx(
            PAGES * TRANSACTIONS * 0.001, rel=1e-6
        )


def test_pushing_waits_for_the_room_that_write_back_has() -> None:
    """One page on its way at a time: the disk never has two of them to choose from."""
    model = pushing_model(True)
    model = replace(model, page_cache=replace(model.page_cache, in_flight_pages=1))
    for each in (kernel, reference):
        result = each.simulate(model, 1)
        assert writes(result, "write-back") == [PAGES]
        assert result.devices[0].mean_queue <= result.devices[0].utilisation + 1e-9
    crowded = kernel.simulate(pushing_model(True), 1).devices[0]
    assert crowded.mean_queue > crowded.utilisation * 1.5, "the twin: a batch at once"


def aged_model(in_file_order: bool, merged_pages: int = 64, step: int = 1, order: int = 1) -> System:
    """Ten pages, `step` apart, are changed each second, every 0.1 s the one `order` further; the old go to the disk."""
    asm = Assembler()
    row, group, count = asm.register("row"), asm.register("group"), asm.counter("changes", 1, 0)
    page = asm.reference("page", "row", asm.region("table", 1, PAGES * step, 1), group, row=row)
    asm.emit("think", asm.distribution("constant", 100 * MS), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("write")
    asm.emit("take", row, count, group, 1)
    asm.emit("affine", row, row, order * step, 0, PAGES * step)
    asm.emit("touch", page, 1, 0)
    asm.emit("commit")
    asm.emit("end")
    model = make_model(asm, devices=(DISK,), duration_s=20.05, merged_pages=merged_pages)
    cache = replace(model.page_cache, in_file_order=in_file_order)
    return replace(model, page_cache=cache, daemons=(sleeping_writer(10 * MS, 0), write_back(10 * MS, 1000 * MS)))


@pytest.mark.parametrize("engine", [kernel, reference], ids=["kernel", "reference"])
def test_write_back_in_file_order_takes_neighbours_along(engine: ModuleType) -> None:
    """When the oldest of ten pages in a row is due all go: those behind the last one written, then those before it.

    Each part is one request, or as many as have room for it; by age each page is alone.
    Where none lies beside another each has a request of its own, too.
    """
    rates = {}
    for name, model in {
        "all": aged_model(True),
        "four": aged_model(True, merged_pages=4),
        "alone": aged_model(False),
        "apart": aged_model(True, step=2),
    }.items():
        result = engine.simulate(model, 1)
        rates[name] = result.devices[0].by_purpose_per_s["write-back"]
    assert 1.0 <= rates["all"] <= 2.0
    assert 2.5 <= rates["four"] <= 4.0
    assert 8.0 < rates["alone"] <= 10.0
    assert 8.0 < rates["apart"] <= 10.0


@pytest.mark.parametrize("engine", [kernel, reference], ids=["kernel", "reference"])
@pytest.mark.parametrize("in_file_order", [False, True], ids=["by age", "by place"])
def test_write_back_goes_on_until_nothing_is_too_old(engine: ModuleType, in_file_order: bool) -> None:
    """Every two seconds all that is older than one goes to the disk, one page after the other if one may be in flight.

    That was one page each time. The twin: a disk that takes longer for the pages than until more are too old.
    """
    model = replace(
        aged_model(in_file_order, merged_pages=1),
        daemons=(sleeping_writer(10 * MS, 0), write_back(2000 * MS, 1000 * MS)),
    )

    def per_s(in_flight_pages: int, write_ns: int = MS) -> float:
        cache = replace(model.page_cache, in_flight_pages=in_flight_pages)
        storage = replace(model.storage, devices=(replace(DISK, write_ns=write_ns),))
        result = engine.simulate(replace(model, page_cache=cache, storage=storage), 1)
        return result.devices[0].by_purpose_per_s["write-back"]

    assert per_s(1) == pytest.approx(per_s(100), rel=0.2)
    assert per_s(1) > 3.0
    assert per_s(1, write_ns=400 * MS) == pytest.approx(2.4, rel=0.1)


@pytest.mark.parametrize("engine", [kernel, reference], ids=["kernel", "reference"])
def test_an_arm_has_shorter_ways_in_file_order(engine: ModuleType) -> None:
    """One page on its way at a time, pages all over an arm: by their age it seeks, by their place it goes on."""
    services = {}
    for in_file_order in (True, False):
        model = aged_model(in_file_order, step=100_000, order=3)
        arm = RotatingDevice("arm", 1 << 33, MS // 2, 1 << 19, MS, 20 * MS, 40 * MS, MS // 5, 1, "look")
        cache = replace(model.page_cache, in_flight_pages=1, in_file_order=in_file_order)
        model = replace(model, page_cache=cache, storage=replace(model.storage, devices=(arm,)))
        services[in_file_order] = engine.simulate(model, 1).devices[0].mean_service_s
    assert services[True] < 0.9 * services[False]


def locking_model(pages_a_pause: int) -> System:
    """Four clients, a page each 5 ms, a page cache that may have 20 dirty ones, a disk that takes 2 ms for each."""
    asm = Assembler()
    row, group, count = asm.register("row"), asm.register("group"), asm.counter("changes", 1, 0)
    page = asm.reference("page", "row", asm.region("table", 1, 500, 1), group, row=row)
    asm.emit("think", asm.distribution("constant", 5 * MS), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("write")
    asm.emit("take", row, count, group, 1)
    asm.emit("affine", row, row, 1, 0, 500)
    asm.emit("touch", page, 1, 0)
    asm.emit("commit")
    asm.emit("end")
    disk = replace(DISK, read_ns=MS // 10, write_ns=2 * MS)
    model = make_model(asm, devices=(disk,), clients=4, pool_pages=4, dirty_limit_pages=20, duration_s=20)
    return replace(model, page_cache=replace(model.page_cache, pages_a_pause=pages_a_pause, paced_pages=15))


@pytest.mark.parametrize("engine", [kernel, reference], ids=["kernel", "reference"])
def test_who_comes_to_the_limit_keeps_the_file_locked_for_whole_pauses(engine: ModuleType) -> None:
    """A disk that is slower than the writers: with locks one of them stays 0.2 s, and the others wait in turn for it.

    Without, each waits until the disk has the next page.
    """
    slowest = {}
    for pages_a_pause in (0, 16):
        found = engine.simulate(locking_model(pages_a_pause), 1).classes[0].p999_s
        assert found is not None
        slowest[pages_a_pause] = found
    assert slowest[16] >= 0.39, "its own pause and another's"
    assert slowest[0] < 0.1


def test_a_locked_file_is_one_of_several() -> None:
    """Pauses of one file follow each other; pages of another are free meanwhile, and after it those of this one."""
    files = OsPageCache(locking_model(16).page_cache, 30, [10, 0, 20])
    files.locked_until_ns[files.file_of(10)] = 5
    assert [files.locked_ns(page, 3) for page in (0, 9, 10, 19, 20)] == [0, 0, 2, 2, 0]
    assert files.locked_ns(10, 6) == 0


def test_the_formulas_doubt_what_they_lack() -> None:
    """Pushes, the order of files and locked ones, and nothing where none is."""
    plain = pushing_model(False)
    in_order = replace(plain, page_cache=replace(plain.page_cache, in_file_order=True))
    locking = replace(plain, page_cache=replace(plain.page_cache, pages_a_pause=16))
    known = ("flush_after", "in_file_order", "locks_files")
    for model, words in (
        (pushing_model(True), "flush_after"), (in_order, "in_file_order"), (locking, "locks_files"), (plain, ""),
    ):  # fmt: skip
        said = [line for line in calculate(model, 1).warnings if any(word in line for word in known)]
        assert len(said) == bool(words)
        assert all(words in line for line in said)
