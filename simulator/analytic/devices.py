"""Data devices: how long a read waits for them, among the writes that go on in the background.

Sources: docs/model.md, section 7.
"""

import math
from dataclasses import dataclass

import numpy as np

from simulator.analytic.demands import Demands, Traffic
from simulator.analytic.disks import QUEUES, at_queue
from simulator.analytic.parameters import Parameters
from simulator.analytic.queues import ENDLESS, TINY, overfull, waiting
from simulator.form import FloatArray

DEPTH_ROUNDS = 3
SWEEP_READS = math.e - 1.0
"""reads that a client gets through while the arm sweeps once over a heap"""
MOST_HEAPS, STALL_POWER = 0.98, 4.0
"""share of time that heaps may take; how sharply they begin to stall clients"""
ARM_RESIDUAL, TURN_RESIDUAL = 0.65, 0.5
"""what is left of a disk's service when somebody arrives, as a share of it: its squared variation is about 0.3; and of
a turn at a limit, which is constant"""


@dataclass(frozen=True)
class Writes:
    """Writes in the background at one data device; arrays (configurations,).

    Some come in heaps: what a wake-up of the flusher finds, what the writer hands over to get from its high mark to
    its low one, or all dirty pages that the page cache may hold. The others trickle: dirty pages that the page cache
    has to give up, and all that direct I/O writes.
    """

    busy: FloatArray
    """share of the device's time, heaps and trickle"""
    trickling: FloatArray
    """share of its time for those that trickle"""
    most: FloatArray
    """requests that may have trickled in"""
    batch: FloatArray
    """how many of those come together; 0 if each for itself"""
    pushed: FloatArray
    """mean number that come at a time otherwise: half of the pages of a batch that push them out of the page cache"""
    active: FloatArray
    """share of time in which they come"""
    heap: FloatArray
    """how many requests a heap has"""
    heap_s: FloatArray
    """service of one of a heap"""
    swap: FloatArray
    """share of the first device's time for swap-outs"""


@dataclass(frozen=True)
class Stalls:
    """What heaps of writes do to everybody else; arrays (configurations,)."""

    share: FloatArray
    """of the time in which there is a heap"""
    among: FloatArray
    """of that time in which clients go on as if there were none"""
    rate: FloatArray
    """transactions/s while there is none"""
    lasts_s: FloatArray
    """how long the arm takes for a heap"""


def stalls(p: Parameters, x: FloatArray, blocking: FloatArray, writes: Writes) -> Stalls:
    """Heaps of writes as an environment that changes slowly (Courtois 1977, nearly decomposable systems).

    While the arm sweeps over a heap a read is served if the arm has still to come by its place. From the sweep's begin
    a client gets through e - 1 reads: the first one's place is anywhere, the next one's must lie ahead, and so on. So
    all clients together end no more than (e - 1) clients / `blocking` transactions, `blocking` being how often one
    waits for a disk; if they end fewer in that time anyhow, the heap takes nothing but the device's time.
    """
    heaps = np.clip(writes.busy - writes.trickling, 0.0, MOST_HEAPS)
    inside = SWEEP_READS * p.clients
    lasts = (writes.heap + inside / p.data_devices) * writes.heap_s / p.parallel
    most = inside / np.maximum(blocking * lasts, TINY)
    among = (1.0 + np.minimum(x / np.maximum(most, TINY), 1e6) ** STALL_POWER) ** (-1.0 / STALL_POWER)
    share = np.clip(
        heaps * (1.0 + (1.0 - among) * inside / p.data_devices / np.maximum(writes.heap, 1.0)), 0.0, MOST_HEAPS
    )
    return Stalls(share, among, x * (1.0 - share * among) / (1.0 - share), lasts)


