"""Daemons: tasks beside the clients, each of which takes its steps one after the other for ever."""

import simpy

from simulator.errors import InternalError
from simulator.form import Daemon, DaemonStep, System
from simulator.reference.buffer_pool import BufferPool
from simulator.reference.cpu import Processors
from simulator.reference.log import CommitLog
from simulator.reference.page_writes import PageWriter
from simulator.reference.stations import Environment, Story
from simulator.reference.write_back import WriteBack


class DaemonTimes:
    """Of one daemon: `due_ns`, when `every` was last due, and `began_ns`, when it last ended."""

    due_ns = began_ns = 0


class Daemons:
    """All daemons. `checkpoints_ns`: begin and end of each checkpoint that is done."""

    def __init__(
        self,
        env: Environment,
        system: System,
        pool: BufferPool,
        cpu: Processors,
        log: CommitLog,
        writer: PageWriter,
        write_back: WriteBack,
    ) -> None:
        self.env, self.system, self.pool, self.cpu = env, system, pool, cpu
        self.log, self.writer, self.write_back = log, writer, write_back
        self.checkpoints_ns: list[tuple[int, int]] = []
        self.asleep: list[tuple[int, simpy.Event]] = []

    def begin(self) -> None:
        """Start them, in their order."""
        for daemon in self.system.daemons:
            self.env.process(self.run(daemon))

    def run(self, daemon: Daemon) -> Story:
        """A daemon's life."""
        times = DaemonTimes()
        while True:
            for step in daemon.steps:
                yield from self.take(step, times)

    def take(self, step: DaemonStep, times: DaemonTimes) -> Story:
        """Execute one step."""
        env = self.env
        match step.operation, step.operands:
            case "sleep", (interval_ns,):
                yield env.timeout(interval_ns)
            case "every", (interval_ns,):
                times.due_ns = max(times.due_ns + interval_ns, env.now)
                yield env.timeout(times.due_ns - env.now)
                times.began_ns = env.now
            case "await_dirty", (pages,):
                while self.dirty_pages <= pages:
                    yield self.sleep(pages)
            case "write_dirty", (keep_pages, over_ns):
                most = max(self.dirty_pages - keep_pages, 0)
                yield from self.writer.write(self.pool.cache.least_recent_dirty(most), over_ns)
            case "sync", ():
                yield from self.write_back.sync()
            case "note_checkpoint", ():
                self.checkpoints_ns.append((times.began_ns, env.now))
            case "write_log", ():
                if self.log.pending_bytes and not self.system.log.durable:
                    self.log.write()
            case "write_expired", (age_ns,):
                yield from self._write_expired(age_ns)
            case _:
                raise InternalError(f"unknown step {step}")

    def _write_expired(self, age_ns: int) -> Story:
        now, free_pages = self.env.now, self.write_back.free_pages
        if now >= age_ns and free_pages > 0:
            written = self.write_back.flush(now - age_ns, free_pages)
            if written:
                demand_ns = written * self.system.costs.request_ns
                self.cpu.write_back_ns += demand_ns
                yield from self.cpu.run(demand_ns)

    @property
    def dirty_pages(self) -> int:
        """Dirty pages of the buffer pool."""
        return len(self.pool.cache.dirty_since_ms)

    def sleep(self, pages: int) -> simpy.Event:
        """The next instant at which locks are released and the pool has more dirty pages than so many."""
        woken = self.env.event()
        self.asleep.append((pages, woken))
        return woken

    def look(self) -> None:
        """A transaction has released its locks: wake those who wait for fewer dirty pages than there are."""
        for pages, woken in self.asleep:
            if self.dirty_pages > pages:
                woken.succeed()
        self.asleep = [each for each in self.asleep if self.dirty_pages <= each[0]]
