"""The state at time 0: cold, as a bulk load leaves it, or warm. No simulated time passes here."""

import numpy as np
import numpy.typing as npt

from simulator.errors import InternalError
from simulator.form import Model
from simulator.kernel import interpreter as wait_kinds
from simulator.kernel.caches import (
    CACHE,
    DIRTY_COUNT,
    DIRTY_EVICTIONS,
    DIRTY_FIRST,
    EVICTIONS,
    FLAGS,
    HITS,
    PAGE,
    POOL,
    REFERENCES,
    SWAP_INS,
    SWAP_OUTS,
    WRITES,
    WRITES_IN_FLIGHT,
    clear_dirty,
    insert,
    least_recent_dirty,
    next_victim,
    set_dirty,
)
from simulator.kernel.compiled import compiled, compiled_inside
from simulator.kernel.interpreter import advance, own_lock
from simulator.kernel.memory import (
    cache_write,
    empty_slot,
    finish_fault,
    finish_read,
    finish_write_back,
    start_write_back,
)
from simulator.kernel.state import (
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
from simulator.kernel.terminals import COUNT, TerminalState, new_terminals, seat_anybody

WARM_TURNOVERS = 3
WARM_REFERENCES_PER_PAGE = 30
"""`warm` runs until the buffer pool has taken in so many times its own size, or every page was due so many times."""


def prepare(state: State, model: Model, seed: int) -> None:
    """Bring caches to the state that the model's interval starts from. Raises InternalError for an unknown one."""
    start = model.interval.start
    if start not in ("cold", "after_load", "warm"):
        raise InternalError(f"unknown start {start!r}")
    if start == "cold":
        return
    load_everything(state)
    if start == "warm":
        most = WARM_TURNOVERS * model.pool.pages, WARM_REFERENCES_PER_PAGE * model.program.pages
        run_without_time(state, new_terminals(model, seed), *most)
    pages = np.zeros(model.pool.pages, dtype=np.int32)
    write_pool(state, model.pool.writer_low_pages if start == "warm" else 0, pages)
    write_cache(state)
    forget_counts(state)


@compiled
def load_everything(state: State) -> None:
    """Write every loaded page once, in load order, through the pool and the page cache."""
    tables, tiers = state.tables, state.tiers
    buffered = tables[COSTS, DIRECT_IO] == 0
    for load in range(tables[PLACES, LOADS]):
        region, group, first, count = tables[tables[0, LOAD_ORDER] + load, :4]
        own = tables[tables[0, REGIONS] + region]
        base = own[0] + group * own[2] + first
        for page in range(base, base + count):
            if tiers.where[POOL, page] < 0:
                slot = next_victim(tiers, POOL)
                empty_slot(state, slot, 0)
                insert(tiers, POOL, slot, page)
                if buffered:  # by direct I/O it is on disk, and nowhere else
                    set_dirty(tiers, POOL, slot, 0)
            state.outbox[0] = 0


@compiled
def run_without_time(state: State, terminals: TerminalState, most_misses: int, most_references: int) -> None:
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
                    write_cache(state)
                elif wait in (wait_kinds.WAIT_COMMIT, wait_kinds.WAIT_RELEASE):
                    _release(state, client)
                elif wait == wait_kinds.WAIT_LOCK:
                    own_lock(state, client, a)
                elif wait == wait_kinds.WAIT_ARRIVAL and terminals.facts[COUNT]:
                    seat_anybody(terminals, state, client)
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
def write_pool(state: State, left_dirty: int, pages: npt.NDArray[np.int32]) -> None:
    """Write dirty buffers, those first that are replaced first, until so many are left. `pages`: room for them all."""
    tiers = state.tiers
    count = least_recent_dirty(tiers, POOL, max(tiers.head[POOL, DIRTY_COUNT] - left_dirty, 0), pages)
    for i in range(count):
        clear_dirty(tiers, POOL, tiers.where[POOL, pages[i]])
        if state.tables[COSTS, DIRECT_IO] == 0:
            cache_write(state, pages[i], 0)
            state.outbox[0] = 0


@compiled
def write_cache(state: State) -> None:
    """Write back every dirty page of the page cache."""
    tiers = state.tiers
    while tiers.head[CACHE, DIRTY_FIRST] >= 0:
        page = tiers.slots[tiers.head[CACHE, DIRTY_FIRST], PAGE]
        start_write_back(state, page)
        finish_write_back(state, page)


def forget_counts(state: State) -> None:
    """All counters at zero: what happened before the run is not the run's."""
    for tier in (POOL, CACHE):
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
