"""Page caches over arrays: who is in, who goes next, who is dirty. Shared by every engine.

Tiers are numbered (POOL, CACHE) and share three arrays: `where[tier, page]` is the slot that holds a page or -1,
`slots[slot]` one row of eight 32-bit integers (each tier has a range of them), half a line of the processor's cache,
and `head[tier]` a tier's constants, state and counters. All costs are O(1) per reference.
Replacement: LRU (exact list) or CLOCK (PostgreSQL's usage counts up to 5, second chance with decrement).
A dirty page is also on a list in the order of first writing, for write-back by age. Whoever looks for the dirty pages
that replacement reaches first would pass the same clean ones each time: in the recency list, all slots from the oldest
to `CLEAN_TO` (-1: none) are known to be clean.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simulator.form import MOST_USAGE, NS_PER_MS, Int32Array, IntArray
from simulator.kernel.compiled import compiled, compiled_inside
from simulator.kernel.sorting import sort_first

# Columns of a slot. PREVIOUS leads towards the most recently used; SINCE is when the page became dirty, in ms.
PREVIOUS, NEXT, PAGE, FLAGS, SINCE, OLDER_DIRTY, NEWER_DIRTY, RESIDENCE = range(8)
SLOT_WIDTH = 8
USAGE = PREVIOUS
"""CLOCK has counts instead of a list."""
# FLAGS
DIRTY, IN_FLIGHT, BUSY = 1, 2, 4
# RESIDENCE: what the operating system knows of the memory behind a slot
SWAPPED_OUT, IDLE, ACCESSED = 0, 1, 2
# The head of a tier: constants, state, counters
CAPACITY, POLICY, DIRTY_LIMIT, RESIDENT_CAPACITY = 0, 1, 2, 3
USED, RECENT, OLDEST, HAND, DIRTY_COUNT, DIRTY_FIRST, DIRTY_LAST, RESIDENT, RESIDENT_HAND = (
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    11,
    12,
)
WRITES_IN_FLIGHT, FIRST_SLOT, CLEAN_TO = 13, 14, 15
REFERENCES, HITS, EVICTIONS, DIRTY_EVICTIONS, WRITES, SWAP_INS, SWAP_OUTS = 16, 17, 18, 19, 20, 21, 22
HEAD_WIDTH = 24
LRU, CLOCK = 0, 1
POOL, CACHE = 0, 1
POLICIES = ("lru", "clock")


class Tiers(NamedTuple):
    """All cache tiers; see the module's text."""

    where: Int32Array
    slots: Int32Array
    head: IntArray


def new_tiers(pages: int, *tiers: tuple[int, str]) -> Tiers:
    """Empty tiers of (capacity, policy) for page numbers below `pages`."""
    head = np.zeros((len(tiers), HEAD_WIDTH), dtype=np.int64)
    first = 0
    for row, (capacity, policy) in zip(head, tiers, strict=True):
        row[CAPACITY] = row[DIRTY_LIMIT] = row[RESIDENT_CAPACITY] = capacity
        row[POLICY], row[FIRST_SLOT], row[HAND] = POLICIES.index(policy), first, first
        row[RECENT] = row[OLDEST] = row[CLEAN_TO] = row[DIRTY_FIRST] = row[DIRTY_LAST] = -1
        first += capacity
    return Tiers(
        where=np.full((len(tiers), pages), -1, dtype=np.int32),
        slots=np.full((first, SLOT_WIDTH), -1, dtype=np.int32),
        head=head,
    )


@compiled_inside
def link_recent(tiers: Tiers, tier: int, slot: int) -> None:
    """Put a slot at the most recently used end."""
    first = tiers.head[tier, RECENT]
    tiers.slots[slot, PREVIOUS] = -1
    tiers.slots[slot, NEXT] = first
    if first >= 0:
        tiers.slots[first, PREVIOUS] = slot
    else:
        tiers.head[tier, OLDEST] = slot
    tiers.head[tier, RECENT] = slot


