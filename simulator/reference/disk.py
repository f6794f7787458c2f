"""A disk with an arm: seek, rotation, transfer, and which of the requests that it holds the drive serves next.

Seek time over the fraction x of the full stroke: track-to-track + b sqrt(x) + c x, with b and c such that the mean over
random pairs (density 2(1-x)) and the full stroke are the data sheet's. Within a cylinder another head takes over, which
takes a time of its own; a seek lasts at least as long. A write that changed track waits until the head has settled: it
must not stray, where a read may try. The drive prepares a command as soon as it has it, while the arm is at work: what
is left of the overhead counts. The platter turns all the time: the rotational wait follows from when the head is
ready and where the data lies on the track.
Sources: the curve, Lee and Katz, "An analytic performance model of disk arrays", SIGMETRICS 1993; settling and head
switches, Ruemmler and Wilkes, "An introduction to disk drive modeling", IEEE Computer 1994; shortest positioning time
first: Worthington, Ganger, Patt, SIGMETRICS 1994.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import simpy

from oltpsim.simulator.form import PATIENCE_NS, RotatingDevice
from oltpsim.simulator.reference.device import REWRITE, WRITE, DeviceStation, Request
from oltpsim.simulator.reference.io_scheduler import IoScheduler
from oltpsim.simulator.reference.limits import RateLimiter
from oltpsim.simulator.reference.stations import Environment, Story

ROUNDING_TURNS = 1e-9
"""Data that the head has just reached is not missed for a whole turn because of a rounded sum."""


class Transfer(NamedTuple):
    """Bytes that the arm is to read or write for a request; `since_ns`: since when the drive has held them."""

    byte: int
    size_bytes: int
    since_ns: float
    request: Request


class DiskMechanics:
    """Times of a disk, ns as floats; only whole services are rounded. Bytes are offsets from the disk's beginning."""

    def __init__(self, device: RotatingDevice) -> None:
        over_track = device.seek_average_ns - device.seek_track_ns
        full = device.seek_full_ns - device.seek_track_ns
        root = (over_track - full / 3.0) / (8.0 / 15.0 - 1.0 / 3.0)
        self.capacity_bytes, self.track_bytes = float(device.capacity_bytes), float(device.track_bytes)
        self.heads = float(device.heads)
        self.revolution_ns = device.revolution_ns
        self.seek_track_ns = float(device.seek_track_ns)
        self.seek_root_ns = min(max(root, 0.0), float(full))
        self.seek_linear_ns = full - self.seek_root_ns
        self.overhead_ns = float(device.overhead_ns)
        self.settle_ns = float(device.settle_ns)
        self.head_switch_ns = float(device.head_switch_ns)

    def seek_ns(self, start_byte: int, end_byte: int, write: bool = False) -> float:
        """Time until a head is on the track of the second byte, coming from that of the first."""
        start_track, end_track = (math.floor(byte / self.track_bytes) for byte in (start_byte, end_byte))
        if start_track == end_track:
            return 0.0
        settle_ns = self.settle_ns if write else 0.0
        if math.floor(start_track / self.heads) == math.floor(end_track / self.heads):
            return self.head_switch_ns + settle_ns
        x = min(1.0, abs(end_byte - start_byte) / self.capacity_bytes)
        seek_ns = self.seek_track_ns + self.seek_root_ns * math.sqrt(x) + self.seek_linear_ns * x
        return max(seek_ns, self.head_switch_ns) + settle_ns

    def positioning_ns(
        self, arm_byte: int, byte: int, angle: float, write: bool = False, overhead_ns: float | None = None
    ) -> float:
        """Overhead, seek and rotation until the data is under the head; `angle` is the platter's now, in turns.

        `overhead_ns`: what is left of it, all if None.
        """
        left_ns = self.overhead_ns if overhead_ns is None else overhead_ns
        ready = left_ns + self.seek_ns(arm_byte, byte, write)
        turn = byte / self.track_bytes - angle - ready / self.revolution_ns + ROUNDING_TURNS
        return ready + (turn - math.floor(turn)) * self.revolution_ns

    def overhead_left_ns(self, transfer: Transfer, now: int) -> float:
        """What the drive has still to do to prepare a command; nothing for what it has in its cache."""
        return max(transfer.since_ns + self.overhead_ns - now, 0.0) if math.isfinite(transfer.since_ns) else 0.0

    def angle_at(self, now: int) -> float:
        """How far the platter has turned at an instant, 0 to 1."""
        return now % self.revolution_ns / self.revolution_ns

    def transfer_ns(self, size_bytes: int) -> float:
        """Time for the data to pass under the head."""
        return size_bytes / self.track_bytes * self.revolution_ns

    def rewrite_ns(self, size_bytes: int) -> int:
        """What it takes longer to read a place and write it than to read it: turns until its first sector is back."""
        return max(math.ceil(size_bytes / self.track_bytes), 1) * self.revolution_ns

    def pick(self, held: Sequence[Transfer], arm_byte: int, now: int) -> tuple[int, int]:
        """Which of the transfers to serve next, and for how long in ns: the one with the shortest positioning time."""
        angle = self.angle_at(now)
        times = [
            self.positioning_ns(arm_byte, one.byte, angle, one.request.write == WRITE, self.overhead_left_ns(one, now))
            for one in held
        ]
        chosen = times.index(min(times))
        oldest = min(range(len(held)), key=lambda number: held[number].since_ns)
        if now - held[oldest].since_ns > PATIENCE_NS:
            chosen = oldest
        return chosen, int(times[chosen] + self.transfer_ns(held[chosen].size_bytes))


