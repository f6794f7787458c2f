"""The state at time 0 as a record: what caches, windows and counters hold before a lead-in."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from oltpsim.simulator.form.arrays import IntArray


class PoolSlot(NamedTuple):
    """Slot of the buffer pool; `usage`: uses that CLOCK counts; `dirty` and `resident`: 0 or 1."""

    page: int
    usage: int
    dirty: int
    resident: int


POOL_COLUMNS = PoolSlot._fields


@dataclass(frozen=True)
class StartState:
    """Caches and windows at time 0.

    `pool`: a row for each slot in order, columns POOL_COLUMNS; LRU replaces the first one first, and CLOCK's hand is
    there. `page_cache`: its pages, the one that is replaced first at the front. `windows`: the pages that each ring
    remembers, oldest first, or -1; `seen`: how many each owner's ring has taken in. `counters`, `high`: as a program's
    `counters` and `initial_high`.
    """

    pool: Annotated[IntArray, PoolSlot]
    page_cache: IntArray
    windows: IntArray
    seen: IntArray
    counters: IntArray
    high: IntArray
