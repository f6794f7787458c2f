"""What is bought: processors, memory, disks, network."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from pydantic import Field, model_validator

from models.input import (
    Fraction,
    Gib,
    Kib,
    Mib,
    MibPerSecond,
    Microseconds,
    Milliseconds,
    Name,
    Nanoseconds,
    Number,
    Spec,
    Text,
    WholeNumber,
)

MOST_REFILL_S = 50 * 86_400
"""longest time in which a bucket of credits may fill: clocks in picoseconds know twice as much"""


class CpuSpec(Spec):
    """Processors of one machine.

    `relative_speed` is the speed of one core on one thread of OLTP work, relative to one core of an
    AMD Opteron 244 (1.8 GHz) = 1.0; path lengths of database profiles are times on that core.
    """

    model: Name
    cores: WholeNumber = Field(ge=1, le=4096)
    relative_speed: Number = Field(ge=0.01, le=100)
    threads_per_core: WholeNumber = Field(default=1, ge=1, le=2, description="hardware threads of a core")
    second_thread_gain: Fraction = Field(
        default=0.2, ge=0, le=1, description="work that a core does more with both of its threads busy"
    )
    memory_bus_share: Fraction = Field(
        default=0.0, ge=0, le=1,
        description="share of its time that a lone busy core keeps the memory bus busy, which all cores share",
    )  # fmt: skip
    cache_mib: Mib = Field(
        default=0.0, ge=0, description="last cache of one processor before memory; 0: look-ups find nothing in it"
    )
    memory_latency_ns: Nanoseconds = Field(
        default=100.0, ge=0, description="time of a reference that goes to memory (assumption)"
    )
    cache_latency_ns: Nanoseconds = Field(
        default=15.0, ge=0, description="time of a reference that this cache answers (assumption)"
    )
    sockets: WholeNumber = Field(default=1, ge=1, le=256, description="each with its share of cores and memory")
    remote_memory_factor: Number = Field(
        default=1.0, ge=1, le=100, description="how many times as long another socket's memory takes as one's own"
    )
    tlb_entries: WholeNumber = Field(
        default=0,
        ge=0,
        le=1_000_000,
        description="translations that a processor holds; 0: never lacks one",
    )
    source: Text

    @property
    def threads(self) -> int:
        """Hardware threads of all cores: what an operating system counts as processors."""
        return self.cores * self.threads_per_core

    def described(self, times: str = "×") -> str:
        """How many of which: 2 × AMD Opteron 244; with several threads per core how many there are."""
        words = f"{self.cores} {times} {self.model}"
        return words if self.threads_per_core == 1 else f"{words} ({self.threads} threads)"


class RotatingDiskSpec(Spec):
    """A disk with an arm: seek by distance, rotation, transfer, and a queue that the drive reorders."""

    kind: Literal["rotating"] = "rotating"
    name: Name
    capacity_gib: Gib = Field(gt=0)
    rpm: WholeNumber = Field(ge=1000, le=30000)
    seek_track_to_track_ms: Milliseconds = Field(ge=0.001)
    seek_average_ms: Milliseconds = Field(ge=0.001)
    seek_full_stroke_ms: Milliseconds = Field(ge=0.001)
    overhead_ms: Milliseconds = Field(ge=0, description="controller and bus time per request")
    transfer_mib_per_s: MibPerSecond = Field(ge=0.1)
    queue_depth: WholeNumber = Field(ge=1, le=256, description="requests that the drive itself may reorder (NCQ, TCQ)")
    scheduler: Literal["fcfs", "look", "c-look"] = Field(
        default="look", description="order in which the operating system hands requests to the drive"
    )
    write_cache_mib: Mib = Field(
        default=0.0, ge=0, le=256,
        description="the drive's memory for writes that it says are done before they are on the platter; 0: off",
    )  # fmt: skip
    write_cache_sorted: WholeNumber = Field(
        default=12, ge=1, le=256,
        description="cached writes among which the drive chooses what to write next, or queue_depth if that is more "
        "(12: a 7,200 rpm disk of 2007 does 150 random writes/s, and 72 reads/s one by one)",
    )  # fmt: skip
    source: Text


class RateLimitSpec(Spec):
    """What a provider lets through to a volume, or from an instance to all its volumes; with credits for bursts.

    A request takes a credit for each `unit_kib` that it begins, or one for each MiB; credits come back at `per_s`.
    While there are some, requests start at `burst_per_s`, and without credits at `per_s`.
    """

    of: Literal["requests", "mib"] = Field(description="what is counted: requests, reads and writes alike, or MiB")
    per_s: Number = Field(ge=0.1, le=1e7, description="sustained rate, and what credits are refilled with")
    burst_per_s: Number | None = Field(
        default=None, ge=0.1, le=1e7, description="most while credits last; per_s if absent: no bursts"
    )
    credits: Number = Field(default=0.0, ge=0, description="size of the bucket, in requests or MiB")
    credits_at_start_fraction: Fraction = Field(
        default=1.0, ge=0, le=1, description="how full the bucket is at the start of a run, before its warm-up"
    )
    unit_kib: Kib = Field(
        default=256.0, ge=1, le=65536,
        description="of requests: a larger one counts as several (256 KiB: Amazon EBS volumes with SSDs)",
    )  # fmt: skip
    source: Text

    @model_validator(mode="after")
    def _bursts_have_credits(self) -> RateLimitSpec:
        burst = self.burst_per_s
        if burst is not None and burst < self.per_s:
            raise ValueError(f"burst_per_s: got {burst:g}; at least per_s, {self.per_s:g}")
        if burst is not None and burst > self.per_s and not self.credits:
            raise ValueError(
                f"credits: got 0 with a burst_per_s of {burst:g}, which nothing would be spent for; say how many"
            )
        if self.credits > self.per_s * MOST_REFILL_S:
            days = f"{self.credits / self.per_s / 86400:,.0f} days"
            raise ValueError(f"credits: got {self.credits:g}, which take {days} to come back at per_s; at most 50 days")
        return self


class FlashDiskSpec(Spec):
    """An SSD: `parallel_requests` requests are served at once, each for the latency of its kind."""

    kind: Literal["flash"] = "flash"
    name: Name
    capacity_gib: Gib = Field(gt=0)
    read_latency_us: Microseconds = Field(ge=0.001)
    write_latency_us: Microseconds = Field(ge=0.001)
    parallel_requests: WholeNumber = Field(ge=1, le=4096)
    reads_per_write: WholeNumber | None = Field(
        default=None, ge=1, le=1000,
        description="reads that go ahead of each write while both wait, as with Linux's deadline scheduler (2); "
        "in order of arrival if absent",
    )  # fmt: skip
    limits: tuple[RateLimitSpec, ...] = Field(
        default=(), max_length=4, description="of a cloud volume: each request passes all of them before it is served"
    )
    source: Text


DiskSpec = Annotated[RotatingDiskSpec | FlashDiskSpec, Field(discriminator="kind")]


class RaidLayout(NamedTuple):
    """How a RAID level keeps data: by copies, or by parity units in each stripe; and how many disks it takes."""

    copies: int
    parities: int
    least_disks: int
    most_disks: int = 1024


RAID_LAYOUTS = {
    "raid0": RaidLayout(copies=1, parities=0, least_disks=2),
    "raid1": RaidLayout(copies=2, parities=0, least_disks=2, most_disks=2),
    "raid10": RaidLayout(copies=2, parities=0, least_disks=4),
    "raid5": RaidLayout(copies=1, parities=1, least_disks=3),
    "raid6": RaidLayout(copies=1, parities=2, least_disks=4),
}
"""Source of the levels: Patterson, Gibson, Katz, SIGMETRICS 1988; RAID 10 is RAID 0 over pairs."""


class DiskArraySpec(Spec):
    """Equal disks under the data.

    Independent ones are striped page by page by the database, one file on each; a RAID set is one device to the
    operating system, with one file on it; `sets` of them are striped page by page, too.
    """

    disk: DiskSpec
    count: WholeNumber = Field(ge=1, le=1024)
    level: Literal["independent", "raid0", "raid1", "raid10", "raid5", "raid6"] = Field(
        default="independent", description="independent disks, or the level of the RAID set that they are"
    )
    stripe_kib: Kib = Field(
        default=64.0, ge=1, le=65536,
        description="what a RAID set puts on one disk before it goes on to the next (assumption: 64 KiB)",
    )  # fmt: skip
    sets: WholeNumber = Field(
        default=1, ge=1, le=512,
        description="equal RAID sets that the disks make, each a device (partition, LUN) with a file of the database",
    )  # fmt: skip
    controllers: WholeNumber = Field(
        default=0, ge=0, le=512,
        description="equal controllers (storage arrays) that the sets or disks are dealt to in order; 0: none",
    )  # fmt: skip
    controller_limits: tuple[RateLimitSpec, ...] = Field(
        default=(), max_length=4, description="what one controller lets through to its disks, in requests or MiB"
    )

    @property
    def layout(self) -> RaidLayout | None:
        """How the RAID set keeps data; None for independent disks."""
        return RAID_LAYOUTS.get(self.level)

    @property
    def level_name(self) -> str:
        """The level in words: RAID 5."""
        return self.level.replace("raid", "RAID ")

    @property
    def files(self) -> int:
        """Files that the database stripes its pages over."""
        return self.sets if self.layout else self.count

    @property
    def disks_per_file(self) -> int:
        """Disks' worth of room behind each file."""
        return self.count // self.sets // self.layout.copies - self.layout.parities if self.layout else 1


