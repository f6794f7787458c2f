"""Disks with an arm, without and with a write cache."""

from dataclasses import asdict, dataclass, replace
from typing import Annotated, ClassVar

from oltpsim.simulator.form.device import DeviceRecord

PATIENCE_NS = 1_000_000_000
"""A request that the drive has held this long goes first, so that none starves (assumption: firmware ages requests)."""
SCHEDULERS = ("fcfs", "look", "c-look", "deadline")
"""orders in which the operating system hands requests to a drive"""
Scheduler = Annotated[str, SCHEDULERS]


@dataclass(frozen=True)
class RotatingDevice(DeviceRecord):
    """A disk with an arm (reference/disk.py): seek times in ns, `queue_depth` requests reordered by the drive.

    `settle_ns`: what a write waits longer than a read after its head has come to another track.
    """

    capacity_bytes: int
    revolution_ns: int
    track_bytes: int
    seek_track_ns: int
    seek_average_ns: int
    seek_full_ns: int
    overhead_ns: int
    queue_depth: int
    scheduler: Scheduler
    settle_ns: int = 0
    head_switch_ns: int = 0
    heads: int = 8
    """tracks of a cylinder"""
    kind: ClassVar[str] = "rotating"

    def with_cache(self, cache_bytes: int, destages_among: int) -> "CachingDevice":
        """The same disk with its write cache on."""
        return CachingDevice(**asdict(self), cache_bytes=cache_bytes, destages_among=destages_among)

    def behind_controller(self, cache_bytes: int, destages_among: int, cache_ns: int) -> "CachingDevice":
        """The same disk with so much of a controller's cache before it, in which a write is after `cache_ns`."""
        return replace(self.with_cache(cache_bytes, destages_among), cache_ns=cache_ns, by_controller=1)


@dataclass(frozen=True)
class CachingDevice(RotatingDevice):
    """A disk with an arm whose write cache is on: writes are done when they are in its `cache_bytes`.

    It writes them to the platter later, each time the one of the `destages_among` oldest that the arm reaches first.
    With `by_controller` 1 the cache is the disk's part of a RAID controller's: a write is in it after `cache_ns` (of a
    drive: its overhead), also one that has to be read before it is written, and joins a cached one that ends there.
    """

    cache_bytes: int = 0
    destages_among: int = 1
    cache_ns: int = 0
    by_controller: int = 0

    @property
    def in_cache_ns(self) -> int:
        """Time until a write is in the cache."""
        return self.cache_ns if self.by_controller else self.overhead_ns
