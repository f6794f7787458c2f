"""What works in the background of the reference engine: log, write-back, background writer, checkpoints, arrivals."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np
import simpy

from simulator.form import NS_PER_S, Extent, Writing, extent_of
from simulator.kernel.caches import (
    CACHE,
    DIRTY,
    DIRTY_COUNT,
    DIRTY_FIRST,
    FLAGS,
    POOL,
    WRITES_IN_FLIGHT,
    clear_dirty,
    dirty_before,
    is_dirty_since,
    least_recent_dirty,
)
from simulator.kernel.memory import cache_is_full_of_dirt, cache_write, start_write_back
from simulator.kernel.state import FLUSH_NS, WRITER_NS
from simulator.kernel.streams import exponential_ns, seed_streams
from simulator.reference.stations import Story

if TYPE_CHECKING:
    from simulator.reference.engine import ReferenceEngine


class CommitLog:
    """The transaction log: a group flush for all who wait (durable), or bytes left to the operating system."""

    def __init__(self, engine: ReferenceEngine) -> None:
        self.engine = engine
        self.position = 0
        self.pending_bytes = self.written_bytes = self.commits = self.flushes = 0
        self.waiting: list[simpy.Event] = []
        self.flushing = False

    def commit(self, size_bytes: int) -> Story:
        """Make `size_bytes` of log durable, or hand them over, by the engine's rule. Nothing to log: no wait."""
        if size_bytes == 0:
            return
        self.commits += 1
        self.pending_bytes += size_bytes
        if self.engine.model.log.durable:
            done = self.engine.env.event()
            self.waiting.append(done)
            if not self.flushing:
                self.flushing = True
                self.engine.env.process(self._flush())
            yield done

    def _flush(self) -> Story:
        while self.waiting:
            group, self.waiting = self.waiting, []
            yield self.engine.env.timeout(self.engine.model.log.flush_overhead_ns)
            self.engine.record.io_wait.change(1)
            yield self.write()
            self.engine.record.io_wait.change(-1)
            for done in group:
                done.succeed()
        self.flushing = False

    def write(self) -> simpy.Event:
        """Write what is pending, at the end of the log (a ring of the size the model says)."""
        storage = self.engine.model.storage
        size, self.pending_bytes = self.pending_bytes, 0
        byte = storage.log_start_bytes + self.position % storage.log_bytes
        self.position += size
        self.written_bytes += size
        self.flushes += 1
        return self.engine.devices[storage.log_device].submit(byte, size, True, "log")


class Arrivals:
    """Poisson arrivals that wait for a free connection."""

    def __init__(self, engine: ReferenceEngine, seed: int) -> None:
        self.engine = engine
        self.stream = seed_streams(seed, "arrivals", 1)
        self.waiting: deque[int] = deque()
        self.idle: deque[simpy.Event] = deque()
        engine.env.process(self._arrive())

    def _arrive(self) -> Story:
        env = self.engine.env
        mean_ns = round(NS_PER_S / self.engine.model.arrivals_per_s)
        while True:
            yield env.timeout(exponential_ns(self.stream, 0, mean_ns))
            self.engine.in_system.enter(env.now)
            if self.idle:
                self.idle.popleft().succeed(env.now)
            else:
                self.waiting.append(env.now)

    def take(self) -> Story:
        """The next arrival; returns when it came."""
        if self.waiting:
            return self.waiting.popleft()
        turn = self.engine.env.event()
        self.idle.append(turn)
        return (yield turn)


def flush_dirt(engine: ReferenceEngine, latest_ns: int, most: int) -> int:
    """Hand to the disks, in disk order, up to `most` page cache pages dirty since `latest_ns` or longer."""
    found = np.empty(most, dtype=np.int64)
    pages = found[: dirty_before(engine.state.tiers, CACHE, latest_ns, most, found)].tolist()
    for run in neighbours(pages, engine.placement, engine.model.storage.merged_pages):
        for page in run:
            start_write_back(engine.state, page)
        engine.write_back(run)
    return len(pages)


def neighbours(pages: list[int], placement: tuple[Extent, ...], most: int) -> list[range]:
    """Sorted pages as runs of up to `most` that lie side by side on one device: each becomes one request."""
    runs: dict[int, list[range]] = {}
    for page in pages:
        extent = extent_of(placement, page)
        own = runs.setdefault(extent.device_of(page), [])
        if own and own[-1].stop == page and own[-1].start >= extent.first_page and len(own[-1]) < most:
            own[-1] = range(own[-1].start, page + extent.devices, extent.devices)
        else:
            own.append(range(page, page + extent.devices, extent.devices))
    return [run for device in sorted(runs) for run in runs[device]]


def flusher(engine: ReferenceEngine) -> Story:
    """The operating system's write-back: pages that have been dirty too long, and what the log left behind."""
    env, cache = engine.env, engine.model.page_cache
    head = engine.state.tiers.head[CACHE]
    while True:
        yield env.timeout(cache.flush_interval_ns)
        if engine.log.pending_bytes and not engine.model.log.durable:
            engine.log.write()
        room = cache.in_flight_pages - int(head[WRITES_IN_FLIGHT])
        if env.now >= cache.expire_ns and room > 0:
            written = flush_dirt(engine, env.now - cache.expire_ns, room)
            if written:
                demand_ns = written * engine.model.costs.request_ns
                engine.state.usage[FLUSH_NS] += demand_ns
                yield from engine.cpu.run(demand_ns)


