"""Limiters of a machine: which there are, what a request passes, and how long credits last."""

from itertools import accumulate
from typing import NamedTuple

from oltpsim.simulator.form.device import DeviceRecord
from oltpsim.simulator.form.devices import Storage
from oltpsim.simulator.form.flash import FlashDevice
from oltpsim.simulator.form.limits import Controllers, RateLimit

S_PER_MIN = 60.0
ALL_VOLUMES = "all volumes"
"""owner of a machine's limits"""


class Limiters(NamedTuple):
    """All rate limits of a machine, numbered, and where they apply.

    In order: those of devices and of RAID sets' disks, device by device; those of all volumes together; those of
    controllers, controller by controller.
    """

    limits: tuple[RateLimit, ...]
    of_devices: tuple[range, ...]
    """by device: the limits that it has to itself"""
    shared: range
    controllers: tuple[range, ...]
    stages: tuple[tuple[range, ...], ...]
    """by device: what its requests pass one after the other, its own limiters together, then its controller's or the
    machine's"""


def limiters_of(
    storage: Storage, volume_limits: tuple[RateLimit, ...] | None, controllers: Controllers | None = None
) -> Limiters:
    """The limiters of a machine."""
    every = storage.with_disks
    limits = tuple(limit for device in every for limit in limits_on(device))
    ends = accumulate(len(limits_on(device)) for device in every)
    of_devices = tuple(range(end - len(limits_on(device)), end) for device, end in zip(every, ends, strict=True))
    shared = range(len(limits), len(limits) + len(volume_limits or ()))
    limits += (volume_limits or ()) + (controllers.limits * controllers.count if controllers else ())
    width = len(controllers.limits) if controllers else 0
    behind = tuple(range(first, first + width) for first in range(shared.stop, len(limits), max(width, 1)))
    passed = [[mine, shared] for mine in of_devices]
    for number in range(storage.data_devices if controllers else 0):
        for disk in storage.disks_of(number):
            passed[disk][1] = behind[controllers.number_of(number, storage.data_devices)] if controllers else shared
    stages = tuple(
        tuple(stage for stage in pair if stage) if isinstance(device, FlashDevice) else ()
        for pair, device in zip(passed, every, strict=True)
    )
    return Limiters(limits, of_devices, shared, behind, stages)


def limits_on(device: DeviceRecord) -> tuple[RateLimit, ...]:
    """The limits that a device has to itself."""
    return device.limits if isinstance(device, FlashDevice) else ()


def minutes_of_credits(limit: RateLimit, demanded_per_s: float, credits_now: float | None = None) -> float | None:
    """Minutes until the credits run out if so many requests (or MiB) are asked for per second; None if they never do.

    More than `burst_per_s` isn't let through, and credits come back at `per_s` meanwhile: credits / (spent - per_s).
    `credits_now`: what there is; as at the start of a run if not given.
    """
    there = limit.credits_at_start if credits_now is None else credits_now
    spent = min(demanded_per_s, limit.burst_per_s)
    if limit.credits <= 0 or spent <= limit.per_s:
        return None
    return max(there, 0.0) / (spent - limit.per_s) / S_PER_MIN
