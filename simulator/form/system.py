"""A system: a program and the parts that it runs on, as frozen data. What every engine takes."""

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

import numpy as np

from oltpsim.simulator.form.arrays import IntArray
from oltpsim.simulator.form.daemon import Daemon
from oltpsim.simulator.form.devices import Storage
from oltpsim.simulator.form.disk import RotatingDevice
from oltpsim.simulator.form.flushing import Flushing
from oltpsim.simulator.form.limiters import Limiters, limiters_of
from oltpsim.simulator.form.limits import Controllers, RateLimit
from oltpsim.simulator.form.placement import Extent, round_robin
from oltpsim.simulator.form.plain import plain_of
from oltpsim.simulator.form.program import LoadRow, Program

STARTS = ("cold", "after_load", "warm", "after_prewarm")
"""states at time 0: nothing in caches; as a bulk load leaves them; as after a long run; files read one after another"""
StartKind = Annotated[str, STARTS]
MOST_FILES = MOST_PAGES_A_PAUSE = 255
"""a byte each in the kernel's tasks"""
UNPACED = 10**15
"""pages from which on writers are paused, where they never are"""
REPLACEMENTS = ("lru", "clock", "midpoint")
"""of the buffer pool; `midpoint`: InnoDB's list in two parts"""
Replacement = Annotated[str, REPLACEMENTS]
MOST_USAGE = 5
"""CLOCK counts no more uses of a page than this, as PostgreSQL does."""
OLD_PERCENT = 37
"""of a list with a midpoint: its old part; InnoDB's default of innodb_old_blocks_pct"""


@dataclass(frozen=True)
class Cpu:
    """`cores` servers, first come first served; whoever holds a critical section goes first.

    A client's burst is served `slice_ns` at a time, between which it queues up again; 0: to its end. All servers
    together run for `quota_ns` in each `quota_period_ns` (Linux: CFS bandwidth control); 0: without a limit. What has
    begun is finished, and its time is taken from the next periods.
    """

    cores: int
    slice_ns: int = 0
    quota_ns: int = 0
    quota_period_ns: int = 100_000_000

    @property
    def allowed_servers(self) -> float:
        """Servers that the quota lets run, on average; infinite without one."""
        return self.quota_ns / self.quota_period_ns if self.quota_ns else math.inf


@dataclass(frozen=True)
class Sharing:
    """Hardware threads that slow each other down: one server each, in place of the CPU's cores.

    A burst that starts when k threads are busy, its own counted in, takes `ppm[k - 1]` millionths of its time alone.
    """

    ppm: tuple[int, ...]


@dataclass(frozen=True)
class Section:
    """A critical section. A contended entry costs `handover_ns` more, during which nobody is inside."""

    name: str
    handover_ns: int


@dataclass(frozen=True)
class Station:
    """A plain queueing station: equal servers, one queue, first come first served."""

    name: str
    servers: int


@dataclass(frozen=True)
class FairQueueing:
    """The operating system's fair queueing (CFQ) before flash devices and RAID sets: one owner at a time.

    Every client is an owner, and so are the log, the database's writer, write-back and swapping out. An owner has up to
    `quantum` requests in the device until it has no more, or its slice is over: then it is the next one's turn.
    `background_slice_ns` is that of owners whose writes nobody waits for: all but clients and log.
    """

    quantum: int
    slice_ns: int
    background_slice_ns: int


@dataclass(frozen=True)
class Pool:
    """The buffer pool; `resident_pages` of its `pages` have memory, the others are in swap."""

    pages: int
    replacement: Replacement
    resident_pages: int
    clean_search_pages: int = 1
    """lists with direct I/O or synced writing: a clean victim is looked for among so many pages; if there is none the
    first is taken"""
    free_wait_ns: int = 0
    """that whoever brings a page into a full pool waits for a buffer, before one is chosen"""
    old_ms: int = 1000
    """of a list with a midpoint: how long after a page was read a hit first makes it young"""


@dataclass(frozen=True)
class PageCache:
    """The operating system's cache, and limits of its write-back. `free_behind`: a written page is reclaimed first.

    Writers wait while `dirty_limit_pages` are dirty or in flight. From `paced_pages` on they are paused little by
    little: where they are half way to the limit they write as fast as the disks were measured to, at the limit not at
    all.
    """

    pages: int
    dirty_limit_pages: int
    in_flight_pages: int
    free_behind: bool
    paced_pages: int = UNPACED
    log_pages: int = 0
    """of the log's files, which are written through it round and round; 0: they go past it"""
    log_page_bytes: int = 1
    """of the log that take up a page of it"""
    in_file_order: bool = False
    """write-back goes through all dirty pages in the order of the files, round and round; else the oldest go first"""
    pages_a_pause: int = 0
    """that a client writes between two pauses, in which the file (region) that it wrote to last is locked, 255 at most,
    as of regions; 0: it is paused after each page, and locks nothing. With locks a client that has written at the limit
    is paused 0.2 s at a time until fewer pages are dirty"""