def background_writer(engine: ReferenceEngine) -> Story:
    """The database's writer: above the high mark, write the pages nearest to replacement down to the low mark."""
    tiers, marks = engine.state.tiers, engine.model.pool
    while True:
        dirty = int(tiers.head[POOL, DIRTY_COUNT])
        if dirty <= marks.writer_high_pages:
            engine.writer_wakes = engine.env.event()
            yield engine.writer_wakes
            continue
        yield from write_pages(engine, _next_to_go(engine, dirty - marks.writer_low_pages), 0)


def _next_to_go(engine: ReferenceEngine, most: int) -> list[int]:
    """Up to `most` dirty pages of the pool that replacement would reach first, in disk order."""
    found = np.empty(most, dtype=np.int64)
    return found[: least_recent_dirty(engine.state.tiers, POOL, most, found)].tolist()


def write_pages(engine: ReferenceEngine, pages: list[int], spread_ns: int) -> Story:
    """The database writes these pages if they are still dirty, batch by batch; over `spread_ns` if that is not 0."""
    env = engine.env
    began = env.now
    size = (engine.model.writing or Writing()).batch_pages
    for first in range(0, len(pages), size):
        batch = pages[first : first + size]
        if engine.model.direct_io:
            yield from _write_direct(engine, batch)
        else:
            yield from _write_buffered(engine, batch)
        due = began + spread_ns * first // max(len(pages), 1)
        if env.now < due:
            yield env.timeout(due - env.now)


def _write_buffered(engine: ReferenceEngine, batch: list[int]) -> Story:
    written = 0
    for page in batch:
        while cache_is_full_of_dirt(engine.state):
            flush_dirt(engine, engine.env.now, (engine.model.writing or Writing()).batch_pages)
            yield engine.written()
        if _mark_clean(engine, page):
            cache_write(engine.state, page, engine.env.now)
            written += 1
            if engine.state.outbox[0]:
                engine.write_evicted()
    if written:
        demand_ns = written * engine.model.costs.write_ns
        engine.state.usage[WRITER_NS] += demand_ns
        yield from engine.cpu.run(demand_ns)


def _write_direct(engine: ReferenceEngine, batch: list[int]) -> Story:
    pending = []
    for page in batch:
        if _mark_clean(engine, page):
            run = _with_neighbours(engine, page)
            device, byte = engine.place(run.start)
            request = engine.devices[device].submit(byte, len(run) * engine.model.storage.page_bytes, True, "writer")
            pending.append(request)
    if pending:
        demand_ns = len(pending) * engine.model.costs.write_ns
        engine.state.usage[WRITER_NS] += demand_ns
        yield from engine.cpu.run(demand_ns)
    for done in pending:
        if not done.processed:
            yield done


def _with_neighbours(engine: ReferenceEngine, page: int) -> range:
    """The pages of a request: dirty neighbours behind the page, then before it, go along and are clean from now on."""
    extent, most = extent_of(engine.placement, page), (engine.model.writing or Writing()).coalesced_pages
    step, last = extent.devices, min(extent.end_page, engine.model.program.pages)
    first, end = page, page + step
    while (end - first) // step < most and end < last and _mark_clean(engine, end):
        end += step
    while (end - first) // step < most and first - step >= extent.first_page and _mark_clean(engine, first - step):
        first -= step
    return range(first, end, step)


def _mark_clean(engine: ReferenceEngine, page: int) -> bool:
    tiers = engine.state.tiers
    slot = int(tiers.where[POOL, page])
    if slot < 0 or not tiers.slots[slot, FLAGS] & DIRTY:
        return False
    clear_dirty(tiers, POOL, slot)
    return True


def checkpoints(engine: ReferenceEngine) -> Story:
    """Every interval: write all pages dirty now, in disk order, then wait until the disks have them (sync)."""
    env, model = engine.env, engine.model
    due = 0
    while True:
        due = max(due + model.checkpoint.interval_ns, env.now)
        yield env.timeout(due - env.now)
        began = env.now
        pages = _next_to_go(engine, model.pool.pages)
        yield from write_pages(engine, pages, model.checkpoint.spread_ns)
        if not model.direct_io:
            yield from _sync(engine)
        engine.checkpoint_times_ns.append((began, env.now))


def _sync(engine: ReferenceEngine) -> Story:
    """Flush what is dirty in the page cache now, and wait for it."""
    tiers, latest = engine.state.tiers, engine.env.now
    head = tiers.head[CACHE]
    while head[DIRTY_FIRST] >= 0 and is_dirty_since(tiers, int(head[DIRTY_FIRST]), latest):
        room = engine.model.page_cache.in_flight_pages - int(head[WRITES_IN_FLIGHT])
        if room > 0:
            flush_dirt(engine, latest, room)
        yield engine.written()
    enough = engine.pages_written + int(head[WRITES_IN_FLIGHT])
    while engine.pages_written < enough:
        yield engine.written()
