"""A disk's requests/s by the number in flight, from a few measured points: three kinds of disk in closed form.

- `flash`: a closed network of an interface and dies with constant times (docs/model.md, section 7).
- `arm`: arms that sort what waits for them, among which requests are spread by chance
  (simulator/analytic/reading/disks.py).
- `cache`: writes that a cache takes in, and that drain at one rate however many wait.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from oltpsim.models.machine import FIRMWARE_SHARE
from oltpsim.simulator.analytic import QUEUES, service_s
from oltpsim.simulator.form import SECTOR_BYTES, FloatArray, RotatingDevice

IN_FLIGHT = (1, 4, 16, 256)
"""Rule: of a curve these numbers in flight (iodepth x jobs) are fitted, with as many jobs as each has in flight: one
alone, four, sixteen, and the full depth that data sheets are measured at. All other points are predicted."""
OUTLIER = 0.05
"""error from which on a point counts by its size, not by its square: a lone request of a sleeping host, a lucky job"""
NOISE = 0.02
"""no fit of few points is taken to be nearer"""
FEWEST_DEPTHS = 4
"""depths that tell kinds apart, each of which has up to three numbers"""
LEAST_SEEN = 1e-9
"""slope of a combination of numbers that no point shows, so that its variance stays finite"""
MOST_INTERFACE = 0.9
"""of a lone request, the interface's part"""
ARM_BYTES, TRACK_BYTES = 500 << 30, 1 << 20
TRACK_SEEK, FULL_SEEK, OVERHEAD_MS = 0.1, 2.0, 0.2
"""of an arm of which the average seek is fitted: the other two by it, and what a controller takes (assumptions)"""
MOST_SORTED = 256
"""requests that a drive takes in"""


Figures = float | FloatArray
"""numbers or arrays of them, of equal length"""


class CurvePoint(NamedTuple):
    """Requests/s with so many in flight: `depth` by each of `jobs`."""

    depth: int
    jobs: int
    per_s: float

    @property
    def in_flight(self) -> int:
        """Of all jobs together."""
        return self.depth * self.jobs


@dataclass(frozen=True)
class CurveKind:
    """A kind of disk: its numbers with their bounds, and requests/s by the number in flight and these."""

    name: str
    bounds: dict[str, tuple[float, float]]
    per_s: Callable[..., FloatArray]


@dataclass(frozen=True)
class CurveFit:
    """A kind's numbers, each with its 90 % interval, and what is left at the fitted points."""

    kind: CurveKind
    values: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    error: float
    """root mean square of the logarithms"""
    information: float
    """Akaike's criterion, of errors no smaller than NOISE: the least one chooses the kind"""
    rpm: float

    def per_s(self, in_flight: float) -> float:
        """The rate with so many requests in flight."""
        return float(self.kind.per_s(in_flight, self.rpm, *self.values))


def fitted_points(points: Sequence[CurvePoint]) -> list[CurvePoint]:
    """Those that the rule chooses."""
    chosen = []
    for wanted in IN_FLIGHT:
        there = [point for point in points if point.in_flight == wanted]
        if there:
            chosen.append(min(there, key=lambda point: (abs(math.log(point.depth / point.jobs)), point.jobs)))
    return chosen


def flash_per_s(in_flight: Figures, _rpm: float, lone_us: Figures, dies: Figures, most_per_s: Figures) -> FloatArray:
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


def arm_per_s(in_flight: Figures, rpm: float, seek_ms: float, among: float, arms: float = 1.0) -> FloatArray:
    """Rate of arms each of which takes the nearest of the requests that it has, `among` at most."""
    return arms_per_s(in_flight, arm_service_s(arm_of(rpm, seek_ms)), among, arms)


def arms_per_s(in_flight: Figures, service_s: tuple[float, ...], among: float, arms: float) -> FloatArray:
    """The same by an arm's service times for QUEUES of requests."""
    at_an_arm = np.minimum(1.0 + (in_flight - 1.0) / arms, among)
    service = np.interp(np.log(at_an_arm), np.log(QUEUES), service_s)
    return np.asarray(arms * in_flight / (in_flight + arms - 1.0) / service)


def cache_per_s(in_flight: Figures, _rpm: float, lone_us: Figures, drain_per_s: Figures) -> FloatArray:
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


