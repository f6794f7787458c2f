"""Memory as the equations take it: the buffer pool and the page cache below it. Memory alone decides these numbers."""

from dataclasses import dataclass

import numpy as np

from oltpsim.simulator.analytic.reading.page_writes import DaemonMarks
from oltpsim.simulator.analytic.reading.record_columns import ByGroup, MachineColumn, column
from oltpsim.simulator.form import System


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
    """buffers that have memory"""
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


def pool_numbers(system: System, marks: DaemonMarks) -> PoolNumbers:
    """Numbers of a system's buffer pool in the long run."""
    return PoolNumbers(
        buffers=column(system.pool.pages),
        growing=column(0.0),
        done=column(np.inf),
        left=column(0.0),
        resident=column(system.pool.resident_pages),
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
