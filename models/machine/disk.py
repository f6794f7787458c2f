"""Disks: those with an arm, with their write cache, and flash of which only latencies are known."""

from typing import Annotated, Literal

from pydantic import Field

from oltpsim.models.input import Gib, Mib, MibPerSecond, Microseconds, Milliseconds, Name, Spec, Text, WholeNumber
from oltpsim.models.machine.ssd import SsdSpec
from oltpsim.models.machine.volume import RateLimitSpec, rate_limit_of
from oltpsim.simulator.form import GIB, MIB, NS_PER_US, DeviceRecord, FlashDevice, RotatingDevice


class RotatingDiskSpec(Spec):
    """A disk with an arm: seek by distance, rotation, transfer, and a queue that the drive reorders."""

    kind: Literal["rotating"] = "rotating"
    name: Name
    capacity_gib: Gib = Field(gt=0)
    rpm: WholeNumber = Field(ge=1000, le=30000)
    seek_track_to_track_ms: Milliseconds = Field(ge=0.001)
    seek_average_ms: Milliseconds = Field(ge=0.001)
    seek_full_stroke_ms: Milliseconds = Field(ge=0.001)
    write_settle_ms: Milliseconds = Field(
        default=0.5,
        ge=0,
        description="what a write's seek takes longer than a read's: the difference of their averages",
    )
    head_switch_ms: Milliseconds | None = Field(
        default=None, ge=0, description="from one track of a cylinder to another; as track to track if absent"
    )
    heads: WholeNumber = Field(default=8, ge=1, le=64, description="tracks of a cylinder")
    overhead_ms: Milliseconds = Field(ge=0, description="controller and bus time per request")
    transfer_mib_per_s: MibPerSecond = Field(ge=0.1)
    queue_depth: WholeNumber = Field(ge=1, le=256, description="requests that the drive itself may reorder (NCQ, TCQ)")
    scheduler: Literal["fcfs", "look", "c-look", "deadline"] = "look"
    """order in which the operating system hands requests to the drive; deadline: upwards, reads before writes"""
    write_cache_mib: Mib = Field(default=0.0, ge=0, le=256)
    """the drive's memory for writes that it says are done before they are on the platter; 0: off"""
    write_cache_sorted: WholeNumber = Field(
        default=22,
        ge=1,
        le=256,
        description="cached writes among which the drive chooses what to write next, or queue_depth if that is more "
        "(22: a 7,200 rpm disk of 2007 does 150 random writes/s, and 72 reads/s one by one)",
    )
    source: Text

    def device(self, name: str) -> DeviceRecord:
        """The disk as the engines know it."""
        revolution_ns = round(60e9 / self.rpm)
        arm = RotatingDevice(
            name=name,
            capacity_bytes=round(self.capacity_gib * GIB),
            revolution_ns=revolution_ns,
            track_bytes=round(self.transfer_mib_per_s * MIB * revolution_ns / 1e9),
            seek_track_ns=round(self.seek_track_to_track_ms * 1e6),
            seek_average_ns=round(self.seek_average_ms * 1e6),
            seek_full_ns=round(self.seek_full_stroke_ms * 1e6),
            overhead_ns=round(self.overhead_ms * 1e6),
            queue_depth=self.queue_depth,
            scheduler=self.scheduler,
            settle_ns=round(self.write_settle_ms * 1e6),
            head_switch_ns=round(
                1e6 * (self.seek_track_to_track_ms if self.head_switch_ms is None else self.head_switch_ms)
            ),
            heads=self.heads,
        )
        cache_bytes = round(self.write_cache_mib * MIB)
        return arm.with_cache(cache_bytes, max(self.write_cache_sorted, self.queue_depth)) if cache_bytes else arm


class FlashDiskSpec(Spec):
    """A volume, or flash of which no more is known: `parallel_requests` at once, each for the latency of its kind."""

    kind: Literal["flash"] = "flash"
    name: Name
    capacity_gib: Gib = Field(gt=0)
    read_latency_us: Microseconds = Field(ge=0.001)
    write_latency_us: Microseconds = Field(ge=0.001)
    parallel_requests: WholeNumber = Field(ge=1, le=4096)
    reads_per_write: WholeNumber | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="reads that go ahead of each write while both wait, as with Linux's deadline scheduler (2); "
        "in order of arrival if absent",
    )
    limits: tuple[RateLimitSpec, ...] = Field(default=(), max_length=4)
    """of a cloud volume: each request passes all of them before it is served"""
    source: Text

    def device(self, name: str) -> DeviceRecord:
        """The disk as the engines know it."""
        return FlashDevice(
            name=name,
            read_ns=round(self.read_latency_us * NS_PER_US),
            write_ns=round(self.write_latency_us * NS_PER_US),
            parallel=self.parallel_requests,
            reads_per_write=self.reads_per_write or 0,
            limits=tuple(map(rate_limit_of, self.limits)),
        )


DiskSpec = Annotated[RotatingDiskSpec | FlashDiskSpec | SsdSpec, Field(discriminator="kind")]
