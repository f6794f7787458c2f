"""Memory and swap: which frames of the buffer pool have memory behind them, and the traffic of those that lost theirs.

The operating system takes memory by second chance (the clock over page frames, Corbato 1968): a frame that was used
since it was last looked at is let off once.
"""

from simpy import Event

from oltpsim.simulator.form import System
from oltpsim.simulator.reference.cache import Frame, MemoryState
from oltpsim.simulator.reference.device import READ, WRITE, DeviceStation
from oltpsim.simulator.reference.io_wait import IoWait
from oltpsim.simulator.reference.stations import Story

SCATTER = 2654435761
"""a prime: multiples of it, modulo the number of frames, are all frames in a scattered order"""


class ResidentMemory:
    """Memory for `capacity_pages` of the pool's frames."""

    def __init__(self, frames: list[Frame], capacity_pages: int) -> None:
        self.frames, self.capacity_pages = frames, capacity_pages
        self.resident_pages = self.hand = 0
        self.swap_outs = 0

    def give(self, frame: Frame) -> None:
        """Give a frame memory, so that it can be used; if none is left another one loses its own, to be swapped out.

        The operating system comes by in an order of its own, which has nothing to do with that of the pool's hand.
        Frames that are being read or written keep their memory: with all of them busy one more has some for a while.
        """
        for _ in range(2 * len(self.frames)):
            if self.resident_pages < self.capacity_pages:
                break
            self.hand = (self.hand + 1) % len(self.frames)
            other = self.frames[self.hand * SCATTER % len(self.frames)]
            if other.busy:
                continue
            if other.memory == MemoryState.IDLE:
                other.memory = MemoryState.SWAPPED_OUT
                self.swap_outs += 1
                self.resident_pages -= 1
            elif other.memory == MemoryState.ACCESSED:
                other.memory = MemoryState.IDLE
        frame.memory, frame.busy = MemoryState.ACCESSED, False
        self.resident_pages += 1


class SwapArea:
    """The swap area on the first device, a place for each frame of the pool."""

    def __init__(self, system: System, device: DeviceStation, memory: ResidentMemory, io_wait: IoWait) -> None:
        self.storage, self.pool_pages = system.storage, system.pool.pages
        self.device, self.memory, self.io_wait = device, memory, io_wait
        self.swap_ins = self.outs_written = 0

    def swap_in(self, frame: Frame) -> Story:
        """Read a frame's memory back; then write out, a cluster at a time, the frames that lost theirs."""
        self.io_wait.change(1)
        yield self._submit(frame.number, 1, READ, "swap in")
        self.io_wait.change(-1)
        self.swap_ins += 1
        self.memory.give(frame)
        cluster = self.storage.swap_cluster_pages
        while self.memory.swap_outs - self.outs_written >= cluster:
            self.outs_written += cluster
            self._submit(self.outs_written % max(self.pool_pages - cluster, 1), cluster, WRITE, "swap out")

    def _submit(self, place: int, pages: int, write: int, purpose: str) -> Event:
        page_bytes = self.storage.page_bytes
        byte = self.storage.swap_start_bytes + place * page_bytes
        return self.device.submit(byte, pages * page_bytes, write, purpose)
