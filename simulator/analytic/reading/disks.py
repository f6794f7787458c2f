"""Service times of devices by the number of requests that wait.

Arm: the drive takes the one of the requests it holds that it reaches first, so the time to reach it is the least of
as many random ones: the mean of the least of n is the integral of P(later than t) to the power of n. Requests that it
has passed over lie worse than fresh ones do, which costs `PASSED_OVER` more. Beyond the drive's queue the operating
system sorts: the drive works in a band of the file, wider than its share of the queue since it passes requests over.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from oltpsim.simulator.analytic.reading.record_columns import QUEUE_POINTS
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import (
    FLASH_PAGE_BYTES,
    MIB,
    PATIENCE_NS,
    SECTOR_BYTES,
    CachingDevice,
    DeviceRecord,
    FlashDevice,
    FloatArray,
    RaidSet,
    RotatingDevice,
    SsdDevice,
    to_s,
    weighted_sum,
)

LONGEST = 131_072
QUEUES = np.geomspace(1, LONGEST, QUEUE_POINTS)
"""Numbers of waiting requests for which service times are tabulated, even in their logarithms."""
PASSED_OVER = 0.06
"""Measured by simulating the disk alone, 7,200 to 15,000 rpm, 1 to 64 requests: 0 to 8 %"""
BAND_POWER = 0.65
"""Exponent of the band's width in the drive's share of the queue; measured likewise, 64 of 64 to 4,096 requests"""
PLACES, INSTANTS = 64, 400
NS = 1e-9

Disk = RotatingDevice | FlashDevice | SsdDevice


def disk_of(device: DeviceRecord) -> Disk:
    """Disk that a device is, or one of a RAID set's. Raises InputError if there are no formulas for its kind."""
    disk = device.disks[0] if isinstance(device, RaidSet) else device
    if not isinstance(disk, Disk):
        raise InputError(f"{disk.name}: no formulas for a {disk.kind} device; simulate it (--engine kernel)")
    return disk


@lru_cache(maxsize=1 << 12)
def service_s(device: Disk, span_bytes: float, size_bytes: float, write: bool) -> tuple[float, ...]:
    """Mean service time by the number of requests at the device (QUEUES), for places spread over `span_bytes`."""
    if isinstance(device, SsdDevice):
        return tuple(np.full(len(QUEUES), drain_s(device, size_bytes) if write else lone_read_s(device, size_bytes)))
    if not isinstance(device, RotatingDevice):
        time = (device.write_ns if write else device.read_ns) * NS
        return tuple(np.full(len(QUEUES), time))
    transfer = size_bytes / device.track_bytes * device.revolution_ns
    held = np.minimum(QUEUES, _sorted(device, write))
    bands = span_bytes * (held / QUEUES) ** BAND_POWER
    arm = replace(device, name="", overhead_ns=0, settle_ns=device.settle_ns if write else 0)
    # a drive prepares what it holds while the arm is at work; what is destaged lies ready
    unprepared = 0.0 if write and isinstance(device, CachingDevice) else np.clip(2.0 - held, 0.0, 1.0)
    overhead = device.overhead_ns * unprepared
    least = np.array([_least_ns(arm, n, band) for n, band in zip(held.tolist(), bands.tolist(), strict=True)])
    times = least + overhead + transfer
    # requests that lie close: the head passes over what is between them
    apart = span_bytes / QUEUES / device.track_bytes * device.revolution_ns
    along = np.maximum(apart, overhead + transfer)
    if _sorted(device, write) > 1 or device.overhead_ns == 0:
        return tuple(np.minimum(times, along) * NS)
    # one request at a time, in the order on disk: it prepares the next one while the head passes over it, if that lies
    # closer than the overhead lasts, and waits for a whole turn
    turn = device.revolution_ns
    same_track = 1.0 - np.exp(-turn / apart)
    along = apart * same_track - turn * np.exp(-turn / apart) + turn * (1.0 - np.exp(-device.overhead_ns / apart))
    return tuple((along + transfer + (1.0 - same_track) * (times - transfer)) * NS)


def drain_s(ssd: SsdDevice, size_bytes: float) -> float:
    """Time in which all dies program a write at a random place, s."""
    return max(size_bytes, SECTOR_BYTES) / MIB * ssd.drain_mib_ns * NS


def die_s(ssd: SsdDevice, size_bytes: float) -> float:
    """Time of a die for a read of so much of a flash page, s."""
    more = max(min(size_bytes, FLASH_PAGE_BYTES) - SECTOR_BYTES, 0.0)
    return (ssd.die_ns + more / MIB * ssd.channel_mib_ns) * NS


def interface_s(ssd: SsdDevice, size_bytes: float, write: bool) -> float:
    """Time of the interface for a request, s."""
    if write:
        return (ssd.command_write_ns + size_bytes / MIB * ssd.write_mib_ns) * NS
    return (ssd.command_read_ns + size_bytes / MIB * ssd.read_mib_ns) * NS


