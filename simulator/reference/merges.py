"""Merges: pages whose changes were put aside are read and changed in the background, many at once."""

from oltpsim.simulator.form import System
from oltpsim.simulator.reference.buffer_io import BufferIo
from oltpsim.simulator.reference.cache import MemoryState
from oltpsim.simulator.reference.streams import streams_of


class Merges:
    """Which pages daemons merge, and their reads."""

    def __init__(self, system: System, seed: int, buffer_io: BufferIo) -> None:
        self.buffer_io, self.pool = buffer_io, buffer_io.pool
        [self.stream] = streams_of(seed, "merges", 1)
        costs = system.costs
        self.page_cpu_ns = costs.read_ns + costs.request_ns + costs.miss_ns
        """of a page that is read"""

    def draw(self, due: int) -> list[int]:
        """So many of the pages that have changes waiting, no two alike.

        One that somebody is bringing in is passed over.
        """
        found: list[int] = []
        waiting = self.pool.waiting
        for left in range(len(waiting.pages), 0, -1):
            if len(found) == due:
                break
            waiting.swap(self.stream.below(left), left - 1)
            page = waiting.pages[left - 1]
            if page not in self.pool.cache.where:
                found.append(page)
        return found

    def read(self, page: int) -> bool:
        """Have a page read, unless nothing waits for it any more; False if there is no clean buffer for it now."""
        cache = self.pool.cache
        if page in cache.where or page not in self.pool.waiting:
            return True
        frame = cache.next_frame()
        if frame is None or frame.memory == MemoryState.SWAPPED_OUT or cache.is_dirty(frame):
            return False
        self.pool.empty(frame)
        cache.insert(frame, page)
        frame.memory, frame.busy = MemoryState.ACCESSED, True
        self.buffer_io.read_to_merge(frame)
        return True
