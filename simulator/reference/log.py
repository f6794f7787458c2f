"""The transaction log: a group flush for all who wait (durable), or bytes that are left to the operating system."""

import simpy

from simulator.form import System
from simulator.reference.device import WRITE, DeviceStation
from simulator.reference.io_wait import IoWait
from simulator.reference.page_cache import OsPageCache
from simulator.reference.stations import Environment, Story


class CommitLog:
    """The log, a ring of the size that the system says."""

    def __init__(
        self, env: Environment, system: System, device: DeviceStation, io_wait: IoWait, page_cache: OsPageCache
    ) -> None:
        self.env, self.rules, self.storage, self.device, self.io_wait = env, system.log, system.storage, device, io_wait
        self.page_cache = page_cache
        self.position = 0
        self.pending_bytes = self.written_bytes = self.commits = self.flushes = 0
        self.waiting: list[simpy.Event] = []
        self.flushing = False

    def commit(self, size_bytes: int) -> Story:
        """Make `size_bytes` of log durable, or hand them over, by the system's rule. Nothing to log: no wait."""
        if size_bytes == 0:
            return
        self.commits += 1
        self.pending_bytes += size_bytes
        if self.rules.durable:
            done = self.env.event()
            self.waiting.append(done)
            if not self.flushing:
                self.flushing = True
                self.env.process(self._flush())
            yield done

    def _flush(self) -> Story:
        """All who wait when a write begins share it; those who come later share the next.

        The bytes that it takes are fixed when it has the right to write (PostgreSQL: XLogFlush in xlog.c), not before.
        """
        while self.waiting:
            yield self.env.timeout(self.rules.flush_overhead_ns)
            group, self.waiting = self.waiting, []
            self.io_wait.change(1)
            size = self.pending_bytes
            yield self.write()
            for _ in range(1, self.rules.writes_per_group):
                yield self._append(size)
            self.io_wait.change(-1)
            for done in group:
                done.succeed()
        self.flushing = False

    def write(self) -> simpy.Event:
        """Write what is pending, at the end of the log."""
        size, self.pending_bytes = self.pending_bytes, 0
        return self._append(size)

    def _append(self, size: int) -> simpy.Event:
        byte = self.storage.log_start_bytes + self.position % self.storage.log_bytes
        self.position += size
        self.written_bytes += size
        self.flushes += 1
        written = self.device.submit(byte, size, WRITE, "log", synced=self.rules.durable)
        self.page_cache.append_log(size)
        return written
