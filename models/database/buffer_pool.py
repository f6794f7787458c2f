"""Buffer pool: page frames and how they are replaced."""

from typing import Literal

from pydantic import Field

from models.input import Kib, Spec, WholeNumber
from simulator.form import NS_PER_US, Pool


class BufferPoolSpec(Spec):
    """Page frames of the database and how they are replaced."""

    buffers: WholeNumber = Field(ge=100, le=10_000_000_000, description="page frames")
    memory_per_buffer_kib: Kib = Field(gt=0, description="page plus its descriptors")
    replacement: Literal["lru", "clock"] = "lru"


def buffer_pool_of(
    pool: BufferPoolSpec,
    resident_buffers: int,
    clean_search_pages: int,
    free_wait_us: float = 0.0,
    free_pages: int = 0,
) -> Pool:
    """The pool; buffers beyond `resident_buffers` are swapped out, clean victims are looked for among so many pages.

    `free_pages` of its buffers hold nothing, but half of them at most.
    """
    pages = max(pool.buffers - free_pages, -(-pool.buffers // 2))
    return Pool(
        pages, pool.replacement, min(resident_buffers, pages), clean_search_pages, round(free_wait_us * NS_PER_US)
    )