def writes_of(p: Parameters, d: Demands, t: Traffic, x: FloatArray) -> Writes:
    """What writes take of the data devices."""
    sync = d.mean.victims
    requests = np.maximum(t.requests - sync, 0.0)
    stays = np.minimum(1.0, t.cache_time / np.maximum(x * (p.expire_s + p.flush_s), TINY)) ** 4
    # what the writer brings pushes out as many dirty pages, in the order in which it has brought those
    trickle = np.where((p.direct > 0) | (p.reads_per_write > 0), 1.0, (1.0 - stays) * (1.0 - t.bursts))
    pages_each = t.written / np.maximum(t.requests, TINY)
    # what each request of a file makes for one of the disks
    each = p.disk_writes(pages_each) / p.data_devices
    together = np.where((p.parallel > 1) | (p.limited > 0), np.minimum(t.heap, p.in_flight), t.heap)
    heap = np.maximum(np.where(p.direct > 0, p.writer_batch, together / pages_each) * each, 1.0)
    more = p.more_s(pages_each / p.units(pages_each))
    order = np.where(p.direct > 0, p.writer_batch, t.sorted / pages_each) * each
    heap_s = at_queue(p.write_s, np.maximum(order, heap) / 2.0) + more
    reads = np.minimum(p.clients / p.data_devices, p.calls_per_disk)
    most = np.where(p.direct > 0, 2.0 * p.writer_batch, p.cache_dirty_limit) * each
    rate = x * each / p.parallel * requests
    trickle_s = at_queue(p.write_s, most) + more
    batch = np.where(p.direct > 0, p.writer_batch, 0.0) * each
    pushed = 1.0 + (p.writer_batch * each - 1.0).clip(0.0) / 2.0 * t.batches
    for _ in range(DEPTH_ROUNDS):
        load = rate * trickle * trickle_s
        trickle_s = (trickle_s + at_queue(p.write_s, depth(reads, load, most, batch, pushed)) + more) / 2.0
    out = at_queue(p.swap_write_s, heap / 2.0) + p.more_s(1.0 - p.limited + p.swap_cluster / p.units(p.swap_cluster))
    return Writes(
        busy=rate * (trickle * trickle_s + (1.0 - trickle) * heap_s),
        trickling=rate * trickle * trickle_s,
        most=most,
        batch=batch,
        pushed=pushed,
        active=np.where(p.direct > 0, np.maximum(t.active, np.minimum(rate * trickle_s, 1.0)), 1.0),
        heap=heap,
        heap_s=heap_s,
        swap=x * d.mean.faults / p.swap_cluster * out * p.disk_writes(p.swap_cluster) / p.disks_per_file,
    )


def depth(reads: FloatArray, load: FloatArray, most: FloatArray, batch: FloatArray, pushed: FloatArray) -> FloatArray:
    """Requests at a device with `reads` reads among which writes of this load come.

    At any time (mixed network), or in batches that are half done on average.
    """
    alone = np.minimum((reads + load * pushed) / np.maximum(1.0 - load, 0.001), reads + np.maximum(most, 1.0))
    return np.where(batch > 0, reads + np.maximum(batch / 2.0, 0.5) * batch_there(reads, load, batch), alone)


def batch_there(reads: FloatArray, load: FloatArray, batch: FloatArray) -> FloatArray:
    """Share of time in which there is a batch: as long as its share of the queue needs for its share of the time."""
    half = np.maximum(batch / 2.0, 0.5)
    return np.minimum(load * (reads + half) / half, 1.0)


