"""Machines solved: with the rate of transactions given, everything else follows, so that one number is looked for.

The rate of a closed system is the lowest at which clients = rate x (response + think time). Clients needed rise with
the rate but for a few per cent far below it (decision 27), so that no other was found. The equations are in the headers
beside this file (residence.hpp puts them together); sources of the formulas: docs/model/mean-values.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from oltpsim.simulator.analytic.equations.compiled import LIBRARY, compiled
from oltpsim.simulator.analytic.reading import (
    ByClass,
    ByGroup,
    ByLock,
    MachineColumn,
    Parameters,
    Workload,
    columns,
    from_columns,
    layout,
)
from oltpsim.simulator.errors import InternalError
from oltpsim.simulator.form import FloatArray

CHUNK = 4096
"""machines whose rows of numbers are made at once"""


@dataclass(frozen=True)
class CpuFigures:
    """Figures of processors and critical sections, per transaction of the mix where they are times."""

    busy: MachineColumn
    """share of all processors"""
    section_busy: MachineColumn
    """share of time that a critical section is occupied"""
    handing_over: MachineColumn
    """processors that hand critical sections over: wake-ups and context switches"""
    slowdown: MachineColumn
    """CPU times by those needed alone, since other hardware threads are busy"""
    path_s: MachineColumn
    """CPU time that a transaction needs, critical sections left out"""
    section_s: MachineColumn
    """CPU time that it needs inside critical sections"""
    background_s: MachineColumn
    """CPU time of daemons and of requests"""


@dataclass(frozen=True)
class DiskFigures:
    """Figures of data disks."""

    busy: MachineColumn
    """share of a data disk's time, without log and swap"""
    first_busy: MachineColumn
    """share of the first data disk's time, with them"""
    read_s: MachineColumn
    """response time of one read, mean"""
    heaps: MachineColumn
    """share of time with a heap of writes at the disks"""
    stalled_s: MachineColumn
    """wait of the mean read for heaps or batches of writes"""
    pause_s: MachineColumn
    """wait of those reads that meet one, mean"""
    writes_busy: MachineColumn
    """share of a data disk's time for background writes"""


@dataclass(frozen=True)
class LogFigures:
    """Figures of the log."""

    busy: MachineColumn
    """share of time of a log device of its own"""
    flushes_per_s: MachineColumn
    """writes of the log"""
    groups_per_s: MachineColumn
    """groups of commits that share them"""
    images: MachineColumn
    """pages that the log has whole since the last checkpoint, per transaction"""
    full: MachineColumn
    """nearness of commits to waiting for room in the log: 1 if they would have to for ever"""


@dataclass(frozen=True)
class PoolFigures:
    """Figures of buffer pool and page cache, per transaction of the mix."""

    time: MachineColumn
    """characteristic time of the pool, in transactions"""
    cache_time: MachineColumn
    """characteristic time of the page cache, in transactions"""
    misses: MachineColumn
    """pages brought into the pool by a read"""
    dirty: MachineColumn
    """dirty buffers on average"""
    dirty_victims: MachineColumn
    """pages that whoever needs their buffer writes first"""
    reads: MachineColumn
    """pages read from disk"""
    merged: MachineColumn
    """pages that merges read from there besides"""


@dataclass(frozen=True)
class PageWriteFigures:
    """Figures of page writes, per transaction of the mix."""

    pages: MachineColumn
    """pages that reach the disks"""
    requests: MachineColumn
    """writes that they make"""
    background: MachineColumn
    """pages that writer and checkpoint write"""
    batch: MachineColumn
    """pages that writer and checkpoint, or a page cleaner, hand to the disks at once"""
    page_s: MachineColumn
    """time of writer and checkpoint for a page, waiting for processors and with direct I/O for disks"""


@dataclass(frozen=True)
class PagingFigures:
    """Figures of what transactions wait for at the disks, per transaction of the mix."""

    reads: MachineColumn
    """reads from disk"""
    victims: MachineColumn
    """synchronous writes of dirty victims (direct I/O)"""
    faults: MachineColumn
    """page faults of the pool's buffers"""


