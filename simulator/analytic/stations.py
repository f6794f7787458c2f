"""Residence times of a transaction at every station, once the rate of transactions is given.

Arrival theorem: whoever arrives sees the queue without itself. Sources: docs/model.md, section 7.
Hardware threads slow each other down, by how much depends on the rate; row locks are waited for beside the stations.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from simulator.analytic.demands import Demands, Traffic
from simulator.analytic.devices import Writes, read_times, stalls, writer_page_s, writes_of
from simulator.analytic.group_commit import ReadsBesideLog, commits, flushes, flushes_beside
from simulator.analytic.parameters import SHARING_POINTS, Parameters
from simulator.analytic.queues import ENDLESS, TINY, all_busy, overfull, waiting
from simulator.analytic.workload import Workload
from simulator.form import FloatArray

LOCK_RESIDUAL = 0.75
"""what is left of a lock's time when somebody asks for it: squared variation of 0.5 (assumption)"""


def lock_times(
    w: Workload, p: Parameters, d: Demands, x: FloatArray, cpu: FloatArray, paging: FloatArray, last: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Waiting for row locks, held from where they are taken to the commit: each row is a server of its own.

    Only clients of one warehouse meet at its rows; an arrival sees the queue without itself. `cpu`, `paging` and `last`
    (section and log) are the times of a transaction; the first two are over in part when a lock is asked for. The
    lock that is taken last is solved first, since others are held while waiting for it.
    """
    waits = np.zeros_like(cpu)
    shares = np.zeros((len(cpu), len(w.locks)))
    pages = np.maximum(d.reads + d.victims + d.faults, TINY)
    for kind in sorted({lock.kind for lock in w.locks}, reverse=True):
        users = [(k, lock) for k, lock in enumerate(w.locks) if lock.kind == kind]
        held, squares = np.zeros(len(x)), np.zeros(len(x))
        for k, lock in users:
            c = lock.transaction_class
            to_do = np.clip(1.0 - d.cpu_before_s[:, k] / np.maximum(d.cpu_s[:, c], TINY), 0.0, 1.0)
            to_read = np.clip(1.0 - d.reads_before[:, k] / pages[:, c], 0.0, 1.0)
            hold = to_do * cpu[:, c] + to_read * paging[:, c] + last[:, c] + waits[:, c]
            weight = x * w.mix[c] * lock.acquisitions / lock.rows
            held, squares = held + weight * hold, squares + weight * hold**2
        there = np.maximum(p.clients / users[0][1].apart, 1.0)
        seen = np.where(p.arrivals_per_s > 0, 1.0, (there - 1.0) / there)
        busy = seen * held
        left = squares / np.maximum(held, TINY) * LOCK_RESIDUAL
        wait = np.where(busy < 1.0, busy * left / np.maximum(1.0 - busy, TINY), ENDLESS)
        for k, lock in users:
            waits[:, lock.transaction_class] += lock.acquisitions * wait
            shares[:, k] = np.minimum(busy, 1.0)
    return waits, shares


def slowdown(p: Parameters, d: Demands, x: FloatArray, seen: FloatArray) -> FloatArray:
    """How much longer bursts take at `x` transactions/s, of which an arrival sees the share `seen`, (configurations,).

    Busy threads = rate x demand x slowdown, and the slowdown follows from them: read from a table of what the threads
    do at each number busy, which never falls. Beyond the most that they can do, all are busy.
    """
    if np.all(p.slowdowns == 1.0):
        return np.ones(len(p))
    asked = x * (d.mean.cpu_s + d.mean.section_s + d.background_cpu_s)
    chance = np.linspace(0.0, 1.0, SHARING_POINTS)
    table = p.slowdowns + np.zeros((len(p), 1))
    busy = chance * (np.maximum(p.beside, 1.0) / np.maximum(seen, TINY))[:, None]
    done = busy / table
    at = np.clip((done <= asked[:, None]).sum(axis=1) - 1, 0, SHARING_POINTS - 2)
    row = np.arange(len(p))
    part = (asked - done[row, at]) / np.maximum(done[row, at + 1] - done[row, at], TINY)
    return table[row, at] + np.minimum(part, 1.0) * (table[row, at + 1] - table[row, at])


def slowed(d: Demands, longer: FloatArray) -> Demands:
    """The same needs with every CPU time so much longer."""
    if np.all(longer == 1.0):
        return d
    each, mean = longer[:, None], d.mean
    return replace(
        d,
        cpu_s=d.cpu_s * each,
        section_s=d.section_s * each,
        background_cpu_s=d.background_cpu_s * longer,
        cpu_before_s=d.cpu_before_s * each,
        mean=replace(
            mean,
            cpu_s=mean.cpu_s * longer,
            section_s=mean.section_s * longer,
            burst_left_s=mean.burst_left_s * longer,
            section_left_s=mean.section_left_s * longer,
        ),
    )


@dataclass(frozen=True)
class Residence:
    """Mean times in one transaction of each class, (configurations, classes), and what the stations show."""

    cpu: FloatArray
    cpu_queue: FloatArray
    read: FloatArray
    victim: FloatArray
    fault: FloatArray
    lock: FloatArray
    section: FloatArray
    section_queue: FloatArray
    log: FloatArray
    network: FloatArray
    station: FloatArray
    cpu_busy: FloatArray
    """share of all processors, (configurations,)"""
    section_busy: FloatArray
    handing_over: FloatArray
    """processors that hand critical sections over: wake-ups and context switches"""
    disk_busy: FloatArray
    """a data device without log and swap"""
    first_busy: FloatArray
    """the first data device, with them"""
    log_busy: FloatArray
    flushes: FloatArray
    """per second"""
    page_s: FloatArray
    """what writer and checkpoint take for a page, waiting for the processors and with direct I/O for the disks"""
    disk_read_s: FloatArray
    """mean response of one read"""
    lock_wait: FloatArray
    """share of acquisitions that wait, (configurations, locks)"""
    writes: Writes
    heaps: FloatArray
    """share of time with a heap of writes at the disks"""
    slowdown: FloatArray
    """how much longer CPU times are than those of the demands, since other hardware threads are busy"""

    @cached_property
    def total(self) -> FloatArray:
        """Response time by class."""
        on_devices = self.cpu + self.cpu_queue + self.read + self.victim + self.fault
        on_locks = on_devices + self.lock + self.section + self.section_queue
        return on_locks + self.log + self.network + self.station


@dataclass(frozen=True)
class _Cpu:
    """Waiting for processors and in front of critical sections, (configurations,)."""

    wait_s: FloatArray
    """of one burst"""
    queue_s: FloatArray
    """of one entry into a section"""
    busy: FloatArray
    section_busy: FloatArray
    handing_over: FloatArray


def at_stations(w: Workload, p: Parameters, d: Demands, t: Traffic, x: FloatArray) -> Residence:
    """Residence times at `x` transactions/s. A station that can't carry the rate has an endless queue."""
    seen = np.where(p.arrivals_per_s > 0, 1.0, np.maximum(p.clients - 1.0, 0.0) / p.clients)
    longer = slowdown(p, d, x, seen)
    d = slowed(d, longer)
    shared = p.log_own <= 0
    writes = writes_of(p, d, t, x)
    blocking = d.mean.reads + d.mean.victims + d.mean.faults
    blocking = blocking + np.where(shared & (p.durable > 0), float(w.commits @ w.mix), 0.0)
    stalled = stalls(p, x, blocking, writes)
    total, x = x, stalled.rate
    cpu = _processors(w, p, d, x, seen)
    each = x / p.data_devices
    # a write that somebody waits for, in reads of the disks
    single = p.disk_writes(np.ones(1))
    asked = each * (d.mean.reads + d.mean.victims * single * (1.0 + p.again_s / p.read_s[:, 0]))
    left = np.maximum(1.0 - writes.trickling - stalled.share * stalled.among, 0.02)
    once = p.clients * writes.trickling * p.data_devices / np.maximum(x * blocking, TINY)
    read_wait, service = read_times(p, seen, asked, left, writes, once)
    log_waits = np.zeros(len(p))
    if p.log_beside_s.any():
        log_waits = np.where(p.log_behind > 0, np.maximum(read_wait - service, 0.0), 0.0)
        left = np.maximum(left - p.log_beside_s * flushes_beside(w, p, x, log_waits), 0.02)
        read_wait, service = read_times(p, seen, asked, left, writes, once)
    # the first device also has the log, if that has no device of its own, and swap; a RAID set spreads them
    spread = p.disks_per_file
    volume = np.where(p.durable > 0, 0.0, x * float(w.log_bytes @ w.mix) * p.log_byte_s)
    volume = volume / np.where(shared, p.data_units, 1.0)
    first_asked = asked + x * d.mean.faults / spread
    first_left = np.maximum(left - writes.swap - np.where(shared, volume, 0.0), 0.02)
    alike = np.array_equal(first_left, left) and not d.mean.faults.any()
    first_wait, first_service = (
        (read_wait, service) if alike else read_times(p, seen, first_asked, first_left, writes, once)
    )
    reading = ReadsBesideLog(first_asked, first_wait, first_service, first_left, log_waits)
    log = flushes(w, p, x, reading, np.where(shared, volume * spread / single, volume), writes)
    first_wait = first_wait + log.in_the_way_s * single / spread
    read_s = read_wait + (first_wait - read_wait) / p.data_devices * spread + p.delay_s
    fault_s = first_wait + p.swap_read_s[:, 0] - p.read_s[:, 0] + p.delay_s
    at_once = np.minimum(p.parallel, np.where(p.parallel > 1, p.calls, ENDLESS))
    part = total / x
    disk_busy = part * asked * service / at_once + writes.busy
    first_busy = disk_busy + writes.swap + total * d.mean.faults * first_service / spread
    first_busy = first_busy + np.where(shared, part * log.busy / p.parallel * single / spread, 0.0)
    # all who shared a flush of the log come back to the processors together, each with its first burst
    group = np.where(p.durable > 0, x * float(w.commits @ w.mix) / np.maximum(log.flushes, TINY), 1.0) * log.flushing
    crowd = np.maximum(group - 1.0, 0.0) / 2.0 * (d.mean.cpu_s + d.mean.section_s) / d.mean.bursts / p.processors
    cpu_queue = cpu.wait_s[:, None] * d.bursts + crowd[:, None] * np.minimum(d.bursts, 1.0)
    section_queue = cpu.queue_s[:, None] * w.entries.sum(axis=1)
    read, victim, fault = (
        read_s[:, None] * d.reads,
        (read_s + p.again_s)[:, None] * d.victims,
        fault_s[:, None] * d.faults,
    )
    station = _stations(w, p, x, seen)
    paging = read + victim + fault
    between = (d.cpu_s + cpu_queue + d.section_s + section_queue + paging + station + w.network_s) @ w.mix + w.think_s
    commit = commits(w, p, log, seen, between)
    lock, lock_wait = lock_times(
        w, p, d, x, d.cpu_s + cpu_queue, paging + station, d.section_s + section_queue + commit
    )
    # what heaps of writes hold up, spread over all that waits for disks
    closed = p.clients * np.maximum(1.0 / total - 1.0 / x, 0.0)
    waits = np.where(p.arrivals_per_s > 0, stalled.share * stalled.lasts_s / 2.0 * -np.expm1(-blocking), closed)
    each_s = (waits / np.maximum(blocking, TINY))[:, None]
    read, victim, fault = read + each_s * d.reads, victim + each_s * d.victims, fault + each_s * d.faults
    commit = commit + np.where((shared & (p.durable > 0))[:, None], each_s * w.commits, 0.0)
    return Residence(
        cpu=d.cpu_s,
        cpu_queue=cpu_queue,
        read=read,
        victim=victim,
        fault=fault,
        lock=lock,
        section=d.section_s,
        section_queue=section_queue,
        log=commit,
        network=w.network_s + np.zeros_like(d.cpu_s),
        station=station,
        cpu_busy=cpu.busy * part,
        section_busy=cpu.section_busy * part,
        handing_over=cpu.handing_over * part,
        disk_busy=np.minimum(disk_busy, 1.0),
        first_busy=np.minimum(first_busy, 1.0),
        log_busy=np.where(shared, 0.0, log.busy),
        flushes=log.flushes * part,
        page_s=writer_page_s(p, asked * read_wait, cpu.wait_s),
        disk_read_s=read_s + each_s[:, 0],
        lock_wait=lock_wait,
        writes=writes,
        heaps=stalled.share,
        slowdown=longer,
    )


def _processors(w: Workload, p: Parameters, d: Demands, x: FloatArray, seen: FloatArray) -> _Cpu:
    """Processors, and critical sections: whoever has waited for one costs a hand-over more."""
    mean, entered = d.mean, max(float(w.entries.sum(axis=1) @ w.mix), TINY)
    free = np.maximum(1.0 - x * d.background_cpu_s / p.processors, 0.01)
    burst = (mean.cpu_s + mean.section_s) / mean.bursts / free
    load = x * (mean.cpu_s + mean.section_s) / free / p.processors
    few = np.clip((p.clients - p.processors) / np.maximum(p.clients - 1.0, 1.0), 0.0, 1.0)
    few = np.where(p.arrivals_per_s > 0, 1.0, few)
    # a convoy lets go of one client after the other, evenly: they rarely meet at the processors (Allen-Cunneen)
    inside = mean.section_s / entered
    turn = inside + p.handover_s
    convoy = np.clip(x * entered * turn, 0.0, 1.0)
    uneven = mean.section_variation * (inside / np.maximum(turn, TINY)) ** 2
    few = few * (1.0 - convoy**2 * (1.0 - uneven) + mean.burst_variation) / (1.0 + mean.burst_variation)
    left = mean.burst_left_s / free
    wait = waiting(seen, burst, p.processors, x * mean.bursts, load, left * few)
    delay = all_busy(seen * load, p.processors) * left / p.processors * few
    hold, entries = inside + delay, x * entered
    taken = np.clip(entries * hold / np.maximum(1.0 - seen * entries * p.handover_s, TINY), 0.0, 1.0) * seen
    ahead = mean.section_left_s + delay / 2.0 + p.handover_s
    used = entries * (hold + p.handover_s)
    room = np.maximum(1.0 - seen * used, TINY)
    return _Cpu(
        wait_s=wait,
        queue_s=taken * ahead / room + (hold + p.handover_s) * overfull(used),
        busy=np.minimum(x * (mean.cpu_s + mean.section_s + d.background_cpu_s) / p.processors, 1.0),
        section_busy=np.minimum(entries * (hold + taken * p.handover_s), 1.0),
        handing_over=np.minimum(entries * taken * p.handover_s, 1.0),
    )


def _stations(w: Workload, p: Parameters, x: FloatArray, seen: FloatArray) -> FloatArray:
    """Plain stations, by class."""
    total = np.zeros((len(p), len(w.classes)))
    for number, servers in enumerate(w.station_servers):
        visits, served = float(w.visits[:, number] @ w.mix), float(w.served_s[:, number] @ w.mix)
        if visits <= 0:
            continue
        each, count = np.full(len(p), served / visits), np.full(len(p), float(servers))
        wait = waiting(seen, each, count, x * visits, x * served / count, each)
        total = total + wait[:, None] * w.visits[:, number] + w.served_s[:, number]
    return total
