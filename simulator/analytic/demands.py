"""Demands of a transaction: below the buffer pool (reads, writes, dirty victims), and on the machine's stations.

Traffic is per transaction of the mix. Times are counted in transactions; a rate of transactions turns the intervals of
checkpoints and write-back into such times. Demands are of each class, whatever the queues.
"""

from dataclasses import dataclass

import numpy as np

from simulator.analytic.caches import PoolTable
from simulator.analytic.page_cache import page_cache
from simulator.analytic.parameters import Parameters
from simulator.analytic.pool import PoolMisses
from simulator.analytic.queues import TINY
from simulator.analytic.workload import Workload
from simulator.analytic.writing import LEAST, merged, pool_writes
from simulator.form import FloatArray


@dataclass(frozen=True)
class Traffic:
    """Shapes (configurations,) and (configurations, groups)."""

    reads: FloatArray
    """from disk, by group"""
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
    cache_time: FloatArray
    bursts: FloatArray
    """share of what enters the page cache that the writer hands over many at a time"""
    batches: FloatArray
    """share that a checkpoint does, a batch at a time"""
    active: FloatArray
    """share of time in which the pool's pages are written"""
    heap: FloatArray
    """pages that the page cache hands to the disks together"""
    sorted: FloatArray
    """pages in whose order on disk they come, a geometric mean"""


def traffic(
    workload: Workload,
    table: PoolTable,
    p: Parameters,
    pool: PoolMisses,
    rate: FloatArray,
    page_s: FloatArray,
    near: FloatArray | None = None,
) -> Traffic:
    """Reads and writes at `rate` transactions/s, if writer and checkpoint take `page_s` for a page.

    `near`: a characteristic time of the page cache to look around first.
    """
    writes = pool_writes(workload, table, p, pool.time, rate, page_s)
    hits, cache_time = page_cache(workload, p, pool, writes, rate, near)
    written = writes.aged * writes.reach + writes.checkpoint
    burst = writes.aged_of * (writes.burst / np.maximum(writes.aged, LEAST))[:, None]
    aged = writes.aged * writes.reach * np.minimum(merged(workload, p, burst) / writes.burst, 1.0)
    checkpoint = merged(workload, p, writes.heap) / writes.cycle
    requests = np.maximum(aged + checkpoint, LEAST)
    all_dirty = np.maximum(writes.heap.sum(axis=1), 1.0)
    reads = pool.misses * (1.0 - hits) * p.read_factor[:, None]
    enter = np.maximum(reads.sum(axis=1) + writes.aged + writes.checkpoint, LEAST)
    return Traffic(
        reads=reads,
        dirty_victims=writes.victims * p.write_factor,
        written=written * p.write_factor,
        requests=np.where(p.direct > 0, written, requests) * p.write_factor,
        background=(writes.aged + writes.checkpoint - writes.victims) * p.write_factor,
        dirty=writes.dirty,
        cache_time=cache_time,
        bursts=(writes.aged - writes.victims) / enter,
        batches=writes.checkpoint / enter,
        active=writes.active,
        heap=(aged * writes.aged_heap + checkpoint * writes.checkpoint_heap) / requests,
        sorted=np.exp((aged * np.log(writes.burst) + checkpoint * np.log(all_dirty)) / requests),
    )


BURST_VARIATION = 0.3
"""squared variation of the bursts of one class: the first one of a transaction is the longest (assumption)"""


@dataclass(frozen=True)
class Means:
    """Needs of one transaction of the mix, (configurations,)."""

    cpu_s: FloatArray
    section_s: FloatArray
    bursts: FloatArray
    reads: FloatArray
    victims: FloatArray
    faults: FloatArray
    burst_left_s: FloatArray
    """what is left of a burst of CPU when somebody arrives"""
    burst_variation: FloatArray
    """squared coefficient of variation of bursts"""
    section_left_s: FloatArray
    """what is left of a stay in a critical section when somebody arrives"""
    section_variation: FloatArray


