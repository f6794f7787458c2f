"""The recorder of one run of the reference engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.kernel.caches import CACHE, POOL
from simulator.kernel.record import (
    cache_counters,
    cache_levels,
    limiter_counters,
    limiter_levels,
    table_counters,
    terminal_levels,
)
from simulator.reference.io_wait import IoWait
from simulator.reference.stations import DeviceStation
from simulator.results import (
    ClassRecorder,
    Counters,
    CpuTimeCounters,
    DeviceCounters,
    Levels,
    LockCounters,
    LogCounters,
    QueueLevels,
    SectionCounters,
    Snapshot,
    StationCounters,
)
from simulator.results.recording import RunRecorder

if TYPE_CHECKING:
    from simulator.reference.engine import ReferenceEngine


class ReferenceRecorder(RunRecorder):
    """Counts ends of transactions, and takes snapshots of everything that accumulates."""

    engine_name = "reference"

    def __init__(self, engine: ReferenceEngine, seed: int) -> None:
        super().__init__(engine.model, seed)
        self.engine = engine
        self.counts_from_ns, self.main_class = self.model.interval.warm_up_ns, self.model.program.main_class
        self.counted = [ClassRecorder() for _ in self.model.program.classes]
        self.ended = self.ended_main = 0
        self.io_wait = IoWait(engine)

    @property
    def classes(self) -> list[ClassRecorder]:
        """Completions in the measured interval, by transaction class."""
        return self.counted

    @property
    def checkpoints_ns(self) -> list[tuple[int, int]]:
        """Begin and end of each checkpoint that is done."""
        return self.engine.checkpoint_times_ns

    def end(self, transaction_class: int, response_ns: int, spent_ns: list[int], rolled_back: int) -> None:
        """A transaction has ended now."""
        self.ended += 1
        if transaction_class == self.main_class:
            self.ended_main += 1
        if self.engine.env.now >= self.counts_from_ns:
            self.counted[transaction_class].record(response_ns, spent_ns, rolled_back)

    def snapshot(self, now: int) -> Snapshot:
        """All counters and levels now."""
        engine, head = self.engine, self.engine.state.tiers.head
        counters = Counters(
            ended=self.ended,
            ended_main=self.ended_main,
            cpu_busy_ns=engine.cpu.busy.area_until(now),
            io_wait_ns=self.io_wait.area_until(now),
            cpu_time=CpuTimeCounters(*engine.state.usage.tolist()),
            reads_pending_ns=engine.reads_pending.area_until(now),
            in_system_ns=engine.in_system.area_until(now),
            locks=LockCounters(engine.locks.acquired, engine.locks.waits, engine.locks.waited_ns),
            log=LogCounters(engine.log.written_bytes, engine.log.commits, engine.log.flushes),
            pool=cache_counters(head[POOL]),
            page_cache=cache_counters(head[CACHE]),
            tables=table_counters(engine.state),
            devices=tuple(_device(device, now) for device in engine.devices),
            sections=tuple(
                SectionCounters(each.entries, each.waits, each.waited_ns, each.busy.area_until(now))
                for each in engine.sections
            ),
            stations=tuple(
                StationCounters(each.served, each.busy.area_until(now), each.number.area_until(now))
                for each in engine.stations
            ),
            limiters=limiter_counters(engine.limits),
        )
        levels = Levels(
            clients_at_work=engine.at_work,
            ages_ns=engine.in_system.ages_at(now),
            pool=cache_levels(head, POOL),
            page_cache=cache_levels(head, CACHE),
            devices=tuple(
                QueueLevels(each.queue_length.value, each.queue_length.ages_at(now)) for each in engine.devices
            ),
            limiters=limiter_levels(engine.limits),
            terminals=terminal_levels(engine.terminals.terminals, engine.in_system.value),
        )
        return Snapshot(now, counters, levels)


def _device(device: DeviceStation, now: int) -> DeviceCounters:
    return DeviceCounters(
        arrived=device.arrived,
        reads=device.reads,
        writes=device.writes,
        service_ns=device.service_ns,
        response_ns=device.response_ns,
        busy_ns=device.busy.area_until(now),
        occupied_ns=device.occupied.area_until(now),
        queue_ns=device.queue_length.area_until(now),
        by_purpose=dict(device.by_purpose),
    )