@compiled_inside
def unlink(tiers: Tiers, tier: int, slot: int) -> None:
    """Take a slot out of the recency list."""
    before, after = tiers.slots[slot, PREVIOUS], tiers.slots[slot, NEXT]
    if tiers.head[tier, CLEAN_TO] == slot:
        tiers.head[tier, CLEAN_TO] = after
    if before >= 0:
        tiers.slots[before, NEXT] = after
    else:
        tiers.head[tier, RECENT] = after
    if after >= 0:
        tiers.slots[after, PREVIOUS] = before
    else:
        tiers.head[tier, OLDEST] = before


@compiled
def make_oldest(tiers: Tiers, tier: int, slot: int) -> None:
    """Put a slot of an LRU tier at the end that is used up first."""
    if tiers.head[tier, OLDEST] == slot:
        return
    unlink(tiers, tier, slot)
    tiers.head[tier, CLEAN_TO] = -1
    last = tiers.head[tier, OLDEST]
    tiers.slots[slot, PREVIOUS] = last
    tiers.slots[slot, NEXT] = -1
    tiers.slots[last, NEXT] = slot
    tiers.head[tier, OLDEST] = slot


@compiled
def touch(tiers: Tiers, tier: int, slot: int) -> None:
    """A hit: move to the recent end (LRU) or raise the usage count (CLOCK)."""
    if tiers.head[tier, POLICY] == CLOCK:
        if tiers.slots[slot, USAGE] < MOST_USAGE:
            tiers.slots[slot, USAGE] += 1
    elif tiers.head[tier, RECENT] != slot:
        unlink(tiers, tier, slot)
        link_recent(tiers, tier, slot)


@compiled
def insert(tiers: Tiers, tier: int, slot: int, page: int) -> None:
    """Put a page into an empty slot, clean, as the most recent one."""
    tiers.where[tier, page] = slot
    tiers.slots[slot, PAGE] = page
    tiers.slots[slot, FLAGS] = 0
    if tiers.head[tier, POLICY] == LRU:
        link_recent(tiers, tier, slot)
    else:
        tiers.slots[slot, USAGE] = 1


@compiled
def remove(tiers: Tiers, tier: int, slot: int) -> None:
    """Empty a slot that holds a page; a dirty page loses its dirt (the caller has seen to it)."""
    clear_dirty(tiers, tier, slot)
    if tiers.head[tier, POLICY] == LRU:
        unlink(tiers, tier, slot)
    tiers.where[tier, tiers.slots[slot, PAGE]] = -1
    tiers.slots[slot, PAGE] = -1


@compiled
def next_victim(tiers: Tiers, tier: int) -> int:
    """The slot to use next: a fresh one, else the victim by policy; busy slots are passed over.

    The victim still holds its page. Returns -1 where every slot is busy.
    """
    if tiers.head[tier, USED] < tiers.head[tier, CAPACITY]:
        slot = tiers.head[tier, FIRST_SLOT] + tiers.head[tier, USED]
        tiers.head[tier, USED] += 1
        tiers.slots[slot, PAGE] = -1
        tiers.slots[slot, FLAGS] = 0
        return slot
    if tiers.head[tier, POLICY] == CLOCK:
        return _clock_victim(tiers, tier)
    slot = tiers.head[tier, OLDEST]
    while slot >= 0 and tiers.slots[slot, FLAGS] & BUSY:
        slot = tiers.slots[slot, PREVIOUS]
    return slot


@compiled_inside
def _clock_victim(tiers: Tiers, tier: int) -> int:
    first, capacity = tiers.head[tier, FIRST_SLOT], tiers.head[tier, CAPACITY]
    for _ in range((MOST_USAGE + 1) * capacity):
        slot = tiers.head[tier, HAND]
        tiers.head[tier, HAND] = slot + 1 if slot + 1 < first + capacity else first
        if tiers.slots[slot, FLAGS] & BUSY:
            continue
        if tiers.slots[slot, USAGE] <= 0:
            return slot
        tiers.slots[slot, USAGE] -= 1
    return -1