@dataclass(frozen=True)
class Demands:
    """What one transaction of each class needs, whatever the queues: (configurations, classes) unless said."""

    cpu_s: FloatArray
    """critical sections left out"""
    section_s: FloatArray
    bursts: FloatArray
    """visits to the CPU"""
    reads: FloatArray
    victims: FloatArray
    """synchronous writes of dirty victims (direct I/O)"""
    faults: FloatArray
    background_cpu_s: FloatArray
    """per transaction of the mix, (configurations,)"""
    reads_before: FloatArray
    """disk reads before each lock is asked for, (configurations, locks)"""
    cpu_before_s: FloatArray
    mean: Means


def demands_of(w: Workload, p: Parameters, pool: PoolMisses, t: Traffic) -> Demands:
    """Needs of each class, once caches and writes are known."""
    classes, views = len(w.classes), w.groups.views
    misses = pool.missing * w.groups.read @ views.T
    new = pool.missing * (1.0 - w.groups.read) @ views.T
    reads = np.where(pool.misses > 0, t.reads / np.maximum(pool.misses, TINY), 1.0) * pool.missing * w.groups.read
    reads = reads @ views.T
    faults = (pool.faults / np.maximum(w.groups.references, TINY)) @ views.T
    brought = misses + new
    per_brought = t.dirty_victims / np.maximum((brought[:, :classes] * w.mix).sum(axis=1), TINY)
    victims = brought * np.minimum(per_brought, 1.0)[:, None]
    speed, direct = p.cpu_speed[:, None], p.direct[:, None] > 0

    def on(cost: FloatArray) -> FloatArray:
        return (cost / p.cpu_speed)[:, None]

    paging = misses * (on(p.read_cpu_s) + on(p.miss_cpu_s)) + new * on(p.miss_cpu_s) + reads * on(p.request_cpu_s)
    paging += np.where(direct, 0.0, victims * on(p.write_cpu_s))
    own, inside = p.path_s / speed, p.section_s / speed
    background = t.background * p.write_cpu_s + np.where(p.direct > 0, 0.0, t.written * p.request_cpu_s)
    sync = np.where(direct, victims, 0.0)
    cpu_s, section_s = own + paging[:, :classes], inside + np.zeros_like(own)
    bursts = 1.0 + reads[:, :classes] + sync[:, :classes] + w.entries.sum(axis=1) + w.visits.sum(axis=1)
    return Demands(
        cpu_s=cpu_s,
        section_s=section_s,
        bursts=bursts,
        reads=reads[:, :classes],
        victims=sync[:, :classes],
        faults=faults[:, :classes],
        background_cpu_s=background / p.cpu_speed,
        reads_before=(reads + sync + faults)[:, classes:],
        cpu_before_s=p.path_before_s / speed + paging[:, classes:],
        mean=_means(w, cpu_s, section_s, bursts, reads[:, :classes], sync[:, :classes], faults[:, :classes]),
    )


def _means(
    w: Workload,
    cpu_s: FloatArray,
    section_s: FloatArray,
    bursts: FloatArray,
    reads: FloatArray,
    victims: FloatArray,
    faults: FloatArray,
) -> Means:
    """Means over the mix, and how uneven bursts and stays in critical sections are."""
    mix = w.mix
    entered = max(float(w.entries.sum(axis=1) @ mix), TINY)
    cpu, section, many = cpu_s @ mix, section_s @ mix, bursts @ mix
    square = ((cpu_s + section_s) ** 2 / bursts) @ mix
    variation = (cpu_s**2 / bursts) @ mix * many / np.maximum(cpu**2, TINY) - 1.0 + BURST_VARIATION
    sections = section_s**2 @ mix
    left = square / np.maximum(2.0 * (cpu + section), TINY) * (1.0 + BURST_VARIATION)
    return Means(
        cpu_s=cpu,
        section_s=section,
        bursts=many,
        reads=reads @ mix,
        victims=victims @ mix,
        faults=faults @ mix,
        burst_left_s=np.minimum(left, 2.0 * (cpu + section) / many),
        burst_variation=np.clip(variation, 0.0, 3.0),
        section_left_s=sections / np.maximum(2.0 * section, TINY),
        section_variation=np.clip(sections * entered / np.maximum(section**2, TINY) - 1.0, 0.0, 1.0),
    )