def lone_read_s(ssd: SsdDevice, size_bytes: float) -> float:
    """Response time of a read from an idle SSD, s."""
    return interface_s(ssd, size_bytes, write=False) + ssd.read_ns * NS + die_s(ssd, size_bytes)


def lone_write_s(ssd: SsdDevice, size_bytes: float) -> float:
    """Response time of a write into an idle SSD's buffer, s."""
    return interface_s(ssd, size_bytes, write=True) + ssd.write_ns * NS


def _sorted(device: RotatingDevice, write: bool) -> int:
    """Requests that the drive chooses among: those that it holds, or of writes those in its cache that it sorts."""
    if write and isinstance(device, CachingDevice):
        return device.destages_among
    return device.queue_depth


@lru_cache(maxsize=256)
def turns(device: Disk, start_bytes: float, span_bytes: float, size_bytes: float) -> tuple[float, ...]:
    """Requests that an arm serves until it takes one at the edge of a file, by how many others are there (QUEUES).

    The arm takes the edge's request when it reaches that before all others, which lie nearer: with the chance that
    none of them is reached in the time for the way to the edge. `start_bytes`: from the edge to the file.
    """
    if not isinstance(device, RotatingDevice):
        return tuple(np.ones(len(QUEUES)))
    t, reached = _reached(replace(device, name="", settle_ns=0), span_bytes)
    places = (np.arange(PLACES) + 0.5) / PLACES * span_bytes + start_bytes
    arrives = _seek_ns(device, places / device.capacity_bytes)[:, None]
    times = arrives + (np.arange(PLACES) + 0.5) / PLACES * device.revolution_ns
    later = 1.0 - np.interp(times, t, reached)
    held = np.minimum(QUEUES, device.queue_depth)
    chance = np.array([float((later**n).mean()) for n in held])
    patience = 1.0 + to_s(PATIENCE_NS) / np.array(service_s(device, span_bytes, size_bytes, write=False))
    return tuple(np.minimum(1.0 / np.maximum(chance, 1e-9), patience))


@lru_cache(maxsize=1 << 14)
def _least_ns(device: RotatingDevice, requests: float, band_bytes: float) -> float:
    """Mean time to reach the nearest of so many requests within a band. A fit asks for one arm's many times."""
    t, reached = _reached(device, band_bytes)
    later = (1.0 - reached) ** requests
    least = float(((later[1:] + later[:-1]) / 2.0).sum() * (t[1] - t[0]))
    return device.overhead_ns + least * (1.0 + PASSED_OVER * (1.0 - 1.0 / requests) ** 3)


@lru_cache(maxsize=1024)
def _reached(device: RotatingDevice, band_bytes: float) -> tuple[FloatArray, FloatArray]:
    """Times, and the chance that the arm has reached a place at random in its band by then.

    The turn that follows a seek of s takes until t with chance min(max(t - s, 0) / T, 1), T a revolution, which is
    (max(t - s, 0) - max(t - T - s, 0)) / T: sums over all seeks that are shorter than t, and than t - T.
    """
    x = (np.arange(PLACES) + 0.5) / PLACES
    weight = 2.0 * (1.0 - x) / PLACES
    weight /= weight.sum()
    seek = np.maximum(_seek_ns(device, x * band_bytes / device.capacity_bytes), device.head_switch_ns)
    cylinder, track = (
        np.clip(1.0 - x * band_bytes / (tracks * device.track_bytes), 0.0, 1.0) for tracks in (device.heads, 1)
    )
    ways_ns = np.concatenate([[float(device.head_switch_ns)], seek]) + device.settle_ns
    t = np.linspace(0.0, float(ways_ns[-1]) + device.revolution_ns, INSTANTS)
    moving = np.concatenate([[float(weighted_sum(cylinder - track, weight))], weight * (1.0 - cylinder)])
    shares, ways = (np.concatenate([[0.0], np.cumsum(each)]) for each in (moving, moving * ways_ns))

    def beyond(times: FloatArray) -> FloatArray:
        shorter = np.searchsorted(ways_ns, times)
        sums: FloatArray = shares[shorter] * times - ways[shorter]
        return sums

    moved = (beyond(t) - beyond(t - device.revolution_ns)) / device.revolution_ns
    on_track = np.minimum(t / device.revolution_ns, 1.0) * float(weighted_sum(track, weight))
    return t, np.clip(moved + on_track, 0.0, 1.0)


def _seek_ns(device: RotatingDevice, fraction: FloatArray) -> FloatArray:
    track, root, linear = _seek_parts_ns(device)
    return track + root * np.sqrt(fraction) + linear * fraction


def _seek_parts_ns(device: RotatingDevice) -> tuple[float, float, float]:
    """Constant, factor of the root and linear factor of the seek time, as simulator/reference/disk.py explains them."""
    over_track = device.seek_average_ns - device.seek_track_ns
    full = device.seek_full_ns - device.seek_track_ns
    root = min(max((over_track - full / 3.0) / (8.0 / 15.0 - 1.0 / 3.0), 0.0), float(full))
    return float(device.seek_track_ns), root, full - root
