"""A model: a program and the stations it runs on, as frozen data. What every engine takes.

Devices are numbered: the data devices first, then a log device of its own if there is one, then the disks of RAID
sets. Pages are striped over the data devices one by one, or table by table (`extents`). Swap and a shared log lie on
device 0.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simulator.form.clock import FS_PER_S, PS_PER_S
from simulator.form.placement import Extent, round_robin
from simulator.form.program import Program

MOST_USAGE = 5
"""CLOCK counts no more uses of a page than this, as PostgreSQL does."""


@dataclass(frozen=True)
class Cpu:
    """`cores` servers, first come first served; whoever holds a critical section goes first."""

    cores: int


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
class RotatingDevice:
    """A disk with an arm (reference/disk.py): seek times in ns, `queue_depth` requests reordered by the drive."""

    name: str
    capacity_bytes: int
    revolution_ns: int
    track_bytes: int
    seek_track_ns: int
    seek_average_ns: int
    seek_full_ns: int
    overhead_ns: int
    queue_depth: int
    scheduler: str
    kind: str = "rotating"

    def with_cache(self, cache_bytes: int, destages_among: int) -> CachingDevice:
        """The same disk with its write cache on."""
        return CachingDevice(**asdict(self), cache_bytes=cache_bytes, destages_among=destages_among)


@dataclass(frozen=True)
class CachingDevice(RotatingDevice):
    """A disk with an arm whose write cache is on: writes are done when they are in its `cache_bytes`.

    It writes them to the platter later, each time the one of the `destages_among` oldest that the arm reaches first.
    """

    cache_bytes: int = 0
    destages_among: int = 1


@dataclass(frozen=True)
class FlashDevice:
    """`parallel` requests at a time, each for its latency; while both wait so many reads go first for each write.

    `reads_per_write` 0: in order of arrival.
    """

    name: str
    read_ns: int
    write_ns: int
    parallel: int
    reads_per_write: int = 0
    kind: str = "flash"

    def with_limits(self, limits: tuple[RateLimit, ...]) -> LimitedDevice:
        """The same device as a cloud volume."""
        return LimitedDevice(**asdict(self), limits=limits)


@dataclass(frozen=True)
class RateLimit:
    """A cap on requests or MiB per second, with a bucket of credits above it (simulator/reference/limits.py).

    A request takes a credit for each `unit_bytes` of its size that it begins (`of` "requests"), or one for each MiB.
    Credits come back at `per_s`, up to `credits`. While there are some, requests start at `burst_per_s`.
    """

    of: str
    per_s: float
    burst_per_s: float
    credits: float = 0.0
    credits_at_start: float = 0.0
    unit_bytes: int = 1 << 18

    @property
    def units_of_rate(self) -> int:
        """Units that one request or one MiB of the rates is: a byte is the unit of MiB."""
        return 1 << 20 if self.of == "mib" else 1

    @property
    def bytes_per_credit(self) -> int:
        """Bytes of a request for which it takes one credit; it takes one more for what is left over."""
        return self.unit_bytes if self.of == "requests" else 1

    @property
    def sustained_fs(self) -> int:
        """Time in which one credit comes back."""
        return round(1.0 / self.units_of_rate / self.per_s * FS_PER_S)

    @property
    def burst_fs(self) -> int:
        """Time between the credits of two requests that start one after the other, at least."""
        return round(1.0 / self.units_of_rate / self.burst_per_s * FS_PER_S)

    @property
    def refill_ps(self) -> int:
        """Time in which an empty bucket fills."""
        return round(self.credits / self.per_s * PS_PER_S)

    @property
    def full_at_ps(self) -> int:
        """When the bucket would be full if no request came."""
        return round((self.credits - self.credits_at_start) / self.per_s * PS_PER_S)

    def label(self, owner: str) -> str:
        """The cap by name, as bottlenecks are listed: disk 1 (cap of 3,000 requests/s)."""
        most = f"{self.per_s:,.6g}" + (f" to {self.burst_per_s:,.6g}" if self.burst_per_s > self.per_s else "")
        return f"{owner} (cap of {most} {'MiB' if self.of == 'mib' else 'requests'}/s)"


@dataclass(frozen=True)
class Controllers:
    """Equal controllers in front of the data disks: the data devices go to them in equal parts, in order.

    Each lets no more requests of its disks through than each of its `limits` says.
    """

    count: int
    limits: tuple[RateLimit, ...]

    def number_of(self, device: int, data_devices: int) -> int:
        """The controller of one of so many data devices."""
        return device * self.count // data_devices


@dataclass(frozen=True)
class LimitedDevice(FlashDevice):
    """A cloud volume: flash whose provider lets no more through than each of its `limits` says."""

    limits: tuple[RateLimit, ...] = ()


Disk = RotatingDevice | FlashDevice


@dataclass(frozen=True)
class RaidSet:
    """Equal disks behind a controller, one device to the operating system (simulator/reference/raid.py).

    Stripes of a unit on each disk. `copies` 2: disks in pairs that hold the same; `parities`: units of each stripe
    that are computed from the others. RAID 0: 1 and 0; RAID 1 and 10: 2 and 0; RAID 5: 1 and 1; RAID 6: 1 and 2.
    """

    name: str
    disks: tuple[Disk, ...]
    unit_bytes: int
    copies: int = 1
    parities: int = 0
    kind: str = "raid"

    @property
    def data_units(self) -> int:
        """Units of data in a stripe: disks' worth of capacity."""
        return len(self.disks) // self.copies - self.parities


