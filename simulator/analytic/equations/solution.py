"""Machines solved: with the rate of transactions given, everything else follows, so that one number is looked for.

The rate of a closed system is the one at which clients = rate x (response + think time): what that needs of clients
rises with the rate but for a few per cent far below it (decision 27), so that there is one such rate. The equations are
in the headers beside this file (residence.hpp puts them together); sources of the formulas: docs/model.md, section 7.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oltpsim.simulator.analytic.equations.compiled import compiled, names
from oltpsim.simulator.analytic.reading import Parameters, Workload
from oltpsim.simulator.errors import InternalError
from oltpsim.simulator.form import FloatArray

CHUNK = 4096
"""machines whose rows of numbers are made at once"""


@dataclass(frozen=True)
class Solution:
    """Figures of machines, (machines,), or (machines, classes), (machines, locks), (machines, groups of pages).

    What is per transaction is so of the mix; times in s. Those by groups are empty where many machines are solved.
    """

    rate: FloatArray
    """transactions of the whole mix per second"""
    population: FloatArray
    """clients that this rate takes, by those that there are: more than 1 if they can't be"""
    response_s: FloatArray
    """mean over the mix, waiting for a connection left out"""
    cpu_busy: FloatArray
    """share of all processors"""
    section_busy: FloatArray
    handing_over: FloatArray
    """processors that hand critical sections over: wake-ups and context switches"""
    disk_busy: FloatArray
    """a data device without log and swap"""
    first_busy: FloatArray
    """the first data device, with them"""
    log_busy: FloatArray
    """a log device of its own"""
    flushes_per_s: FloatArray
    """writes of the log"""
    groups_per_s: FloatArray
    """of commits that share them"""
    page_s: FloatArray
    """what writer and checkpoint take for a page, waiting for the processors and with direct I/O for the disks"""
    disk_read_s: FloatArray
    """mean response of one read"""
    heaps: FloatArray
    """share of time with a heap of writes at the disks"""
    stalled_s: FloatArray
    """of the mean read what it waits for heaps or batches of writes"""
    pause_s: FloatArray
    """how long those reads do that meet one"""
    writes_busy: FloatArray
    """share of a data device's time for background writes"""
    slowdown: FloatArray
    """how much longer CPU times are than those needed alone, since other hardware threads are busy"""
    pool_time: FloatArray
    """characteristic time of the buffer pool, in transactions"""
    cache_time: FloatArray
    """the same of the page cache"""
    misses: FloatArray
    """pages brought into the pool by a read, per transaction, as all that follow"""
    reads: FloatArray
    """from disk"""
    merged: FloatArray
    """pages that merges read from there besides"""
    dirty_victims: FloatArray
    """pages that whoever needs their buffer writes first"""
    written: FloatArray
    """pages that reach the disks"""
    requests: FloatArray
    """writes that they make"""
    background: FloatArray
    """pages that writer and checkpoint write"""
    dirty: FloatArray
    """dirty buffers on average"""
    batch: FloatArray
    """pages that writer and checkpoint, or a page cleaner, hand to the disks at once"""
    images: FloatArray
    """pages that the log has whole since the last checkpoint"""
    log_full: FloatArray
    """how near page cleaners are to letting commits wait for room in the log: 1 if those would have to for ever"""
    background_cpu_s: FloatArray
    cpu_mean_s: FloatArray
    """CPU time that a transaction needs, critical sections left out"""
    section_mean_s: FloatArray
    reads_mean: FloatArray
    victims_mean: FloatArray
    """synchronous writes of dirty victims (direct I/O)"""
    faults_mean: FloatArray
    total_s: FloatArray
    """response time by class; the next ones are its parts, which with the network's make it"""
    cpu_s: FloatArray
    cpu_queue_s: FloatArray
    read_s: FloatArray
    victim_s: FloatArray
    fault_s: FloatArray
    lock_s: FloatArray
    section_s: FloatArray
    section_queue_s: FloatArray
    log_s: FloatArray
    station_s: FloatArray
    bursts: FloatArray
    """visits to the CPU"""
    slices: FloatArray
    """of these such as are the second or a later time slice of a burst"""
    disk_reads: FloatArray
    victims: FloatArray
    faults: FloatArray
    lock_wait: FloatArray
    """share of acquisitions that wait, by lock"""
    group_missing: FloatArray
    """share of references that miss the pool, by group of pages"""
    group_misses: FloatArray
    """per transaction, new pages left out"""
    group_faults: FloatArray
    group_reads: FloatArray


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
    found = compiled(w, policy).solve(machine_rows(p), per_s, with_groups=with_groups)
    solution = Solution(**dict(found))
    for name in ("rate", "population"):
        if not np.isfinite(getattr(solution, name)).all():
            raise InternalError(f"the analytic engine found no finite {name}")
    return solution


def machine_rows(p: Parameters) -> FloatArray:
    """Machines as the library takes them, a row each."""
    p, known = p.filled(), names()
    columns = [getattr(p, name)[:, None] for name in known.machine]
    columns += [getattr(p, name) for name in known.machine_tables]
    columns += [p.path_s, p.section_s, p.network_s, p.path_before_s]
    if p.left_places.any():
        columns.append(p.left_places)
    return np.ascontiguousarray(np.concatenate(columns, axis=1))
