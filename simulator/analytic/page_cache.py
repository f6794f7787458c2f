"""The operating system's page cache below the pool."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from simulator.analytic.parameters import Parameters
from simulator.analytic.pool import Pool
from simulator.analytic.roots import root
from simulator.analytic.values import FloatArray
from simulator.analytic.workload import Workload
from simulator.analytic.writing import LEAST, PoolWrites

TOLERANCE, NEAR = 1e-3, 0.1
"""of the characteristic time, and how far around the last one to look first, as logarithms"""


def page_cache(
    workload: Workload, p: Parameters, pool: Pool, writes: PoolWrites, rate: FloatArray, near: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Share of the pool's misses that the page cache answers, by group, and its characteristic time.

    It is touched by each miss of the pool and by each write. From a miss a page stays in the pool for T and longer;
    a dirty one is written when it leaves (or at `age`), so that its time in the page cache begins again.
    """
    groups = workload.groups
    drawn = groups.rate > 0
    missing = np.maximum(pool.missing, LEAST)
    time = pool.time[:, None]
    away = np.where(drawn, 1.0 / np.maximum(groups.rate, LEAST), np.maximum(groups.gap - time, LEAST))
    away = np.where(np.isfinite(away), away, 1e15)
    more = np.where(drawn, np.maximum((1.0 / missing - 1.0) * away - time, 0.0), 0.0)
    age, written = writes.age, writes.left_dirty
    cleaned = writes.changed - written
    behind = p.free_behind[:, None] > 0
    stays = (rate * (p.expire_s + p.flush_s))[:, None]
    early = (pool.time - age)[:, None]
    new = groups.gaps * groups.write

    def within(limit: FloatArray, first: FloatArray, mean: FloatArray) -> FloatArray:
        """Mean of min(limit, first + an exponential time)."""
        return np.minimum(limit, first) + mean * -np.expm1(-np.maximum(limit - first, 0.0) / mean)

    def occupied(limit: FloatArray) -> FloatArray:
        late = limit[:, None]
        after = np.where(behind, np.minimum(stays, late), late)
        clean = within(late, time, more + away)
        dirty = within(late, age[:, None], np.maximum(more, LEAST)) + within(after, early, away)
        pages = pool.misses * ((1.0 - written) * clean + written * dirty)
        pages += new * np.where(behind, np.minimum(stays, late), np.minimum(late, away))
        again = writes.checkpoint * np.where(
            p.free_behind > 0, np.minimum(stays[:, 0], limit), np.minimum(limit, writes.cycle)
        )
        return pages.sum(axis=1) + again

    limit = _limit(occupied, p.cache_pages, pool.time, near)
    late = limit[:, None]
    found_clean = -np.expm1(-np.maximum(late - time, 0.0) / (more + away))
    found_checked = np.where(behind, 0.0, -np.expm1(-np.maximum(late - time / 2.0, 0.0) / away))
    after = np.where(behind, np.minimum(stays, late), late)
    found_written = -np.expm1(-np.maximum(after - early, 0.0) / away)
    waited = np.maximum(groups.window - time, LEAST)
    recently = np.where(behind, np.minimum(stays, late), np.maximum(late - early, 0.0))
    found_written = np.where(groups.recent > 0, np.minimum(recently / waited, 1.0), found_written)
    hits = written * found_written + cleaned * found_checked + (1.0 - written - cleaned) * found_clean
    # what has been written lies at the end that is used up first, where newcomers take the last one's place: what is
    # left of the cache holds whatever it held before
    so_far = rate * p.since_s + p.turnovers * p.buffers / np.maximum(pool.misses.sum(axis=1), LEAST)
    spare = np.clip(p.cache_pages - occupied(np.minimum(limit, so_far)), 0.0, None)
    spare = spare / max(float(groups.pages.sum()), 1.0)
    hits = hits + (1.0 - hits) * np.where(behind, np.minimum(spare, 1.0)[:, None], 0.0)
    none = (p.direct + p.growing)[:, None] > 0
    return np.where(none, 0.0, np.clip(hits, 0.0, 1.0)), limit


def _limit(
    occupied: Callable[[FloatArray], FloatArray], pages: FloatArray, pool_time: FloatArray, near: FloatArray | None
) -> FloatArray:
    """The page cache's characteristic time: at which what stays so long fills it; a long time if all fits."""
    wanted = np.log(pages)

    def too_full(log_time: FloatArray) -> FloatArray:
        return np.log(np.maximum(occupied(np.exp(log_time)), LEAST)) - wanted

    low, high = np.full(len(pages), np.log(0.1)), np.log(np.maximum(100.0 * pool_time, 1e12))
    if near is not None:
        around = np.clip(np.log(near), low, high)
        below, above = np.maximum(around - NEAR, low), np.minimum(around + NEAR, high)
        short, long = too_full(below) > 0, too_full(above) < 0
        low, high = (
            np.where(short, low, np.where(long, above, below)),
            np.where(long, high, np.where(short, below, above)),
        )
    always, never = too_full(high) < 0, too_full(low) > 0
    found = root(too_full, np.where(always, high, low), np.where(never, low, high), TOLERANCE)
    return np.exp(np.where(always, high, np.where(never, low, found)))
