"""Page caches over arrays: who is in, who goes next, who is dirty. Shared by every engine.

A tier is three arrays: `where[page]` the slot that holds a page or -1, `slots[slot]` one row of eight
32-bit integers, and `head`, the tier's constants, state and counters. All costs are O(1) per reference.
Replacement: LRU (exact list) or CLOCK (PostgreSQL's usage counts up to 5, second chance with decrement).
A dirty page cache page is also on a list in the order of first writing, for write-back by age.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simulator.compiled import compiled

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]

# Columns of a slot. PREVIOUS leads towards the most recently used.
PREVIOUS, NEXT, PAGE, FLAGS, USAGE, OLDER_DIRTY, NEWER_DIRTY, RESIDENCE = range(8)
SLOT_WIDTH = 8
# FLAGS
DIRTY, IN_FLIGHT, BUSY = 1, 2, 4
# RESIDENCE: what the operating system knows of the memory behind a slot
SWAPPED_OUT, IDLE, ACCESSED = 0, 1, 2
# The head of a tier: constants, state, counters
CAPACITY, POLICY, DIRTY_LIMIT, RESIDENT_CAPACITY = 0, 1, 2, 3
USED, RECENT, OLDEST, HAND, DIRTY_COUNT, DIRTY_FIRST, DIRTY_LAST, RESIDENT, RESIDENT_HAND = 4, 5, 6, 7, 8, 9, 10, 11, 12
REFERENCES, HITS, EVICTIONS, DIRTY_EVICTIONS, WRITES, SWAP_INS, SWAP_OUTS = 16, 17, 18, 19, 20, 21, 22
HEAD_WIDTH = 24
LRU, CLOCK = 0, 1
POLICIES = ("lru", "clock")
MOST_USAGE = 5


class Tier(NamedTuple):
    """One cache; see the module's text. `since[slot]` is when a slot's page became dirty (ns)."""

    where: Int32Array
    slots: Int32Array
    head: Int64Array
    since: Int64Array


def new_tier(pages: int, capacity: int, policy: str = "lru", resident_capacity: int | None = None) -> Tier:
    """An empty tier of `capacity` slots for page numbers below `pages`."""
    head = np.zeros(HEAD_WIDTH, dtype=np.int64)
    head[CAPACITY], head[POLICY], head[DIRTY_LIMIT] = capacity, POLICIES.index(policy), capacity
    head[RESIDENT_CAPACITY] = capacity if resident_capacity is None else min(capacity, resident_capacity)
    head[RECENT] = head[OLDEST] = head[DIRTY_FIRST] = head[DIRTY_LAST] = -1
    return Tier(
        where=np.full(pages, -1, dtype=np.int32),
        slots=np.full((max(capacity, 1), SLOT_WIDTH), -1, dtype=np.int32),
        head=head,
        since=np.zeros(max(capacity, 1), dtype=np.int64),
    )


@compiled
def link_recent(tier: Tier, slot: int) -> None:
    """Put a slot at the most recently used end."""
    first = tier.head[RECENT]
    tier.slots[slot, PREVIOUS] = -1
    tier.slots[slot, NEXT] = first
    if first >= 0:
        tier.slots[first, PREVIOUS] = slot
    else:
        tier.head[OLDEST] = slot
    tier.head[RECENT] = slot


@compiled
def unlink(tier: Tier, slot: int) -> None:
    """Take a slot out of the recency list."""
    before, after = tier.slots[slot, PREVIOUS], tier.slots[slot, NEXT]
    if before >= 0:
        tier.slots[before, NEXT] = after
    else:
        tier.head[RECENT] = after
    if after >= 0:
        tier.slots[after, PREVIOUS] = before
    else:
        tier.head[OLDEST] = before


@compiled
def touch(tier: Tier, slot: int) -> None:
    """A hit: move to the recent end (LRU) or raise the usage count (CLOCK)."""
    if tier.head[POLICY] == CLOCK:
        if tier.slots[slot, USAGE] < MOST_USAGE:
            tier.slots[slot, USAGE] += 1
    elif tier.head[RECENT] != slot:
        unlink(tier, slot)
        link_recent(tier, slot)


@compiled
def insert(tier: Tier, slot: int, page: int) -> None:
    """Put a page into an empty slot, clean, as the most recent one."""
    tier.where[page] = slot
    tier.slots[slot, PAGE] = page
    tier.slots[slot, FLAGS] = 0
    tier.slots[slot, USAGE] = 1
    if tier.head[POLICY] == LRU:
        link_recent(tier, slot)


@compiled
def remove(tier: Tier, slot: int) -> None:
    """Empty a slot that holds a page; a dirty page loses its dirt (the caller has seen to it)."""
    clear_dirty(tier, slot)
    if tier.head[POLICY] == LRU:
        unlink(tier, slot)
    tier.where[tier.slots[slot, PAGE]] = -1
    tier.slots[slot, PAGE] = -1


@compiled
def next_victim(tier: Tier) -> int:
    """The slot to use next: a fresh one, else the victim by policy; busy slots are passed over.

    The victim still holds its page. Returns -1 where every slot is busy.
    """
    if tier.head[USED] < tier.head[CAPACITY]:
        tier.head[USED] += 1
        slot = tier.head[USED] - 1
        tier.slots[slot, PAGE] = -1
        tier.slots[slot, FLAGS] = 0
        return slot
    if tier.head[POLICY] == CLOCK:
        return _clock_victim(tier)
    slot = tier.head[OLDEST]
    while slot >= 0 and tier.slots[slot, FLAGS] & BUSY:
        slot = tier.slots[slot, PREVIOUS]
    return slot


@compiled
def _clock_victim(tier: Tier) -> int:
    capacity = tier.head[CAPACITY]
    for _ in range((MOST_USAGE + 1) * capacity):
        slot = tier.head[HAND]
        tier.head[HAND] = slot + 1 if slot + 1 < capacity else 0
        if tier.slots[slot, FLAGS] & BUSY:
            continue
        if tier.slots[slot, USAGE] <= 0:
            return slot
        tier.slots[slot, USAGE] -= 1
    return -1


@compiled
def set_dirty(tier: Tier, slot: int, now: int) -> None:
    """Mark dirty; a page that was clean joins the end of the dirty list."""
    if tier.slots[slot, FLAGS] & DIRTY:
        return
    tier.slots[slot, FLAGS] |= DIRTY
    tier.head[DIRTY_COUNT] += 1
    tier.since[slot] = now
    last = tier.head[DIRTY_LAST]
    tier.slots[slot, OLDER_DIRTY] = last
    tier.slots[slot, NEWER_DIRTY] = -1
    if last >= 0:
        tier.slots[last, NEWER_DIRTY] = slot
    else:
        tier.head[DIRTY_FIRST] = slot
    tier.head[DIRTY_LAST] = slot


@compiled
def clear_dirty(tier: Tier, slot: int) -> None:
    """Mark clean and leave the dirty list."""
    if not tier.slots[slot, FLAGS] & DIRTY:
        return
    tier.slots[slot, FLAGS] &= ~DIRTY
    tier.head[DIRTY_COUNT] -= 1
    older, newer = tier.slots[slot, OLDER_DIRTY], tier.slots[slot, NEWER_DIRTY]
    if older >= 0:
        tier.slots[older, NEWER_DIRTY] = newer
    else:
        tier.head[DIRTY_FIRST] = newer
    if newer >= 0:
        tier.slots[newer, OLDER_DIRTY] = older
    else:
        tier.head[DIRTY_LAST] = older


@compiled
def least_recent_dirty(tier: Tier, most: int) -> Int64Array:
    """Up to `most` dirty pages that replacement would reach first, sorted by page number."""
    pages = np.empty(min(most, tier.head[DIRTY_COUNT]), dtype=np.int64)
    found = 0
    if tier.head[POLICY] == CLOCK:
        slot = tier.head[HAND]
        for _ in range(tier.head[USED]):
            if found == len(pages):
                break
            if tier.slots[slot, FLAGS] & DIRTY:
                pages[found] = tier.slots[slot, PAGE]
                found += 1
            slot = slot + 1 if slot + 1 < tier.head[USED] else 0
    else:
        slot = tier.head[OLDEST]
        while slot >= 0 and found < len(pages):
            if tier.slots[slot, FLAGS] & DIRTY:
                pages[found] = tier.slots[slot, PAGE]
                found += 1
            slot = tier.slots[slot, PREVIOUS]
    return np.sort(pages[:found])


@compiled
def dirty_before(tier: Tier, latest: int, most: int) -> Int64Array:
    """Up to `most` pages that became dirty at or before time `latest`, longest dirty first chosen, sorted by page."""
    pages = np.empty(min(most, tier.head[DIRTY_COUNT]), dtype=np.int64)
    found = 0
    slot = tier.head[DIRTY_FIRST]
    while slot >= 0 and found < len(pages) and tier.since[slot] <= latest:
        pages[found] = tier.slots[slot, PAGE]
        found += 1
        slot = tier.slots[slot, NEWER_DIRTY]
    return np.sort(pages[:found])
