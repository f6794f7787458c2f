"""The buffer pool under a mix of transactions: misses, buffers in use and dirty ones.

The pool's characteristic time T follows from its size, since the pages that stay for T after each reference fill it
(Che, Tung, Wang 2002). All of it is tabulated once for a workload over T, and interpolated for any number of pools.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from simulator.analytic.page_groups import PageGroups
from simulator.analytic.replacement import (
    clock_missing,
    clustered_clock,
    lru_missing,
    midpoint_missing,
    midpoint_old,
)
from simulator.form import OLD_PERCENT, BoolArray, FloatArray

TIMES, COARSE = 400, 5
"""times of a table; every so manyth of them is calculated for clusters of hits and midpoints, the others lie between"""
HALVINGS, LEAST_OLD_SHARE = 20, 1e-3
"""of the search for an old part's time, and where it begins"""
SHARPNESS = 30.0
"""How sharply a frontier's lag is known: its standard deviation is about 1.8 / 30 of it, from the orders' randomness"""
CLOCK_STAY = 5.5
"""Revolutions that a page of full usage count stays: five to count down, and the hand somewhere on its way"""


@dataclass(frozen=True)
class PoolTable:
    """`missing[t, g]`: share of group g's references that miss if the characteristic time is `times[t]`.

    `filled[t]`: buffers in use then; `dirty[t]`: those of them that are dirty if nothing else cleans them.
    """

    times: FloatArray
    missing: FloatArray
    filled: FloatArray
    dirty: FloatArray
    policy: str


def reach(groups: PageGroups, times: FloatArray) -> FloatArray:
    """How far back a page that windows remember may have been referred to, to be asked for within `times` once more.

    A reference draws others after it, until its window has passed: its page is missing only if neither it nor one of
    those fell into the time. Cluster process; `offspring` is their mean number.
    """
    if not np.isfinite(groups.window) or groups.offspring <= 0:
        return times
    window, offspring = groups.window, groups.offspring
    inside = np.minimum(times, window)
    late = -np.expm1(-offspring * inside / window)
    return times + (window - inside) * late + inside - window / offspring * late


@lru_cache(maxsize=64)
def pool_table(groups: PageGroups, policy: str) -> PoolTable:
    """The table of one workload and one replacement policy."""
    slowest = groups.rate[groups.rate > 0].min(initial=1.0)
    times = np.geomspace(0.1, 50.0 / slowest, TIMES)
    stay = CLOCK_STAY * times if policy == "clock" else times
    stay_read = stay
    """of a page that nobody asks for once it was read"""
    if policy == "lru":
        missing = lru_missing(_due(groups, times))
    elif policy == "clock":
        missing = clock_missing(groups.rate * times[:, None])
    else:
        stay_read = times * _old_share(groups, times)
        by_old = _due(groups, stay_read)
        missing = midpoint_missing(by_old, _due(groups, times) - by_old)
    with np.errstate(divide="ignore", over="ignore"):
        moving = 1.0 / (1.0 + (stay[:, None] / groups.gap) ** SHARPNESS)
    recent = groups.recent > 0
    drawn = 1.0 - missing
    missing = np.where(groups.rate > 0, missing, 1.0) * np.where(np.isfinite(groups.gap), moving, 1.0)
    if recent.any() and policy != "clock":
        parents = groups.clustered * groups.references
        of_parents = missing @ parents / max(parents.sum(), 1e-300)
        late = np.clip(1.0 - stay_read / groups.window, 0.0, 1.0)
        late *= np.exp(-groups.offspring * stay_read / groups.window)
        missing[:, recent] = (late * of_parents)[:, None]
    if policy == "clock":
        _hit_again(groups, times, missing, drawn)
    kept = groups.pages * drawn * np.where(np.isfinite(groups.gap), moving, 1.0)
    kept += groups.gaps * np.minimum(stay[:, None], groups.gap)
    if policy == "midpoint":
        read = np.minimum(missing * -np.expm1(-by_old), drawn)
        again = np.exp(-_due(groups, times))
        written = 1.0 - (1.0 - groups.write) * (1.0 - dirty_share(groups.write, 1.0 - again))
        dirty = groups.pages * (read * groups.write + (drawn - read) * written)
    else:
        dirty = groups.pages * drawn * dirty_share(groups.write, drawn)
    dirty += groups.gaps * groups.write * np.minimum(stay[:, None], groups.gap)
    return PoolTable(times, missing, _rising(kept.sum(axis=1)), _rising(dirty.sum(axis=1)), policy)


