"""Pool and page cache under pressure: exact traffic of a tiny machine, and lists that stay whole in any run."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from oltpsim.simulator.form import Assembler, FlashDevice, System
from oltpsim.simulator.reference import ReferenceEngine

MS = 1_000_000
ModelOf = Callable[..., System]


def written_in_turn(pages: int) -> Assembler:
    """A client that changes page 0, 1, 2, .. and 0 again, one every 100 ms."""
    asm = Assembler()
    asm.emit("think", asm.distribution("constant", 100 * MS), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("work")
    zero, row = asm.register("zero"), asm.register("row")
    region = asm.region("table", 1, pages, 1)
    asm.emit("take", row, asm.counter("turn", 1, 0), zero, 1)
    asm.emit("touch", asm.reference("page", "row", region, zero, row=row), 1, MS)
    asm.emit("end")
    return asm


def assert_lists_are_whole(engine: ReferenceEngine) -> None:
    """Every LRU cache lists each of its pages once, and the dirty ones are among them."""
    for cache in (engine.pool.cache, engine.page_cache.cache):
        assert len(cache.where) == len(cache.frames)
        assert [frame.page for frame in cache.in_order_of_replacement()] == list(cache.where)
        assert set(cache.dirty_since_ms) <= set(cache.where.values())


@pytest.mark.parametrize(("cache_pages", "reads"), [(2, 12), (3, 3)])
def test_making_room_may_cost_the_wanted_page(model_of: ModelOf, cache_pages: int, reads: int) -> None:
    """Two buffers, three pages: written in turn, the victim pushes just the wanted page out of a cache of two.

    It is read from disk then, like all twelve; with room for three pages none is read twice.
    """
    model = model_of(written_in_turn(3), pool_pages=2, cache_pages=cache_pages, dirty_limit_pages=9, duration_s=1.3)
    engine = ReferenceEngine(model, 1)
    engine.run(None)
    assert engine.record.ended == 12
    assert engine.devices[0].reads == reads
    assert_lists_are_whole(engine)


@pytest.mark.parametrize("free_behind", [False, True])
@pytest.mark.parametrize("parts", [{"cache_pages": 10, "dirty_limit_pages": 5, "resident_pages": 15}, {"clients": 6}])
def test_lists_stay_whole_under_pressure(busy: ModelOf, parts: dict[str, Any], free_behind: bool) -> None:
    """Small pool, smaller cache, throttled writers, swapping: nobody is stuck, and no page is lost from a list."""
    device = FlashDevice("disk", MS, MS // 2, 1)
    model = busy(pool_pages=20, devices=(device,), free_behind=free_behind, duration_s=4, **parts)
    engine = ReferenceEngine(model, 1)
    engine.run(None)
    assert_lists_are_whole(engine)
    series = engine.record.result().series.values["transactions_per_s"]
    assert min(series) > 0.3 * max(series)


@pytest.mark.parametrize("replacement", ["lru", "clock"])
def test_a_victim_that_was_waited_for_is_used(model_of: ModelOf, replacement: str) -> None:
    """Direct I/O, every buffer dirty: each of 12 misses writes one victim, not a whole round of the clock."""
    model = model_of(
        written_in_turn(6), pool_pages=3, replacement=replacement, direct_io=True, cache_pages=1, duration_s=1.3
    )
    engine = ReferenceEngine(model, 1)
    engine.run(None)
    assert engine.record.ended == 12
    assert engine.devices[0].by_purpose == {"data read": 12, "eviction write": 9}
    longest_s = engine.record.result().classes[0].p999_s
    assert longest_s == pytest.approx(0.001 + 0.002 + 0.003, rel=0.02), "CPU, one read, one write"


@pytest.mark.parametrize("replacement", ["lru", "clock"])
def test_a_miss_under_swapping_comes_to_an_end(busy: ModelOf, replacement: str) -> None:
    """Memory for a tenth of the buffers: slow, but the last second does as much as the others."""
    model = busy(pool_pages=150, resident_pages=15, replacement=replacement, direct_io=True, clients=1, duration_s=4)
    engine = ReferenceEngine(model, 1)
    engine.run(None)
    series = engine.record.result().series.values["transactions_per_s"]
    assert min(series) > 0.5 * max(series)
    plenty = ReferenceEngine(busy(pool_pages=150, replacement=replacement, direct_io=True, clients=1, duration_s=4), 1)
    plenty.run(None)
    assert plenty.record.ended > 1.3 * engine.record.ended


def test_more_buffers_are_being_read_than_have_memory(busy: ModelOf) -> None:
    """Six clients at a slow disk, memory for two buffers: those that are being read keep theirs, nobody is stuck."""
    model = busy(clients=6, resident_pages=2, duration_s=3)
    engine = ReferenceEngine(model, 1)
    engine.run(None)
    series = engine.record.result().series.values["transactions_per_s"]
    assert min(series) > 0.5 * max(series)
    assert engine.swap.swap_ins > 100
    assert engine.pool.memory.resident_pages <= 6


def test_a_warm_start_without_pages_comes_to_an_end(network: ModelOf) -> None:
    """A program that refers to no page has no cache to warm."""
    model = network([("server", "constant", MS, 0)], clients=2)
    warm = dataclasses.replace(model, interval=dataclasses.replace(model.interval, start="warm"))
    assert len(ReferenceEngine(warm, 1).pool.cache.frames) == 0
