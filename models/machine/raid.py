"""RAID sets and arrays of equal disks, and the controllers that they hang on."""

from typing import Literal, NamedTuple

from pydantic import Field

from models.input import Kib, Spec, WholeNumber
from models.machine.disk import DiskSpec
from models.machine.volume import RateLimitSpec, rate_limit_of
from simulator.form import KIB, Controllers, DeviceRecord, RaidSet


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
"""Source of the levels: Patterson, Gibson, Katz, SIGMOD 1988; RAID 10 is RAID 0 over pairs."""


class DiskArraySpec(Spec):
    """Equal disks under the data.

    Independent ones are striped page by page by the database, one file on each; a RAID set is one device to the
    operating system, with one file on it; `sets` of them are striped page by page, too.
    """

    disk: DiskSpec
    count: WholeNumber = Field(ge=1, le=1024)
    level: Literal["independent", "raid0", "raid1", "raid10", "raid5", "raid6"] = "independent"
    """independent disks, or the level of the RAID set that they are"""
    stripe_kib: Kib = Field(default=64.0, ge=1, le=65536)
    """what a RAID set puts on one disk before it goes on to the next (assumption: 64 KiB)"""
    sets: WholeNumber = Field(default=1, ge=1, le=512)
    """equal RAID sets that the disks make, each a device (partition, LUN) with a file of the database"""
    controllers: WholeNumber = Field(default=0, ge=0, le=512)
    """equal controllers (storage arrays) that the sets or disks are dealt to in order; 0: none"""
    controller_limits: tuple[RateLimitSpec, ...] = Field(default=(), max_length=4)
    """what one controller lets through to its disks, in requests or MiB"""

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


def data_devices(array: DiskArraySpec) -> tuple[DeviceRecord, ...]:
    """Devices as the operating system sees them: disks, or RAID sets."""
    layout = array.layout
    if layout is None:
        return tuple(array.disk.device(f"disk {number + 1}") for number in range(array.count))
    names = [f" {number + 1}" for number in range(array.sets)] if array.sets > 1 else [""]
    return tuple(
        RaidSet(
            f"{array.level_name} set{name}",
            tuple(array.disk.device(f"disk {n + 1} of the set{name}") for n in range(array.count // array.sets)),
            round(array.stripe_kib * KIB),
            layout.copies,
            layout.parities,
        )
        for name in names
    )


def log_device(disk: DiskSpec, count: int, stripe_bytes: int) -> DeviceRecord:
    """The log's own device: a disk, or a set that is striped (RAID 0)."""
    if count == 1:
        return disk.device("log disk")
    disks = tuple(disk.device(f"disk {number + 1} of the log set") for number in range(count))
    return RaidSet("log set", disks, stripe_bytes)


def controllers_of(array: DiskArraySpec) -> Controllers | None:
    """Storage controllers with their limits; None without."""
    limits = tuple(map(rate_limit_of, array.controller_limits))
    return Controllers(array.controllers, limits) if limits else None
