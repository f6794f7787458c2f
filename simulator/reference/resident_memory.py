"""The memory behind the buffer pool: which frames have some, and which the operating system swaps out.

It takes memory by second chance (the clock over page frames, Corbato 1968): a frame that was used since it was last
looked at is let off once.
"""

from simulator.reference.cache import Frame, MemoryState

SCATTER = 2654435761
"""a prime: multiples of it, modulo the number of frames, are all frames in a scattered order"""


class ResidentMemory:
    """Memory for `capacity_pages` of the pool's frames."""

    def __init__(self, frames: list[Frame], capacity_pages: int) -> None:
        self.frames, self.capacity_pages = frames, capacity_pages
        self.resident_pages = self.hand = 0
        self.swap_outs = 0

    def give(self, frame: Frame) -> None:
        """Give a frame memory; if none is left another one loses its own, which must be swapped out.

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
        frame.memory = MemoryState.ACCESSED
        self.resident_pages += 1
