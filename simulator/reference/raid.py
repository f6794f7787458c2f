"""The reference engine's devices: disks, and RAID sets, which hand requests to their disks."""

import simpy

from simulator.form import CachingDevice, Device, FlashDevice, IntArray, Limiters, RaidSet, Storage
from simulator.kernel import raid
from simulator.kernel.rate_limits import Throttle
from simulator.reference.arms import CachingStation, RotatingStation
from simulator.reference.stations import DeviceStation, Environment, FlashStation, Request


class RaidStation(DeviceStation):
    """A controller: it hands each request to the disks where its bytes lie; the request is done with the last part."""

    def __init__(self, env: Environment, device: RaidSet, calls: int) -> None:
        super().__init__(env, device, calls)
        self.set = device
        self.places = len(device.disks) // device.copies
        self.disks: list[DeviceStation] = []

    def _enqueue(self, request: Request) -> None:
        layout = self.places, self.set.parities, self.set.unit_bytes
        size = max(request.size_bytes, 1)  # a flush of the log whose bytes another one took along still goes somewhere
        asked = raid.asked_of_disks(*layout, request.byte, size, request.write)
        parts = []
        for place in range(self.places):
            low, high = raid.part_at(place, *layout, request.byte, size, request.write)
            if high:
                parts += [
                    disk.submit(low, high - low, asked, request.purpose) for disk in self._asked(place, low, asked)
                ]
        left = len(parts)

        def one_less(_: simpy.Event) -> None:
            nonlocal left
            left -= 1
            if not left:
                self._complete(request, 0)

        for part in parts:
            part.callbacks.append(one_less)

    def _asked(self, place: int, byte: int, asked: int) -> list[DeviceStation]:
        """All copies of a write; for a read the one with the shorter queue, in turns if they are equal."""
        copies = self.set.copies
        pair = self.disks[place * copies : (place + 1) * copies]
        if asked:
            return pair
        first = pair[raid.first_copy(copies, self.set.unit_bytes, byte)]
        return [min([first, *pair], key=lambda disk: disk.queue_length.value)]


def new_devices(env: Environment, storage: Storage, limiters: Limiters, rows: IntArray) -> list[DeviceStation]:
    """The stations of all devices, and behind them those of RAID sets' disks; `rows` are the limiters' clocks."""
    stations = [
        new_device(env, device, storage.requests_per_device, tuple(Throttle(rows, stage) for stage in stages))
        for device, stages in zip(storage.with_disks, limiters.stages, strict=True)
    ]
    for number, station in enumerate(stations):
        if isinstance(station, RaidStation):
            disks = storage.disks_of(number)
            station.disks = stations[disks.start : disks.stop]
    return stations


def new_device(env: Environment, device: Device, calls: int, throttles: tuple[Throttle, ...] = ()) -> DeviceStation:
    """The station of one device."""
    if isinstance(device, RaidSet):
        return RaidStation(env, device, calls)
    if isinstance(device, FlashDevice):
        return FlashStation(env, device, calls, throttles)
    if isinstance(device, CachingDevice):
        return CachingStation(env, device, calls)
    return RotatingStation(env, device, calls)
