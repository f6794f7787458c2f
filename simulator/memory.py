"""What a page reference meets: the buffer pool, the memory behind it, and the page cache below.

All of it happens at one instant; whatever takes time is handed back to the engine as a wait.
"""

from __future__ import annotations

from simulator.caches import (
    ACCESSED,
    BUSY,
    DIRTY,
    DIRTY_COUNT,
    DIRTY_EVICTIONS,
    DIRTY_LIMIT,
    EVICTIONS,
    FLAGS,
    HITS,
    IDLE,
    IN_FLIGHT,
    PAGE,
    REFERENCES,
    RESIDENCE,
    RESIDENT,
    RESIDENT_CAPACITY,
    RESIDENT_HAND,
    SWAP_OUTS,
    SWAPPED_OUT,
    USED,
    WRITES,
    Tier,
    clear_dirty,
    insert,
    next_victim,
    remove,
    set_dirty,
    touch,
)
from simulator.compiled import compiled
from simulator.state import State

WRITES_IN_FLIGHT = 13
"""Entry of the page cache's head: pages handed to the disks and not yet there."""


@compiled
def cache_slot(state: State) -> int:
    """A free slot of the page cache; a dirty victim goes to the outbox, to be written at once."""
    cache = state.cache
    slot = next_victim(cache)
    page = cache.slots[slot, PAGE]
    if page >= 0:
        cache.head[EVICTIONS] += 1
        if cache.slots[slot, FLAGS] & DIRTY:
            cache.head[DIRTY_EVICTIONS] += 1
            cache.head[WRITES_IN_FLIGHT] += 1
            state.outbox[0] += 1
            state.outbox[state.outbox[0]] = page
        remove(cache, slot)
    return slot


@compiled
def cache_fill(state: State, page: int) -> int:
    """A page read from disk enters the page cache; returns its slot."""
    slot = state.cache.where[page]
    if slot < 0:
        slot = cache_slot(state)
        insert(state.cache, slot, page)
    return slot


@compiled
def cache_write(state: State, page: int, now: int) -> None:
    """A buffered write: the page is in the page cache, recent and dirty."""
    slot = cache_fill(state, page)
    touch(state.cache, slot)
    set_dirty(state.cache, slot, now)
    state.cache.head[WRITES] += 1


@compiled
def cache_is_full_of_dirt(state: State) -> bool:
    """Whether a writer must wait for the disks."""
    head = state.cache.head
    return head[DIRTY_COUNT] + head[WRITES_IN_FLIGHT] >= head[DIRTY_LIMIT]


@compiled
def start_write_back(state: State, page: int) -> None:
    """A dirty page of the page cache is handed to the disks."""
    slot = state.cache.where[page]
    clear_dirty(state.cache, slot)
    state.cache.slots[slot, FLAGS] |= IN_FLIGHT
    state.cache.head[WRITES_IN_FLIGHT] += 1


@compiled
def finish_write_back(state: State, page: int) -> None:
    """The disks have the page."""
    slot = state.cache.where[page]
    if slot >= 0:
        state.cache.slots[slot, FLAGS] &= ~IN_FLIGHT
    state.cache.head[WRITES_IN_FLIGHT] -= 1


@compiled
def make_resident(pool: Tier, slot: int) -> None:
    """Give a slot memory; if none is left another slot loses its own (second chance) and must be swapped out."""
    head = pool.head
    if head[RESIDENT] >= head[RESIDENT_CAPACITY]:
        hand = head[RESIDENT_HAND]
        while True:
            hand = hand + 1 if hand + 1 < head[USED] else 0
            if pool.slots[hand, FLAGS] & BUSY and hand != slot:
                continue
            if pool.slots[hand, RESIDENCE] == IDLE:
                break
            if pool.slots[hand, RESIDENCE] == ACCESSED:
                pool.slots[hand, RESIDENCE] = IDLE
        head[RESIDENT_HAND] = hand
        pool.slots[hand, RESIDENCE] = SWAPPED_OUT
        head[SWAP_OUTS] += 1
        head[RESIDENT] -= 1
    pool.slots[slot, RESIDENCE] = ACCESSED
    head[RESIDENT] += 1


@compiled
def pool_hit(pool: Tier, slot: int) -> None:
    """Count and order a reference to a page that is in the pool and in memory."""
    pool.head[REFERENCES] += 1
    pool.head[HITS] += 1
    touch(pool, slot)
    pool.slots[slot, RESIDENCE] = ACCESSED


@compiled
def pool_write(pool: Tier, slot: int, now: int) -> None:
    """The page in this slot has been changed."""
    set_dirty(pool, slot, now)


@compiled
def empty_slot(state: State, slot: int, now: int) -> bool:
    """Empty a pool slot for another page; returns whether its page had to be written to the page cache."""
    pool = state.pool
    if pool.slots[slot, RESIDENCE] < 0:
        make_resident(pool, slot)
    page = pool.slots[slot, PAGE]
    if page < 0:
        return False
    dirty = pool.slots[slot, FLAGS] & DIRTY
    pool.head[EVICTIONS] += 1
    if dirty:
        pool.head[DIRTY_EVICTIONS] += 1
        cache_write(state, page, now)
    remove(pool, slot)
    return dirty != 0


@compiled
def finish_read(state: State, page: int, fill_cache: bool) -> None:
    """A page has come from disk into its pool slot (and, with buffered I/O, into the page cache)."""
    slot = state.pool.where[page]
    state.pool.slots[slot, FLAGS] &= ~BUSY
    if fill_cache:
        cache_fill(state, page)


@compiled
def finish_fault(state: State, slot: int) -> None:
    """A swapped-out slot has been read back from swap."""
    make_resident(state.pool, slot)
    state.pool.slots[slot, FLAGS] &= ~BUSY
