"""The mechanics of a disk with an arm: seek, rotation, transfer, and which request the drive takes next.

Seek time over the fraction x of the full stroke: track-to-track + b sqrt(x) + c x, with b and c such that the
mean over random pairs (density 2(1-x)) and the full stroke are the data sheet's. The platter turns all the
time: the rotational wait follows from when the arm arrives and where the data lies on the track.
Sources: Ruemmler and Wilkes, "An introduction to disk drive modeling", IEEE Computer 1994; shortest positioning
time first: Worthington, Ganger, Patt, SIGMETRICS 1994.
"""

# pyright: reportReturnType=false
# compiled code must say np.int64 where a plain int would become unsigned or float

import math

import numpy as np

from simulator.form import FloatArray, RotatingDevice
from simulator.kernel.compiled import compiled

WINDOW_ROWS = 4
ROUNDING_TURNS = 1e-9
"""Data that the head has just reached is not missed for a whole turn because of a rounded sum."""

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
CACHE_BLOCK_BYTES = 4096
"""A write takes at least this of a drive's cache (assumption: firmware manages it in blocks or segments)."""
PATIENCE_NS = 1_000_000_000
"""A request that the drive has held this long goes first, so that none starves (assumption: firmware ages requests)."""


def geometry(device: RotatingDevice) -> FloatArray:
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
def seek_ns(disk: FloatArray, start_byte: float, end_byte: float) -> float:
    """Time to move the arm between the cylinders of two byte offsets."""
    x = min(1.0, abs(end_byte - start_byte) / disk[CAPACITY_BYTES])
    same = np.floor(start_byte / disk[CYLINDER_BYTES]) == np.floor(end_byte / disk[CYLINDER_BYTES])
    return 0.0 if same else disk[SEEK_TRACK_NS] + disk[SEEK_ROOT_NS] * math.sqrt(x) + disk[SEEK_LINEAR_NS] * x


@compiled
def positioning_ns(disk: FloatArray, arm_byte: float, byte: float, angle: float) -> float:
    """Overhead, seek and rotation until the data is under the head; `angle` is the platter's now, in revolutions."""
    ready = disk[OVERHEAD_NS] + seek_ns(disk, arm_byte, byte)
    turn = byte / disk[TRACK_BYTES] - angle - ready / disk[REVOLUTION_NS] + ROUNDING_TURNS
    return ready + (turn - np.floor(turn)) * disk[REVOLUTION_NS]


@compiled
def angle_at(disk: FloatArray, now: int) -> float:
    """How far the platter has turned at a time, 0 to 1."""
    return now % np.int64(disk[REVOLUTION_NS]) / disk[REVOLUTION_NS]


@compiled
def transfer_ns(disk: FloatArray, size_bytes: float) -> float:
    """Time for the data to pass under the head."""
    return size_bytes / disk[TRACK_BYTES] * disk[REVOLUTION_NS]


@compiled
def again_ns(disk: FloatArray, size_bytes: int) -> int:
    """What it takes longer to read a place and write it than to read it: turns until its first sector is back."""
    return np.int64(max(math.ceil(size_bytes / disk[TRACK_BYTES]), 1) * disk[REVOLUTION_NS])


@compiled
def room_taken(size_bytes: int) -> int:
    """What a write takes of a drive's cache, in bytes."""
    return max(size_bytes, CACHE_BLOCK_BYTES)


def most_writes(cache_bytes: int) -> int:
    """Writes that a drive's cache may have at once; a single one may be larger than the cache."""
    return cache_bytes // CACHE_BLOCK_BYTES + 1


@compiled
def pick(disk: FloatArray, queue: FloatArray, count: int, arm_byte: int, now: int) -> tuple[int, int]:
    """Which of `count` requests to serve next, and for how long in ns.

    `queue` has a row each for bytes, sizes in bytes, arrivals at the drive in ns, and one to work in.
    """
    angle, arm = angle_at(disk, now), float(arm_byte)
    bytes_, arrivals, times = queue[0], queue[2], queue[3]
    for i in range(count):
        times[i] = positioning_ns(disk, arm, bytes_[i], angle)
    best, oldest = 0, 0
    for i in range(count):
        if arrivals[i] < arrivals[oldest]:
            oldest = i
        if times[i] < times[best]:
            best = i
    if now - arrivals[oldest] > PATIENCE_NS:
        best = oldest
    return best, np.int64(times[best] + transfer_ns(disk, queue[1, best]))
