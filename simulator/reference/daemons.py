"""Daemons: tasks beside the clients, each of which takes its steps one after the other for ever."""

from typing import NamedTuple

import simpy

from oltpsim.simulator.errors import InternalError
from oltpsim.simulator.form import NS_PER_MS, Daemon, DaemonStep, System
from oltpsim.simulator.reference.buffer_pool import BufferPool
from oltpsim.simulator.reference.cache import Cache
from oltpsim.simulator.reference.cpu import Processors
from oltpsim.simulator.reference.log import CommitLog
from oltpsim.simulator.reference.merges import Merges
from oltpsim.simulator.reference.page_writes import PageWriter
from oltpsim.simulator.reference.stations import Environment, Story
from oltpsim.simulator.reference.write_back import WriteBack

MILLI = 1000
LOOK_NS = 100 * NS_PER_MS
"""between two looks at how much has been logged"""
LOOK_AT_POOL_NS = 10 * NS_PER_MS
"""between two looks at how many pages have left the pool"""
ROUNDS_AHEAD = 3
"""rounds of log over which the pages that will be due are averaged"""


class DaemonTimes:
    """Of one daemon: `due_ns`, when `every` was last due, `began_ns`, when it last ended, and its `flushing`.

    `began_evictions`: how many pages had left the pool when `every_or_evicted` last ended. `left_milli_pages`: what was
    due of a merge and is no whole page.

    `place`: where `write_unused` goes on. `began_bytes`: of log when `every_or_logged` last ended. `cycle_ns`: from one
    end of that to the next, and `longest_cycle_ns`, what that is at most; None before the first.
    """

    due_ns = began_ns = place = longest_cycle_ns = began_evictions = left_milli_pages = 0
    began_bytes: int | None = None
    cycle_ns: int | None = None

    def __init__(self) -> None:
        self.flushing = FlushingMeans()

    def over_ns(self, of_longest: int) -> int:
        """Time that writes take which are spread over so much of the longest cycle; whole ms, where it is shorter."""
        if self.cycle_ns is None or self.cycle_ns == self.longest_cycle_ns:
            return of_longest
        of_ms, cycle_ms, longest_ms = (each // NS_PER_MS for each in (of_longest, self.cycle_ns, self.longest_cycle_ns))
        return of_ms * cycle_ms // max(longest_ms, 1) * NS_PER_MS


class FlushingMeans:
    """Of one daemon: means of pages written and bytes logged in a round, sums since these were renewed, pages left."""

    def __init__(self) -> None:
        self.rounds = self.pages = self.from_bytes = self.mean_milli_pages = self.mean_bytes = self.left_milli_pages = 0

    def note(self, pages: int, log_end_bytes: int, rounds: int) -> None:
        """Count a round in which `pages` were written; the means are renewed every `rounds`."""
        self.rounds += 1
        self.pages += pages
        if self.rounds == rounds:
            self.mean_milli_pages = (self.mean_milli_pages + self.pages * MILLI // rounds) // 2
            self.mean_bytes = (self.mean_bytes + (log_end_bytes - self.from_bytes) // rounds) // 2
            self.rounds, self.pages, self.from_bytes = 0, 0, log_end_bytes


class Sleeper(NamedTuple):
    """A daemon that sleeps until a cache has more dirty pages than `pages`."""

    cache: Cache
    pages: int
    woken: simpy.Event

    @property
    def is_due(self) -> bool:
        """Whether the cache has so many now."""
        return len(self.cache.dirty_since_ms) > self.pages


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
        merges: Merges,
    ) -> None:
        self.env, self.system, self.pool, self.cpu = env, system, pool, cpu
        self.log, self.writer, self.write_back, self.merges = log, writer, write_back, merges
        self.checkpoints_ns: list[tuple[int, int]] = []
        self.asleep: list[Sleeper] = []
        self.waiting_commits: list[simpy.Event] = []

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
            case ("await_dirty" | "await_cache_dirty") as name, (pages,):
                yield from self._await_dirty(
                    self.pool.cache if name == "await_dirty" else self.pool.page_cache.cache, pages
                )
            case "write_cache_dirty", (keep_pages,):
                yield from self._write_cache_dirty(keep_pages)
            case "write_dirty", (keep_pages, over_ns):
                most = max(self.dirty_pages - keep_pages, 0)
                yield from self.writer.write(self.pool.cache.least_recent_dirty(most), times.over_ns(over_ns))
            case "sync", ():
                yield from self.write_back.sync()
            case (("every" | "every_or_logged" | "every_or_evicted"), (interval_ns, *amount)):
                yield from self._await_round(step.operation, interval_ns, sum(amount), times)
            case (("begin_checkpoint" | "note_checkpoint"), _):
                self._note_checkpoint(step.operation, times)
            case "write_log", ():
                self._write_log()
            case "merge", (milli_pages,):
                yield from self._merge(milli_pages, times)
            case "write_expired", (age_ns,):
                yield from self._write_expired(age_ns)
            case (("write_tail" | "write_aged" | "write_unused"), operands):
                yield from self._write_in_order(step.operation, operands, times)
            case _:
                raise InternalError(f"unknown step {step}")

    def _await_round(self, operation: str, interval_ns: int, amount: int, times: DaemonTimes) -> Story:
        """Wait until the interval is over, or sooner by what has been logged or evicted."""
        if operation == "every_or_logged":
            yield from self._await_log(interval_ns, amount, times)
        elif operation == "every_or_evicted":
            yield from self._await_evictions(interval_ns, amount, times)
        else:
            times.due_ns = max(times.due_ns + interval_ns, self.env.now)
            yield self.env.timeout(times.due_ns - self.env.now)
            times.began_ns = self.env.now

    def _await_dirty(self, cache: Cache, pages: int) -> Story:
        """Sleep until a cache has more dirty pages than so many."""
        while len(cache.dirty_since_ms) <= pages:
            yield self.sleep(cache, pages)

    def _merge(self, milli_pages: int, times: DaemonTimes) -> Story:
        """Have the pages that are due read; a page that finds no clean buffer is tried again."""
        due, times.left_milli_pages = divmod(times.left_milli_pages + milli_pages, MILLI)
        if pages := self.merges.draw(due):
            demand_ns = len(pages) * self.merges.page_cpu_ns
            self.cpu.background_writer_ns += demand_ns
            yield from self.cpu.run(demand_ns)
        for page in pages:
            while not self.merges.read(page):
                yield self.env.timeout(LOOK_AT_POOL_NS)

    def _note_checkpoint(self, operation: str, times: DaemonTimes) -> None:
        """Let one begin, or note that it has ended."""
        if operation == "begin_checkpoint":
            self.pool.images.begin_checkpoint()
        else:
            self.checkpoints_ns.append((times.began_ns, self.env.now))

    def _await_log(self, interval_ns: int, log_bytes: int, times: DaemonTimes) -> Story:
        """Wait until it is so long since this last ended, or so much has been logged; looks again and again."""
        env, pool = self.env, self.pool
        if times.began_bytes is None:
            times.began_bytes = pool.log_end_bytes
        while (left_ns := times.began_ns + interval_ns - env.now) > 0:
            if pool.log_end_bytes - times.began_bytes >= log_bytes:
                break
            yield env.timeout(min(LOOK_NS, left_ns))
        times.cycle_ns, times.longest_cycle_ns = min(env.now - times.began_ns, interval_ns), interval_ns
        times.began_ns, times.began_bytes = env.now, pool.log_end_bytes

    def _await_evictions(self, interval_ns: int, pages: int, times: DaemonTimes) -> Story:
        """The same of pages that have left the pool."""
        env, cache = self.env, self.pool.cache
        while (left_ns := times.began_ns + interval_ns - env.now) > 0:
            if cache.evictions - times.began_evictions >= pages:
                break
            yield env.timeout(min(LOOK_AT_POOL_NS, left_ns))
        times.began_ns, times.began_evictions = env.now, cache.evictions

    def _write_log(self) -> None:
        if not self.system.log.durable:
            self.log.write_pending()

    def _write_expired(self, age_ns: int) -> Story:
        cache = self.pool.page_cache.cache
        while cache.dirty_before(self.env.now - age_ns, 1):
            free_pages = self.write_back.free_pages
            if free_pages > 0:
                yield from self._pay(self.write_back.flush(self.env.now - age_ns, free_pages))
            else:
                yield self.write_back.written()

    def _write_cache_dirty(self, keep_pages: int) -> Story:
        dirty = self.pool.page_cache.cache.dirty_since_ms
        while len(dirty) > keep_pages:
            most = min(self.write_back.free_pages, len(dirty) - keep_pages)
            if most > 0:
                yield from self._pay(self.write_back.flush(self.env.now, most))
            else:
                yield self.write_back.written()

    def _pay(self, pages: int) -> Story:
        """CPU time of handing pages to the disks."""
        demand_ns = pages * self.system.costs.request_ns
        self.cpu.write_back_ns += demand_ns
        yield from self.cpu.run(demand_ns)

    def _write_in_order(self, operation: str, operands: tuple[int, ...], times: DaemonTimes) -> Story:
        """Write dirty pages in the order of replacement or of age; then commits that wait for log space may have it."""
        cache, first = self.pool.cache, operands[0]
        if operation == "write_unused":
            pages, times.place = cache.dirty_without_use(times.place, first, operands[1])
        elif operation == "write_tail":
            pages = cache.dirty_in_tail(first)
        else:
            pages = self.pool.oldest_dirty(self._pages_due(first, times.flushing))
        yield from self.writer.write(pages, 0)
        self._release_commits()

    def _pages_due(self, age_bytes: int, means: FlushingMeans) -> int:
        """How many of the oldest dirty pages a cleaner writes in this round."""
        rules, pool = self.system.flushing, self.pool
        assert rules is not None
        end, oldest = pool.log_end_bytes, pool.log_end_bytes - pool.age_bytes
        percent = rules.percent(pool.age_bytes, self.dirty_pages, self.system.pool.pages)
        most, shares = 2 * rules.most_milli_pages, ROUNDS_AHEAD * rules.cleaners
        coming = pool.count_older(oldest + ROUNDS_AHEAD * means.mean_bytes, most * shares // MILLI + 1)
        coming_milli = min(coming * MILLI // shares, most)
        asked_milli = rules.milli_pages * percent // 100
        means.left_milli_pages += min(
            (asked_milli + means.mean_milli_pages + coming_milli) // 3, rules.most_milli_pages
        )
        pages, means.left_milli_pages = divmod(means.left_milli_pages, MILLI)
        pages = max(pages, pool.count_older(end - age_bytes, self.dirty_pages) // rules.cleaners)
        means.note(min(pages, self.dirty_pages), end, rules.rounds)
        return pages

    @property
    def is_log_full(self) -> bool:
        """Whether the log since the oldest change that isn't on the disks has no room for more commits."""
        rules = self.system.flushing
        return rules is not None and self.pool.age_bytes > rules.full_bytes

    def await_log_space(self, size_bytes: int) -> Story:
        """A commit that has logged `size_bytes` waits while the log is full."""
        while size_bytes and self.is_log_full:
            yield self.log_space_freed()

    def log_space_freed(self) -> simpy.Event:
        """The next instant at which older pages have been written and the log isn't full."""
        freed = self.env.event()
        self.waiting_commits.append(freed)
        return freed

    def _release_commits(self) -> None:
        if self.waiting_commits and not self.is_log_full:
            for freed in self.waiting_commits:
                freed.succeed()
            self.waiting_commits = []

    @property
    def dirty_pages(self) -> int:
        """Dirty pages of the buffer pool."""
        return len(self.pool.cache.dirty_since_ms)

    def sleep(self, cache: Cache, pages: int) -> simpy.Event:
        """The next instant at which locks are released and a cache has more dirty pages than so many."""
        woken = self.env.event()
        self.asleep.append(Sleeper(cache, pages, woken))
        return woken

    def look(self) -> None:
        """A transaction has released its locks: wake those who wait for fewer dirty pages than there are."""
        for sleeper in self.asleep:
            if sleeper.is_due:
                sleeper.woken.succeed()
        self.asleep = [each for each in self.asleep if not each.is_due]
