"""The operating system's page cache below the pool."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.analytic.parameters import Parameters
from simulator.analytic.pool import PoolMisses
from simulator.analytic.workload import Workload
from simulator.analytic.writing import LEAST, PoolWrites
from simulator.form import FloatArray

TOLERANCE, MOST_STEPS = 1e-3, 50
"""length of the last step to the characteristic time, relative, and the most steps; each is the square of the last"""
SHORTEST, LONGEST = 0.1, 1e12
"""times that are looked at"""
FARTHEST = 30.0
"""how many times as long as the last one the next time may be"""
SELDOM = 1e12
"""time until a page is asked for again that nobody asks for"""
NEGLIGIBLE = 1e-9
"""Groups with no more than this share of the misses are left out."""


@dataclass(frozen=True)
class _Stays:
    """Pages that are asked for again after a time `first` and an exponential one more.

    `amount` of them come in per transaction. `amount` and `mean` have shape (configurations, groups), `first`
    (configurations,).
    """

    amount: FloatArray
    first: FloatArray
    mean: FloatArray

    @cached_property
    def total(self) -> FloatArray:
        return self.amount.sum(axis=1)

    @cached_property
    def weighted(self) -> FloatArray:
        return self.amount * self.mean

    @cached_property
    def weight(self) -> FloatArray:
        return self.weighted.sum(axis=1)

    @cached_property
    def per_mean(self) -> FloatArray:
        return -1.0 / self.mean

    def not_yet(self, limit: FloatArray) -> FloatArray:
        """Chance that a page has not been asked for again in a time `limit`."""
        exponent = np.maximum(limit - self.first, 0.0)[:, None] * self.per_mean
        return np.exp(exponent, out=exponent)

    def kept(self, limit: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Pages in a cache that keeps them until they are asked for again, but no longer than `limit`; its slope."""
        chance = self.not_yet(limit)
        more = self.weight - np.einsum("cg,cg->c", self.weighted, chance)
        return self.total * np.minimum(limit, self.first) + more, np.einsum("cg,cg->c", self.amount, chance)


