"""What a transaction costs below the buffer pool: reads from disk, writes, dirty victims.

Everything is per transaction of the mix. Times are counted in transactions; a rate of transactions turns the intervals
of checkpoints and write-back into such times.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.analytic.caches import PoolTable
from simulator.analytic.page_cache import page_cache
from simulator.analytic.parameters import Parameters
from simulator.analytic.pool import PoolMisses
from simulator.analytic.workload import Workload
from simulator.analytic.write_back import LEAST
from simulator.analytic.writing import merged, pool_writes
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
