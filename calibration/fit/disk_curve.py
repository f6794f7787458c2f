"""Requests/s of a disk by the number in flight, three shapes in closed form.

- flash: a closed network of an interface and dies with constant times (docs/model/ssd.md).
- arms: each sorts what waits for it; requests are spread over them by chance
  (simulator/analytic/reading/disks.py).
- a cache: writes that it takes in and that drain at one rate however many wait.
"""

from __future__ import annotations

import numpy as np

from oltpsim.models.machine import FIRMWARE_SHARE
from oltpsim.simulator.analytic import QUEUES, service_s
from oltpsim.simulator.form import SECTOR_BYTES, FloatArray, RotatingDevice

MOST_INTERFACE = 0.9
"""of a lone request, the interface's part"""
ARM_BYTES, TRACK_BYTES = 500 << 30, 1 << 20
TRACK_SEEK, FULL_SEEK, OVERHEAD_MS = 0.1, 2.0, 0.2
"""of an arm of which the average seek is fitted: the other two by it, and what a controller takes (assumptions)"""
MOST_SORTED = 256
"""requests that a drive takes in"""

Figures = float | FloatArray
"""numbers or arrays of them, of equal length"""


def flash_per_s(in_flight: Figures, lone_us: Figures, dies: Figures, most_per_s: Figures) -> FloatArray:
    """Rate of a closed network of interface and dies, whose arrivals find half of a service left."""
    interface_s = np.minimum(1.0 / most_per_s, MOST_INTERFACE * lone_us / 1e6)
    die_s = (lone_us / 1e6 - interface_s) * (1.0 - FIRMWARE_SHARE)
    seen, low, high = (in_flight - 1.0) / in_flight, np.zeros(()), np.minimum(1.0 / interface_s, dies / die_s)
    for _ in range(50):
        per_s = (low + high) / 2.0
        interface, die = seen * per_s * interface_s, seen * per_s * die_s / dies
        waits_s = interface_s * interface / (1.0 - interface) / 2.0 + die_s * die / (1.0 - die) / 2.0
        is_less = per_s * (lone_us / 1e6 + waits_s) < in_flight
        low, high = np.where(is_less, per_s, low), np.where(is_less, high, per_s)
    return low


def arms_per_s(in_flight: Figures, service_s: tuple[float, ...], among: float, arms: float) -> FloatArray:
    """Rate of arms each of which takes the nearest of the requests that it has, `among` at most.

    `service_s`: an arm's service times for QUEUES of requests.
    """
    at_an_arm = np.minimum(1.0 + (in_flight - 1.0) / arms, among)
    service = np.interp(np.log(at_an_arm), np.log(QUEUES), service_s)
    return np.asarray(arms * in_flight / (in_flight + arms - 1.0) / service)


def cache_per_s(in_flight: Figures, lone_us: Figures, drain_per_s: Figures) -> FloatArray:
    """Rate of writes into a cache that is full before long."""
    return np.minimum(in_flight * 1e6 / lone_us, drain_per_s)


def arm_of(rpm: float, seek_ms: float, track_bytes: int = TRACK_BYTES, settle_ms: float = 0.0) -> RotatingDevice:
    """An arm that sorts all it has, by its average seek: a tenth of that from track to track, twice that at most."""
    seek_ns = round(seek_ms, 3) * 1e6
    return RotatingDevice(
        name="arm",
        capacity_bytes=ARM_BYTES,
        revolution_ns=round(60e9 / rpm),
        track_bytes=track_bytes,
        seek_track_ns=round(TRACK_SEEK * seek_ns),
        seek_average_ns=round(seek_ns),
        seek_full_ns=round(FULL_SEEK * seek_ns),
        overhead_ns=round(OVERHEAD_MS * 1e6),
        queue_depth=MOST_SORTED,
        scheduler="fcfs",
        settle_ns=round(round(settle_ms, 3) * 1e6),
    )


def arm_service_s(arm: RotatingDevice, size_bytes: int = SECTOR_BYTES, write: bool = False) -> tuple[float, ...]:
    """Service time of an arm by the number of requests that it sorts (QUEUES), over its whole stroke."""
    return service_s(arm, ARM_BYTES, size_bytes, write)
