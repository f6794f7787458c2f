"""The drawn warm start, against brute force for independent references, and against what a run goes on to do."""

import dataclasses
from functools import cache

import numpy as np
import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator import kernel
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.expectation.warm_start import warm_state
from oltpsim.simulator.form import NS_PER_S, Assembler, FloatArray, Flushing, IntArray, Program, StartState, System
from oltpsim.simulator.reference.cache import POLICIES
from tests.simulator.tpcc_systems import TINY

GROUPS, GROUP_PAGES, CAPACITY = 40, 25, 250
PAGES = GROUPS * GROUP_PAGES
WRITE_SHARE, LOG_BYTES = 0.3, 100
SEEDS, SNAPSHOTS, APART = 200, 400, 2_000
WEIGHTS = 1.0 / np.arange(1, GROUP_PAGES + 1) ** 1.2
LEVELS = np.tile(np.arange(GROUP_PAGES) * 5 // GROUP_PAGES, GROUPS)
"""five levels of popularity"""


def lookups(weights: FloatArray, endless: bool = False) -> Program:
    """A page by popularity in an even group, written in some cases, and no page else."""
    asm = Assembler()
    draws, group, count = asm.stream("draws"), asm.register("group"), asm.register("count")
    asm.emit("think", asm.distribution("constant", 1000), draws)
    asm.emit("choose", asm.table("mix", [1.0]), draws)
    region = asm.region("pages", GROUPS, GROUP_PAGES, 1)
    page = asm.reference("page", "popular", region, group, table=asm.table("popularity", weights), stream=draws)
    for each in range(GROUPS):
        asm.loaded(region, each, GROUP_PAGES)
    asm.begin_class("look")
    asm.emit("uniform", group, GROUPS, 0, draws)
    reads, done = asm.label(), asm.label()
    asm.emit("maybe", round((1.0 - WRITE_SHARE) * 2**32), draws, reads)
    asm.emit("touch", page, 1, 0)
    asm.emit("jump", done)
    asm.place(reads)
    asm.emit("touch", page, 0, 0)
    asm.place(done)
    asm.emit("log", LOG_BYTES)
    asm.emit("commit")
    if endless:
        asm.emit("set", count, 10**9)
        again = asm.label()
        asm.place(again)
        asm.emit("loop", count, again)
    asm.emit("end")
    return asm.finish("look")


def model_of(replacement: str, program: Program) -> System:
    """A pool by direct I/O that no background writer cleans."""
    model = build(load_scenario(TINY, ["database.io=direct"]))
    pool = dataclasses.replace(model.pool, pages=CAPACITY, resident_pages=CAPACITY, replacement=replacement)
    registers = np.zeros((2, len(program.registers)), dtype=np.int64)
    return dataclasses.replace(model, program=program, client_registers=registers, pool=pool, daemons=())


def flushing_model(flushed_after: int) -> System:
    """The pool of `model_of`, whose pages are flushed so many transactions after they became dirty."""
    law = Flushing(2 * flushed_after * LOG_BYTES, 10**15, 1, 1000, 1000, 10, (0,), (0,))
    return dataclasses.replace(model_of("lru", lookups(WEIGHTS)), flushing=law)


def by_level(pages: IntArray) -> FloatArray:
    return np.bincount(LEVELS[pages], minlength=5) / np.bincount(LEVELS)


def usage_of(counts: IntArray) -> FloatArray:
    return np.bincount(counts, minlength=6) / len(counts)


def figures(pages: IntArray, usage: IntArray, dirty: IntArray) -> FloatArray:
    """Presence by level, share of each usage count, share of dirty pages."""
    return np.concatenate([by_level(pages), usage_of(usage), [dirty.mean()]])


def drawn(replacement: str, weights: FloatArray = WEIGHTS) -> FloatArray:
    """Figures of many draws, shape (draws, figures)."""
    model = model_of(replacement, lookups(weights))
    return np.array([figures(*warm_state(model, seed).pool.T[:3]) for seed in range(SEEDS)])


@cache
def counted(replacement: str, flushed_after: int | None = None) -> FloatArray:
    """The same of a pool to which as many references are made one by one, looked at now and then."""
    draws = np.random.default_rng(7)
    total = (SNAPSHOTS + 10) * APART
    pages = draws.integers(GROUPS, size=total) * GROUP_PAGES
    pages += draws.choice(GROUP_PAGES, size=total, p=WEIGHTS / WEIGHTS.sum())
    writes = draws.random(total) < WRITE_SHARE
    cache_ = POLICIES[replacement](CAPACITY)
    found = []
    number = 0
    cache_.now_ns = lambda: number * NS_PER_S
    for number, (page, write) in enumerate(zip(pages.tolist(), writes.tolist(), strict=True), 1):
        frame = cache_.where.get(page)
        if frame is not None:
            cache_.touch(frame)
        else:
            frame = cache_.next_frame()
            assert frame is not None
            if frame.page >= 0:
                cache_.evict(frame)
            cache_.insert(frame, page)
        if write:
            cache_.set_dirty(frame, number * 1_000_000)
        if flushed_after is not None:
            for flushed in cache_.dirty_before((number - flushed_after) * 1_000_000, 10):
                cache_.clear_dirty(cache_.where[flushed])
        if number % APART == 0 and number > 10 * APART:
            usage = np.array([f.usage if replacement == "clock" else 1 for f in cache_.frames])
            dirty = np.array([cache_.is_dirty(f) for f in cache_.frames])
            found.append(figures(np.array([f.page for f in cache_.frames]), usage, dirty))
    return np.array(found)


def standard_errors_apart(a: FloatArray, b: FloatArray) -> FloatArray:
    """By figure; a part in 200 of the size is allowed for what Che's approximation neglects."""
    error = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b)) + 0.005 * np.maximum(a.mean(axis=0), 1e-3)
    return np.asarray(np.abs(a.mean(axis=0) - b.mean(axis=0)) / error)


