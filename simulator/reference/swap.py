"""Swap: buffers whose memory the operating system has taken are read back, and others are written out for them."""

from simpy import Event

from simulator.form import Model
from simulator.reference.buffer_io import BufferIo
from simulator.reference.cache import Frame
from simulator.reference.device import READ, WRITE, DeviceStation
from simulator.reference.stations import Story


class SwapArea:
    """The swap area on the first device, a place for each frame of the pool."""

    def __init__(self, model: Model, device: DeviceStation, buffer_io: BufferIo) -> None:
        self.storage, self.pool_pages = model.storage, model.pool.pages
        self.device, self.buffer_io = device, buffer_io
        self.memory, self.io_wait = buffer_io.pool.memory, buffer_io.io_wait
        self.swap_ins = self.outs_written = 0

    def swap_in(self, frame: Frame) -> Story:
        """Read a frame's memory back."""
        self.io_wait.change(1)
        yield self._submit(frame.number, 1, READ, "swap in")
        self.io_wait.change(-1)
        self.swap_ins += 1
        self.buffer_io.pool.finish_swap_in(frame)
        self._swap_out()
        self.buffer_io.announce(frame.page)

    def _swap_out(self) -> None:
        """Write out, a cluster at a time, the frames that lost their memory."""
        cluster = self.storage.swap_cluster_pages
        while self.memory.swap_outs - self.outs_written >= cluster:
            self.outs_written += cluster
            self._submit(self.outs_written % max(self.pool_pages - cluster, 1), cluster, WRITE, "swap out")

    def _submit(self, place: int, pages: int, write: int, purpose: str) -> Event:
        page_bytes = self.storage.page_bytes
        byte = self.storage.swap_start_bytes + place * page_bytes
        return self.device.submit(byte, pages * page_bytes, write, purpose)
