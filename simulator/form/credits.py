"""Limits of cloud volumes: which there are, and how long credits last. For every engine and for advice."""

from __future__ import annotations

from simulator.form.model import Controllers, Device, LimitedDevice, RateLimit, Storage

S_PER_MIN = 60.0
ALL_VOLUMES = "all volumes"
"""whose a machine's limits are"""


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


def each_limit(
    storage: Storage, volume_limits: tuple[RateLimit, ...] | None, controllers: Controllers | None
) -> tuple[RateLimit, ...]:
    """All limits of a machine: of its devices, device by device, of all volumes together, controller by controller."""
    own = (limit for device in storage.with_disks for limit in limits_on(device))
    return (*own, *(volume_limits or ()), *(controllers.limits * controllers.count if controllers else ()))


def limits_on(device: Device) -> tuple[RateLimit, ...]:
    """The limits that a device has for itself."""
    return device.limits if isinstance(device, LimitedDevice) else ()