@compiled
def set_dirty(tiers: Tiers, tier: int, slot: int, now: int) -> None:
    """Mark dirty; a page that was clean joins the end of the dirty list."""
    if tiers.slots[slot, FLAGS] & DIRTY:
        return
    tiers.slots[slot, FLAGS] |= DIRTY
    if tiers.head[tier, RECENT] != slot or tiers.head[tier, CLEAN_TO] == slot:
        tiers.head[tier, CLEAN_TO] = -1
    tiers.head[tier, DIRTY_COUNT] += 1
    tiers.slots[slot, SINCE] = now // NS_PER_MS
    last = tiers.head[tier, DIRTY_LAST]
    tiers.slots[slot, OLDER_DIRTY] = last
    tiers.slots[slot, NEWER_DIRTY] = -1
    if last >= 0:
        tiers.slots[last, NEWER_DIRTY] = slot
    else:
        tiers.head[tier, DIRTY_FIRST] = slot
    tiers.head[tier, DIRTY_LAST] = slot


@compiled
def clear_dirty(tiers: Tiers, tier: int, slot: int) -> None:
    """Mark clean and leave the dirty list."""
    if not tiers.slots[slot, FLAGS] & DIRTY:
        return
    tiers.slots[slot, FLAGS] &= ~DIRTY
    tiers.head[tier, DIRTY_COUNT] -= 1
    older, newer = tiers.slots[slot, OLDER_DIRTY], tiers.slots[slot, NEWER_DIRTY]
    if older >= 0:
        tiers.slots[older, NEWER_DIRTY] = newer
    else:
        tiers.head[tier, DIRTY_FIRST] = newer
    if newer >= 0:
        tiers.slots[newer, OLDER_DIRTY] = older
    else:
        tiers.head[tier, DIRTY_LAST] = older


@compiled
def least_recent_dirty(tiers: Tiers, tier: int, most: int, pages: npt.NDArray[Any]) -> int:
    """Fill `pages` with up to `most` dirty pages that replacement would reach first, sorted; returns their number."""
    head = tiers.head[tier]
    wanted = min(most, head[DIRTY_COUNT])
    found = 0
    if head[POLICY] == CLOCK:
        first, slot = head[FIRST_SLOT], head[HAND]
        for _ in range(head[USED]):
            if found == wanted:
                break
            if tiers.slots[slot, FLAGS] & DIRTY:
                pages[found] = tiers.slots[slot, PAGE]
                found += 1
            slot = slot + 1 if slot + 1 < first + head[USED] else first
    else:
        slot = tiers.slots[head[CLEAN_TO], PREVIOUS] if head[CLEAN_TO] >= 0 else head[OLDEST]
        while slot >= 0 and found < wanted:
            if tiers.slots[slot, FLAGS] & DIRTY:
                pages[found] = tiers.slots[slot, PAGE]
                found += 1
            elif found == 0:
                head[CLEAN_TO] = slot
            slot = tiers.slots[slot, PREVIOUS]
    sort_first(pages, found)
    return found


@compiled
def is_dirty_since(tiers: Tiers, slot: int, latest: int) -> bool:
    """Whether a dirty page became so before `latest` (ns) or in the same ms."""
    return tiers.slots[slot, SINCE] <= latest // NS_PER_MS


@compiled
def dirty_before(tiers: Tiers, tier: int, latest: int, most: int, pages: npt.NDArray[Any]) -> int:
    """Fill `pages` with up to `most` pages dirty since `latest` or longer, sorted; returns their number."""
    wanted = min(most, tiers.head[tier, DIRTY_COUNT])
    found = 0
    slot = tiers.head[tier, DIRTY_FIRST]
    while slot >= 0 and found < wanted and is_dirty_since(tiers, slot, latest):
        pages[found] = tiers.slots[slot, PAGE]
        found += 1
        slot = tiers.slots[slot, NEWER_DIRTY]
    sort_first(pages, found)
    return found
