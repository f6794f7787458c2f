"""What a page reference meets: the buffer pool, the memory behind it, and the page cache below.

All of it happens at one instant; whatever takes time is handed back to the engine as a wait.
"""

from simulator.kernel.caches import (
    ACCESSED,
    BUSY,
    CACHE,
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
    POOL,
    REFERENCES,
    RESIDENCE,
    RESIDENT,
    RESIDENT_CAPACITY,
    RESIDENT_HAND,
    SWAP_OUTS,
    SWAPPED_OUT,
    USED,
    WRITES,
    WRITES_IN_FLIGHT,
    Tiers,
    clear_dirty,
    insert,
    make_oldest,
    next_victim,
    remove,
    set_dirty,
    touch,
)
from simulator.kernel.compiled import compiled, compiled_inside
from simulator.kernel.state import COSTS, FREE_BEHIND, State

SCATTER = 2654435761
"""a prime: multiples of it, modulo the number of slots, are all slots in a scattered order"""


@compiled_inside
def cache_slot(state: State) -> int:
    """A free slot of the page cache; a dirty victim goes to the outbox, to be written at once."""
    tiers = state.tiers
    slot = next_victim(tiers, CACHE)
    page = tiers.slots[slot, PAGE]
    if page >= 0:
        tiers.head[CACHE, EVICTIONS] += 1
        if tiers.slots[slot, FLAGS] & DIRTY:
            tiers.head[CACHE, DIRTY_EVICTIONS] += 1
            tiers.head[CACHE, WRITES_IN_FLIGHT] += 1
            state.outbox[0] += 1
            state.outbox[state.outbox[0]] = page
        remove(tiers, CACHE, slot)
    return slot


@compiled_inside
def cache_fill(state: State, page: int) -> int:
    """A page read from disk enters the page cache; returns its slot."""
    slot = state.tiers.where[CACHE, page]
    if slot < 0:
        slot = cache_slot(state)
        insert(state.tiers, CACHE, slot, page)
    return slot


@compiled
def cache_write(state: State, page: int, now: int) -> None:
    """A buffered write: the page is in the page cache, recent and dirty."""
    slot = cache_fill(state, page)
    touch(state.tiers, CACHE, slot)
    set_dirty(state.tiers, CACHE, slot, now)
    state.tiers.head[CACHE, WRITES] += 1


@compiled
def cache_is_full_of_dirt(state: State) -> bool:
    """Whether a writer must wait for the disks."""
    head = state.tiers.head[CACHE]
    return head[DIRTY_COUNT] + head[WRITES_IN_FLIGHT] >= head[DIRTY_LIMIT]


@compiled
def start_write_back(state: State, page: int) -> None:
    """A dirty page of the page cache is handed to the disks."""
    slot = state.tiers.where[CACHE, page]
    clear_dirty(state.tiers, CACHE, slot)
    state.tiers.slots[slot, FLAGS] |= IN_FLIGHT
    state.tiers.head[CACHE, WRITES_IN_FLIGHT] += 1


@compiled
def finish_write_back(state: State, page: int) -> None:
    """The disks have the page. It keeps its place in the page cache, or is the next to go (free-behind)."""
    slot = state.tiers.where[CACHE, page]
    if slot >= 0:
        state.tiers.slots[slot, FLAGS] &= ~IN_FLIGHT
        if state.tables[COSTS, FREE_BEHIND] and not state.tiers.slots[slot, FLAGS] & DIRTY:
            make_oldest(state.tiers, CACHE, slot)
    state.tiers.head[CACHE, WRITES_IN_FLIGHT] -= 1


@compiled_inside
def make_resident(tiers: Tiers, slot: int) -> None:
    """Give a slot memory; if none is left another slot loses its own (second chance) and must be swapped out.

    The operating system comes by in an order of its own, which has nothing to do with that of the pool's hand.
    Slots that are being read or written keep their memory: with all of them busy one more has some for a while.
    """
    head = tiers.head[POOL]
    for _ in range(2 * head[USED]):
        if head[RESIDENT] < head[RESIDENT_CAPACITY]:
            break
        hand = head[RESIDENT_HAND] + 1 if head[RESIDENT_HAND] + 1 < head[USED] else 0
        head[RESIDENT_HAND] = hand
        other = hand * SCATTER % head[USED]
        if tiers.slots[other, FLAGS] & BUSY:
            continue
        if tiers.slots[other, RESIDENCE] == IDLE:
            tiers.slots[other, RESIDENCE] = SWAPPED_OUT
            head[SWAP_OUTS] += 1
            head[RESIDENT] -= 1
        elif tiers.slots[other, RESIDENCE] == ACCESSED:
            tiers.slots[other, RESIDENCE] = IDLE
    tiers.slots[slot, RESIDENCE] = ACCESSED
    head[RESIDENT] += 1


@compiled_inside
def count_hit(tiers: Tiers, tier: int, slot: int) -> None:
    """Count and order a reference to a page that is in the pool and in memory."""
    tiers.head[tier, REFERENCES] += 1
    tiers.head[tier, HITS] += 1
    touch(tiers, tier, slot)
    tiers.slots[slot, RESIDENCE] = ACCESSED


@compiled_inside
def empty_slot(state: State, slot: int, now: int) -> bool:
    """Empty a pool slot for another page; returns whether its page had to be written to the page cache."""
    tiers = state.tiers
    if tiers.slots[slot, RESIDENCE] < 0:
        make_resident(tiers, slot)
    page = tiers.slots[slot, PAGE]
    if page < 0:
        return False
    dirty = tiers.slots[slot, FLAGS] & DIRTY
    tiers.head[POOL, EVICTIONS] += 1
    if dirty:
        tiers.head[POOL, DIRTY_EVICTIONS] += 1
        cache_write(state, page, now)
    remove(tiers, POOL, slot)
    return dirty != 0


@compiled
def finish_read(state: State, page: int, fill_cache: bool) -> None:
    """A page has come from disk into its pool slot (and, with buffered I/O, into the page cache)."""
    slot = state.tiers.where[POOL, page]
    state.tiers.slots[slot, FLAGS] &= ~BUSY
    if fill_cache:
        cache_fill(state, page)


@compiled
def finish_fault(state: State, slot: int) -> None:
    """A swapped-out slot has been read back from swap."""
    make_resident(state.tiers, slot)
    state.tiers.slots[slot, FLAGS] &= ~BUSY
