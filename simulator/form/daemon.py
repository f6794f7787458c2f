"""Daemons: tasks beside the clients, such as a database's background writer; a few steps, for ever."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form.clock import NS_PER_MS, NS_PER_S

# Operations: operands as named here. Whatever writes pays for its calls: write-back for expired pages, the writer else.
DAEMON_OPERATIONS: dict[str, tuple[str, ...]] = {
    "sleep": ("interval_ns",),
    "every": ("interval_ns",),  # until so long after it was last due; at once if that is over
    "await_dirty": ("pages",),  # until the pool has more dirty pages: when it begins, or when locks are released
    "write_dirty": ("keep_pages", "over_ns"),  # write the pool's dirty pages, those replaced first, all but the last
    "sync": (),  # flush what the page cache has dirty, and wait until the disks have all that was on its way then
    "note_checkpoint": (),  # a checkpoint has ended that began when `every` last ended
    "write_log": (),  # write what the log left behind, if commits don't wait for it
    "await_cache_dirty": ("pages",),  # the same of the page cache
    "write_cache_dirty": ("keep_pages",),  # hand to the disks what is dirty in the page cache longest, all but so much
    # hand to the disks what has been dirty for longer, as many pages at once as may be in flight, until none has
    "write_expired": ("age_ns",),
    "write_tail": ("depth_pages",),  # write the dirty ones among so many pages that replacement reaches first
    "write_unused": ("places", "most_pages"),  # of so many places further round a CLOCK, the dirty pages without a use
    "write_aged": ("age_bytes",),  # write what the system's `flushing` asks for, and all of this age, oldest first
    "begin_checkpoint": (),  # from here on a page's first change is logged with the whole page
    # since it last ended so long, or so much log, whichever comes first; `write_dirty` after it takes as much less time
    "every_or_logged": ("interval_ns", "log_bytes"),
    # since it last ended so long, or so many pages have left the pool for others, whichever is seen first
    "every_or_evicted": ("interval_ns", "pages"),
    # read, all at once, so many thousandths of pages, drawn from those that have changes put aside
    "merge": ("milli_pages",),
}
DaemonOperation = Annotated[str, DAEMON_OPERATIONS]
TIMED = ("sleep", "every", "every_or_logged", "every_or_evicted")
NEVER_NS = 10**18
"""an age that no page reaches, an interval that no run lasts"""
NEVER_BYTES = 10**18
"""of log, which no run comes to"""
ENDLESS_PAGES = 10**15
"""more dirty pages than any cache has"""


@dataclass(frozen=True)
class DaemonStep:
    """An operation with its operands, in the order of DAEMON_OPERATIONS."""

    operation: DaemonOperation
    operands: tuple[int, ...] = ()


@dataclass(frozen=True)
class Daemon:
    """A task that begins at time 0, behind the clients, and executes its steps one after the other for ever."""

    name: str
    steps: tuple[DaemonStep, ...]

    def operands(self, operation: str) -> Iterator[tuple[int, ...]]:
        """Those of each step with this operation, in order."""
        return (step.operands for step in self.steps if step.operation == operation)

    def checkpoint_cycle_ns(self, log_bytes_per_s: float) -> int | None:
        """From one checkpoint to the next, if so much is logged; None of a daemon that makes none."""
        if DaemonStep("note_checkpoint") not in self.steps:
            return None
        for (interval_ns,) in self.operands("every"):
            return interval_ns
        for interval_ns, log_bytes in self.operands("every_or_logged"):
            return min(interval_ns, max(int(log_bytes / max(log_bytes_per_s, 1e-9) * NS_PER_S), NS_PER_MS))
        return None

    def faults(self) -> Iterator[str]:
        """What is wrong with its steps, a sentence each: unknown ones, and a life at one instant."""
        for step in self.steps:
            operands = DAEMON_OPERATIONS.get(step.operation)
            if operands is None:
                names = ", ".join(DAEMON_OPERATIONS)
                yield f"daemon {self.name}: there is no operation {step.operation}; operations are {names}"
                return
            if len(step.operands) != len(operands) or min(step.operands, default=0) < 0:
                yield (
                    f"daemon {self.name}, {step.operation}: operands are {step.operands}; "
                    f"needed: {', '.join(operands) or 'none'}, none of them below 0"
                )
                return
        if any(pages == 0 for _, pages in self.operands("every_or_evicted")):
            yield f"daemon {self.name}, every_or_evicted: got 0 pages, for which it wouldn't wait; needed: 1 or more"
        waits = any(interval_ns > 0 for name in TIMED for interval_ns, *_ in self.operands(name))
        cleans = any(
            keep <= pages
            for awaited, written in (("await_dirty", "write_dirty"), ("await_cache_dirty", "write_cache_dirty"))
            for (pages,) in self.operands(awaited)
            for keep, *_ in self.operands(written)
        )
        if not waits and not cleans:
            yield (
                f"daemon {self.name}: nothing in it waits, so that no time would pass; needed: sleep or every with an "
                "interval above 0, or await_dirty with a write_dirty that keeps no more pages, or the "
                "two of the page cache likewise"
            )


def check_daemons(daemons: tuple[Daemon, ...]) -> None:
    """Raises InputError if one of them can't be run."""
    for daemon in daemons:
        for fault in daemon.faults():
            raise InputError(fault)


class LeadInMarks(NamedTuple):
    """Limits that daemons set to dirty pages during a lead-in, in which they take no time.

    More dirty buffers than `pool_high_pages` are written down to `pool_low_pages`. In the page cache pages that were
    dirty for longer than `expire_ns` are written back, and of more than `cache_keep_pages` those dirty longest.
    """

    pool_high_pages: int
    pool_low_pages: int
    cache_keep_pages: int
    expire_ns: int


def lead_in_marks(daemons: tuple[Daemon, ...], pool_pages: int) -> LeadInMarks:
    """The limits. A writer with an interval holds the pool to the pages that it keeps; there are no checkpoints."""
    low = kept_dirty_pages(daemons, pool_pages)
    high = [pages for daemon in daemons for (pages,) in daemon.operands("await_dirty")]
    ages = [age for daemon in daemons for (age,) in daemon.operands("write_expired")]
    kept = [pages for daemon in daemons for (pages,) in daemon.operands("write_cache_dirty")]
    return LeadInMarks(
        max(low, min(high, default=low)), low, min(kept, default=ENDLESS_PAGES), min(ages, default=NEVER_NS)
    )


def kept_dirty_pages(daemons: tuple[Daemon, ...], pool_pages: int) -> int:
    """Dirty pages that the background writers leave in the pool: what a warm start begins with.

    Writes of a daemon that notes checkpoints are not counted in: most of the time the last one is long ago.
    """
    writers = (daemon for daemon in daemons if DaemonStep("note_checkpoint") not in daemon.steps)
    kept = (keep for daemon in writers for keep, _ in daemon.operands("write_dirty"))
    return min(kept, default=pool_pages)


def clean_tail_pages(daemons: tuple[Daemon, ...]) -> int:
    """Pages that are replaced first and kept clean by page cleaners."""
    return max((pages for daemon in daemons for (pages,) in daemon.operands("write_tail")), default=0)
