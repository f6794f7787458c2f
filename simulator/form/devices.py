"""All kinds of devices, and how the devices of a system are numbered.

The data devices first, then a log device of its own if there is one, then the disks of RAID sets. Pages are striped
over the data devices one by one, or table by table (`extents`). Swap and a shared log lie on device 0.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from oltpsim.simulator.form.device import DeviceRecord
from oltpsim.simulator.form.disk import CachingDevice, RotatingDevice
from oltpsim.simulator.form.flash import FlashDevice
from oltpsim.simulator.form.raid import RaidSet
from oltpsim.simulator.form.ssd import SsdDevice

DEVICES: tuple[type[DeviceRecord], ...] = (
    RotatingDevice,
    CachingDevice,
    FlashDevice,
    RaidSet,
    SsdDevice,
)
"""Every kind."""


@dataclass(frozen=True)
class Storage:
    """Where things are: byte offsets on their devices, and how many I/O calls may be pending per device."""

    devices: tuple[DeviceRecord, ...]
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
    swap_request_bytes: int = 0
    """size of a request that writes to swap; 0: `swap_cluster_pages`"""

    @property
    def swap_out_bytes(self) -> int:
        """Size of a request that writes to swap."""
        return self.swap_request_bytes or self.swap_cluster_pages * self.page_bytes

    @cached_property
    def with_disks(self) -> tuple[DeviceRecord, ...]:
        """The devices, and behind them the disks of those that are RAID sets."""
        return self.devices + tuple(disk for device in self.devices for disk in disks_in(device))

    @property
    def data_disk(self) -> DeviceRecord:
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


def disks_in(device: DeviceRecord) -> tuple[DeviceRecord, ...]:
    """The disks of a RAID set; none of any other device."""
    return device.disks if isinstance(device, RaidSet) else ()