class RotatingStation(DeviceStation):
    """One arm, two queues.

    The operating system hands requests to the drive in its scheduler's order; the drive, which holds up to
    `queue_depth` of them, takes the one with the shortest positioning time.
    """

    def __init__(
        self, env: Environment, device: RotatingDevice, calls: int, limits: Sequence[Sequence[RateLimiter]] = ()
    ) -> None:
        super().__init__(env, device, calls, limits)
        self.depth = device.queue_depth
        self.mechanics = DiskMechanics(device)
        self.scheduler = IoScheduler(device.scheduler)
        self.held: list[Transfer] = []
        self.arm_byte = 0
        self.idle: simpy.Event | None = None
        env.process(self._serve())

    def _enqueue(self, request: Request) -> None:
        self.scheduler.add(request)
        self._wake()

    def _wake(self) -> None:
        if self.idle is not None:
            self.idle.succeed()
            self.idle = None

    def _hold(self, request: Request) -> None:
        """The drive holds a request until the arm has served it."""
        self.held.append(Transfer(request.byte, request.size_bytes, self.env.now, request))

    def _let_go(self, transfers: list[Transfer], chosen: int) -> Transfer:
        """The arm has served one of the transfers: the last takes its place."""
        transfers[chosen], transfers[-1] = transfers[-1], transfers[chosen]
        served = transfers.pop()
        self.arm_byte = served.byte + served.size_bytes
        return served

    def _serve(self) -> Story:
        env = self.env
        while True:
            while len(self.held) < self.depth and len(self.scheduler):
                self._hold(self.scheduler.take())
            if not self.held:
                self.busy.change(env.now, -self.busy.value)
                self.idle = env.event()
                yield self.idle
                self.busy.change(env.now, 1)
                continue
            if not self.busy.value:
                self.busy.change(env.now, 1)
            chosen, service_ns = self.mechanics.pick(self.held, self.arm_byte, env.now)
            if self.held[chosen].request.write == REWRITE:
                service_ns += self.mechanics.rewrite_ns(self.held[chosen].size_bytes)
            yield env.timeout(service_ns)
            self._complete(self._let_go(self.held, chosen).request, service_ns)