def page_cache(
    workload: Workload, p: Parameters, pool: PoolMisses, writes: PoolWrites, rate: FloatArray, near: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Share of the pool's misses that the page cache answers, by group, and its characteristic time.

    It is touched by each miss of the pool and by each write. From a miss a page stays in the pool for T and longer;
    a dirty one is written when it leaves (or at `age`), so that its time in the page cache begins again. `near`: a
    characteristic time from which to begin the search.
    """
    groups = workload.groups
    gaps = np.flatnonzero(groups.gaps * groups.write)
    some = np.flatnonzero((pool.misses > NEGLIGIBLE * pool.misses.sum(axis=1)[:, None]).any(axis=0))
    misses, missing = pool.misses[:, some], np.maximum(pool.missing[:, some], LEAST)
    time = pool.time[:, None]
    drawn = groups.rate > 0
    away = np.where(drawn, 1.0 / np.maximum(groups.rate, LEAST), groups.gap - time)
    away = np.minimum(np.maximum(away, LEAST), SELDOM)
    new, new_away = groups.gaps[gaps] * groups.write[gaps], away[:, gaps]
    away = away[:, some]
    more = np.where(drawn[some], np.clip((1.0 / missing - 1.0) * away - time, LEAST, SELDOM), LEAST)
    written, changed = writes.left_dirty[:, some], writes.changed[:, some]
    behind = p.free_behind > 0
    stays = rate * (p.expire_s + p.flush_s)
    recent = groups.recent[some] > 0
    returns = np.where(recent, 0.0, misses * written)
    again_after = np.where(recent, _since(workload, pool)[:, None], np.minimum(more + away, SELDOM))
    clean = _Stays(misses - returns, pool.time, again_after)
    dirty = _Stays(returns, writes.age, more)
    again = _Stays(dirty.amount, pool.time - writes.age, away)
    new_total, checkpoint = new.sum(), writes.checkpoint

    def occupied(limit: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Pages that it holds if they stay no longer than `limit`, and the slope of that."""
        after = np.where(behind, np.minimum(stays, limit), limit)
        longer = (after == limit).astype(np.float64)
        kept = [clean.kept(limit), dirty.kept(limit)]
        pages, slope = again.kept(after)
        pages, slope = pages + kept[0][0] + kept[1][0], slope * longer + kept[0][1] + kept[1][1]
        first = np.where(behind, new_total * after, np.minimum(limit[:, None], new_away) @ new)
        slope += np.where(behind, new_total * longer, (limit[:, None] < new_away) @ new)
        most = np.where(behind, stays, writes.cycle)
        return pages + first + checkpoint * np.minimum(limit, most), slope + checkpoint * (limit < most)

    limit = _limit(occupied, p.cache_pages, pool.time if near is None else near)
    after = np.where(behind, np.minimum(stays, limit), limit)
    found_checked = np.where(behind[:, None], 0.0, 1.0 - _Stays(misses, pool.time / 2.0, away).not_yet(limit))
    found_written = 1.0 - again.not_yet(after)
    if recent.any():
        waited = np.maximum(groups.window - pool.time, LEAST)
        recently = np.where(behind, after, np.maximum(limit - again.first, 0.0))
        found_written[:, recent] = np.minimum(recently / waited, 1.0)[:, None]
    hits = written * found_written + (changed - written) * found_checked
    hits += (1.0 - changed) * (1.0 - clean.not_yet(limit)) * ~recent
    if behind.any():
        # what has been written lies at the end that is used up first, where newcomers take the last one's place: what
        # is left of the cache holds whatever it held before
        so_far = rate * p.since_s + p.turnovers * p.buffers / np.maximum(pool.misses.sum(axis=1), LEAST)
        spare = np.clip(p.cache_pages - occupied(np.minimum(limit, so_far))[0], 0.0, None)
        spare = np.minimum(spare / max(float(groups.pages.sum()), 1.0), 1.0)
        hits += (1.0 - hits) * np.where(behind, spare, 0.0)[:, None]
    found = np.zeros_like(pool.misses)
    found[:, some] = np.where((p.direct + p.growing)[:, None] > 0, 0.0, np.clip(hits, 0.0, 1.0))
    return found, limit


def _since(workload: Workload, pool: PoolMisses) -> FloatArray:
    """How long beyond the pool's time the page of a missed draw from a window has been in the page cache already.

    It came in by its last reference and would stay for that one's sake: the draw keeps it only so much longer. The last
    one was within the window, draws from which come at random: the mean of exp(-y s)(1 - s) over what is left of it.
    """
    groups = workload.groups
    if not np.isfinite(groups.window):
        return np.full(len(pool.time), LEAST)
    left = np.maximum(groups.window - pool.time, LEAST)
    y = np.maximum(groups.offspring * left / groups.window, 1e-4)
    return np.asarray(left * (y + np.expm1(-y)) / y**2)


def _limit(
    occupied: Callable[[FloatArray], tuple[FloatArray, FloatArray]], pages: FloatArray, start: FloatArray
) -> FloatArray:
    """The page cache's characteristic time: at which what stays so long fills it; a long time if all fits.

    What is kept rises with the time, the slower the longer it is: so Newton's steps, at the latest from the second on,
    come from below and pass nothing.
    """
    limit = np.clip(start, SHORTEST, LONGEST)
    for _ in range(MOST_STEPS):
        held, slope = occupied(limit)
        step = np.clip((pages - held) / np.maximum(slope * limit, LEAST), 1.0 / FARTHEST - 1.0, FARTHEST)
        last, limit = limit, np.clip(limit * (1.0 + step), SHORTEST, LONGEST)
        if (np.abs(limit - last) <= TOLERANCE * last).all():
            break
    return limit
