"""The buffer pool's input and output: pages that are read, victims that are written, and who waits for them."""

import simpy

from oltpsim.simulator.form import Interrupts
from oltpsim.simulator.reference.buffer_pool import BufferPool
from oltpsim.simulator.reference.cache import Frame
from oltpsim.simulator.reference.device import READ, WRITE
from oltpsim.simulator.reference.io_wait import IoWait
from oltpsim.simulator.reference.stations import Environment, Servers, Story
from oltpsim.simulator.reference.storage import DataFiles
from oltpsim.simulator.results import Gauge


class BufferIo:
    """Reads and writes of frames. A read ends with its interrupt where processors are set aside for these."""

    def __init__(
        self,
        env: Environment,
        pool: BufferPool,
        files: DataFiles,
        io_wait: IoWait,
        interrupts: Interrupts | None,
        stations: list[Servers],
    ) -> None:
        self.env, self.pool, self.files, self.io_wait = env, pool, files, io_wait
        self.interrupts, self.stations = interrupts, stations
        self.reads_pending = Gauge()
        self.page_arrivals: dict[int, simpy.Event] = {}
        self.any_arrival: simpy.Event | None = None

    def read(self, frame: Frame) -> Story:
        """Read a page from its device into the frame that is kept for it."""
        self.reads_pending.change(self.env.now, 1)
        self.io_wait.change(1)
        yield from self.files.call(frame.page, READ, "data read")
        if self.interrupts and self.interrupts.station >= 0:
            yield from self.stations[self.interrupts.station].run(self.interrupts.served_ns)
        self.reads_pending.change(self.env.now, -1)
        self.io_wait.change(-1)
        self.pool.finish_read(frame)
        self.announce(frame.page)

    def read_to_merge(self, frame: Frame) -> None:
        """Read a page into the frame that is kept for it, for nobody: what waits is merged when it is here."""
        page = frame.page
        done = self.files.submit(range(page, page + 1), READ, "merge read")
        done.callbacks.append(lambda _: self._end_merge(frame))

    def _end_merge(self, frame: Frame) -> None:
        self.pool.finish_merge(frame)
        self.announce(frame.page)

    def write_victim(self, frame: Frame) -> Story:
        """Write a dirty victim, so that its frame can be used. By buffered I/O it stays in the page cache."""
        self.pool.cache.clear_dirty(frame)
        self.io_wait.change(1)
        if self.files.has_doublewrite:
            yield from self.files.call(frame.page, WRITE, "eviction write", doubled=True)
        yield from self.files.call(frame.page, WRITE, "eviction write")
        self.io_wait.change(-1)
        self.pool.keep_written(frame.page)
        frame.busy = False
        self.announce(frame.page)

    def announce(self, page: int) -> None:
        """Wake whoever waits for this page, and then whoever waits for any buffer."""
        if page in self.page_arrivals:
            self.page_arrivals.pop(page).succeed()
        if self.any_arrival is not None:
            self.any_arrival.succeed()
            self.any_arrival = None

    def page_arrival(self, page: int) -> simpy.Event:
        """The instant at which a page that is being read or written can be used."""
        if page not in self.page_arrivals:
            self.page_arrivals[page] = self.env.event()
        return self.page_arrivals[page]

    def next_arrival(self) -> simpy.Event:
        """The instant at which any frame that is busy can be used."""
        if self.any_arrival is None:
            self.any_arrival = self.env.event()
        return self.any_arrival
