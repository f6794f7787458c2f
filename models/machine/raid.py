"""RAID sets and arrays of equal disks, and the controllers that they hang on."""

from typing import Literal, NamedTuple

from pydantic import Field

from oltpsim.models.input import Kib, Mib, Microseconds, Spec, Text, WholeNumber
from oltpsim.models.machine.disk import DiskSpec
from oltpsim.models.machine.volume import RateLimitSpec, rate_limit_of
from oltpsim.simulator.form import KIB, MIB, NS_PER_US, Controllers, DeviceRecord, RaidSet, RotatingDevice


class RaidLayout(NamedTuple):
    """How a RAID level keeps data: by copies, or by parity units in each stripe; and how many disks it takes."""

    copies: int
    parities: int
    least_disks: int


RAID_LAYOUTS = {
    "raid0": RaidLayout(copies=1, parities=0, least_disks=2),
    "raid1": RaidLayout(copies=2, parities=0, least_disks=2),
    "raid10": RaidLayout(copies=2, parities=0, least_disks=4),
    "raid5": RaidLayout(copies=1, parities=1, least_disks=3),
    "raid6": RaidLayout(copies=1, parities=2, least_disks=4),
}
"""Source of the levels: Patterson, Gibson, Katz, SIGMOD 1988. RAID 10: RAID 0 over pairs; RAID 1: a copy on each."""


class ControllerCacheSpec(Spec):
    """Memory of a RAID controller with a battery: writes are done when they are in it, and go to the disks later.

    While it is full, writes wait for what the disks take, which is more than they would take one by one: each disk
    writes the one of `sorted_per_disk` that its arm reaches first, and writes that follow each other on it are one.
    Without a battery, or with an empty one, controllers write through: then leave it out.
    """

    mib: Mib = Field(gt=0, le=65536, description="for writes, of one RAID set; copies and parity need no room of it")
    write_us: Microseconds = Field(default=40.0, ge=0)
    """until a write is in it (Percona's blog of 2019-09-19: 43 us for a commit's flush behind such a cache)"""
    sorted_per_disk: WholeNumber = Field(default=64, ge=1, le=256)
    """cached writes among which the controller chooses what a disk writes next (assumption)"""
    source: Text


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
    controller_cache: ControllerCacheSpec | None = Field(default=None, description="of a RAID set of disks with arms")
    controllers: WholeNumber = Field(default=0, ge=0, le=512)
    """equal controllers (storage arrays) that the sets or disks are dealt to in order; 0: none"""
    controller_limits: tuple[RateLimitSpec, ...] = Field(default=(), max_length=4)
    """what one controller lets through to its disks, in requests or MiB"""

    @property
    def layout(self) -> RaidLayout | None:
        """How the RAID set keeps data; None for independent disks."""
        layout = RAID_LAYOUTS.get(self.level)
        mirrors = max(self.count // self.sets, 2)
        return layout._replace(copies=mirrors) if layout and self.level == "raid1" else layout

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
    disks_each = array.count // array.sets
    names = [f" {number + 1}" for number in range(array.sets)] if array.sets > 1 else [""]
    return tuple(
        RaidSet(
            f"{array.level_name} set{name}",
            tuple(_disk_of_set(array, layout, f"disk {n + 1} of the set{name}") for n in range(disks_each)),
            round(array.stripe_kib * KIB),
            layout.copies,
            layout.parities,
        )
        for name in names
    )


def _disk_of_set(array: DiskArraySpec, layout: RaidLayout, name: str) -> DeviceRecord:
    """A disk of a set, with its part of the controller's cache: each has what it holds, copies and parity too."""
    disk, cache = array.disk.device(name), array.controller_cache
    if cache is None or not isinstance(disk, RotatingDevice):
        return disk
    room = cache.mib * MIB * layout.copies * (1 + layout.parities) / (array.count // array.sets)
    return disk.behind_controller(round(room), cache.sorted_per_disk, round(cache.write_us * NS_PER_US))


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
