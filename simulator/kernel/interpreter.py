"""What a client does between two waits: one compiled function that every engine calls.

`advance` runs a client's operations at one instant, until something takes time, and returns what it is:
(wait, a, b). CPU demand is collected on the way and is paid, as one burst, before any other wait. When the
engine has let the time pass it calls `advance` again.
"""

from simulator.form import CODES
from simulator.kernel.caches import (
    ACCESSED,
    BUSY,
    CACHE,
    CLOCK,
    DIRTY,
    FLAGS,
    POLICY,
    POOL,
    RESIDENCE,
    SWAPPED_OUT,
    insert,
    next_victim,
    set_dirty,
)
from simulator.kernel.caches import REFERENCES as CACHE_REFERENCES
from simulator.kernel.compiled import compiled, compiled_inside
from simulator.kernel.memory import cache_is_full_of_dirt, count_hit, empty_slot
from simulator.kernel.registers import compute, draw_ns, next_operation, place_of, sample
from simulator.kernel.state import (
    CLASS,
    CLIENT_DEBT,
    CLIENT_NS,
    COSTS,
    DIRECT_IO,
    FETCHED,
    FIRST_LOCK,
    HIGH,
    LOCK_OWNERS,
    LOCK_TABLES,
    LOCKS_HELD,
    LOG_BYTES,
    MISS_NS,
    PC,
    PENDING_CREATE,
    PENDING_INTERIOR,
    PENDING_PAGE,
    PLACES,
    READ_NS,
    RECENT_COUNTS,
    REFERENCES,
    REGIONS,
    REGISTERS,
    REQUEST_NS,
    ROLLED_BACK,
    SYSTEM_DEBT,
    SYSTEM_NS,
    TABLE_CACHE_HITS,
    TABLE_CREATED,
    TABLE_DISK_READS,
    TABLE_POOL_HITS,
    TABLE_REFERENCES,
    USER_DEBT,
    USER_NS,
    VICTIM,
    WINDOWS,
    WRITE_NS,
    State,
)
from simulator.kernel.streams import uniform_below

# What a client may have to wait for: (wait, a, b)
WAIT_NONE = 0
WAIT_CPU = 1  # a: burst in ns
WAIT_THINK = 2  # a: ns
WAIT_ARRIVAL = 3
WAIT_LOCK = 4  # a: lock number
WAIT_SECTION = 5  # a: section; b: hold ns
WAIT_COMMIT = 6  # a: bytes; b: 1 if the locks are kept
WAIT_RELEASE = 7  # rollback: release locks
WAIT_END = 8  # a: class; b: 1 if rolled back
WAIT_READ = 9  # a: page, to be read from disk into its slot
WAIT_PAGE = 10  # a: page that somebody else is bringing in
WAIT_FAULT = 11  # a: pool slot whose memory is swapped out
WAIT_THROTTLE = 12  # the page cache is full of dirty pages
WAIT_VICTIM = 13  # a: pool slot of a dirty victim, to be written to disk first (direct I/O)
WAIT_BUFFER = 14  # every buffer is busy
WAIT_NETWORK = 15  # a: ns
WAIT_VISIT = 16  # a: station; b: ns of service

_THINK, _ARRIVE, _CPU, _WORK, _TOUCH = CODES["think"], CODES["arrive"], CODES["cpu"], CODES["work"], CODES["touch"]
_LOCK, _SECTION, _VISIT, _NETWORK = CODES["lock"], CODES["section"], CODES["visit"], CODES["network"]
_LOG, _COMMIT, _ROLLBACK = CODES["log"], CODES["commit"], CODES["rollback"]
_VISIT_ONE, _GATE, _SLEEP_UNTIL, _FLUSH = CODES["visit_one"], CODES["gate"], CODES["sleep_until"], CODES["flush"]
_POPULAR, _ROW, _APPEND, _RECENT = 0, 1, 2, 3
_NOTHING = -2


@compiled_inside
def pay(state: State, client: int) -> tuple[int, int, int]:
    """Hand the collected CPU demand to the engine as one burst."""
    row = state.client[client]
    user, system, own = row[USER_DEBT], row[SYSTEM_DEBT], row[CLIENT_DEBT]
    row[USER_DEBT] = row[SYSTEM_DEBT] = row[CLIENT_DEBT] = 0
    state.usage[USER_NS] += user
    state.usage[SYSTEM_NS] += system
    state.usage[CLIENT_NS] += own
    return WAIT_CPU, user + system + own, 0


