"""Everything that changes while a program runs, as arrays, so that compiled code and engines share it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from simulator.caches import DIRTY_LIMIT, Tier, new_tier
from simulator.streams import seed_streams

if TYPE_CHECKING:
    from simulator.model import Model

Int64Array = npt.NDArray[np.int64]

# Columns of `client`: program counter, class, CPU demand not yet paid, and the page it is about to refer to.
PC, CLASS, USER_DEBT, SYSTEM_DEBT, CLIENT_DEBT, LOG_BYTES = 0, 1, 2, 3, 4, 5
PENDING_PAGE, PENDING_INTERIOR, PENDING_CREATE, FETCHED, LOCKS_HELD, ROLLED_BACK = 6, 7, 8, 9, 10, 11
FIRST_LOCK = 12
MOST_LOCKS = 4
CLIENT_WIDTH = FIRST_LOCK + MOST_LOCKS
# Columns of `table_counts`, one row per region
TABLE_REFERENCES, TABLE_POOL_HITS, TABLE_CACHE_HITS, TABLE_DISK_READS, TABLE_CREATED = range(5)
# Entries of `costs` (ns, but for the flag)
READ_NS, WRITE_NS, MISS_NS, REQUEST_NS, DIRECT_IO = range(5)
# Entries of `usage`: CPU time handed out (ns)
USAGE = ("transaction", "client program", "system calls", "background writer", "write-back", "log")
USER_NS, CLIENT_NS, SYSTEM_NS, WRITER_NS, FLUSH_NS, LOG_NS = range(6)


class Code(NamedTuple):
    """The program's constant tables, in the order in which compiled code reads them."""

    operations: Int64Array
    entries: Int64Array
    alias: Int64Array
    tables: Int64Array
    regions: Int64Array
    references: Int64Array
    windows: Int64Array
    counter_tables: Int64Array
    lock_tables: Int64Array
    load_order: Int64Array
    costs: Int64Array


class State(NamedTuple):
    """See the module's text."""

    code: Code
    streams: npt.NDArray[np.uint64]
    client: Int64Array
    registers: Int64Array
    counters: Int64Array
    high: Int64Array
    """highest page offset that appends have reached, by group of each appended region"""
    recent: npt.NDArray[np.int32]
    """the windows' remembered pages, -1 where empty"""
    recent_next: Int64Array
    lock_owner: npt.NDArray[np.int32]
    pool: Tier
    cache: Tier
    table_counts: Int64Array
    usage: Int64Array
    outbox: Int64Array
    """pages that the page cache had to write at once: count, then pages"""


def new_state(model: Model, seed: int) -> State:
    """The state at time 0 with empty caches."""
    program, clients = model.program, len(model.client_registers)
    windows = program.windows
    remembered = int((windows[:, 1] * windows[:, 2]).sum()) if len(windows) else 0
    pool = model.pool
    cache = new_tier(program.pages, model.page_cache.pages)
    cache.head[DIRTY_LIMIT] = model.page_cache.dirty_limit_pages
    return State(
        code=Code(
            operations=program.operations,
            entries=program.entries,
            alias=program.alias,
            tables=program.tables,
            regions=program.regions,
            references=program.references,
            windows=windows,
            counter_tables=program.counter_tables,
            lock_tables=program.lock_tables,
            load_order=program.load_order,
            costs=np.array([*model.costs, int(model.direct_io)], dtype=np.int64),
        ),
        streams=np.concatenate([seed_streams(seed, purpose, clients) for purpose in program.streams]),
        client=_new_clients(clients),
        registers=model.client_registers.copy(),
        counters=program.counters.copy(),
        high=program.initial_high.copy(),
        recent=np.full(max(remembered, 1), -1, dtype=np.int32),
        recent_next=np.zeros(max(int(windows[:, 2].sum()) if len(windows) else 1, 1), dtype=np.int64),
        lock_owner=np.full(max(int(program.lock_tables[:, 1].sum()), 1), -1, dtype=np.int32),
        pool=new_tier(program.pages, pool.pages, pool.replacement, pool.resident_pages),
        cache=cache,
        table_counts=np.zeros((len(program.regions), 5), dtype=np.int64),
        usage=np.zeros(len(USAGE), dtype=np.int64),
        outbox=np.zeros(1 << 16, dtype=np.int64),
    )


def _new_clients(clients: int) -> Int64Array:
    client = np.zeros((clients, CLIENT_WIDTH), dtype=np.int64)
    client[:, PENDING_PAGE] = client[:, PENDING_INTERIOR] = -1
    return client
