"""What the buffer pool writes: dirty pages that nobody has used for long, and checkpoints.

A page that reaches an age without a reference, counted in transactions, is written: by the writer, if there are too
many dirty ones, or by whoever needs its buffer. A checkpoint writes what is dirty and has not been written before its
turn comes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.analytic.caches import PoolTable, dirty_share
from simulator.analytic.pages import PageGroups
from simulator.analytic.parameters import Parameters
from simulator.analytic.values import FloatArray
from simulator.analytic.workload import Workload

LEAST = 1e-100
STEPS, LONG = 24, 30.0
"""of the search for the time between two of the writer's turns, and its greatest logarithm"""


@dataclass(frozen=True)
class PoolWrites:
    """Writes of the pool per transaction; shapes (configurations,), or (configurations, groups) where it says so."""

    age: FloatArray
    """at which dirty pages are written"""
    cycle: FloatArray
    """transactions from one checkpoint to the next"""
    aged: FloatArray
    """pages written because of their age"""
    victims: FloatArray
    """those of them that whoever needs the buffer writes"""
    heap: FloatArray
    """pages that one checkpoint writes, by group"""
    dirty: FloatArray
    """dirty buffers on average"""
    changed: FloatArray
    """share of pages that have been changed since they came in, by group"""
    left_dirty: FloatArray
    """share of them that leave the pool dirty, or are written because of their age, by group"""

    @property
    def checkpoint(self) -> FloatArray:
        """Pages that checkpoints write."""
        return self.heap.sum(axis=1) / self.cycle


def pool_writes(
    workload: Workload, table: PoolTable, p: Parameters, time: FloatArray, rate: FloatArray, page_s: FloatArray
) -> PoolWrites:
    """Writes of pools of characteristic time `time`, if writer and checkpoint take `page_s` for a page.

    A checkpoint that isn't through when the next one is due delays it; dirty pages that the writer is too slow for
    are left to whoever needs their buffers.
    """
    groups = workload.groups
    full = table.dirty_at(time)
    cycle = np.maximum(rate * np.maximum(p.checkpoint_s, full * page_s), 1.0)
    age = np.where(full > p.dirty_high, table.time_of_dirty((p.dirty_high + p.dirty_low) / 2), time)
    age = np.minimum(age, time)
    wanted = rate * table.leaving_dirty(age)
    age = age + (1.0 - np.minimum(1.0, 1.0 / np.maximum(page_s * wanted, LEAST))) * (time - age)
    missing = table.at(age)
    drawn = groups.rate > 0
    share = dirty_share(groups.write, 1.0 - missing)
    at_start = _dirty(groups, 1.0 - table.at(np.minimum(cycle, age)), np.minimum(cycle, age))
    # a checkpoint that takes its time finds a page dirty if it has not been written since, or is dirty again
    share_of = np.where(drawn, at_start / np.maximum(groups.pages, LEAST), 0.0)
    late = np.maximum(rate * p.spread_s / age, 1e-6)[:, None]
    still = share_of + (1.0 - share_of) * -np.expm1(-late) / late
    old = np.clip(1.0 - (age / cycle)[:, None] * still, 0.0, 1.0)
    aged = np.where(drawn, groups.references * missing * share, 0.0)
    aged += groups.gaps * groups.write * np.where(np.isfinite(groups.gap), missing, 1.0)
    by_age = (aged * old).sum(axis=1) * (1.0 - p.growing)
    if table.policy == "clock":
        again = _at_the_hand(groups, p, full, 1.0 - table.at(time), rate * (p.expire_s + p.flush_s))
        by_age = np.maximum(by_age, np.minimum(again, 1.0 / np.maximum(page_s * rate, LEAST)))
    in_time = np.minimum(1.0 / np.maximum(page_s * rate, LEAST), by_age)
    changed = np.where(drawn, share, np.where(groups.recent > 0, 1.0, groups.write))
    return PoolWrites(
        age=age,
        cycle=cycle,
        aged=by_age,
        victims=by_age - np.where(age < time, in_time, 0.0),
        heap=at_start * still,
        dirty=table.dirty_until(age, cycle),
        changed=changed,
        left_dirty=changed * old,
    )


def _at_the_hand(
    groups: PageGroups, p: Parameters, full: FloatArray, found: FloatArray, delay: FloatArray
) -> FloatArray:
    """Pages per transaction that the writer of a CLOCK pool cleans again and again, hot ones among them.

    With a page cache below only one write of a page in `delay` transactions reaches the disks.

    It takes the dirty pages that lie next behind the hand, whatever their use. From its low mark to its high one it
    waits until enough of those that it has cleaned have been changed; they are the share of the pool that isn't dirty.
    """
    zone = np.clip(1.0 - p.dirty_low / np.maximum(full, LEAST), 0.0, 1.0)
    some = np.maximum(p.dirty_high - p.dirty_low, 1.0)
    buffers, changes = groups.pages * found, groups.rate * groups.write

    def changed(after: FloatArray) -> FloatArray:
        return (buffers * -np.expm1(-changes * after[:, None])).sum(axis=1)

    low, high = np.zeros(len(zone)), np.full(len(zone), LONG)
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        few = zone * changed(np.exp(middle)) < some
        low, high = np.where(few, middle, low), np.where(few, high, middle)
    each = np.maximum(np.exp(high), np.where(p.direct > 0, 0.0, delay))
    return np.where((full > p.dirty_high) & (high < LONG), zone * changed(each) / each, 0.0)


def _dirty(groups: PageGroups, found: FloatArray, age: FloatArray) -> FloatArray:
    """Dirty buffers by group if pages stay dirty for `age` after a reference."""
    dirty = groups.pages * found * dirty_share(groups.write, found)
    return dirty + groups.gaps * groups.write * np.minimum(age[:, None], groups.gap)


def merged(workload: Workload, p: Parameters, pages: FloatArray) -> FloatArray:
    """Requests that a checkpoint's pages make: neighbours go together, up to `merged_pages`.

    A page's neighbour is dirty as often as pages of its table in use are; those that a frontier leaves lie in a row.
    """
    groups, most = workload.groups, p.merged_pages[:, None]
    drawn = groups.rate > 0
    requests = np.zeros(len(pages))
    for region in np.unique(groups.region[drawn]):
        here = (groups.region == region) & drawn
        dirty = pages[:, here].sum(axis=1, keepdims=True)
        dense = np.clip(dirty / groups.pages[here].sum(), 0.0, 0.999)
        requests += (dirty * (1.0 - dense) / (1.0 - dense**most))[:, 0]
    return requests + pages[:, ~drawn].sum(axis=1) / np.minimum(p.merged_pages, 2.0)
