"""Cloud volumes: what limits make of a device, as a queue whose turns are as long as the limits ask, and a latency.

A limiter lets requests through one by one, each a turn behind the last: a single server of constant service, in front
of servers that there are enough of. So a limited device is taken for one server whose service is a turn; what the
device itself takes beyond a turn is time in which nobody waits for anybody (compare Seidmann, Schweitzer and
Shalev-Oren 1987, several servers as one fast one and a delay).

Where reads and writes have caps of their own, the server is the one that reads pass: of the writes it sees what caps of
both together ask for. A cap of writes makes flushes wait; that it is full, and dirty pages pile up, is a doubt.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from oltpsim.simulator.analytic.reading.record_columns import MachineColumn
from oltpsim.simulator.form import Controllers, DeviceRecord, FlashDevice, RaidSet, RateLimit, System, limits_on, to_s

DATA, LOG, TOGETHER = range(3)
"""places of limits, in the order of `Places` and `Rates`"""


class Rates(NamedTuple):
    """What each limit lets through per second now, requests or MiB: sustained, burst, or in between."""

    data: tuple[float, ...]
    """of each data disk, all of which are alike"""
    log: tuple[float, ...]
    """of a log disk of its own"""
    together: tuple[float, ...]
    """of all volumes of the machine, or of all its controllers"""


NO_LIMITS = Rates((), (), ())


class Places(NamedTuple):
    """The limits of a machine, by where they are; as `Rates`."""

    data: tuple[RateLimit, ...]
    log: tuple[RateLimit, ...]
    together: tuple[RateLimit, ...]

    def rates(self, of: Callable[[RateLimit], float]) -> Rates:
        """A rate for each limit."""
        return Rates(*(tuple(map(of, limits)) for limits in self))


def places_of(system: System) -> Places:
    """Where a machine has limits."""
    storage = system.storage
    log = _log_disk(system)
    together = system.volume_limits or tuple(_limits_of_controllers(system.controllers) if system.controllers else ())
    return Places(limits_on(storage.data_disk), limits_on(log) if log else (), together)


def _limits_of_controllers(controllers: Controllers) -> Iterator[RateLimit]:
    """Limits of equal controllers with equal loads, taken together."""
    for limit in controllers.limits:
        keys = ("per_s", "burst_per_s", "credits", "credits_at_start")
        yield replace(limit, **{key: getattr(limit, key) * controllers.count for key in keys})


def sustained(system: System) -> Rates:
    """What is let through once there are no credits."""
    return places_of(system).rates(lambda limit: limit.per_s)


@dataclass(frozen=True)
class VolumeNumbers:
    """Numbers of data disks behind limits; zeros without limits."""

    is_limited: MachineColumn
    """1: service times are turns at limits"""
    apart_page_s: MachineColumn
    """time of a page's bytes at a second limit, which counts apart, over slices; 0: there is none"""
    delay_s: MachineColumn
    """time of a read beyond its turn; less than 0 if a turn is longer"""
    log_delay_s: MachineColumn
    """time of a flush of the log on a data disk beyond its turn"""
    write_alone_s: MachineColumn
    """response time of a write behind caps that count no reads; 0: writes queue with reads"""
    log_beside_s: MachineColumn
    """time of each data disk that a flush on a device of its own takes, behind one limit for both"""
    log_is_behind: MachineColumn
    """1 if that limit is the tightest: flushes wait among reads"""


def no_volume_numbers() -> VolumeNumbers:
    """Numbers of disks without limits."""
    return VolumeNumbers(*[np.zeros(1)] * 7)


@dataclass(frozen=True)
class Turn:
    """Seconds that limits want between a request and the next: for each, and for each of its bytes if that is more."""

    request_s: float = 0.0
    byte_s: float = 0.0

    def turn_s(self, size_bytes: float) -> float:
        """The turn of a request."""
        return max(self.request_s, size_bytes * self.byte_s)


@dataclass(frozen=True)
class Volumes:
    """Turns at the disks that have limits; None without. A machine's limits count at each of its data disks.

    Of those each disk has an equal part, which a log disk of its own takes from while it flushes. `data`: of reads;
    `data_apart`: of bytes that a second limit counts for itself, over slices; `data_writes`: what writes take of the
    same server's time; `data_flushes`: what a flush of the log there waits for.
    """

    data: Turn | None
    data_apart: Turn
    data_writes: Turn
    data_flushes: Turn
    log: Turn | None
    log_beside: Turn
    """what a flush on a disk of its own takes of the time of each data disk"""


def volumes_of(system: System, rates: Rates) -> Volumes:
    """What the limits make of data disks and log disk at these rates."""
    places, storage, log = places_of(system), system.storage, _log_disk(system)
    together = list(_pairs(places.together, rates.together))
    flash = isinstance(storage.data_disk, FlashDevice)
    disks = len(_disks(storage.devices[0])) * storage.data_devices
    data = [*_pairs(places.data, rates.data), *((limit, rate / disks) for limit, rate in together)] if flash else []
    with_log = [] if system.controllers else together
    behind = [*_pairs(places.log, rates.log), *with_log] if isinstance(log, FlashDevice) else []
    beside = with_log if behind and data else []
    apart = [
        (limit, rate) for limit, rate in data if limit.slice_ns and limit.of == "mib" and limit.direction == "both"
    ]
    flushes, of_both = data, [(limit, rate) for limit, rate in data if limit.direction == "both"]
    if len(apart) < len(of_both):
        data, of_both = ([pair for pair in pairs if pair not in apart] for pairs in (data, of_both))
    else:
        apart = []
    return Volumes(
        data=turn_of(data, write=False) if data else None,
        data_apart=turn_of(apart, write=True),
        data_writes=turn_of(of_both, write=True),
        data_flushes=turn_of(flushes, write=True),
        log=turn_of(behind, write=True) if behind else None,
        log_beside=turn_of([(limit, rate) for limit, rate in beside if limit.direction == "both"], write=True),
    )


def _log_disk(system: System) -> DeviceRecord | None:
    """A disk of the log's own device; a flush goes to one disk of a set, and the next flush mostly to the same."""
    storage = system.storage
    return _disks(storage.devices[storage.log_device])[0] if storage.log_device >= storage.data_devices else None


def _disks(device: DeviceRecord) -> tuple[DeviceRecord, ...]:
    return device.disks if isinstance(device, RaidSet) else (device,)


def _pairs(limits: tuple[RateLimit, ...], rates: tuple[float, ...]) -> Iterator[tuple[RateLimit, float]]:
    return zip(limits, rates, strict=True)


def turn_of(pairs: list[tuple[RateLimit, float]], write: bool) -> Turn:
    """The longest of the turns of a read, or a write, at limits that let through so much per second."""
    counting = [(limit, rate) for limit, rate in pairs if limit.counts(write)]
    return Turn(
        request_s=max((1.0 / rate for limit, rate in counting if limit.of == "requests"), default=0.0),
        byte_s=max((1.0 / rate / _bytes(limit) for limit, rate in counting), default=0.0),
    )


def _bytes(limit: RateLimit) -> int:
    return limit.unit_bytes if limit.of == "requests" else limit.units_of_rate


def least_turn_s(disk: FlashDevice, turn: Turn, size_bytes: float, write: bool) -> float:
    """A turn at a device that may not serve as many requests at once as its limits let through."""
    return max(turn.turn_s(size_bytes), to_s(disk.write_ns if write else disk.read_ns) / disk.parallel)