def _due(groups: PageGroups, times: FloatArray) -> FloatArray:
    """References to a page within times, those that draw others after them as far back as they reach."""
    plain = groups.rate * times[:, None]
    return np.where(groups.clustered > 0, groups.rate * reach(groups, times)[:, None], plain)


def _old_share(groups: PageGroups, times: FloatArray) -> FloatArray:
    """Of a list with a midpoint: the old part's time by that of both, at which it has its share of the pages.

    Found by bisection for every COARSE'th time; 1 where all the pages that stay are too few for a young part.
    """
    coarse = times[::COARSE]
    due, moves = _due(groups, coarse), np.minimum(coarse[:, None], groups.gap)

    def too_much(share: FloatArray) -> BoolArray:
        by_old = _due(groups, share * coarse)
        old = midpoint_old(by_old, due - by_old) @ groups.pages
        old += (moves - np.minimum((coarse * (1.0 - share))[:, None], groups.gap)) @ groups.gaps
        both = (1.0 - midpoint_missing(by_old, due - by_old)) @ groups.pages + moves @ groups.gaps
        return np.asarray(old * 100.0 > both * OLD_PERCENT)

    low, high = np.full(len(coarse), math.log(LEAST_OLD_SHARE)), np.zeros(len(coarse))
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        beyond = too_much(np.exp(middle))
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return np.asarray(np.exp(np.interp(np.log(times), np.log(coarse), high)))


def _hit_again(groups: PageGroups, times: FloatArray, missing: FloatArray, drawn: FloatArray) -> None:
    """What a CLOCK counts that LRU doesn't: hits of pages that windows remember, and of the page just used."""
    hot, recent = groups.clustered > 0, groups.recent > 0
    bursts = hot | ((groups.rate > 0) & (groups.again > 0) & ~np.isfinite(groups.gap))
    if not bursts.any():
        return
    of_offspring = float(groups.again[recent].max(initial=0.0))
    twice = np.minimum(np.stack([groups.again, np.where(hot, of_offspring, 0.0)])[:, bursts], 1.0)
    offspring = np.where(hot, groups.offspring, 0.0)[bursts]
    window = np.where(hot & np.isfinite(groups.window), groups.window, 0.0)[bursts]
    coarse_times = times[::COARSE]
    found = clustered_clock(
        groups.rate[bursts] * coarse_times[:, None], window / coarse_times[:, None], offspring, twice
    )
    place = np.arange(len(times)) / COARSE
    below = np.minimum(place.astype(np.int64), len(coarse_times) - 2)
    part = np.minimum(place - below, 1.0)[:, None]
    # rounding leaves shares of -1e-18 where everything is in, which whoever divides by them would take for real
    parents, by_offspring, there = (
        np.clip(each[below] * (1.0 - part) + each[below + 1] * part, 0.0, 1.0) for each in found
    )
    missing[:, bursts], drawn[:, bursts] = parents, there
    if recent.any():
        weight = (groups.references * hot)[bursts]
        missing[:, recent] = (by_offspring @ weight / max(weight.sum(), 1e-300))[:, None]


def dirty_share(write: FloatArray, found: FloatArray) -> FloatArray:
    """Share of a group's pages in the cache that are dirty, if a reference finds its page there with chance `found`.

    A page is dirty if one of the references since it came in has changed it; their number is geometric.
    """
    return write / np.maximum(1.0 - found * (1.0 - write), 1e-300)


def _rising(values: FloatArray) -> FloatArray:
    """Strictly rising, so that it can be looked up backwards."""
    return np.asarray(np.maximum.accumulate(values) + 1e-9 * np.arange(1, len(values) + 1), dtype=np.float64)
