"""Misses of the buffer pool, and page faults of its frames: what doesn't depend on the rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.analytic.caches import PoolTable
from simulator.analytic.frames import clock_faults
from simulator.analytic.parameters import Parameters
from simulator.analytic.values import rows
from simulator.analytic.workload import Workload
from simulator.form import FloatArray

STEPS = 28
"""of the search for the frames' time of revolution, each twice as fine as the one before"""


@dataclass(frozen=True)
class PoolMisses:
    """The buffer pools of some configurations, as far as their rate doesn't matter. Shapes (configurations, ...)."""

    time: FloatArray
    """characteristic time in transactions"""
    missing: FloatArray
    """by group"""
    misses: FloatArray
    """pages brought in per transaction, new ones left out; (configurations, groups)"""
    faults: FloatArray
    """references to buffers in swap, (configurations, groups)"""


def pool_of(workload: Workload, table: PoolTable, p: Parameters) -> PoolMisses:
    """Misses and page faults; machines that are alike in memory are looked at once."""
    if p.held.any():
        return _pool_of(workload, table, p)
    sizes = np.stack([p.buffers, p.resident], axis=1)
    _, first, which = np.unique(sizes, axis=0, return_index=True, return_inverse=True)
    if len(first) == len(p):
        return _pool_of(workload, table, p)
    return rows(_pool_of(workload, table, rows(p, first)), which.ravel())


def _pool_of(workload: Workload, table: PoolTable, p: Parameters) -> PoolMisses:
    groups = workload.groups
    time = table.time(np.maximum(p.buffers, 1.0))
    missing = table.at(time) * (1.0 - p.held * groups.read)
    faults = np.zeros_like(missing)
    if (p.resident < p.buffers).any():
        kept = _frames(workload, p, time) if table.policy == "lru" else clock_faults(workload.groups, p, time, missing)
        faults = np.where((p.resident < p.buffers)[:, None], kept, 0.0)
    return PoolMisses(time, missing, groups.references * missing * groups.read, faults)


def _frames(workload: Workload, p: Parameters, time: FloatArray) -> FloatArray:
    """References to buffers without memory, (configurations, groups); a page that is replaced gives its frame too.

    Of an LRU pool (frames.py has CLOCK): the frames in use are the mean of `filled` over ages from one to two
    revolutions, which gives the revolution, and the faults are references times the mean of the missing shares over
    the same ages.
    """
    table = workload.table("lru")
    low, high = np.full(len(time), np.log(table.times[0])), np.log(time)
    for _ in range(STEPS):
        middle = np.exp((low + high) / 2.0)
        fits = table.mean_filled(middle, 2.0 * middle, time) < p.resident
        low, high = np.where(fits, np.log(middle), low), np.where(fits, high, np.log(middle))
    turn = np.exp((low + high) / 2.0)
    return workload.groups.references * table.mean_missing(turn, np.minimum(2.0 * turn, time), turn)
