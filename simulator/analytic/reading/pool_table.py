"""The buffer pool under a mix of transactions: misses, buffers in use and dirty ones.

The pool's characteristic time T follows from its size, since the pages that stay for T after each reference fill it
(Che, Tung, Wang 2002). All of it is tabulated once for a workload over T, and interpolated for any number of pools.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from oltpsim.simulator.analytic.reading.page_groups import PageGroups
from oltpsim.simulator.analytic.reading.replacement import clock_missing, clustered_clock, lru_missing
from oltpsim.simulator.form import OLD_PERCENT, BoolArray, FloatArray, weighted_sum

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

    `filled[t]`: buffers in use then; `dirty[t]`: those of them that are dirty if nothing else cleans them;
    `old_share[t]`: for which share of that time a page stays that nobody asks for once it was read, less than 1 with a
    midpoint.
    """

    times: FloatArray
    missing: FloatArray
    filled: FloatArray
    dirty: FloatArray
    old_share: FloatArray
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
    parts = _midpoint(groups, times) if policy == "midpoint" else None
    if parts is not None:
        missing, drawn = parts.missing, parts.kept_share
        old_share = parts.share
    else:
        missing = clock_missing(groups.rate * times[:, None]) if policy == "clock" else lru_missing(_due(groups, times))
        drawn, old_share = 1.0 - missing, np.ones(len(times))
    with np.errstate(divide="ignore", over="ignore"):
        moving = 1.0 / (1.0 + (stay[:, None] / groups.gap) ** SHARPNESS)
    recent = groups.recent > 0
    missing = np.where(groups.rate > 0, missing, 1.0) * np.where(np.isfinite(groups.gap), moving, 1.0)
    if recent.any() and policy == "lru":
        missing[:, recent] = (_drawn_later_share(groups, stay) * _mean_over_drawing(groups, missing))[:, None]
    if recent.any() and parts is not None:
        missing[:, recent] = parts.recent_missing[:, None]
    if policy == "clock":
        _hit_again(groups, times, missing, drawn)
    written = dirty_share(groups.write, drawn) if parts is None else parts.written
    kept = groups.pages * drawn * np.where(np.isfinite(groups.gap), moving, 1.0)
    kept += groups.gaps * np.minimum(stay[:, None], groups.gap)
    dirty = groups.pages * drawn * written
    dirty += groups.gaps * groups.write * np.minimum(stay[:, None], groups.gap)
    return PoolTable(times, missing, _rising(kept.sum(axis=1)), _rising(dirty.sum(axis=1)), old_share, policy)


def _due(groups: PageGroups, times: FloatArray) -> FloatArray:
    """References to a page within times, those that draw others after them as far back as they reach."""
    plain = groups.rate * times[:, None]
    return np.where(groups.clustered > 0, groups.rate * reach(groups, times)[:, None], plain)


def _drawn_later_share(groups: PageGroups, stay: FloatArray) -> FloatArray:
    """Chance that a reference which another has drawn comes that long after it, and after all others that it drew."""
    return np.asarray(np.clip(1.0 - stay / groups.window, 0.0, 1.0) * np.exp(-groups.offspring * stay / groups.window))


def _mean_over_drawing(groups: PageGroups, values: FloatArray) -> FloatArray:
    """Mean of values, (times, groups), over references that draw others."""
    parents = groups.clustered * groups.references
    return weighted_sum(values, parents) / max(float(parents.sum()), 1e-300)