@pytest.mark.parametrize("replacement", ["lru", "clock", "midpoint"])
def test_a_pool_is_drawn_as_independent_references_leave_it(replacement: str) -> None:
    assert standard_errors_apart(drawn(replacement), counted(replacement)).max() < 4.0


@pytest.mark.parametrize("replacement", ["lru", "clock", "midpoint"])
def test_with_another_popularity_it_is_not(replacement: str) -> None:
    less = 1.0 / np.arange(1, GROUP_PAGES + 1)
    assert standard_errors_apart(drawn(replacement, less), counted(replacement)).max() > 6.0


@pytest.mark.uncounted
@pytest.mark.parametrize("flushed_after", [100, 1_000, 10_000])
def test_pages_flushed_by_their_age_are_as_dirty_as_references_leave_them(flushed_after: int) -> None:
    """From hardly anything that a page cleaner leaves dirty to all of it."""
    model = flushing_model(flushed_after)
    states = [warm_state(model, seed).pool for seed in range(SEEDS)]
    dirty = np.array([[by_level(pool[pool[:, 2] > 0, 0])] for pool in states])[:, 0]
    brute = counted("lru", flushed_after)[:, -1:]
    share = np.array([[pool[:, 2].mean()] for pool in states])
    assert standard_errors_apart(share, brute).max() < 4.0
    assert (np.diff(dirty.mean(axis=0)) < 0).all()


def test_with_another_age_they_are_not() -> None:
    share = np.array([[warm_state(flushing_model(300), seed).pool[:, 2].mean()] for seed in range(SEEDS)])
    assert standard_errors_apart(share, counted("lru", 1_000)[:, -1:]).max() > 8.0


def test_lru_is_in_order_of_age() -> None:
    """Popular pages are mostly those that were used last."""
    levels = np.mean(
        [LEVELS[warm_state(model_of("lru", lookups(WEIGHTS)), seed).pool[:, 0]] for seed in range(50)], axis=0
    )
    assert levels[:50].mean() > levels[-50:].mean() + 0.5


