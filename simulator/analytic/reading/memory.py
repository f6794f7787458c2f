"""Memory as the equations take it: the buffer pool and the page cache below it. Memory alone decides these numbers."""

from dataclasses import dataclass

import numpy as np

from oltpsim.simulator.analytic.reading.page_writes import DaemonMarks
from oltpsim.simulator.analytic.reading.record_columns import ByGroup, MachineColumn, column
from oltpsim.simulator.form import Reclaim, System


@dataclass(frozen=True)
class PoolNumbers:
    """Numbers of the buffer pool."""

    buffers: MachineColumn
    """pages of the pool"""
    growing: MachineColumn
    """1 while the pool fills: nothing dirty leaves it, nothing of it is in the page cache yet"""
    done: MachineColumn
    """transactions since a start that has left other pages than a long run has; infinite in the long run"""
    left: MachineColumn
    """buffers with pages that the start has left"""
    resident: MachineColumn
    """buffers that have memory, at the start if it is shared"""
    shared: MachineColumn
    """pages of memory that pool and page cache share; 0: each has its own"""
    unused_times: MachineColumn
    """time without use in which a buffer loses shared memory, in times that a page is inactive in the page cache"""
    dirty_high: MachineColumn
    """dirty buffers at which the writer begins"""
    dirty_low: MachineColumn
    """dirty buffers at which the writer stops"""
    left_from: ByGroup
    """first place of a group's table among the pages that the start has left, counted from the one left last"""
    left_to: ByGroup
    """last place of a group's table among them"""


@dataclass(frozen=True)
class PageCacheNumbers:
    """Numbers of the operating system's page cache."""

    pages: MachineColumn
    """pages that it holds"""
    background_pages: MachineColumn
    """dirty pages above which write-back doesn't wait for their age"""
    chunk_pages: MachineColumn
    """dirty pages that write-back then takes along at once; 0: a page at a time"""
    dirty_limit_pages: MachineColumn
    """dirty pages with which writers are as fast as the disks, be it by waiting or by pauses"""


LOOKED_AT = 0.4
"""share of batches of reclaim in which buffers are looked at, by the kernel engine (assumption; 0.3 to 0.5 in
laboratory/postgresql with 70 to 95 % of the memory); in the others files alone are"""
SWAPS_COST = 2.0
"""times as much weight of the page cache where swapping makes nearly all of the cost (get_scan_count)"""


def _unused_times(reclaim: Reclaim | None) -> float:
    """Looks at files for each at buffers, of lists of the same length."""
    if reclaim is None or reclaim.swappiness == 0:
        return np.inf
    return SWAPS_COST * (200 - reclaim.swappiness) / reclaim.swappiness / LOOKED_AT


def pool_numbers(system: System, marks: DaemonMarks) -> PoolNumbers:
    """Numbers of a system's buffer pool in the long run."""
    return PoolNumbers(
        buffers=column(system.pool.pages),
        growing=column(0.0),
        done=column(np.inf),
        left=column(0.0),
        resident=column(system.pool.resident_pages),
        shared=column(system.reclaim.pages if system.reclaim else 0),
        unused_times=column(_unused_times(system.reclaim)),
        dirty_high=column(marks.dirty_high_pages),
        dirty_low=column(marks.dirty_low_pages),
        left_from=np.zeros((1, 0)),
        left_to=np.zeros((1, 0)),
    )


def page_cache_numbers(system: System, marks: DaemonMarks) -> PageCacheNumbers:
    """Numbers of a system's page cache."""
    cache = system.page_cache
    return PageCacheNumbers(
        pages=column(cache.pages),
        background_pages=column(marks.background_pages),
        chunk_pages=column(marks.chunk_pages),
        dirty_limit_pages=column(min(cache.dirty_limit_pages, (cache.paced_pages + cache.dirty_limit_pages) / 2)),
    )
