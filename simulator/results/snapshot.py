"""Snapshots of a run: counters since time 0 and momentary levels, as records that both simulating engines fill."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any

import numpy as np

from oltpsim.simulator.form import to_s
from oltpsim.simulator.results.recorder import ResponseCounts

PURPOSES = (
    "data read",
    "eviction write",
    "swap in",
    "doublewrite",
    "swap out",
    "write-back",
    "log",
    "writer",
    "merge read",
)
"""Purposes of device requests; up to doublewrite each client is an owner of its own to fair queueing."""
RequestPurpose = Annotated[str, PURPOSES]


@dataclass(frozen=True)
class CpuTimeCounters:
    """CPU time handed out by activity, ns of one processor."""

    transaction: int
    client_program: int
    system_calls: int
    background_writer: int
    write_back: int

    @property
    def user(self) -> int:
        """CPU time outside the operating system, ns."""
        return self.transaction + self.client_program

    @property
    def total(self) -> int:
        """CPU time of all activities, ns."""
        return sum(getattr(self, field.name) for field in fields(self))

    def by_activity(self) -> dict[str, int]:
        """CPU time by the activity's name in results, ns."""
        return {name: getattr(self, field.name) for name, field in zip(CPU_ACTIVITIES, fields(self), strict=True)}


CPU_ACTIVITIES = ("transaction", "client program", "system calls", "background writer", "write-back")


@dataclass(frozen=True)
class DeviceCounters:
    """Requests of one device since time 0; times in ns.

    `busy_ns`: servers busy, integrated over time; `occupied_ns`: time with a request queued or served; `queue_ns`:
    requests queued and served, integrated over time. `by_purpose`: completed requests, of purposes that occurred.
    """

    arrived: int
    reads: int
    writes: int
    service_ns: int
    response_ns: int
    busy_ns: int
    occupied_ns: int
    queue_ns: int
    by_purpose: Annotated[dict[str, int], PURPOSES]

    @property
    def completed(self) -> int:
        """Completed requests."""
        return self.reads + self.writes


@dataclass(frozen=True)
class SectionCounters:
    """Entries into one critical section since time 0; waiting and busy time in ns."""

    entries: int
    waits: int
    waited_ns: int
    busy_ns: int


@dataclass(frozen=True)
class StationCounters:
    """Visits of one plain station since time 0; busy servers and customers, integrated over time, ns."""

    served: int
    busy_ns: int
    number_ns: int


@dataclass(frozen=True)
class CacheCounters:
    """Page references of one cache tier since time 0, in pages; swap-ins and swap-outs occur in the buffer pool."""

    references: int
    hits: int
    evictions: int
    dirty_evictions: int
    swap_ins: int
    swap_outs: int

    @property
    def misses(self) -> int:
        """References that found no page."""
        return self.references - self.hits


@dataclass(frozen=True)
class TableCounters:
    """References of one table or index since time 0, in pages, and what served them."""

    references: int
    pool_hits: int
    page_cache_hits: int
    disk_reads: int
    created: int


@dataclass(frozen=True)
class LockCounters:
    """Row locks since time 0: acquisitions, waits, and time waited in ns."""

    acquired: int
    waits: int
    waited_ns: int


@dataclass(frozen=True)
class LogCounters:
    """Transaction log since time 0: bytes written, commits, flushes."""

    written_bytes: int
    commits: int
    flushes: int


@dataclass(frozen=True)
class LimiterCounters:
    """Time for which one rate limit would hold the next request, or with slices takes to let through what it did.

    Since time 0, ps.
    """

    closed_ps: int


@dataclass(frozen=True)
class Counters:
    """Everything that accumulates from time 0. Areas are a number integrated over time: units of it times ns."""

    ended: int
    ended_main: int
    cpu_busy_ns: int
    """busy processors, integrated"""
    io_wait_ns: int
    """idle processors that wait for I/O, integrated"""
    cpu_time: CpuTimeCounters
    reads_pending_ns: int
    """data reads that clients wait for, integrated"""
    in_system_ns: int
    """transactions in the system, integrated"""
    locks: LockCounters
    log: LogCounters
    pool: CacheCounters
    page_cache: CacheCounters
    tables: tuple[TableCounters, ...]
    devices: tuple[DeviceCounters, ...]
    """devices, then the disks of RAID sets"""
    sections: tuple[SectionCounters, ...]
    stations: tuple[StationCounters, ...]
    limiters: tuple[LimiterCounters, ...]


@dataclass(frozen=True)
class CacheLevels:
    """Pages of one cache tier at an instant. `resident_pages`: those not swapped out."""

    capacity_pages: int
    used_pages: int
    dirty_pages: int
    resident_pages: int


@dataclass(frozen=True)
class QueueLevels:
    """Requests at a device at an instant: their number, and their ages added up, ns."""

    length: int
    ages_ns: int


@dataclass(frozen=True)
class LimiterLevels:
    """A rate limit at an instant: when its bucket would be full, ps; when credits first ran out, ns (None: never)."""

    full_at_ps: int
    out_since_ns: int | None


@dataclass(frozen=True)
class TerminalLevels:
    """Terminals at an instant: those that think or type, and those that wait for an answer."""

    away: int
    waiting: int


@dataclass(frozen=True)
class Levels:
    """Everything that is momentary. `ages_ns`: time in the system so far, of all transactions there."""

    clients_at_work: int
    ages_ns: int
    pool: CacheLevels
    page_cache: CacheLevels
    devices: tuple[QueueLevels, ...]
    limiters: tuple[LimiterLevels, ...]
    terminals: TerminalLevels | None


@dataclass(frozen=True)
class Snapshot:
    """State of a run's figures at one instant, ns of simulated time."""

    at_ns: int
    counters: Counters
    levels: Levels
    responses: ResponseCounts
    """of the measured interval"""


def difference(last: Any, first: Any) -> Any:
    """Growth of counters of one type: numbers, records, tuples or tables of them, field by field."""
    if is_dataclass(last):
        kind: Any = type(last)
        return kind(*(difference(getattr(last, each.name), getattr(first, each.name)) for each in fields(last)))
    if isinstance(last, tuple):
        return tuple(map(difference, last, first))
    if isinstance(last, dict):
        return {key: value - first.get(key, 0) for key, value in last.items()}
    return last - first


class Window:
    """Measured interval: its snapshots, and the growth of counters between its ends."""

    def __init__(self, snapshots: Sequence[Snapshot], from_ns: int) -> None:
        self.inside = [snapshot for snapshot in snapshots if snapshot.at_ns >= from_ns]
        self.first, self.last = self.inside[0], self.inside[-1]
        self.ns = self.last.at_ns - self.first.at_ns
        self.seconds = to_s(self.ns)
        self.counters: Counters = difference(self.last.counters, self.first.counters)

    def growth(self, level: Callable[[Levels], int]) -> int:
        """Change of a momentary value between the ends."""
        return level(self.last.levels) - level(self.first.levels)

    def mean(self, level: Callable[[Levels], int]) -> float:
        """Average of a momentary value over the snapshots."""
        return float(np.mean([level(snapshot.levels) for snapshot in self.inside]))