@compiled_inside
def owes_cpu(state: State, client: int) -> bool:
    """Whether CPU demand has been collected and not paid."""
    row = state.client[client]
    return row[USER_DEBT] + row[SYSTEM_DEBT] + row[CLIENT_DEBT] > 0


@compiled_inside
def find_page(state: State, client: int, reference: int) -> int:
    """The page that a reference means now, or _NOTHING for an empty window; notes in the client if it is created."""
    tables, registers = state.tables, state.client[client, REGISTERS:]
    kind, region_number, group_register, row_register, table, window, purpose, high = tables[
        tables[0, REFERENCES] + reference
    ]
    region = tables[tables[0, REGIONS] + region_number]
    first = region[0] + registers[group_register] * region[2]
    if kind in (_POPULAR, _RECENT):
        owner = registers[row_register]
        ring = tables[tables[0, WINDOWS] + max(window, 0)]
        seen = tables[PLACES, RECENT_COUNTS] + ring[3] + owner
        start = ring[0] + owner * ring[1]
        if kind == _RECENT:
            filled: int = min(state.counters[seen], ring[1])
            if filled == 0:
                return _NOTHING
            chosen = uniform_below(state.streams[client], purpose, filled)
            return int(state.numbers[start + chosen])
        page = first + sample(state, client, table, purpose)
        if window >= 0:
            state.numbers[start + state.counters[seen] % ring[1]] = page
            state.counters[seen] += 1
        return page
    offset = registers[row_register] // region[3]
    if kind == _APPEND:
        reached = tables[PLACES, HIGH] + high + registers[group_register]
        if offset > state.counters[reached]:
            state.counters[reached] = offset
            state.client[client, PENDING_CREATE] = 1
    return first + offset % region[2]


@compiled
def refer(state: State, client: int, page: int, region: int, write: bool, now: int) -> tuple[int, int, int]:
    """Refer to a page: (WAIT_NONE, ..) when done, else what has to pass first; then call again."""
    tiers, row, counts = state.tiers, state.client[client], state.table_counts[region]
    slot = tiers.where[POOL, page]
    if slot < 0:
        wait = bring_in(state, client, page, region, now)
        if wait[0] != WAIT_NONE:
            return wait
        slot = tiers.where[POOL, page]
        tiers.head[POOL, CACHE_REFERENCES] += 1
        counts[TABLE_REFERENCES] += 1
    elif row[FETCHED] and not tiers.slots[slot, FLAGS] & BUSY:
        row[FETCHED] = 0
        tiers.head[POOL, CACHE_REFERENCES] += 1
        counts[TABLE_REFERENCES] += 1
    else:
        if tiers.slots[slot, FLAGS] & BUSY or tiers.slots[slot, RESIDENCE] == SWAPPED_OUT:
            if owes_cpu(state, client):
                return pay(state, client)
            if tiers.slots[slot, FLAGS] & BUSY:
                return WAIT_PAGE, page, 0
            tiers.slots[slot, FLAGS] |= BUSY
            return WAIT_FAULT, slot, 0
        row[VICTIM] = -1
        count_hit(tiers, POOL, slot)
        counts[TABLE_REFERENCES] += 1
        counts[TABLE_POOL_HITS] += 1
    if write:
        set_dirty(tiers, POOL, slot, now)
    return WAIT_NONE, 0, 0


@compiled_inside
def choose_slot(state: State, client: int) -> int:
    """The pool slot to use next: the one that this client has waited for, if any, else replacement's choice or -1."""
    row = state.client[client]
    slot = row[VICTIM]
    row[VICTIM] = -1
    if slot >= 0 and not state.tiers.slots[slot, FLAGS] & BUSY:
        return slot
    return next_victim(state.tiers, POOL)