@dataclass(frozen=True)
class Reclaim:
    """Reclaim of memory that the buffer pool's frames and the page cache share, by Linux's lists (mm/vmscan.c).

    Pool and page cache then take each other's memory; their `resident_pages` and `pages` hold at the start alone.
    """

    pages: int
    """memory of both together"""
    swappiness: int
    """vm.swappiness, 0 to 200: weight of frames; that of the page cache is 200 less it"""
    batch_pages: int
    """pages between two looks at what the lists cost"""
    figures_ns: int = 0
    """age that reclaim's view of the lists' lengths and of what came back may reach"""


JOURNAL_BYTES = 4096
"""of a block of ext4, as mke2fs makes them"""


@dataclass(frozen=True)
class Log:
    """Commit rule: wait for a group flush, or leave it to the operating system."""

    durable: bool
    flush_overhead_ns: int
    writes_per_group: int = 1
    """one after the other, each as large: the log itself, and others of the same commits"""
    full_page_bytes: int = 0
    """on top of what a change logs, if it is a page's first since a checkpoint began; 0: pages aren't logged whole"""
    journal_writes: int = 0
    """of `JOURNAL_BYTES` each behind a group's last write, which goes into a file that grows: blocks that the file
    system's journal commits. That write becomes durable by them"""
    at_once: bool = False
    """what is logged is flushed as soon as it is logged, for whomever; the further writes of a group are a stage of
    their own behind it, in which one group may be while the log is flushed for the next. Needs `durable`, and pages
    that aren't logged whole"""


@dataclass(frozen=True)
class Costs:
    """CPU time: read call, write call (system), buffer replacement (user), device request (system); ns."""

    read_ns: int
    write_ns: int
    miss_ns: int
    request_ns: int


class FilePart(NamedTuple):
    """Pages of a file, from `first_page` to before those of the next part."""

    first_page: int
    file: int


@dataclass(frozen=True)
class Writing:
    """How daemons write buffers: so many pages at a time, and so many neighbours in a direct request."""

    batch_pages: int = 32
    coalesced_pages: int = 1
    doubled: bool = False
    """doublewrite, with direct I/O or `synced`: a batch or a victim is first written as copies, by one request before
    the data"""
    pushed: bool = False
    """by buffered I/O: daemons hand each batch from the page cache to the disks at once, and pay for its requests"""
    files: Annotated[tuple[tuple[int, int], ...], FilePart] = ()
    """(first page, file), by page, on SSDs: behind the pages of a doubled or synced batch each of its files is flushed,
    in turn. Empty: by direct I/O one flush for all, on each device behind its last page; by buffered I/O none."""
    synced: bool = False
    """by buffered I/O: daemons hand each batch from the page cache to the disks, pay for its requests and wait until
    the disks have all that is on its way then (fsync). A dirty victim is written by whoever needs its buffer, with a
    flush, and stays in the page cache; else it goes no further than there"""


class HomeRegister(NamedTuple):
    """Register of a connection that is set to home * factor // divisor."""

    number: int
    factor: int
    divisor: int


@dataclass(frozen=True)
class Terminals:
    """Terminals that type, send, wait and think, before the clients, which are the connections that serve them.

    Each belongs to one of `homes`, all in turn; a connection that serves it gets `registers` set: (register, factor,
    divisor) to home * factor // divisor. Classes are drawn by alias table `mix`. Keying takes a constant time, thinking
    an exponential one, `longest_think` means at most. Transactions of `deferred_class` are answered when they are sent.
    """

    count: int
    homes: int
    registers: Annotated[tuple[tuple[int, int, int], ...], HomeRegister]
    mix: int
    keying_ns: tuple[int, ...]
    """by class of the transaction that follows"""
    thinking_ns: tuple[int, ...]
    """mean, by class of the transaction before"""
    longest_think: int = 10
    deferred_class: int = -1
    middle_tier_ns: int = 0
    """network and middle tier, there and back, in each response"""


@dataclass(frozen=True)
class Interrupts:
    """One for each I/O, and `per_transaction` for its messages.

    `station`: -1, or the plain station of processors that are set aside for them: after each read its client passes
    there for `served_ns`. Their time is otherwise a part of requests and messages.
    """

    per_transaction: float
    station: int = -1
    served_ns: int = 0


