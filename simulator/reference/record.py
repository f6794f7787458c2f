"""The recorder of one run of the reference engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from oltpsim.simulator.reference.cache import Cache
from oltpsim.simulator.reference.device import DeviceStation
from oltpsim.simulator.reference.regions import Region
from oltpsim.simulator.reference.terminals import TerminalQueue
from oltpsim.simulator.results import (
    CacheCounters,
    CacheLevels,
    ClassRecorder,
    Counters,
    CpuTimeCounters,
    DeviceCounters,
    Levels,
    LimiterCounters,
    LimiterLevels,
    LockCounters,
    LogCounters,
    QueueLevels,
    ResponseCounts,
    SectionCounters,
    Snapshot,
    StationCounters,
    TableCounters,
    TerminalLevels,
)
from oltpsim.simulator.results.recording import RunRecorder

if TYPE_CHECKING:
    from oltpsim.simulator.reference.engine import ReferenceEngine


class ReferenceRecorder(RunRecorder):
    """Counts ends of transactions, and takes snapshots of everything that accumulates."""

    engine_name = "reference"

    def __init__(self, engine: ReferenceEngine, seed: int) -> None:
        super().__init__(engine.system, seed)
        self.engine = engine
        self.counts_from_ns, self.main_class = self.system.interval.warm_up_ns, self.system.program.main_class
        self.counted = [ClassRecorder() for _ in self.system.program.classes]
        self.ended = self.ended_main = 0

    @property
    def classes(self) -> list[ClassRecorder]:
        """Completions in the measured interval, by transaction class."""
        return self.counted

    @property
    def checkpoints_ns(self) -> list[tuple[int, int]]:
        """Begin and end of each checkpoint that is done."""
        return self.engine.daemons.checkpoints_ns

    def end(self, transaction_class: int, response_ns: int, spent_ns: list[int], rolled_back: int) -> None:
        """A transaction has ended now."""
        self.ended += 1
        if transaction_class == self.main_class:
            self.ended_main += 1
        if self.engine.env.now >= self.counts_from_ns:
            self.counted[transaction_class].record(response_ns, spent_ns, rolled_back)

    def snapshot(self, now: int) -> Snapshot:
        """All counters and levels now."""
        histograms = np.array([each.histogram for each in self.counted], dtype=np.int64)
        return Snapshot(now, self._counters(now), self._levels(now), ResponseCounts(histograms))

    def _counters(self, now: int) -> Counters:
        engine, cpu = self.engine, self.engine.cpu
        return Counters(
            ended=self.ended,
            ended_main=self.ended_main,
            cpu_busy_ns=cpu.busy.area_until(now),
            io_wait_ns=engine.io_wait.area_until(now),
            cpu_time=CpuTimeCounters(
                transaction=cpu.transaction_ns,
                client_program=cpu.client_program_ns,
                system_calls=cpu.system_calls_ns,
                background_writer=cpu.background_writer_ns,
                write_back=cpu.write_back_ns,
            ),
            reads_pending_ns=engine.buffer_io.reads_pending.area_until(now),
            in_system_ns=engine.in_system.area_until(now),
            locks=LockCounters(engine.locks.acquired, engine.locks.waits, engine.locks.waited_ns),
            log=LogCounters(engine.log.written_bytes, engine.log.commits, engine.log.flushes),
            pool=_cache_counters(engine.pool.cache, engine.swap.swap_ins, engine.pool.memory.swap_outs),
            page_cache=_cache_counters(engine.page_cache.cache, swap_ins=0, swap_outs=0),
            tables=tuple(_table_counters(region) for region in engine.interpreter.references.regions),
            devices=tuple(_device_counters(device, now) for device in engine.devices),
            sections=tuple(
                SectionCounters(section.entries, section.waits, section.waited_ns, section.busy.area_until(now))
                for section in engine.sections
            ),
            stations=tuple(
                StationCounters(station.served, station.busy.area_until(now), station.number.area_until(now))
                for station in engine.stations
            ),
            limiters=tuple(LimiterCounters(limiter.closed_ps) for limiter in engine.limiters),
        )

    def _levels(self, now: int) -> Levels:
        engine, arrivals = self.engine, self.engine.arrivals
        pool, page_cache = engine.pool.cache, engine.page_cache.cache
        terminals = None
        if isinstance(arrivals, TerminalQueue):
            terminals = TerminalLevels(arrivals.away, engine.in_system.value - arrivals.deferred_inside)
        return Levels(
            clients_at_work=engine.at_work,
            ages_ns=engine.in_system.ages_at(now),
            pool=_cache_levels(pool, engine.pool.memory.resident_pages),
            page_cache=_cache_levels(page_cache, engine.page_cache.used_pages),
            devices=tuple(
                QueueLevels(device.queue_length.value, device.queue_length.ages_at(now)) for device in engine.devices
            ),
            limiters=tuple(LimiterLevels(limiter.full_at_ps, limiter.out_since_ns) for limiter in engine.limiters),
            terminals=terminals,
        )


def _table_counters(region: Region) -> TableCounters:
    return TableCounters(region.references, region.pool_hits, region.page_cache_hits, region.disk_reads, region.created)


def _cache_counters(cache: Cache, swap_ins: int, swap_outs: int) -> CacheCounters:
    return CacheCounters(
        references=cache.references,
        hits=cache.hits,
        evictions=cache.evictions,
        dirty_evictions=cache.dirty_evictions,
        swap_ins=swap_ins,
        swap_outs=swap_outs,
    )


def _cache_levels(cache: Cache, resident_pages: int) -> CacheLevels:
    return CacheLevels(cache.capacity_pages, len(cache.frames), len(cache.dirty_since_ms), resident_pages)


def _device_counters(device: DeviceStation, now: int) -> DeviceCounters:
    return DeviceCounters(
        arrived=device.arrived,
        reads=device.reads,
        writes=device.writes,
        service_ns=device.service_ns,
        response_ns=device.response_ns,
        busy_ns=device.busy_ns(now),
        occupied_ns=device.occupied.area_until(now),
        queue_ns=device.queue_length.area_until(now),
        by_purpose=dict(device.by_purpose),
    )
