"""Everything that changes while a program runs, as a few arrays that compiled code and engines share.

Few and flat on purpose: every call into compiled code hands all of them over, which costs about 0.1 us an array.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simulator.form import IntArray, Model, Program
from simulator.kernel.caches import CACHE, DIRTY_LIMIT, POOL, RESIDENT_CAPACITY, Tiers, new_tiers
from simulator.kernel.streams import seed_streams

# Rows 0 and 1 of `tables` say in which row each of the program's tables starts, and where things are elsewhere.
ENTRIES, SAMPLERS, REGIONS, REFERENCES, WINDOWS, COUNTER_TABLES, LOCK_TABLES, LOAD_ORDER = range(8)
LOADS, HIGH, RECENT_COUNTS, LOCK_OWNERS, DISTRIBUTIONS = range(5)
# Row 2 of `tables`: CPU times in ns; whether I/O bypasses the page cache; whether written pages are the next to go
READ_NS, WRITE_NS, MISS_NS, REQUEST_NS, DIRECT_IO, FREE_BEHIND = range(6)
PLACES, COSTS, FIRST_TABLE = 1, 2, 3
TABLE_WIDTH = 8
# Columns of `client`: program counter, class, CPU demand not yet paid, the page it is about to refer to and the slot
# that it has chosen for it (or -1), its locks
PC, CLASS, USER_DEBT, SYSTEM_DEBT, CLIENT_DEBT, LOG_BYTES = 0, 1, 2, 3, 4, 5
PENDING_PAGE, PENDING_INTERIOR, PENDING_CREATE, FETCHED, LOCKS_HELD, ROLLED_BACK, VICTIM = 6, 7, 8, 9, 10, 11, 12
FIRST_LOCK, MOST_LOCKS = 13, 4
REGISTERS = FIRST_LOCK + MOST_LOCKS
# Columns of `table_counts`, one row per region
TABLE_REFERENCES, TABLE_POOL_HITS, TABLE_CACHE_HITS, TABLE_DISK_READS, TABLE_CREATED = range(5)
# Entries of `usage`: CPU time handed out (ns), as the fields of results.CpuTimeCounters
USER_NS, CLIENT_NS, SYSTEM_NS, WRITER_NS, FLUSH_NS = range(5)
OUTBOX_SIZE = 1 << 16


class State(NamedTuple):
    """See the module's text. `client` has the registers behind its named columns."""

    operations: IntArray
    tables: IntArray
    alias: IntArray
    streams: npt.NDArray[np.uint64]
    """a row for each client, a column for each purpose"""
    client: IntArray
    counters: IntArray
    """the program's counters; then the highest page that appends have reached; then how much each window has seen"""
    numbers: npt.NDArray[np.int32]
    """pages that windows remember; then who owns each lock, -1 for nobody"""
    usage: IntArray
    outbox: IntArray
    """pages that the page cache had to write at once: their count, then the pages"""
    table_counts: IntArray
    tiers: Tiers


def new_state(model: Model, seed: int) -> State:
    """The state at time 0 with empty caches."""
    program, pool, cache = model.program, model.pool, model.page_cache
    tiers = new_tiers(program.pages, (pool.pages, pool.replacement), (cache.pages, "lru"))
    tiers.head[POOL, RESIDENT_CAPACITY] = min(pool.pages, pool.resident_pages)
    tiers.head[CACHE, DIRTY_LIMIT] = cache.dirty_limit_pages
    clients = len(model.client_registers)
    windows = program.windows
    remembered = int((windows[:, 1] * windows[:, 2]).sum())
    tables = _tables(program)
    tables[COSTS, : len(model.costs)] = model.costs
    tables[COSTS, DIRECT_IO] = int(model.direct_io)
    tables[COSTS, FREE_BEHIND] = int(cache.free_behind)
    tables[PLACES, LOCK_OWNERS] = remembered
    return State(
        operations=program.operations,
        tables=tables,
        alias=program.alias,
        streams=np.column_stack([seed_streams(seed, purpose, clients) for purpose in program.streams]),
        client=_clients(model),
        counters=np.concatenate(
            [program.counters, program.initial_high, np.zeros(int(windows[:, 2].sum()), dtype=np.int64)]
        ),
        numbers=np.full(remembered + int(program.lock_tables[:, 1].sum()) + 1, -1, dtype=np.int32),
        usage=np.zeros(FLUSH_NS + 1, dtype=np.int64),
        outbox=np.zeros(OUTBOX_SIZE, dtype=np.int64),
        table_counts=np.zeros((len(program.regions), 5), dtype=np.int64),
        tiers=tiers,
    )


def counter_values(state: State, program: Program, name: str) -> IntArray:
    """The values of one of the program's counter tables now."""
    start, length = program.counter_tables[program.counter_names.index(name)]
    return state.counters[start : start + length]


def register_values(state: State, program: Program, name: str) -> IntArray:
    """The values of one of the program's registers now, by client."""
    return state.client[:, REGISTERS + program.registers.index(name)]


def _tables(program: Program) -> IntArray:
    """The program's constant tables in one array, with the two rows that say where each begins."""
    parts = {
        ENTRIES: program.entries.reshape(-1, 1),
        SAMPLERS: program.tables,
        REGIONS: program.regions,
        REFERENCES: program.references,
        WINDOWS: program.windows,
        COUNTER_TABLES: program.counter_tables,
        LOCK_TABLES: program.lock_tables,
        LOAD_ORDER: program.load_order,
    }
    times = program.distributions
    rows = FIRST_TABLE + len(times) + sum(len(part) for part in parts.values())
    tables = np.zeros((rows, TABLE_WIDTH), dtype=np.int64)
    tables[PLACES, DISTRIBUTIONS] = FIRST_TABLE
    tables[FIRST_TABLE : FIRST_TABLE + len(times), : times.shape[1]] = times
    start = FIRST_TABLE + len(times)
    for place, part in parts.items():
        tables[0, place] = start
        tables[start : start + len(part), : part.shape[1]] = part
        start += len(part)
    tables[PLACES, LOADS] = len(program.load_order)
    tables[PLACES, HIGH] = len(program.counters)
    tables[PLACES, RECENT_COUNTS] = len(program.counters) + len(program.initial_high)
    return tables


def _clients(model: Model) -> IntArray:
    client = np.zeros((len(model.client_registers), REGISTERS + model.client_registers.shape[1]), dtype=np.int64)
    client[:, PENDING_PAGE] = client[:, PENDING_INTERIOR] = client[:, VICTIM] = -1
    client[:, REGISTERS:] = model.client_registers
    return client
