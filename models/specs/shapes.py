"""What can be bought or rented, apart from its price: cloud machines, their volumes, chassis with room for parts."""

from __future__ import annotations

from pydantic import Field

from models.quantities import Fraction, Gib, Kib, MibPerSecond, Microseconds, Number, WholeNumber
from models.specs.base import Name, Spec, Text
from models.specs.machine import CpuSpec, DiskArraySpec


class InstanceSpec(Spec):
    """A cloud machine as it is rented. The limits hold for all of its network volumes together; absent: not known."""

    name: Name
    provider: Name
    cpu: CpuSpec
    memory_gib: Gib = Field(gt=0, le=65536)
    local_disks: DiskArraySpec | None = Field(default=None, description="disks that come with it and go with it")
    volume_requests_per_s: Number | None = Field(default=None, gt=0)
    volume_burst_requests_per_s: Number | None = Field(default=None, gt=0)
    volume_mib_per_s: MibPerSecond | None = Field(default=None, gt=0)
    volume_burst_mib_per_s: MibPerSecond | None = Field(default=None, gt=0)
    volume_burst_s: Number | None = Field(
        default=None, gt=0, description="how long a full bucket lasts at the burst's rate"
    )
    network_gbit_per_s: Number | None = Field(default=None, gt=0)
    hardware_share_lost: Fraction = Field(default=0.0, ge=0, le=0.95)
    source: Text


class VolumeSpec(Spec):
    """A network volume: what one of a size does, and what more of it can be bought."""

    name: Name
    provider: Name
    read_latency_us: Microseconds = Field(gt=0)
    write_latency_us: Microseconds = Field(gt=0)
    parallel_requests: WholeNumber = Field(ge=1, le=4096)
    least_gib: Gib = Field(gt=0)
    most_gib: Gib = Field(gt=0)
    requests_per_s: Number = Field(default=0.0, ge=0, description="whatever the size")
    requests_per_s_per_gib: Number = Field(default=0.0, ge=0)
    least_requests_per_s: Number = Field(default=0.0, ge=0)
    most_requests_per_s: Number = Field(gt=0, description="by size, or bought")
    bought_requests_per_s_per_gib: Number | None = Field(
        default=None, gt=0, description="most that can be bought for each GiB; absent: none can be bought"
    )
    mib_per_s: Number = Field(default=0.0, ge=0)
    mib_per_s_per_gib: Number = Field(default=0.0, ge=0)
    most_mib_per_s: Number = Field(gt=0)
    mib_per_s_is_bought: bool = False
    burst_requests_per_s: Number | None = Field(default=None, gt=0)
    burst_credits_requests: Number = Field(default=0.0, ge=0)
    request_unit_kib: Kib = Field(gt=0, description="what counts as one request, if it is no larger")
    source: Text


class ProcessorChoice(Spec):
    """One kind of processor that goes into a chassis, and how many of them may."""

    cpu: Name = Field(description="entry of the catalogue of cpus")
    cores_each: WholeNumber = Field(ge=1)
    pieces: tuple[WholeNumber, ...] = Field(min_length=1)


class MemoryChoice(Spec):
    """One kind of memory module, and how many of it may be there."""

    module: Name = Field(description="its name in price lists, memory/NAME")
    gib_each: Gib = Field(gt=0)
    pieces: tuple[WholeNumber, ...] = Field(min_length=1)


class DiskChoice(Spec):
    """One kind of disk, and how many of it may be there."""

    disk: Name = Field(description="entry of the catalogue of disks")
    pieces: tuple[WholeNumber, ...] = Field(min_length=1)


class ChassisSpec(Spec):
    """A board in a box with room for parts: a machine is one choice of each kind. Its own price is without them."""

    name: Name
    processors: tuple[ProcessorChoice, ...] = Field(min_length=1)
    memory: tuple[MemoryChoice, ...] = Field(min_length=1)
    disks: tuple[DiskChoice, ...] = Field(min_length=1)
    log_disks: tuple[Name, ...] = Field(default=(), description="disks that may be there for the log alone, or none")
    watts: Number | None = Field(default=None, gt=0)
    source: Text
