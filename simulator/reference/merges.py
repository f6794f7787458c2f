"""Merges: pages whose changes were put aside are read and changed in the background, many at once."""

from simulator.form import RegionRow, System
from simulator.reference.buffer_io import BufferIo
from simulator.reference.cache import MemoryState
from simulator.reference.streams import streams_of

MILLI = 1000
LOOKS = 10
"""at pages for each that is due, at most"""


class Merges:
    """Which pages daemons merge, and their reads. `put_aside`: changes that wait, by region."""

    def __init__(self, system: System, seed: int, put_aside: list[int], buffer_io: BufferIo) -> None:
        self.regions = [RegionRow(*row) for row in system.program.regions.tolist()]
        self.put_aside, self.buffer_io, self.pool = put_aside, buffer_io, buffer_io.pool
        [self.stream] = streams_of(seed, "merges", 1)
        costs = system.costs
        self.page_cpu_ns = costs.read_ns + costs.request_ns + costs.miss_ns
        """of a page that is read"""

    def draw(self, due: int) -> list[int]:
        """So many pages of those that aren't in the pool: a change that waits, and any page of its region.

        The page has its share of the region's changes, one or more, which wait no longer.
        """
        found: list[int] = []
        for _ in range(LOOKS * due):
            waiting = sum(self.put_aside)
            if len(found) == due or not waiting:
                break
            number, drawn = 0, self.stream.below(waiting)
            while drawn >= self.put_aside[number]:
                drawn -= self.put_aside[number]
                number += 1
            region = self.regions[number]
            pages = region.end_page - region.base
            page = region.base + self.stream.below(pages)
            self.put_aside[number] -= max(self.put_aside[number] // pages, 1)
            if page not in self.pool.cache.where:
                found.append(page)
        return found

    def read(self, page: int) -> bool:
        """Have a page read, unless somebody else has brought it in; False if there is no clean buffer for it now."""
        cache = self.pool.cache
        if page in cache.where:
            return True
        frame = cache.next_frame()
        if frame is None or frame.memory == MemoryState.SWAPPED_OUT or cache.is_dirty(frame):
            return False
        self.pool.empty(frame)
        cache.insert(frame, page)
        frame.memory, frame.busy = MemoryState.ACCESSED, True
        self.buffer_io.read_to_merge(frame)
        return True