@compiled_inside
def bring_in(state: State, client: int, page: int, region: int, now: int) -> tuple[int, int, int]:
    """Bring a page into the pool. (WAIT_READ, page, 0) leaves it in a busy slot that the engine fills."""
    tiers, row, costs, counts = (
        state.tiers,
        state.client[client],
        state.tables[COSTS],
        state.table_counts[region],
    )
    create = row[PENDING_CREATE] and page == row[PENDING_PAGE]
    from_disk = not create and (costs[DIRECT_IO] or tiers.where[CACHE, page] < 0)
    throttled = not costs[DIRECT_IO] and cache_is_full_of_dirt(state)
    if (from_disk or throttled) and owes_cpu(state, client):
        return pay(state, client)
    if throttled:
        return WAIT_THROTTLE, 0, 0
    slot = choose_slot(state, client)
    if slot < 0:
        return (WAIT_BUFFER, 0, 0) if not owes_cpu(state, client) else pay(state, client)
    swapped_out = tiers.slots[slot, RESIDENCE] == SWAPPED_OUT
    if swapped_out or (costs[DIRECT_IO] and tiers.slots[slot, FLAGS] & DIRTY):
        if tiers.head[POOL, POLICY] == CLOCK:  # the hand has moved on; LRU finds its victim again
            row[VICTIM] = slot
        if owes_cpu(state, client):
            return pay(state, client)
        tiers.slots[slot, FLAGS] |= BUSY
        return WAIT_FAULT if swapped_out else WAIT_VICTIM, slot, 0
    if empty_slot(state, slot, now):
        row[SYSTEM_DEBT] += costs[WRITE_NS]
        # the page cache may have made room for the victim by dropping the very page that is wanted
        from_disk = from_disk or (not create and tiers.where[CACHE, page] < 0)
    row[USER_DEBT] += costs[MISS_NS]
    insert(tiers, POOL, slot, page)
    tiers.slots[slot, RESIDENCE] = ACCESSED
    if create:
        row[PENDING_CREATE] = 0
        counts[TABLE_CREATED] += 1
        return WAIT_NONE, 0, 0
    row[SYSTEM_DEBT] += costs[READ_NS]
    if from_disk:
        row[SYSTEM_DEBT] += costs[REQUEST_NS]
        tiers.slots[slot, FLAGS] |= BUSY
        row[FETCHED] = 1
        counts[TABLE_DISK_READS] += 1
        return WAIT_READ, page, 0
    counts[TABLE_CACHE_HITS] += 1
    count_hit(tiers, CACHE, tiers.where[CACHE, page])
    return WAIT_NONE, 0, 0


@compiled_inside
def touch_reference(state: State, client: int, reference: int, write: bool, now: int) -> tuple[int, int, int]:
    """The `touch` operation: first the index page above (read), then the page itself."""
    row, tables = state.client[client], state.tables
    region = tables[tables[0, REFERENCES] + reference, 1]
    if row[PENDING_PAGE] == -1:
        page = find_page(state, client, reference)
        if page == _NOTHING:
            return WAIT_NONE, 0, 0
        row[PENDING_PAGE] = page
        own = tables[tables[0, REGIONS] + region]
        if own[4] >= 0:
            row[PENDING_INTERIOR] = tables[tables[0, REGIONS] + own[4], 0] + (page - own[0]) // own[5]
    if row[PENDING_INTERIOR] >= 0:
        above = tables[tables[0, REGIONS] + region, 4]
        wait = refer(state, client, row[PENDING_INTERIOR], above, False, now)
        if wait[0] != WAIT_NONE:
            return wait
        row[PENDING_INTERIOR] = -1
    wait = refer(state, client, row[PENDING_PAGE], region, write, now)
    if wait[0] == WAIT_NONE:
        row[PENDING_PAGE] = -1
        row[PENDING_CREATE] = 0
    return wait


@compiled_inside
def lock_row(state: State, client: int, lock: int) -> tuple[int, int, int]:
    """Take a row lock if it is free; a client that holds it already has it."""
    owner = state.numbers[state.tables[PLACES, LOCK_OWNERS] + lock]
    if owner == client:
        return WAIT_NONE, 0, 0
    if owes_cpu(state, client):
        return pay(state, client)
    if owner >= 0:
        return WAIT_LOCK, lock, 0
    own_lock(state, client, lock)
    return WAIT_NONE, 0, 0