@dataclass(frozen=True)
class ClassFigures:
    """Figures of a transaction of each class."""

    total_s: ByClass
    """response time, waiting for a connection left out; the times below, with the network's, make it"""
    cpu_s: ByClass
    """CPU time"""
    cpu_queue_s: ByClass
    """wait for processors"""
    read_s: ByClass
    """reads from disk"""
    victim_s: ByClass
    """writes of dirty victims"""
    fault_s: ByClass
    """page faults"""
    lock_s: ByClass
    """waits for row locks"""
    section_s: ByClass
    """CPU time inside critical sections"""
    section_queue_s: ByClass
    """wait for critical sections"""
    log_s: ByClass
    """wait of commits for the log"""
    station_s: ByClass
    """time at plain stations"""
    bursts: ByClass
    """visits to the CPU"""
    slices: ByClass
    """visits to the CPU that are the second or a later time slice of a burst"""
    disk_reads: ByClass
    """reads from disk"""
    victims: ByClass
    """writes of dirty victims"""
    faults: ByClass
    """page faults"""


@dataclass(frozen=True)
class LockFigures:
    """Figures of row locks."""

    waiting: ByLock
    """share of acquisitions that wait"""


@dataclass(frozen=True)
class GroupFigures:
    """Figures of groups of pages, per transaction of the mix; no columns where many machines are solved."""

    missing: ByGroup
    """share of references that miss the pool"""
    misses: ByGroup
    """pages brought into the pool by a read"""
    faults: ByGroup
    """page faults"""
    reads: ByGroup
    """pages read from disk"""


@dataclass(frozen=True)
class Solution:
    """Figures of solved machines, a record of columns for each part; times in s."""

    rate: MachineColumn
    """transactions of the whole mix per second"""
    population: MachineColumn
    """clients that this rate takes, by those that there are: more than 1 if they can't be"""
    response_s: MachineColumn
    """response time, mean over the mix, waiting for a connection left out"""
    cpu: CpuFigures
    disks: DiskFigures
    log: LogFigures
    pool: PoolFigures
    writes: PageWriteFigures
    paging: PagingFigures
    classes: ClassFigures
    locks: LockFigures
    groups: GroupFigures


def solve(w: Workload, p: Parameters, policy: str) -> Solution:
    """Solve machines so exactly that clients = rate x (response + think time); an open one does what arrives."""
    return _solved(w, p, policy, None, with_groups=True)


def at_rate(w: Workload, p: Parameters, policy: str, per_s: FloatArray) -> Solution:
    """Machines at given rates, transactions of the mix per second, whether they can be or not: see `population`."""
    return _solved(w, p, policy, np.ascontiguousarray(per_s, dtype=np.float64), with_groups=False)


def rates(w: Workload, p: Parameters, policy: str) -> FloatArray:
    """Transactions of the mix per second that each machine does."""
    found = [
        _solved(w, p.take(slice(begin, begin + CHUNK)), policy, None, with_groups=False).rate
        for begin in range(0, len(p), CHUNK)
    ]
    return np.concatenate(found)


def _solved(w: Workload, p: Parameters, policy: str, per_s: FloatArray | None, *, with_groups: bool) -> Solution:
    count, parts = len(p), [column.reshape(len(column), -1) for column in columns(p)]
    machines = np.empty((count, sum(part.shape[1] for part in parts)))
    np.concatenate([np.broadcast_to(part, (count, part.shape[1])) for part in parts], axis=1, out=machines)
    _check_layout()
    found = compiled(w, policy).solve(machines, per_s, layout(Solution), with_groups=with_groups)
    solution = from_columns(Solution, found)
    for name, values in (("rate", solution.rate), ("population", solution.population)):
        if not np.isfinite(values).all():
            raise InternalError(f"the analytic engine found no finite {name}")
    return solution


@cache
def _check_layout() -> None:
    """Raise InternalError if the library was compiled from other records."""
    names = [f"{name}:{width}" for record in (Parameters, Solution) for name, width in layout(record)]
    if LIBRARY.load().oltpsim_layout().decode().split() != names:
        raise InternalError(f"{LIBRARY.path.name} was compiled from other records: `make demo` compiles it")