Device = Disk | RaidSet


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
    replacement: str
    resident_pages: int
    writer_high_pages: int
    writer_low_pages: int


@dataclass(frozen=True)
class PageCache:
    """The operating system's cache and its write-back. `free_behind`: a written page is reclaimed first."""

    pages: int
    dirty_limit_pages: int
    expire_ns: int
    flush_interval_ns: int
    in_flight_pages: int
    free_behind: bool


@dataclass(frozen=True)
class Storage:
    """Where things are: byte offsets on their devices, and how many I/O calls may be pending per device."""

    devices: tuple[Device, ...]
    data_devices: int
    log_device: int
    page_bytes: int
    data_start_bytes: int
    log_start_bytes: int
    log_bytes: int
    swap_start_bytes: int
    swap_cluster_pages: int
    merged_pages: int
    """neighbouring dirty pages that write-back puts into one request at most"""
    requests_per_device: int

    @cached_property
    def with_disks(self) -> tuple[Device, ...]:
        """The devices, and behind them the disks of those that are RAID sets."""
        return self.devices + tuple(disk for device in self.devices for disk in disks_in(device))

    @property
    def data_disk(self) -> Disk:
        """A disk that has data: all of them are alike."""
        first = self.devices[0]
        return first.disks[0] if isinstance(first, RaidSet) else first

    @cached_property
    def first_disks(self) -> tuple[int, ...]:
        """Where each device's disks begin in `with_disks`, if it is a RAID set."""
        return tuple(accumulate((len(disks_in(device)) for device in self.devices), initial=len(self.devices)))

    def disks_of(self, number: int) -> range:
        """Where a device's disks are in `with_disks`: itself if it is a disk."""
        if number >= len(self.devices) or not isinstance(self.devices[number], RaidSet):
            return range(number, number + 1)
        return range(self.first_disks[number], self.first_disks[number + 1])


def disks_in(device: Device) -> tuple[Disk, ...]:
    """The disks of a RAID set; none of any other device."""
    return device.disks if isinstance(device, RaidSet) else ()


@dataclass(frozen=True)
class Log:
    """Commit rule: wait for a group flush, or leave it to the operating system."""

    durable: bool
    flush_overhead_ns: int


@dataclass(frozen=True)
class Checkpoint:
    """Every `interval_ns` all dirty pages are written, spread over `spread_ns` (0: as fast as they go)."""

    interval_ns: int
    spread_ns: int


class Costs(NamedTuple):
    """CPU time: read call, write call (system), buffer replacement (user), device request (system); ns."""

    read_ns: int
    write_ns: int
    miss_ns: int
    request_ns: int


@dataclass(frozen=True)
class Writing:
    """How writer and checkpoints write buffers: so many pages at a time, and so many neighbours in a direct request."""

    batch_pages: int = 32
    coalesced_pages: int = 1


@dataclass(frozen=True)
class Terminals:
    """Terminals that type, send, wait and think, before the clients, which are the connections that serve them.

    Each belongs to one of `homes`, all in turn; a connection that serves it gets `registers` set: (register, factor,
    divisor) to home * factor // divisor. Classes are drawn by alias table `mix`. Keying takes a constant time, thinking
    an exponential one, `longest_think` means at most. Transactions of `deferred_class` are answered when they are sent.
    """

    count: int
    homes: int
    registers: tuple[tuple[int, int, int], ...]
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
    """State at time 0 (`cold`, `after_load`, `warm`) and what is counted."""

    start: str
    warm_up_ns: int
    duration_ns: int

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
class Model:
    """Everything an engine needs but the seed. `arrivals_per_s` is 0 for closed clients.

    With `terminals` the clients are connections, whose program begins with `arrive` and `enter`.
    """

    name: str
    program: Program
    client_registers: npt.NDArray[np.int64]
    arrivals_per_s: float
    cpu: Cpu
    sections: tuple[Section, ...]
    stations: tuple[Station, ...]
    pool: Pool
    page_cache: PageCache
    storage: Storage
    log: Log
    checkpoint: Checkpoint
    costs: Costs
    direct_io: bool
    interval: Interval
    sharing: Sharing | None = None
    work: Work | None = None
    volume_limits: tuple[RateLimit, ...] | None = None
    """what the machine lets through to all its flash devices together"""
    writing: Writing | None = None
    """None: `Writing()`"""
    controllers: Controllers | None = None
    fair_queueing: FairQueueing | None = None
    terminals: Terminals | None = None
    step_ns: int | None = None
    """length of a step of the time series; whole seconds if None"""
    extents: tuple[Extent, ...] | None = None
    """where the pages lie, if not one by one over all data devices"""
    interrupts: Interrupts | None = None

    @property
    def homes(self) -> npt.NDArray[np.int64]:
        """Registers that transactions begin with, a row for each client, or for each home that terminals have."""
        registers, terminals = self.client_registers, self.terminals
        if terminals:
            registers = np.zeros((terminals.homes, registers.shape[1]), dtype=np.int64)
            for register, factor, divisor in terminals.registers:
                registers[:, register] = np.arange(terminals.homes) * factor // divisor
        return registers

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

    def digest(self) -> str:
        """A hash of all that determines a trajectory but the seed: 16 hexadecimal digits."""
        code = hashlib.sha256()
        for field in fields(self.program):
            value = getattr(self.program, field.name)
            code.update(value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode())
        code.update(self.client_registers.tobytes())
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name not in ("program", "client_registers") and value is not None:
                code.update(repr(value).encode())
        return code.hexdigest()[:16]


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    simulated_s: float
    end_s: float
    transactions: int


OnProgress = Callable[[Progress], None]
