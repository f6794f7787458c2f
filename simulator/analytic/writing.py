"""Writes of the buffer pool, and their write-back by the operating system because of their age.

A page that reaches an age without a reference, counted in transactions, is written: by the writer, if there are too
many dirty ones, or by whoever needs its buffer. A checkpoint writes what is dirty and has not been written before its
turn comes.
"""

from dataclasses import dataclass

import numpy as np

from simulator.analytic.caches import PoolTable, dirty_share
from simulator.analytic.page_groups import PageGroups
from simulator.analytic.parameters import Parameters
from simulator.analytic.workload import Workload
from simulator.form import FloatArray

LEAST = 1e-100
STEPS, LONGEST = 24, 30.0
"""of searches for times, and their greatest logarithm"""
CROWDED_POWER = 6.0
"""how sharply the page cache's limit of dirty pages is felt"""


@dataclass(frozen=True)
class Cleaned:
    """Pages that a pool writes per transaction, by group, (configurations, groups)."""

    again: FloatArray
    """pages that are written again and again"""
    among: FloatArray
    """those pages' number"""
    once: FloatArray
    """pages that are not written again"""

    @property
    def pages(self) -> FloatArray:
        """All of them."""
        return self.again + self.once

    def distinct(self, time: FloatArray) -> FloatArray:
        """How many different ones are written in so many transactions."""
        after = time[:, None]
        few = np.maximum(self.among, LEAST)
        return (few * -np.expm1(-np.minimum(self.again * after / few, 700.0)) + self.once * after).sum(axis=1)


def crowding(room: FloatArray) -> FloatArray:
    """How much the page cache's limit is felt, 0 to 1, a half if `room`, the limit over what there is, is 1."""
    return np.asarray(1.0 / (1.0 + np.minimum(room, 1e6) ** CROWDED_POWER))


def most_per_s(p: Parameters) -> FloatArray:
    """Pages that write-back hands to the disks: of those that let reads go first it has the turns left to it."""
    each = p.data_devices * p.parallel / p.disk_writes(np.ones(1))
    turns = each / (1.0 + p.reads_per_write) / p.write_s[:, 0]
    return np.minimum(p.in_flight / p.flush_s, np.where(p.reads_per_write > 0, turns, np.inf))


def until(cleaned: Cleaned, pages: FloatArray) -> FloatArray:
    """Transactions in which so many different pages are written."""
    low, high = np.zeros(len(pages)), np.full(len(pages), LONGEST)
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        few = cleaned.distinct(np.exp(middle)) < pages
        low, high = np.where(few, middle, low), np.where(few, high, middle)
    return np.exp(high)


