"""The mechanics of a disk with an arm: seek, rotation, transfer, and which request the drive takes next.

Seek time over the fraction x of the full stroke: track-to-track + b sqrt(x) + c x, with b and c such that the
mean over random pairs (density 2(1-x)) and the full stroke are the data sheet's. The platter turns all the
time: the rotational wait follows from when the arm arrives and where the data lies on the track.
Sources: Ruemmler and Wilkes, "An introduction to disk drive modeling", IEEE Computer 1994; shortest positioning
time first: Worthington, Ganger, Patt, SIGMETRICS 1994.
"""

# pyright: reportReturnType=false
# compiled code must say np.int64 where a plain int would become unsigned or float

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from simulator.compiled import compiled
from simulator.model import RotatingDevice

# Entries of the geometry
(
    CAPACITY_BYTES,
    TRACK_BYTES,
    CYLINDER_BYTES,
    REVOLUTION_NS,
    SEEK_TRACK_NS,
    SEEK_ROOT_NS,
    SEEK_LINEAR_NS,
    OVERHEAD_NS,
) = range(8)
TRACKS_PER_CYLINDER = 8
"""assumption: four platters"""
PATIENCE_NS = 1_000_000_000
"""A request that the drive has held this long goes first, so that none starves (assumption: firmware ages requests)."""


def geometry(device: RotatingDevice) -> npt.NDArray[np.float64]:
    """The device's constants as the array that the compiled functions read."""
    over_track = device.seek_average_ns - device.seek_track_ns
    full = device.seek_full_ns - device.seek_track_ns
    root = (over_track - full / 3.0) / (8.0 / 15.0 - 1.0 / 3.0)
    root = min(max(root, 0.0), float(full))
    return np.array(
        [
            device.capacity_bytes,
            device.track_bytes,
            device.track_bytes * TRACKS_PER_CYLINDER,
            device.revolution_ns,
            device.seek_track_ns,
            root,
            full - root,
            device.overhead_ns,
        ],
        dtype=np.float64,
    )


@compiled
def seek_ns(disk: npt.NDArray[np.float64], start_byte: int, end_byte: int) -> float:
    """Time to move the arm between the cylinders of two byte offsets."""
    if start_byte // disk[CYLINDER_BYTES] == end_byte // disk[CYLINDER_BYTES]:
        return 0.0
    x = min(1.0, abs(end_byte - start_byte) / disk[CAPACITY_BYTES])
    return disk[SEEK_TRACK_NS] + disk[SEEK_ROOT_NS] * math.sqrt(x) + disk[SEEK_LINEAR_NS] * x


@compiled
def positioning_ns(disk: npt.NDArray[np.float64], arm_byte: int, byte: int, now: int) -> float:
    """Overhead, seek and rotation until the data is under the head."""
    ready = disk[OVERHEAD_NS] + seek_ns(disk, arm_byte, byte)
    revolution = disk[REVOLUTION_NS]
    angle = (now + ready) % revolution
    target = (byte % disk[TRACK_BYTES]) / disk[TRACK_BYTES] * revolution
    return ready + (target - angle) % revolution


@compiled
def transfer_ns(disk: npt.NDArray[np.float64], size_bytes: int) -> float:
    """Time for the data to pass under the head."""
    return size_bytes / disk[TRACK_BYTES] * disk[REVOLUTION_NS]


@compiled
def pick(
    disk: npt.NDArray[np.float64], queue: npt.NDArray[np.int64], count: int, arm_byte: int, now: int
) -> tuple[int, int]:
    """Which of `count` requests, rows (byte, size in bytes, arrival at the drive), to serve next, and for how long."""
    best, best_ns, oldest = 0, math.inf, 0
    for i in range(count):
        if queue[i, 2] < queue[oldest, 2]:
            oldest = i
        time_ns = positioning_ns(disk, arm_byte, queue[i, 0], now)
        if time_ns < best_ns:
            best, best_ns = i, time_ns
    if now - queue[oldest, 2] > PATIENCE_NS:
        best = oldest
        best_ns = positioning_ns(disk, arm_byte, queue[oldest, 0], now)
    return best, np.int64(best_ns + transfer_ns(disk, queue[best, 1]))
