"""The swap area: traffic of the frames that lost their memory."""

from simpy import Event

from oltpsim.simulator.form import System
from oltpsim.simulator.reference.cache import Frame
from oltpsim.simulator.reference.device import READ, WRITE, DeviceStation
from oltpsim.simulator.reference.io_wait import IoWait
from oltpsim.simulator.reference.memory import Memory
from oltpsim.simulator.reference.stations import Story


class SwapArea:
    """The swap area on the first device, a place for each frame of the pool. What is swapped out is written there."""

    def __init__(self, system: System, device: DeviceStation, memory: Memory, io_wait: IoWait) -> None:
        self.storage, self.pool_bytes = system.storage, system.pool.pages * system.storage.page_bytes
        self.device, self.memory, self.io_wait = device, memory, io_wait
        self.swap_ins = self.written_bytes = 0
        memory.swap_out = self._write_out

    def swap_in(self, frame: Frame) -> Story:
        """Read a frame's memory back."""
        self.io_wait.change(1)
        page_bytes = self.storage.page_bytes
        yield self._submit(frame.number * page_bytes, page_bytes, READ, "swap in")
        self.io_wait.change(-1)
        self.swap_ins += 1
        self.memory.give(frame)

    def _write_out(self) -> None:
        """Write, a request at a time, what has been swapped out."""
        size = self.storage.swap_out_bytes
        while self.memory.swap_outs * self.storage.page_bytes - self.written_bytes >= size:
            self.written_bytes += size
            place = self.written_bytes % max(self.pool_bytes - size, self.storage.page_bytes)
            self._submit(place, size, WRITE, "swap out")

    def _submit(self, place_bytes: int, size_bytes: int, write: int, purpose: str) -> Event:
        return self.device.submit(self.storage.swap_start_bytes + place_bytes, size_bytes, write, purpose)