def written_back(cleaned: Cleaned, p: Parameters, rate: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Share of the pages that reach the disks, and whether they wait until there are too many, (configurations,).

    A page that is written again while it is dirty in the page cache goes to disk once. It stays there until it is old
    enough; or, if more come than write-back may have at the disks at once, until so many of them are rewritten that no
    more do; or until the page cache may hold no more dirty ones, and all go together.
    """
    ages = np.maximum(rate * (p.expire_s + p.flush_s / 2.0), 1e-3)
    most = np.maximum(most_per_s(p) / np.maximum(rate, LEAST), LEAST)
    low, high = np.log(ages), np.maximum(np.log(ages), LONGEST)
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        many = cleaned.distinct(np.exp(middle)) / np.exp(middle) > most
        low, high = np.where(many, middle, low), np.where(many, high, middle)
    slow = cleaned.distinct(ages) / ages > most
    stays = np.where(slow, np.exp(high), ages)
    full = until(cleaned, np.maximum(p.cache_dirty_limit, 1.0))
    crowded = crowding(full / stays)
    stays = np.minimum(stays, full)
    share = cleaned.distinct(stays) / np.maximum(stays * cleaned.pages.sum(axis=1), LEAST)
    direct = p.direct > 0
    return np.where(direct, 1.0, np.minimum(share, 1.0)), np.where(direct, 0.0, crowded)


ZONE_STEPS, ZONE_RANGE = 16, 6.0
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
    reach: FloatArray
    """share of them that reach the disks"""
    aged_of: FloatArray
    """pages written because of their age, by group"""
    burst: FloatArray
    """pages written together because of their age"""
    heap: FloatArray
    """pages that one checkpoint writes, by group"""
    aged_heap: FloatArray
    """pages written because of their age that the page cache hands to the disks together"""
    checkpoint_heap: FloatArray
    """pages of a checkpoint that it hands over together"""
    active: FloatArray
    """share of time in which pages are written: all of it for old ones, its duration for a checkpoint"""
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
    aged_of = aged * old * (1.0 - p.growing)[:, None]
    many = np.broadcast_to(groups.pages, aged_of.shape)
    cleaned = Cleaned(np.where(drawn, aged_of, 0.0), many, np.where(drawn, 0.0, aged_of))
    by_age = aged_of.sum(axis=1)
    if table.policy == "clock":
        ahead = _at_the_hand(groups, p, 1.0 - table.at(time), time, cycle)
        rest = np.maximum(1.0 - ahead.pages.sum(axis=1) / np.maximum(by_age, LEAST), 0.0)[:, None]
        cleaned = Cleaned(ahead.again, ahead.among, ahead.once + rest * aged_of)
        by_age = np.minimum(cleaned.pages.sum(axis=1), np.maximum(1.0 / np.maximum(page_s * rate, LEAST), by_age))
    in_time = np.minimum(1.0 / np.maximum(page_s * rate, LEAST), by_age)
    victims = by_age - np.where(age < time, in_time, 0.0)
    aged_of = cleaned.pages * (by_age / np.maximum(cleaned.pages.sum(axis=1), LEAST))[:, None]
    reach, crowded = written_back(cleaned, p, rate)
    by_writer = (p.dirty_high - p.dirty_low) * (1.0 - victims / np.maximum(by_age, LEAST))
    at_once = np.maximum(np.maximum(by_writer, rate * by_age * p.flush_s), 1.0)
    heap = at_start * still
    pages = heap.sum(axis=1)
    per_s = pages / np.maximum(p.spread_s, p.flush_s)
    changed = np.where(drawn, share, np.where(groups.recent > 0, 1.0, groups.write))
    return PoolWrites(
        age=age,
        cycle=cycle,
        aged=by_age,
        victims=victims,
        reach=reach,
        aged_of=aged_of,
        burst=np.maximum(at_once, crowded * p.cache_dirty_limit),
        heap=heap,
        aged_heap=np.maximum(np.minimum(at_once, p.in_flight), crowded * p.cache_dirty_limit),
        checkpoint_heap=np.maximum(
            np.minimum(per_s * p.flush_s, p.in_flight), _crowded(p, per_s) * np.minimum(pages, p.cache_dirty_limit)
        ),
        active=_active(p, by_age, pages / cycle, pages * page_s),
        dirty=table.dirty_until(age, cycle),
        changed=changed,
        left_dirty=changed * old,
    )


def _active(p: Parameters, aged: FloatArray, checkpoint: FloatArray, takes_s: FloatArray) -> FloatArray:
    """Share of time in which pages are written, if checkpoints take `takes_s` seconds of work."""
    lasts = np.clip(np.maximum(p.spread_s, takes_s) / p.checkpoint_s, 0.0, 1.0)
    return np.clip((aged + checkpoint * lasts) / np.maximum(aged + checkpoint, LEAST), 0.01, 1.0)


def _crowded(p: Parameters, pages_per_s: FloatArray) -> FloatArray:
    """Whether pages come faster into the page cache than write-back takes them, or than it may hold until they age."""
    most = np.minimum(p.cache_dirty_limit / (p.expire_s + p.flush_s / 2.0), most_per_s(p))
    return np.where(p.direct > 0, 0.0, crowding(most / np.maximum(pages_per_s, LEAST)))


def _at_the_hand(
    groups: PageGroups, p: Parameters, found: FloatArray, revolution: FloatArray, cycle: FloatArray
) -> Cleaned:
    """Pages per transaction that the writer of a CLOCK pool cleans, by group: those that the hand comes to next.

    It keeps a zone ahead of the hand clean, whatever is hot there, so wide that few enough are dirty in the rest of the
    dial, where pages are changed again since the hand was there. Pages under a frontier have just come in and lie
    there. What enters the zone is cleaned once, and what is changed in it at the writer's next turn.
    """
    old = ~groups.rows[0]
    buffers, changes = groups.pages * found, groups.rate * groups.write
    trail = groups.gaps * groups.write
    most = (p.dirty_high + p.dirty_low) / 2.0

    def changed(since: FloatArray) -> FloatArray:
        """Share of pages changed in so many transactions."""
        return -np.expm1(-changes * since[:, None])

    def dirty(apart: FloatArray) -> FloatArray:
        outside = np.minimum(apart, cycle)
        y = np.maximum(changes * outside[:, None], 1e-9)
        part = np.where(old, np.minimum(apart / revolution, 1.0)[:, None], 1.0)
        pages = buffers * (1.0 + np.expm1(-y) / y) * part
        return pages.sum(axis=1) + (trail * np.minimum(outside[:, None], groups.gap)).sum(axis=1)

    # transactions from one cleaning of a page to the next: below a revolution as long as it is outside the zone, above
    # one as often as only some of the dirty pages that the hand passes are cleaned
    low, high = np.log(revolution) - ZONE_RANGE, np.log(revolution) + ZONE_RANGE
    for _ in range(ZONE_STEPS):
        middle = (low + high) / 2.0
        many = dirty(np.exp(middle)) > most
        low, high = np.where(many, low, middle), np.where(many, middle, high)
    apart = np.exp(high)
    inside = np.where(old, np.maximum(1.0 - apart / revolution, 0.0)[:, None] * buffers, 0.0)
    enter = (np.where(old, buffers, 0.0) * changed(np.minimum(apart, cycle)) + trail * apart[:, None]) / np.maximum(
        revolution, apart
    )[:, None]

    needed = (dirty(np.exp(np.log(revolution) + ZONE_RANGE)) > most)[:, None]
    once = np.where(needed, enter, 0.0)
    turn = until(Cleaned(inside * changes, inside, once), np.maximum(p.dirty_high - p.dirty_low, 1.0))
    return Cleaned(np.where(needed, inside * changed(turn) / turn[:, None], 0.0), inside, once)


def _dirty(groups: PageGroups, found: FloatArray, age: FloatArray) -> FloatArray:
    """Dirty buffers by group if pages stay dirty for `age` after a reference."""
    dirty = groups.pages * found * dirty_share(groups.write, found)
    return dirty + groups.gaps * groups.write * np.minimum(age[:, None], groups.gap)


def merged(workload: Workload, p: Parameters, pages: FloatArray) -> FloatArray:
    """Requests that `pages` of each group make if they are written together: neighbours, up to `merged_pages`.

    A run ends where the next page on the device isn't written; those that a frontier leaves lie in a row.
    """
    groups = workload.groups
    rows, member, places = groups.rows
    written = np.clip(pages / np.maximum(groups.pages, LEAST), 0.0, 1.0)
    ends = (np.where(rows, 0.0, pages * (1.0 - written @ groups.beside.T))).sum(axis=1)
    drawn = np.maximum(np.where(rows, 0.0, pages).sum(axis=1), LEAST)
    in_rows = np.maximum(pages @ member.T, LEAST)
    places = places * (p.data_devices / p.disks_per_file)[:, None]
    runs = np.column_stack([ends, places * -np.expm1(-in_rows / places)])
    return _cut(np.column_stack([drawn, in_rows]), runs, p.merged_pages[:, None]).sum(axis=1)


def _cut(pages: FloatArray, runs: FloatArray, most: FloatArray) -> FloatArray:
    """Requests for pages that lie in so many runs, if one takes `most` pages: the runs' lengths are geometric."""
    again = np.clip(1.0 - runs / pages, 0.0, 0.999)
    return runs / (1.0 - again**most)
