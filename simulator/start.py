"""The state at time 0: cold, as a bulk load leaves it, or warm. No simulated time passes here."""

from __future__ import annotations

from simulator import interpreter as wait_kinds
from simulator.caches import (
    CACHE,
    DIRTY_EVICTIONS,
    DIRTY_FIRST,
    EVICTIONS,
    FLAGS,
    HITS,
    POOL,
    REFERENCES,
    SWAP_INS,
    SWAP_OUTS,
    WRITES,
    WRITES_IN_FLIGHT,
    Tiers,
    clear_dirty,
    insert,
    next_victim,
)
from simulator.compiled import compiled, compiled_inside
from simulator.errors import InternalError
from simulator.interpreter import advance, own_lock
from simulator.memory import empty_slot, finish_fault, finish_read
from simulator.model import Model
from simulator.state import (
    COSTS,
    DIRECT_IO,
    FIRST_LOCK,
    LOAD_ORDER,
    LOADS,
    LOCK_OWNERS,
    LOCKS_HELD,
    PLACES,
    REGIONS,
    State,
)

WARM_TURNOVERS = 3
WARM_REFERENCES_PER_PAGE = 30
"""`warm` runs until the buffer pool has taken in so many times its own size, or every page was due so many times."""


def prepare(state: State, model: Model) -> None:
    """Bring caches to the state that the model's interval starts from. Raises InternalError for an unknown one."""
    start = model.interval.start
    if start not in ("cold", "after_load", "warm"):
        raise InternalError(f"unknown start {start!r}")
    if start == "cold":
        return
    load_everything(state)
    if start == "warm":
        run_without_time(state, WARM_TURNOVERS * model.pool.pages, WARM_REFERENCES_PER_PAGE * model.program.pages)
    clean_everything(state)


@compiled
def load_everything(state: State) -> None:
    """Write every loaded page once, in load order, through the pool and the page cache."""
    tables, tiers = state.tables, state.tiers
    for load in range(tables[PLACES, LOADS]):
        region, group, first, count = tables[tables[0, LOAD_ORDER] + load, :4]
        own = tables[tables[0, REGIONS] + region]
        base = own[0] + group * own[2] + first
        for page in range(base, base + count):
            if tiers.where[POOL, page] < 0:
                slot = next_victim(tiers, POOL)
                empty_slot(state, slot, 0)
                insert(tiers, POOL, slot, page)
            state.outbox[0] = 0


@compiled
def run_without_time(state: State, most_misses: int, most_references: int) -> None:
    """Run all clients in turn, every wait being over at once, until one of the bounds is reached."""
    head = state.tiers.head[POOL]
    clients = len(state.client)
    for _ in range(most_references):  # a bound of rounds too, for programs that refer to no page
        if head[REFERENCES] - head[HITS] >= most_misses or head[REFERENCES] >= most_references:
            return
        for client in range(clients):
            wait, a, _ = advance(state, client, 0)
            while wait != wait_kinds.WAIT_END:
                if wait == wait_kinds.WAIT_READ:
                    finish_read(state, a, state.tables[COSTS, DIRECT_IO] == 0)
                elif wait == wait_kinds.WAIT_FAULT:
                    finish_fault(state, a)
                elif wait == wait_kinds.WAIT_VICTIM:
                    clear_dirty(state.tiers, POOL, a)
                    state.tiers.slots[a, FLAGS] = 0
                elif wait == wait_kinds.WAIT_THROTTLE:
                    _clean(state.tiers, CACHE)
                elif wait in (wait_kinds.WAIT_COMMIT, wait_kinds.WAIT_RELEASE):
                    _release(state, client)
                elif wait == wait_kinds.WAIT_LOCK:
                    own_lock(state, client, a)
                state.tiers.head[CACHE, WRITES_IN_FLIGHT] = 0
                state.outbox[0] = 0
                wait, a, _ = advance(state, client, 0)


@compiled_inside
def _release(state: State, client: int) -> None:
    row = state.client[client]
    for i in range(row[LOCKS_HELD]):
        state.numbers[state.tables[PLACES, LOCK_OWNERS] + row[FIRST_LOCK + i]] = -1
    row[LOCKS_HELD] = 0


@compiled
def _clean(tiers: Tiers, tier: int) -> None:
    while tiers.head[tier, DIRTY_FIRST] >= 0:
        clear_dirty(tiers, tier, tiers.head[tier, DIRTY_FIRST])


def clean_everything(state: State) -> None:
    """No dirty page anywhere, and counters at zero: what a checkpoint before the run leaves."""
    for tier in (POOL, CACHE):
        _clean(state.tiers, tier)
        counters = (
            REFERENCES,
            HITS,
            EVICTIONS,
            DIRTY_EVICTIONS,
            WRITES,
            SWAP_INS,
            SWAP_OUTS,
            WRITES_IN_FLIGHT,
        )
        state.tiers.head[tier, counters] = 0
    state.table_counts[:] = 0
    state.usage[:] = 0
