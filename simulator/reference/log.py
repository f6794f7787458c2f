"""The transaction log: a group flush for all who wait (durable), or bytes that are left to the operating system.

A flush of a group is one write after the other: the log itself, and others of the same commits, as a binary log. Where
the last of them goes into a file that grows, it becomes durable by the file system's journal, whose blocks are written
and synced behind it (ext4: data, then descriptor and inode, then the commit block; fs/jbd2/commit.c).

A log that is flushed at once has a flusher that writes whatever has been logged, whether somebody waits for it or not
(InnoDB: log_flusher in log/log0write.cc), and a second one for the further writes of those who have it behind them
(MySQL: the stages of a group commit, sql/binlog.cc).
"""

from dataclasses import dataclass, field

import simpy

from oltpsim.simulator.form import JOURNAL_BYTES, System
from oltpsim.simulator.reference.device import WRITE, DeviceStation
from oltpsim.simulator.reference.io_wait import IoWait
from oltpsim.simulator.reference.page_cache import OsPageCache
from oltpsim.simulator.reference.stations import Environment, Story


@dataclass(eq=False)
class Flusher:
    """Who flushes, and which of a group's writes it does."""

    writes: range
    waiting: list[tuple[simpy.Event, int]] = field(default_factory=list)
    """who waits, and what it logs, bytes"""
    pending_bytes: int = 0
    is_at_work: bool = False


class CommitLog:
    """The log, a ring of the size that the system says."""

    def __init__(
        self, env: Environment, system: System, device: DeviceStation, io_wait: IoWait, page_cache: OsPageCache
    ) -> None:
        self.env, self.rules, self.storage, self.device, self.io_wait = env, system.log, system.storage, device, io_wait
        self.page_cache = page_cache
        self.position = 0
        self.written_bytes = self.commits = self.flushes = 0
        every = self.rules.writes_per_group + self.rules.journal_writes
        first = 1 if self.rules.at_once else every
        self.first, self.second = Flusher(range(first)), Flusher(range(first, every))

    def commit(self, size_bytes: int) -> Story:
        """Make `size_bytes` of log durable, or hand them over, by the system's rule. Nothing to log: no wait."""
        if size_bytes == 0:
            return
        self.commits += 1
        if not self.rules.at_once:
            self.first.pending_bytes += size_bytes
        if self.rules.durable:
            done = self.env.event()
            self.first.waiting.append((done, size_bytes))
            self._start(self.first)
            yield done

    def hand_over(self, size_bytes: int) -> None:
        """Take what is to be flushed at once; nobody waits for it."""
        self.first.pending_bytes += size_bytes
        self._start(self.first)

    def _start(self, flusher: Flusher) -> None:
        if not flusher.is_at_work:
            flusher.is_at_work = True
            self.env.process(self._flush(flusher))

    def _flush(self, flusher: Flusher) -> Story:
        """All who wait when a write begins share it; those who come later share the next.

        The bytes that it takes are fixed when it has the right to write (PostgreSQL: XLogFlush in xlog.c), not before.
        """
        while flusher.waiting or flusher.pending_bytes:
            yield self.env.timeout(self.rules.flush_overhead_ns)
            group, flusher.waiting = flusher.waiting, []
            size, flusher.pending_bytes = flusher.pending_bytes, 0
            self.io_wait.change(1)
            for number in flusher.writes if size else ():
                yield self._append(number, size)
            self.io_wait.change(-1)
            if flusher is self.first and self.second.writes:
                self._pass_on(group)
            else:
                for done, _ in group:
                    done.succeed()
        flusher.is_at_work = False

    def _pass_on(self, group: list[tuple[simpy.Event, int]]) -> None:
        """Who has the first flush behind it goes on to the writes that are left."""
        if group:
            self.second.waiting += group
            self.second.pending_bytes += sum(size for _, size in group)
            self._start(self.second)

    def write_pending(self) -> None:
        """Write what is pending and nobody waits for, at the end of the log."""
        if self.first.pending_bytes:
            size, self.first.pending_bytes = self.first.pending_bytes, 0
            self._append(0, size)

    def _append(self, number: int, group_bytes: int) -> simpy.Event:
        """Write `number` of a group."""
        rules = self.rules
        size = JOURNAL_BYTES if number >= rules.writes_per_group else group_bytes
        synced = rules.durable and (rules.journal_writes == 0 or number != rules.writes_per_group - 1)
        byte = self.storage.log_start_bytes + self.position % self.storage.log_bytes
        self.position += size
        self.written_bytes += size
        self.flushes += 1
        written = self.device.submit(byte, size, WRITE, "log", synced=synced)
        self.page_cache.append_log(size)
        return written
