"""Disks with an arm, without and with a write cache."""

from dataclasses import asdict, dataclass
from typing import ClassVar

from simulator.form.device import DeviceRecord

SCHEDULERS = ("fcfs", "look", "c-look")
"""orders in which the operating system hands requests to a drive; engines get the number"""


@dataclass(frozen=True)
class RotatingDevice(DeviceRecord):
    """A disk with an arm (reference/disk.py): seek times in ns, `queue_depth` requests reordered by the drive."""

    capacity_bytes: int
    revolution_ns: int
    track_bytes: int
    seek_track_ns: int
    seek_average_ns: int
    seek_full_ns: int
    overhead_ns: int
    queue_depth: int
    scheduler: str
    """one of SCHEDULERS"""
    kind: ClassVar[str] = "rotating"

    def numbers(self) -> dict[str, int]:
        """The scheduler by its place in SCHEDULERS."""
        return super().numbers() | {"scheduler": SCHEDULERS.index(self.scheduler)}

    def with_cache(self, cache_bytes: int, destages_among: int) -> "CachingDevice":
        """The same disk with its write cache on."""
        return CachingDevice(**asdict(self), cache_bytes=cache_bytes, destages_among=destages_among)


@dataclass(frozen=True)
class CachingDevice(RotatingDevice):
    """A disk with an arm whose write cache is on: writes are done when they are in its `cache_bytes`.

    It writes them to the platter later, each time the one of the `destages_among` oldest that the arm reaches first.
    """

    cache_bytes: int = 0
    destages_among: int = 1