SIZES = ("database.pool.buffers=30000", "workload.warehouses=8", "workload.arrivals.clients=16",
         "machine.disks={disk: nvme, count: 1}", "machine.memory_gib=0.8")  # fmt: skip


@cache
def misses(start: str, warm_up_s: int) -> tuple[float, float]:
    """Of the pool by reference, and disk reads by miss, in 3 s."""
    interval = (f"interval.start={start}", f"interval.warm_up_s={warm_up_s}", "interval.duration_s=3")
    result = kernel.simulate(build(load_scenario(TINY, (*SIZES, *interval))), 1)
    pool, page_cache = result.caches
    return 1 - pool.hits / pool.references, 1 - page_cache.hits / page_cache.references


@pytest.mark.parametrize("tier", [0, 1], ids=["pool", "page cache"])
def test_hits_do_not_drift(tier: int) -> None:
    """What the first seconds find is what later ones find; after a cold start it isn't."""
    later = misses("warm", 120)[tier]
    assert misses("warm", 0)[tier] == pytest.approx(later, rel=0.2)
    assert misses("cold", 0)[tier] > 2.0 * later


def states(*sets: str) -> tuple[StartState, StartState, StartState]:
    model = build(load_scenario(TINY, (*SIZES, *sets)))
    return warm_state(model, 1), warm_state(model, 1), warm_state(model, 2)


@pytest.mark.parametrize("replacement", ["lru", "clock"])
def test_a_seed_has_one_state(replacement: str) -> None:
    first, again, other = states(f"database.pool.replacement={replacement}")
    for name in ("pool", "page_cache", "windows", "seen", "counters", "high"):
        assert np.array_equal(getattr(first, name), getattr(again, name)), name
    assert not np.array_equal(first.pool, other.pool)


@pytest.mark.parametrize("replacement", ["lru", "clock"])
def test_no_page_is_drawn_twice_and_caches_are_full(replacement: str) -> None:
    model = build(load_scenario(TINY, (*SIZES, f"database.pool.replacement={replacement}")))
    warm = warm_state(model, 3)
    for pages, capacity in ((warm.pool[:, 0], model.pool.pages), (warm.page_cache, model.page_cache.pages)):
        assert len(np.unique(pages)) == len(pages) == capacity
        assert 0 <= pages.min() <= pages.max() < model.program.pages


def test_memory_that_is_short_is_taken_from_the_oldest() -> None:
    model = model_of("lru", lookups(WEIGHTS))
    model = dataclasses.replace(model, pool=dataclasses.replace(model.pool, resident_pages=200))
    assert warm_state(model, 1).pool[:, 3].tolist() == [0] * 50 + [1] * 200


def test_counters_of_groups_are_at_different_places_and_keep_their_distance() -> None:
    model = build(load_scenario(TINY, SIZES))
    program, warm = model.program, warm_state(model, 1)
    moved = [
        (warm.counters - program.counters)[start : start + length]
        for name, (start, length) in zip(program.counter_names, program.counter_tables.tolist(), strict=True)
        if name in ("orders", "delivered orders")
    ]
    assert np.array_equal(moved[0], moved[1])
    assert len(np.unique(moved[0])) == 8
    assert (warm.high >= program.initial_high).all()
    assert (warm.high > program.initial_high).any(), "pages that counters have reached are there"


def test_windows_remember_pages_from_the_start() -> None:
    model = build(load_scenario(TINY, SIZES))
    warm = warm_state(model, 1)
    stock = model.program.regions[model.program.region_names.index("stock")]
    assert (warm.windows >= stock[0]).all()
    assert (warm.windows < stock[0] + stock[1] * stock[2]).all()
    engine = kernel.KernelEngine(model, 1)
    assert engine.kernel.state().pool[:, 0].tolist() == warm.pool[:, 0].tolist()


def test_a_loop_without_a_bound_is_refused() -> None:
    with pytest.raises(InputError, match="a warm start need loops with bounds"):
        warm_state(model_of("lru", lookups(WEIGHTS, endless=True)), 1)