def read_times(
    p: Parameters, seen: FloatArray, rate: FloatArray, left: FloatArray, writes: Writes, once_s: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Response and service of a read at `rate` reads/s of one device, of whose time writes leave the share `left`.

    One arm: with Q reads there, and the writes that trickle in among them, a request takes S; the arm is busy for the
    share U of the time left that solves Q = U + seen g U^2 / (1 - seen U), g the share of a service that an arrival
    finds left. The rate U / S rises with Q and is looked up backwards. Several requests at once: as `waiting`.
    At a limit also for a batch of writes, but for no longer than `once_s`: who has waited for a batch has it behind.
    Where the calls pending on a RAID set leave some of its disks idle, each can be busy with them for a share at most.
    """
    g, most = _residual(p), _most_busy(p, left)
    busy = _busy_with(seen[:, None], QUEUES, g[:, None])
    times = at_queue(
        p.read_s,
        depth(
            np.minimum(QUEUES, p.calls_per_disk[:, None]),
            writes.trickling[:, None],
            writes.most[:, None],
            writes.batch[:, None],
            writes.pushed[:, None],
        ),
    )
    rates = np.maximum.accumulate(busy * most[:, None] / times, axis=1)
    wanted = rate / left
    row = np.arange(len(wanted))
    below = np.clip((rates < wanted[:, None]).sum(axis=1) - 1, 0, len(QUEUES) - 2)
    r0, r1 = rates[row, below], rates[row, below + 1]
    part = np.clip((wanted - r0) / np.maximum(r1 - r0, TINY), 0.0, 1.0)
    service = times[row, below] * (1.0 - part) + times[row, below + 1] * part
    load = wanted * service / most
    room = 1.0 - seen * load
    arm = np.where(room > TINY, service * (1.0 + seen * g * load / np.maximum(room, TINY)), ENDLESS)
    arm = arm + np.where(p.limited > 0, service * overfull(load), 0.0)
    servers = np.minimum(p.parallel, p.calls) * most
    flash = p.read_s[:, 0]
    several = flash + waiting(seen, flash, servers, wanted, wanted * flash / servers, flash / 2.0)
    single = p.parallel <= 1
    alone = np.where(single, arm, several) / left
    behind = np.minimum(_behind_batch(p, alone, seen * load, service, writes), once_s)
    return alone + behind, np.where(single, service, flash)


def _behind_batch(p: Parameters, alone: FloatArray, reads: FloatArray, turn: FloatArray, writes: Writes) -> FloatArray:
    """What a read waits at a limit for a batch of direct writes that came before it: for half of them, if it is there.

    A batch is there for as long as it needs with what reads leave of the turns. Rates, not waits, are averaged over the
    times with and without batches.
    """
    there = np.minimum(writes.trickling / writes.active / np.maximum(1.0 - reads, 0.02), 1.0)
    among = alone + np.maximum(writes.batch - 1.0, 0.0) / 2.0 * turn * there
    waits = 1.0 / (writes.active / among + (1.0 - writes.active) / alone) - alone
    return np.where(p.limited > 0, waits, 0.0)


def _residual(p: Parameters) -> FloatArray:
    return np.where(p.limited > 0, TURN_RESIDUAL, ARM_RESIDUAL)


def _busy_with(seen: FloatArray, queue: FloatArray, residual: FloatArray) -> FloatArray:
    """Share of time that an arm is busy if so many requests are there: U of `read_times`."""
    b = 1.0 + seen * queue
    return np.asarray(2.0 * queue / (b + np.sqrt(b * b - 4.0 * seen * (1.0 - residual) * queue)))


def _most_busy(p: Parameters, left: FloatArray) -> FloatArray:
    """Share of the time that writes leave in which a disk can serve calls; 1 for independent disks.

    A RAID set's pending calls are spread over its disks by chance, as in a closed network, and writes fill the gaps.
    """
    each = p.calls_per_disk
    arm = _busy_with(1.0 - 1.0 / p.calls, each, _residual(p))
    several = np.minimum(each / p.parallel, p.calls / (p.calls + p.disks_per_file - 1.0))
    busy = np.where(p.parallel > 1, several, arm) / left
    return np.where(p.disks_per_file > 1, np.minimum(busy, 1.0), 1.0)


def writer_page_s(p: Parameters, reads_there: FloatArray, cpu_wait_s: FloatArray) -> FloatArray:
    """What writer and checkpoint take for a page, if so many reads are at a device and a burst of CPU waits so long.

    A batch is over when its last page is; reads get their turns in between.
    """
    even = p.writer_batch * p.disk_writes(np.ones(1)) / p.data_devices
    batch = even + np.sqrt(even * 2.0 * np.log(p.data_devices))
    there = np.minimum(reads_there, p.calls_per_disk)
    turns = (there * np.log1p(batch) + batch) / p.parallel
    disks = np.where(p.direct > 0, turns * at_queue(p.write_s, there + batch / 2.0), 0.0)
    return (cpu_wait_s + disks) / p.writer_batch + p.write_cpu_s / p.cpu_speed