@dataclass(frozen=True)
class Interval:
    """State that a run starts from, one of STARTS, the lead-in from there to time 0, and what is counted after it.

    After a prewarm caches hold what `prewarm_pages` of the loaded pages leave, of these regions one after the other.
    The lead-in is so many transactions in which nobody waits for a device, a lock or the log, clients in turn. It ends
    at time 0 and lasts `lead_in_ns`: pages that it leaves dirty have their age of that time.
    """

    start: StartKind
    warm_up_ns: int
    duration_ns: int
    lead_in_transactions: int = 0
    lead_in_ns: int = 0
    prewarm_regions: tuple[int, ...] = ()
    prewarm_pages: int = 0
    prewarms_pool: bool = True
    """whether the prewarm reads into the pool, or into the page cache alone"""

    @property
    def end_ns(self) -> int:
        """When the run ends."""
        return self.warm_up_ns + self.duration_ns


@dataclass(frozen=True)
class Work:
    """What a run is over with: each client stops after so many transactions of the main class; the last ends it.

    All of it is counted; the interval's duration is then the limit.
    """

    main_per_client: int


@dataclass(frozen=True)
class System:
    """Everything an engine needs but the seed. `arrivals_per_s` is 0 for closed clients.

    With `terminals` the clients are connections, whose program begins with `arrive` and `enter`.
    """

    name: str
    program: Program
    client_registers: IntArray
    arrivals_per_s: float
    cpu: Cpu
    sections: tuple[Section, ...]
    stations: tuple[Station, ...]
    pool: Pool
    page_cache: PageCache
    storage: Storage
    log: Log
    costs: Costs
    direct_io: bool
    interval: Interval
    daemons: tuple[Daemon, ...] = ()
    """in the order in which they begin"""
    sharing: Sharing | None = None
    work: Work | None = None
    volume_limits: tuple[RateLimit, ...] | None = None
    """what the machine lets through to all its flash devices together"""
    writing: Writing = Writing()
    flushing: Flushing | None = None
    controllers: Controllers | None = None
    fair_queueing: FairQueueing | None = None
    terminals: Terminals | None = None
    step_ns: int | None = None
    """length of a step of the time series; whole seconds if None"""
    extents: tuple[Extent, ...] | None = None
    """where the pages lie, if not one by one over all data devices"""
    interrupts: Interrupts | None = None
    reclaim: Reclaim | None = None
    """None: pool and page cache keep the memory that they have"""

    @property
    def homes(self) -> IntArray:
        """Registers that transactions begin with, a row for each client, or for each home that terminals have."""
        registers, terminals = self.client_registers, self.terminals
        if terminals:
            registers = np.zeros((terminals.homes, registers.shape[1]), dtype=np.int64)
            for register, factor, divisor in terminals.registers:
                registers[:, register] = np.arange(terminals.homes) * factor // divisor
        return registers

    @property
    def writes_victims(self) -> bool:
        """Whether a dirty victim is written to its device before its buffer is used again."""
        return self.direct_io or self.writing.synced

    @property
    def processors(self) -> int:
        """What the operating system counts as processors: hardware threads."""
        return len(self.sharing.ppm) if self.sharing else self.cpu.cores

    @property
    def placement(self) -> tuple[Extent, ...]:
        """Where the pages lie."""
        return self.extents or round_robin(self.storage.data_devices)

    @property
    def scheduled_devices(self) -> tuple[int, ...]:
        """The devices that fair queueing is for: a disk with an arm has an elevator of its own."""
        every = enumerate(self.storage.devices) if self.fair_queueing else ()
        return tuple(number for number, device in every if not isinstance(device, RotatingDevice))

    @property
    def prewarm_order(self) -> Annotated[IntArray, LoadRow]:
        """Loaded pages that a prewarm reads, in its order, in rows as `Program.load_order` has them."""
        every = self.program.load_order
        rows = np.concatenate([every[every[:, 0] == region] for region in self.interval.prewarm_regions] or [every[:0]])
        before = np.cumsum(rows[:, 3]) - rows[:, 3]
        rows[:, 3] = np.clip(self.interval.prewarm_pages - before, 0, rows[:, 3])
        return rows[rows[:, 3] > 0]

    def digest(self) -> str:
        """A hash of all that determines a trajectory but the seed: 16 hexadecimal digits."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        head, arrays = plain_of(self)
        code = hashlib.sha256(json.dumps(head).encode())
        for name in sorted(arrays):
            code.update(arrays[name].tobytes())
        return code.hexdigest()[:16]

    @cached_property
    def limiters(self) -> Limiters:
        """All rate limits, and where they apply."""
        return limiters_of(self.storage, self.volume_limits, self.controllers)


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    simulated_s: float
    end_s: float
    transactions: int


OnProgress = Callable[[Progress], None]
