"""The state at time 0: cold, as a bulk load leaves it, or warm. No simulated time passes here."""

from __future__ import annotations

from simulator import interpreter as wait_kinds
from simulator.caches import (
    DIRTY,
    DIRTY_COUNT,
    DIRTY_EVICTIONS,
    EVICTIONS,
    FLAGS,
    HITS,
    REFERENCES,
    SWAP_INS,
    SWAP_OUTS,
    WRITES,
    Tier,
    clear_dirty,
    insert,
    next_victim,
)
from simulator.compiled import compiled
from simulator.errors import InternalError
from simulator.interpreter import advance, own_lock
from simulator.memory import WRITES_IN_FLIGHT, empty_slot, finish_fault, finish_read
from simulator.model import Model
from simulator.state import FIRST_LOCK, LOCKS_HELD, State

WARM_TURNOVERS = 3
"""`warm` runs until the buffer pool has taken in this many times its own size, or needs to no more."""


def prepare(state: State, model: Model) -> None:
    """Bring caches to the state that the model's interval starts from. Raises InternalError for an unknown one."""
    start = model.interval.start
    if start not in ("cold", "after_load", "warm"):
        raise InternalError(f"unknown start {start!r}")
    if start == "cold":
        return
    load_everything(state)
    if start == "warm":
        run_without_time(state, WARM_TURNOVERS * model.pool.pages, 400 * model.program.pages)
    clean_everything(state)


@compiled
def load_everything(state: State) -> None:
    """Write every loaded page once, in load order, through the pool and the page cache."""
    for region, group, first, count in state.code.load_order:
        base = state.code.regions[region, 0] + group * state.code.regions[region, 2] + first
        for page in range(base, base + count):
            if state.pool.where[page] < 0:
                slot = next_victim(state.pool)
                empty_slot(state, slot, 0)
                insert(state.pool, slot, page)
            state.outbox[0] = 0


@compiled
def run_without_time(state: State, most_misses: int, most_references: int) -> None:
    """Run all clients in turn, every wait being over at once, until one of the bounds is reached."""
    head = state.pool.head
    clients = len(state.client)
    while head[REFERENCES] - head[HITS] < most_misses and head[REFERENCES] < most_references:
        for client in range(clients):
            wait, a, _ = advance(state, client, 0)
            while wait != wait_kinds.WAIT_END:
                if wait == wait_kinds.WAIT_READ:
                    finish_read(state, a, not state.code.costs[4])
                elif wait == wait_kinds.WAIT_FAULT:
                    finish_fault(state, a)
                elif wait == wait_kinds.WAIT_VICTIM:
                    clear_dirty(state.pool, a)
                    state.pool.slots[a, FLAGS] = 0
                elif wait == wait_kinds.WAIT_THROTTLE:
                    _clean(state.cache)
                elif wait == wait_kinds.WAIT_COMMIT or wait == wait_kinds.WAIT_RELEASE:
                    _release(state, client)
                elif wait == wait_kinds.WAIT_LOCK:
                    own_lock(state, client, a)
                state.cache.head[WRITES_IN_FLIGHT] = 0
                state.outbox[0] = 0
                wait, a, _ = advance(state, client, 0)


@compiled
def _release(state: State, client: int) -> None:
    row = state.client[client]
    for i in range(row[LOCKS_HELD]):
        state.lock_owner[row[FIRST_LOCK + i]] = -1
    row[LOCKS_HELD] = 0


@compiled
def _clean(tier: Tier) -> None:
    for slot in range(len(tier.slots)):
        if tier.slots[slot, FLAGS] > 0 and tier.slots[slot, FLAGS] & DIRTY:
            clear_dirty(tier, slot)


def clean_everything(state: State) -> None:
    """No dirty page anywhere, and counters at zero: what a checkpoint before the run leaves."""
    for tier in (state.pool, state.cache):
        _clean(tier)
        for counter in (REFERENCES, HITS, EVICTIONS, DIRTY_EVICTIONS, WRITES, SWAP_INS, SWAP_OUTS, WRITES_IN_FLIGHT):
            tier.head[counter] = 0
        if tier.head[DIRTY_COUNT] != 0:
            raise InternalError("a dirty page survived cleaning")
    state.table_counts[:] = 0
    state.usage[:] = 0