class NetworkSpec(Spec):
    """The way between clients and server. On the same machine the round trip is CPU time only."""

    clients_on_server: bool = True
    round_trip_us: Microseconds = Field(default=0.0, ge=0)
    source: Text = "assumption: clients run on the server"


class PriceSpec(Spec):
    """What a machine costs to buy, or to rent by the hour, in the money of its year."""

    usd: Number = Field(gt=0)
    usd_at_most: Number | None = Field(default=None, gt=0, description="the upper end, where a range is printed")
    per: Literal["machine", "hour"] = "machine"
    year: WholeNumber = Field(ge=1970, le=2100)
    source: Text


class MachineSpec(Spec):
    """One server. The log shares the first data disk unless `log_disk` is given; swap always does."""

    name: Name
    cpu: CpuSpec
    memory_gib: Gib = Field(gt=0, le=65536)
    disks: DiskArraySpec
    log_disk: DiskSpec | None = None
    log_disks: WholeNumber = Field(
        default=1, ge=1, le=1024, description="disks that are striped for the log alone (RAID 0), each a `log_disk`"
    )
    volume_limits: tuple[RateLimitSpec, ...] = Field(
        default=(), max_length=4, description="of a cloud instance: for its flash disks together, log disk included"
    )
    network: NetworkSpec = NetworkSpec()
    price: PriceSpec | None = None
    hardware_share_lost: Fraction = Field(
        default=0.0, ge=0, le=0.95, description="CPU time lost to virtualisation (Xen: a little under 0.10)"
    )
    source: Text