@compiled
def own_lock(state: State, client: int, lock: int) -> None:
    """Note that a client holds a lock."""
    row = state.client[client]
    state.numbers[state.tables[PLACES, LOCK_OWNERS] + lock] = client
    row[FIRST_LOCK + row[LOCKS_HELD]] = lock
    row[LOCKS_HELD] += 1


@compiled
def advance(state: State, client: int, now: int) -> tuple[int, int, int]:
    """Run a client to its next wait; see the module's text."""
    row = state.client[client]
    while True:
        pc = row[PC]
        op, a, b, c, d, e = state.operations[pc]
        if op == _TOUCH:
            starts = row[PENDING_PAGE] == -1
            if starts:
                row[USER_DEBT] += c
            wait = touch_reference(state, client, a, b != 0, now)
            if wait[0] != WAIT_NONE:
                return wait
            row[PC] = pc + 1
        elif compute(state, client, op, a, b, c, d, e):
            row[PC] = pc + 1
        elif op == _CPU:
            row[USER_DEBT] += a
            row[SYSTEM_DEBT] += b
            row[CLIENT_DEBT] += c
            row[PC] = pc + 1
        elif op == _WORK:
            row[USER_DEBT] += draw_ns(state, client, a, b)
            row[PC] = pc + 1
        elif op == _LOG:
            row[LOG_BYTES] += a
            row[PC] = pc + 1
        elif op == _LOCK:
            wait = lock_row(
                state,
                client,
                state.tables[state.tables[0, LOCK_TABLES] + a, 0] + state.client[client, REGISTERS + b],
            )
            if wait[0] != WAIT_NONE:
                return wait
            row[PC] = pc + 1
        else:
            target = next_operation(state, client, pc, op, a, b, c, d, e, now)
            if target < 0:
                return _leave(state, client, pc, op, a, b, c, d, e, now)
            row[PC] = target


@compiled_inside
def _until_open(state: State, client: int, gate: int, distribution: int, purpose: int, now: int) -> int:
    """A client passes a gate, whose columns begin at `gate`: how long it has to wait there."""
    counters = state.counters
    counters[gate] -= 1
    if counters[gate] <= 0:
        counters[gate] = counters[gate + 2]
        counters[gate + 1] = max(now, counters[gate + 1]) + draw_ns(state, client, distribution, purpose)
    return max(counters[gate + 1] - now, 0)


@compiled_inside
def _leave(  # noqa: PLR0913, PLR0917 - operands come as scalars from the loop
    state: State, client: int, pc: int, op: int, a: int, b: int, c: int, d: int, e: int, now: int
) -> tuple[int, int, int]:
    """The operations at which a client stops for good: pay first, then hand the operation to the engine."""
    row = state.client[client]
    if owes_cpu(state, client):
        return pay(state, client)
    row[PC] = pc + 1
    if op == _THINK:
        return WAIT_THINK, draw_ns(state, client, a, b), 0
    if op == _ARRIVE:
        return WAIT_ARRIVAL, 0, 0
    if op == _SECTION:
        return WAIT_SECTION, a, b
    if op == _VISIT:
        return WAIT_VISIT, a, draw_ns(state, client, b, c)
    if op == _VISIT_ONE:
        return WAIT_VISIT, a + row[REGISTERS + b], draw_ns(state, client, c, d)
    if op == _GATE:
        return WAIT_VISIT, a, _until_open(state, client, place_of(state, b, 3 * row[REGISTERS + c]), d, e, now)
    if op == _NETWORK:
        return WAIT_NETWORK, a, 0
    if op == _SLEEP_UNTIL:
        return WAIT_NETWORK, max(state.counters[place_of(state, a, row[REGISTERS + b])] - now, 0), 0
    if op in (_COMMIT, _FLUSH):
        size = row[LOG_BYTES]
        row[LOG_BYTES] = 0
        return WAIT_COMMIT, size, int(op == _FLUSH)
    if op == _ROLLBACK:
        row[LOG_BYTES] = 0
        row[ROLLED_BACK] = 1
        return WAIT_RELEASE, 0, 0
    rolled_back = row[ROLLED_BACK]
    row[ROLLED_BACK] = 0
    row[PC] = 0
    return WAIT_END, row[CLASS], rolled_back
