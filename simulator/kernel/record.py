"""The recorder of one run of the kernel, and the counters of the state that both simulating engines share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.form import IntArray
from simulator.kernel import columns as ks
from simulator.kernel.caches import (
    CACHE,
    CAPACITY,
    DIRTY_COUNT,
    DIRTY_EVICTIONS,
    EVICTIONS,
    HITS,
    POOL,
    REFERENCES,
    RESIDENT,
    SWAP_INS,
    SWAP_OUTS,
    USED,
)
from simulator.kernel.io_wait import io_wait_until
from simulator.kernel.rate_limits import CLOSED_PS, FULL_AT_PS, NEVER, OUT_SINCE_NS
from simulator.kernel.state import State
from simulator.kernel.stations import ages_at, area_until
from simulator.kernel.terminals import AWAY, COUNT, DEFERRED_INSIDE, TerminalState
from simulator.results import (
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
    SectionCounters,
    Snapshot,
    StationCounters,
    TableCounters,
    TerminalLevels,
)
from simulator.results.recording import RunRecorder

if TYPE_CHECKING:
    from simulator.kernel.engine import KernelEngine


class KernelRecorder(RunRecorder):
    """Takes snapshots of everything that accumulates."""

    engine_name = "kernel"

    def __init__(self, engine: KernelEngine, seed: int) -> None:
        super().__init__(engine.model, seed)
        self.engine = engine

    @property
    def ended(self) -> int:
        """Transactions that have ended so far."""
        return int(self.engine.kernel.facts[ks.ENDED])

    @property
    def classes(self) -> list[ClassRecorder]:
        """Completions in the measured interval, by transaction class."""
        return [_class(row) for row in self.engine.kernel.classes]

    @property
    def checkpoints_ns(self) -> list[tuple[int, int]]:
        """Begin and end of each checkpoint that is done."""
        kernel = self.engine.kernel
        return [(int(begin), int(end)) for begin, end in kernel.checkpoints[: kernel.facts[ks.CHECKPOINTS_DONE]]]

    def snapshot(self, now: int) -> Snapshot:
        """All counters and levels now."""
        kernel, state = self.engine.kernel, self.engine.state
        facts, stations, sections_from = kernel.facts, kernel.stations, int(kernel.facts[ks.SECTIONS_FROM])
        numbers, head = facts.tolist(), state.tiers.head
        counters = Counters(
            ended=numbers[ks.ENDED],
            ended_main=numbers[ks.ENDED_MAIN],
            cpu_busy_ns=int(area_until(stations[ks.CPU_STATION], ks.BUSY, now)),
            io_wait_ns=int(io_wait_until(kernel, now)),
            cpu_time=CpuTimeCounters(*state.usage.tolist()),
            reads_pending_ns=int(area_until(facts, ks.READS_PENDING, now)),
            in_system_ns=int(area_until(facts, ks.IN_SYSTEM, now)),
            locks=LockCounters(numbers[ks.LOCKS_ACQUIRED], numbers[ks.LOCK_WAITS], numbers[ks.LOCK_WAITED]),
            log=LogCounters(numbers[ks.LOG_WRITTEN], numbers[ks.LOG_COMMITS], numbers[ks.LOG_FLUSHES]),
            pool=cache_counters(head[POOL]),
            page_cache=cache_counters(head[CACHE]),
            tables=table_counters(state),
            devices=tuple(_device(row, now) for row in kernel.devices),
            sections=tuple(_section(row, now) for row in stations[sections_from:]),
            stations=tuple(_station(row, now) for row in stations[1:sections_from]),
            limiters=limiter_counters(kernel.limits),
        )
        levels = Levels(
            clients_at_work=numbers[ks.AT_WORK],
            ages_ns=ages_at(facts, ks.IN_SYSTEM, now),
            pool=cache_levels(head, POOL),
            page_cache=cache_levels(head, CACHE),
            devices=tuple(
                QueueLevels(int(row[ks.QUEUE_LENGTH]), ages_at(row, ks.QUEUE_LENGTH, now)) for row in kernel.devices
            ),
            limiters=limiter_levels(kernel.limits),
            terminals=terminal_levels(kernel.terminals, numbers[ks.IN_SYSTEM]),
        )
        return Snapshot(now, counters, levels)


def _class(row: IntArray) -> ClassRecorder:
    recorder = ClassRecorder()
    recorder.completed, recorder.rolled_back = int(row[ks.COMPLETED]), int(row[ks.ROLLED])
    recorder.total_ns = int(row[ks.TOTAL_NS])
    recorder.spent_ns = row[ks.CLASS_SPENT : ks.HISTOGRAM].tolist()
    recorder.histogram = row[ks.HISTOGRAM :].tolist()
    return recorder


def _device(row: IntArray, now: int) -> DeviceCounters:
    counts = row[ks.BY_PURPOSE : ks.BY_PURPOSE + len(ks.PURPOSES)].tolist()
    return DeviceCounters(
        arrived=int(row[ks.ARRIVED]),
        reads=int(row[ks.READS]),
        writes=int(row[ks.WRITES]),
        service_ns=int(row[ks.SERVICE_NS]),
        response_ns=int(row[ks.RESPONSE_NS]),
        busy_ns=int(area_until(row, ks.DEVICE_BUSY, now)),
        occupied_ns=int(area_until(row, ks.OCCUPIED, now)),
        queue_ns=int(area_until(row, ks.QUEUE_LENGTH, now)),
        by_purpose={purpose: count for purpose, count in zip(ks.PURPOSES, counts, strict=True) if count},
    )


def _section(row: IntArray, now: int) -> SectionCounters:
    busy_ns = int(area_until(row, ks.BUSY, now))
    return SectionCounters(int(row[ks.SERVED]), int(row[ks.WAITS]), int(row[ks.WAITED_NS]), busy_ns)


def _station(row: IntArray, now: int) -> StationCounters:
    busy_ns, number_ns = (int(area_until(row, gauge, now)) for gauge in (ks.BUSY, ks.NUMBER))
    return StationCounters(int(row[ks.SERVED]), busy_ns, number_ns)


def cache_counters(head: IntArray) -> CacheCounters:
    """Counters of a cache tier, from its head (caches.py)."""
    return CacheCounters(
        references=int(head[REFERENCES]),
        hits=int(head[HITS]),
        evictions=int(head[EVICTIONS]),
        dirty_evictions=int(head[DIRTY_EVICTIONS]),
        swap_ins=int(head[SWAP_INS]),
        swap_outs=int(head[SWAP_OUTS]),
    )


def cache_levels(heads: IntArray, tier: int) -> CacheLevels:
    """Pages in a cache tier now, from its head (caches.py). Only buffers may lose their memory to swap."""
    columns = (CAPACITY, USED, DIRTY_COUNT, RESIDENT if tier == POOL else USED)
    return CacheLevels(*heads[tier, columns].tolist())


def table_counters(state: State) -> tuple[TableCounters, ...]:
    """Counters of each region of pages; columns of `table_counts` are in the order of the fields."""
    return tuple(TableCounters(*row) for row in state.table_counts.tolist())


def limiter_counters(limits: IntArray) -> tuple[LimiterCounters, ...]:
    """Counters of each rate limit, from its row (rate_limits.py)."""
    return tuple(LimiterCounters(closed_ps) for closed_ps in limits[:, CLOSED_PS].tolist())


def limiter_levels(limits: IntArray) -> tuple[LimiterLevels, ...]:
    """Clocks of each rate limit now, from its row (rate_limits.py)."""
    clocks = limits[:, [FULL_AT_PS, OUT_SINCE_NS]].tolist()
    return tuple(LimiterLevels(full, None if since == NEVER else since) for full, since in clocks)


def terminal_levels(terminals: TerminalState, in_system: int) -> TerminalLevels | None:
    """Where the terminals are now; None without any."""
    if not terminals.facts[COUNT]:
        return None
    return TerminalLevels(int(terminals.facts[AWAY]), in_system - int(terminals.facts[DEFERRED_INSIDE]))