@dataclass(frozen=True)
class _Midpoint:
    """A list with a midpoint at times T, of which pages that were only read stay for a share; arrays (times, groups).

    A page stays for T after a reference that has hit, and for the old part's time O after one that has missed. So a
    reference misses if the gap before it is longer than T, or longer than O and the reference before it has missed.
    With S(t) the share of gaps that are longer, u = S(T) + (S(O) - S(T)) u of a page's references miss, as for the
    lists h = 2 of Gast, Van Houdt, "Transient and steady-state regime of a family of list-based cache replacement
    algorithms", SIGMETRICS 2015. S is what LRU misses in such a time, and what it keeps is the integral of it. Left
    out: no page becomes young in its first second, and a young one moves only once a quarter of its part has gone.
    """

    groups: PageGroups
    times: FloatArray
    share: FloatArray

    def gone(self, times: FloatArray) -> FloatArray:
        """Of references that no others have drawn, those whose page nobody has referred to for so long."""
        return lru_missing(_due(self.groups, times))

    def gaps_over(self, times: FloatArray) -> FloatArray:
        """Share of all references to a page before which nobody has referred to it for so long."""
        groups, gone = self.groups, self.gone(times)
        if not (groups.clustered > 0).any():
            return gone
        every = (
            gone * ((1.0 + groups.offspring * _drawn_later_share(groups, times)) / (1.0 + groups.offspring))[:, None]
        )
        return np.where(groups.clustered > 0, every, gone)

    @cached_property
    def missed(self) -> FloatArray:
        """Share of a page's references that miss, the u above."""
        longer, longer_than_old = self.gaps_over(self.times), self.gaps_over(self.share * self.times)
        return np.asarray(longer / np.maximum(longer + 1.0 - longer_than_old, 1e-300))

    @property
    def missing(self) -> FloatArray:
        """Shares of references that miss, of those that no others have drawn."""
        longer, longer_than_old = self.gone(self.times), self.gone(self.share * self.times)
        return longer + (longer_than_old - longer) * self.missed

    @property
    def recent_missing(self) -> FloatArray:
        """The same of references that others have drawn, (times,)."""
        longer, longer_than_old = (
            _drawn_later_share(self.groups, times) * _mean_over_drawing(self.groups, self.gone(times))
            for times in (self.times, self.share * self.times)
        )
        return longer + (longer_than_old - longer) * _mean_over_drawing(self.groups, self.missed)

    @property
    def read(self) -> FloatArray:
        """Shares of pages that are there because they were read, and nobody has made them young."""
        return self.missed * (1.0 - self.gone(self.share * self.times))

    @property
    def kept_share(self) -> FloatArray:
        """Shares of pages that are there."""
        return self.read + (1.0 - self.missed) * (1.0 - self.gone(self.times))

    @property
    def written(self) -> FloatArray:
        """Of the pages that are there those that are dirty, if nothing else cleans them."""
        write, read, kept = self.groups.write, self.read, self.kept_share
        young = 1.0 - (1.0 - write) * (1.0 - dirty_share(write, 1.0 - self.gaps_over(self.times)))
        return (read * write + (kept - read) * young) / np.maximum(kept, 1e-300)

    def has_too_many_old(self) -> BoolArray:
        """Whether the old part has more than its share of the pages."""
        groups, kept, left = self.groups, self.kept_share, self.times * (1.0 - self.share)
        old = ((kept - (1.0 - self.missed) * (1.0 - self.gone(left))) * groups.pages).sum(axis=1)
        moves, young = (
            (np.minimum(each[:, None], groups.gap) * groups.gaps).sum(axis=1) for each in (self.times, left)
        )
        return np.asarray(100.0 * (old + moves - young) > OLD_PERCENT * ((kept * groups.pages).sum(axis=1) + moves))


def _midpoint(groups: PageGroups, times: FloatArray) -> _Midpoint:
    """The list whose old part has its share of the pages.

    Found by bisection for every COARSE'th time; where the pages that stay are too few for a young part all are old.
    """
    coarse = times[::COARSE]
    low, high = np.full(len(coarse), math.log(LEAST_OLD_SHARE)), np.zeros(len(coarse))
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        beyond = _Midpoint(groups, coarse, np.exp(middle)).has_too_many_old()
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return _Midpoint(groups, times, np.exp(np.interp(np.log(times), np.log(coarse), high)))


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
        missing[:, recent] = (weighted_sum(by_offspring, weight) / max(weight.sum(), 1e-300))[:, None]


def dirty_share(write: FloatArray, found: FloatArray) -> FloatArray:
    """Share of a group's pages in the cache that are dirty, if a reference finds its page there with chance `found`.

    A page is dirty if one of the references since it came in has changed it; their number is geometric.
    """
    return write / np.maximum(1.0 - found * (1.0 - write), 1e-300)


def _rising(values: FloatArray) -> FloatArray:
    """Strictly rising, so that it can be looked up backwards."""
    return np.asarray(np.maximum.accumulate(values) + 1e-9 * np.arange(1, len(values) + 1), dtype=np.float64)
