"""Buffer pool: page frames and how they are replaced."""

from typing import Literal

from pydantic import Field

from oltpsim.models.input import Kib, Milliseconds, Spec, WholeNumber
from oltpsim.simulator.form import NS_PER_US, Pool

OLD_BLOCKS_TIME_MS = 1000.0
"""InnoDB's default"""


class BufferPoolSpec(Spec):
    """Page frames of the database and how they are replaced."""

    buffers: WholeNumber = Field(ge=100, le=10_000_000_000, description="page frames")
    memory_per_buffer_kib: Kib = Field(gt=0, description="page plus its descriptors")
    replacement: Literal["lru", "clock", "midpoint"] = Field(
        default="lru",
        description="lru; clock with usage counts, PostgreSQL's; midpoint, InnoDB's list in an old and a young part",
    )
    old_blocks_time_ms: Milliseconds = Field(
        default=OLD_BLOCKS_TIME_MS,
        ge=0,
        le=3_600_000,
        description="of a midpoint: how long after a page was read a hit first makes it young, innodb_old_blocks_time",
    )


def buffer_pool_of(
    pool: BufferPoolSpec,
    held_buffers: int,
    resident_buffers: int,
    clean_search_pages: int,
    free_wait_us: float = 0.0,
) -> Pool:
    """The pool: `held_buffers` of its buffers hold pages; clean victims are looked for among so many.

    Buffers beyond `resident_buffers` are swapped out, free ones as much as others.
    """
    resident = round(resident_buffers * held_buffers / pool.buffers)
    return Pool(
        pages=held_buffers,
        replacement=pool.replacement,
        resident_pages=resident,
        clean_search_pages=clean_search_pages,
        free_wait_ns=round(free_wait_us * NS_PER_US),
        old_ms=round(pool.old_blocks_time_ms),
    )
