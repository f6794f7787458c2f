"""Storage: the stations of all devices, and where on them the database's pages lie."""

from collections.abc import Sequence

import simpy

from oltpsim.simulator.form import (
    CachingDevice,
    DeviceRecord,
    FlashDevice,
    RaidSet,
    RotatingDevice,
    SsdDevice,
    Storage,
    System,
    extent_of,
)
from oltpsim.simulator.reference.device import DOUBLEWRITE, FLUSH, WRITE, DeviceStation
from oltpsim.simulator.reference.disk import RotatingStation
from oltpsim.simulator.reference.flash import FlashStation
from oltpsim.simulator.reference.limits import RateLimiter
from oltpsim.simulator.reference.raid import RaidStation
from oltpsim.simulator.reference.ssd import SsdStation
from oltpsim.simulator.reference.stations import Environment, Story
from oltpsim.simulator.reference.throttle import ThrottledFlashStation
from oltpsim.simulator.reference.write_cache import CachingStation

STATIONS: dict[type[DeviceRecord], type[DeviceStation]] = {
    RotatingDevice: RotatingStation,
    CachingDevice: CachingStation,
    FlashDevice: FlashStation,
    RaidSet: RaidStation,
    SsdDevice: SsdStation,
}
"""The switchboard from a kind of device to the station that it is."""


def new_device(
    env: Environment, device: DeviceRecord, calls: int, limits: Sequence[Sequence[RateLimiter]] = ()
) -> DeviceStation:
    """The station of one device; `limits`: what its requests pass, one stage after the other."""
    if isinstance(device, FlashDevice) and any(
        limiter.limit.direction != "both" for stage in limits for limiter in stage
    ):
        return ThrottledFlashStation(env, device, calls, limits)
    return STATIONS[type(device)](env, device, calls, limits)


def new_devices(
    env: Environment, storage: Storage, limiters: Sequence[RateLimiter], stages: Sequence[Sequence[range]]
) -> list[DeviceStation]:
    """The stations of all devices, and behind them those of RAID sets' disks.

    `stages`: by device, the numbers of the limiters that its requests pass, one stage after the other.
    """
    stations = [
        new_device(env, device, storage.requests_per_device, [limiters[stage.start : stage.stop] for stage in passed])
        for device, passed in zip(storage.with_disks, stages, strict=True)
    ]
    for number, station in enumerate(stations):
        if isinstance(station, RaidStation):
            disks = storage.disks_of(number)
            station.disks = stations[disks.start : disks.stop]
    return stations


class DataFiles:
    """The database's pages on the data devices. A run of pages lies side by side on one device."""

    def __init__(self, system: System, devices: list[DeviceStation]) -> None:
        self.storage, self.placement, self.devices = system.storage, system.placement, devices
        self.has_doublewrite = system.writing.doubled
        self.syncs_victims = system.writing.doubled or (system.writing.synced and not system.direct_io)

    def device_of(self, page: int) -> int:
        """The number of the device where a page lies."""
        return extent_of(self.placement, page).device_of(page)

    def _place(self, page: int) -> tuple[DeviceStation, int]:
        """The device and the byte where a page lies."""
        extent = extent_of(self.placement, page)
        byte = self.storage.data_start_bytes + extent.bytes_before(page, self.storage.page_bytes)
        return self.devices[extent.device_of(page)], byte

    def submit(self, run: range, write: int, purpose: str, synced: bool = False) -> simpy.Event:
        """One request for a run of pages; the event returned is triggered when it is done."""
        device, byte = self._place(run.start)
        return device.submit(byte, len(run) * self.storage.page_bytes, write, purpose, synced)

    def flush(self, page: int, purpose: str) -> simpy.Event:
        """A flush alone of the device where a page lies."""
        device, _ = self._place(page)
        return device.submit(0, 0, FLUSH, purpose)

    def write_copies(self, page: int, pages: int) -> simpy.Event:
        """One request for doublewrite copies of so many pages, before the data on the device of the first."""
        device, _ = self._place(page)
        return device.submit(self._copies_byte(pages), pages * self.storage.page_bytes, WRITE, DOUBLEWRITE, synced=True)

    def _copies_byte(self, pages: int) -> int:
        return max(self.storage.data_start_bytes - pages * self.storage.page_bytes, 0)

    def call(self, page: int, write: int, purpose: str, doubled: bool = False) -> Story:
        """A call of the database for one page, or its copy, which waits for a free file descriptor first."""
        device, byte = self._place(page)
        if doubled:
            byte, purpose = self._copies_byte(1), DOUBLEWRITE
        synced = self.syncs_victims and write == WRITE
        yield from device.call(byte, self.storage.page_bytes, write, purpose, synced)