LONE_US, SEEK_MS, AMONG, RATE = (0.1, 1e8), (0.1, 40.0), (1.0, float(MOST_SORTED)), (0.1, 1e8)
FLASH = CurveKind("flash", {"lone_us": LONE_US, "dies": (1.0, 4096.0), "most_per_s": RATE}, flash_per_s)
ARM = CurveKind("arm", {"seek_ms": SEEK_MS, "among": AMONG}, arm_per_s)
ARMS = CurveKind("arms", {"seek_ms": SEEK_MS, "among": AMONG, "arms": (1.0, 64.0)}, arm_per_s)
CACHE = CurveKind("cache", {"lone_us": LONE_US, "drain_per_s": RATE}, cache_per_s)


def fit_curve(points: Sequence[CurvePoint], write: bool, rpm: float = 7200.0) -> list[CurveFit]:
    """Every kind fitted to points of one direction, the likeliest first; `rpm`: of an arm, if it is one."""
    lone = min(points, key=lambda point: point.in_flight)
    most = max(point.per_s for point in points)
    starts = {
        "lone_us": lone.in_flight * 1e6 / lone.per_s, "dies": 16.0, "most_per_s": 1.02 * most,
        "seek_ms": 8.0, "among": 16.0, "arms": max(most / 300.0, 1.0), "drain_per_s": most,
    }  # fmt: skip
    kinds = [FLASH, ARM, ARMS, *[CACHE] * write]
    return sorted((_fitted(points, kind, starts, rpm) for kind in kinds), key=lambda fit: fit.information)


def _fitted(points: Sequence[CurvePoint], kind: CurveKind, starts: dict[str, float], rpm: float) -> CurveFit:
    measured = np.log([point.per_s for point in points])
    in_flight = np.array([float(point.in_flight) for point in points])

    def residuals(logs: FloatArray) -> FloatArray:
        return np.asarray(np.log(np.maximum(kind.per_s(in_flight, rpm, *np.exp(logs)), 1e-9)) - measured)

    found = fit_positive(residuals, list(kind.bounds.values()), [starts[name] for name in kind.bounds])
    return CurveFit(kind, found.values, found.intervals, found.error, found.information, rpm)


class PositiveFit(NamedTuple):
    """Positive numbers by the least residuals of logarithms; fields as of `CurveFit`."""

    values: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    error: float
    information: float


def fit_positive(
    residuals: Callable[[FloatArray], FloatArray],
    bounds: Sequence[tuple[float, float]],
    starts: Sequence[float],
) -> PositiveFit:
    """Fit numbers within bounds; `residuals`: of the points, by the numbers' logarithms.

    Where the bound itself fits about as well as the best place, the interval ends there.
    """
    low, high = np.log(bounds).T
    start = np.clip(np.log(starts), low + 1e-9, high - 1e-9)
    best = scipy.optimize.least_squares(
        residuals, start, bounds=(low, high), diff_step=1e-3, loss="soft_l1", f_scale=OUTLIER
    )
    left = residuals(best.x)
    free = max(len(left) - len(start), 1)
    sd = max(math.sqrt(float((left**2).sum()) / free), NOISE)
    steps = 1e-3 * np.eye(len(start))
    slopes = np.stack([(residuals(best.x + step) - residuals(best.x - step)) / 2e-3 for step in steps], axis=1)
    _, seen, axes = np.linalg.svd(slopes, full_matrices=False)
    student = sd * float(scipy.stats.t.ppf(0.95, free))
    spread = np.linalg.norm(axes.T / np.maximum(seen, LEAST_SEEN), axis=1) * student
    ends = np.clip(np.stack([best.x - spread, best.x + spread]), low, high)
    for number in range(len(start)):
        for side, bound in enumerate((low, high)):
            at_bound = np.where(np.arange(len(start)) == number, bound, best.x)
            if float((residuals(at_bound) ** 2).sum() - (left**2).sum()) < student**2:
                ends[side, number] = bound[number]
    robust = float(np.mean(2.0 * OUTLIER**2 * (np.sqrt(1.0 + (left / OUTLIER) ** 2) - 1.0)))
    return PositiveFit(
        values=tuple(np.exp(best.x).tolist()),
        intervals=tuple((float(a), float(b)) for a, b in np.exp(ends).T),
        error=math.sqrt(float((left**2).mean())),
        information=len(left) * math.log(max(robust, NOISE**2)) + 2 * len(start),
    )
