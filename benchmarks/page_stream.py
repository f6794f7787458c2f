"""The pages that TPC-C's transactions refer to, one after the other, without any time passing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from benchmarks.pages import model_of
from simulator.form import Pool
from simulator.kernel import State
from simulator.kernel import interpreter as waits
from simulator.kernel.caches import FLAGS, POOL, clear_dirty
from simulator.kernel.compiled import compiled
from simulator.kernel.interpreter import advance
from simulator.kernel.memory import finish_read
from simulator.kernel.state import FIRST_LOCK, LOCK_OWNERS, LOCKS_HELD, PLACES, new_state

Int32Array = npt.NDArray[np.int32]


def page_stream(warehouses: int, references: int) -> tuple[Int32Array, int]:
    """So many references, and the number of pages that there are. A client per warehouse, a transaction each in turn.

    A buffer pool of one page reports each reference to another page than the last one as a read.
    """
    model = model_of(100_000, warehouses, warehouses, 1.0)
    state = new_state(replace(model, pool=Pool(1, "lru", 1, 1, 1), direct_io=True), seed=1)
    pages = np.empty(references, dtype=np.int32)
    record(state, pages)
    return pages, model.program.pages


@compiled
def record(state: State, pages: Int32Array) -> None:
    """Run all clients in turn and note the pages that are read, until there are enough."""
    clients, found, client = len(state.client), 0, 0
    while found < len(pages):
        wait, a, _ = advance(state, client, 0)
        if wait == waits.WAIT_READ:
            pages[found] = a
            found += 1
            finish_read(state, a, False)
        elif wait == waits.WAIT_VICTIM:
            clear_dirty(state.tiers, POOL, a)
            state.tiers.slots[a, FLAGS] = 0
        elif wait in (waits.WAIT_COMMIT, waits.WAIT_RELEASE):
            row = state.client[client]
            for i in range(row[LOCKS_HELD]):
                state.numbers[state.tables[PLACES, LOCK_OWNERS] + row[FIRST_LOCK + i]] = -1
            row[LOCKS_HELD] = 0
        elif wait == waits.WAIT_END:
            client = (client + 1) % clients
