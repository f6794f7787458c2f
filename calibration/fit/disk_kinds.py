"""A disk's numbers by a table of depths, sizes and mixes: each kind of disk fitted to all of its points at once.

Fewer than four depths tell no kind: they become servers, by the measured latency and Little's law, without intervals.

A direction's rate is that of calibration/fit/disk_curve.py, of which a larger request takes more of the interface, of
the way from a die, or of an arm's turn. A mix of both follows from these two: a request takes the mean time of its
kinds, and flash loses `interference` more, since a read that meets a program waits for it:

    1 / per_s = (1 - w) / reads_per_s + w / writes_per_s + interference w (1 - w) (1 / reads_per_s + 1 / writes_per_s)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from oltpsim.calibration.fit.disk_curve import (
    MOST_SORTED,
    TRACK_BYTES,
    arm_of,
    arm_service_s,
    arms_per_s,
    cache_per_s,
    flash_per_s,
)
from oltpsim.calibration.records import DiskPoint
from oltpsim.models.machine import CHANNEL_MIB_PER_S
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import FLASH_PAGE_BYTES, KIB, MIB, FloatArray

FLASH_PAGE_KIB = FLASH_PAGE_BYTES / KIB
FEWEST_DEPTHS = 4
"""depths that tell kinds apart, each of which has up to three numbers for a direction"""
OUTLIER = 0.05
"""error from which on a point counts by its size, not by its square: a lone request of a sleeping host, a lucky job"""
NOISE = 0.02
"""no fit of few points is taken to be nearer"""
LEAST_SEEN = 1e-9
"""slope of a combination of numbers that no point shows, so that its variance stays finite"""
IDENTIFIED = 10.0
"""a number whose interval spans more than this factor isn't known"""
DISTINCT_INFORMATION = 2.0
"""of Akaike's criterion: kinds that are nearer fit equally (Burnham and Anderson 2002, section 2.6)"""
LATENCY_US, RATE, MIB_PER_S = (0.1, 1e8), (0.1, 1e8), (0.1, 1e5)
BOUNDS = {
    "read_latency_us": LATENCY_US,
    "write_latency_us": LATENCY_US,
    "reads_per_s": RATE,
    "writes_per_s": RATE,
    "read_mib_per_s": MIB_PER_S,
    "write_mib_per_s": MIB_PER_S,
    "dies": (1.0, 4096.0),
    "interference": (1e-3, 100.0),
    "parallel_requests": (1.0, 4096.0),
    "seek_average_ms": (0.1, 40.0),
    "write_settle_ms": (0.01, 40.0),
    "queue_depth": (1.0, float(MOST_SORTED)),
    "arms": (1.0, 64.0),
    "transfer_mib_per_s": MIB_PER_S,
    "destaged_per_s": RATE,
}
"""of all numbers, by the key of the catalogue's entry where there is one"""

DiskNumbers = Mapping[str, float]


@dataclass(frozen=True)
class DiskTable:
    """Measured points of one disk, by rows: requests in flight, KiB of each, share of writes, requests/s of both."""

    files: tuple[str, ...]
    in_flight: FloatArray
    block_kib: FloatArray
    write_fraction: FloatArray
    per_s: FloatArray
    lone_us: Mapping[str, float]
    """mean latency with the fewest in flight, of reads and of writes; by Little's law where none was measured"""
    flush_us: float
    """mean flush after a write of the fewest in flight; NaN if none was measured"""
    rpm: float
    """of an arm, if it is one"""

    @property
    def least_kib(self) -> float:
        """The least size, which latencies and rates are of."""
        return float(self.block_kib.min())

    @property
    def excess_mib(self) -> FloatArray:
        """What requests have beyond the least size."""
        return np.asarray((self.block_kib - self.least_kib) * KIB / MIB)

    def sizes(self, write: bool) -> int:
        """How many sizes there are in a direction."""
        shares = self.write_fraction if write else 1.0 - self.write_fraction
        return len(set(self.block_kib[shares > 0].tolist()))

    @property
    def depths(self) -> int:
        """How many numbers in flight there are."""
        return len(set(self.in_flight.tolist()))

    @property
    def words(self) -> str:
        """Sizes and numbers in flight, as a phrase."""
        sizes = ", ".join(f"{size:g}" for size in sorted(set(self.block_kib.tolist())))
        ends = dict.fromkeys(f"{end:g}" for end in (self.in_flight.min(), self.in_flight.max()))
        return f"{sizes} KiB, {' to '.join(ends)} in flight"


def disk_table(points: Sequence[DiskPoint], rpm: float) -> DiskTable:
    """The table of fio's points. Raises InputError without reads; writes that were flushed give the flush only."""
    mixes: dict[tuple[str, float, float], dict[str, DiskPoint]] = {}
    for point in points:
        mixes.setdefault((point.file, point.depth, point.block_kib), {})[point.operation] = point
    flushed = sorted((p for p in points if not math.isnan(p.flush_us)), key=lambda point: point.depth)
    rows = [mix for mix in mixes.values() if not any(point in flushed for point in mix.values())]
    files = tuple(dict.fromkeys(point.file.partition(",")[0] for point in points))
    if not any("read" in mix for mix in rows):
        raise InputError(
            f"{', '.join(files)}: got no random reads; expected a result with reads; run fio with --rw=randread"
        )
    rates = [{way: point.per_s for way, point in mix.items()} for mix in rows]
    lone_us: dict[str, float] = {}
    for mix, rate in sorted(zip(rows, rates, strict=True), key=lambda row: next(iter(row[0].values())).depth):
        for way, point in mix.items():
            by_law_us = point.depth * 1e6 / sum(rate.values())
            lone_us.setdefault(way, by_law_us if math.isnan(point.mean_us) else point.mean_us)
    measured = [next(iter(mix.values())) for mix in rows]
    return DiskTable(
        files=files,
        in_flight=np.array([point.depth for point in measured]),
        block_kib=np.array([point.block_kib for point in measured]),
        write_fraction=np.array([rate.get("write", 0.0) / sum(rate.values()) for rate in rates]),
        per_s=np.array([sum(rate.values()) for rate in rates]),
        lone_us=lone_us,
        flush_us=flushed[0].flush_us if flushed else math.nan,
        rpm=rpm,
    )


@dataclass(frozen=True)
class DiskKind:
    """A kind of disk: the numbers of its reads and of its writes, and their rates by these."""

    name: str
    words: str
    read_numbers: tuple[str, ...]
    write_numbers: tuple[str, ...]
    reads_per_s: Callable[[DiskTable, DiskNumbers], FloatArray]
    writes_per_s: Callable[[DiskTable, DiskNumbers], FloatArray]

    def numbers(self, table: DiskTable) -> list[str]:
        """Those of them that a table can show."""
        has_writes = bool(table.write_fraction.any())
        names = dict.fromkeys([*self.read_numbers, *self.write_numbers * has_writes])
        several = {
            "read_mib_per_s": table.sizes(write=False) > 1,
            "write_mib_per_s": table.sizes(write=True) > 1,
            "transfer_mib_per_s": len(set(table.block_kib.tolist())) > 1,
            "interference": bool(((table.write_fraction > 0) & (table.write_fraction < 1)).any()),
        }
        return [name for name in names if several.get(name, True)]

    def per_s(self, table: DiskTable, numbers: DiskNumbers) -> FloatArray:
        """Requests/s of both kinds at each point."""
        writes = table.write_fraction
        read_s = (1.0 - writes) / self.reads_per_s(table, numbers)
        write_s = writes / self.writes_per_s(table, numbers) if writes.any() else np.zeros(len(writes))
        lost_s = numbers.get("interference", 0.0) * (writes * read_s + (1.0 - writes) * write_s)
        return np.asarray(1.0 / (read_s + write_s + lost_s))


def _excess_us(table: DiskTable, numbers: DiskNumbers, key: str) -> FloatArray:
    return table.excess_mib / numbers[key] * 1e6 if key in numbers else np.zeros(len(table.excess_mib))


def _flash_reads(table: DiskTable, numbers: DiskNumbers) -> FloatArray:
    excess_us = _excess_us(table, numbers, "read_mib_per_s")
    of_page = np.minimum(table.block_kib, FLASH_PAGE_KIB) - min(table.least_kib, FLASH_PAGE_KIB)
    die_us = of_page * KIB / MIB / CHANNEL_MIB_PER_S * 1e6
    pages = np.maximum(table.block_kib / FLASH_PAGE_KIB, 1.0)
    return flash_per_s(
        table.in_flight,
        numbers["read_latency_us"] + excess_us + die_us,
        np.maximum(numbers["dies"] / pages, 1.0),
        1e6 / (1e6 / numbers["reads_per_s"] + excess_us),
    )


def _cached_writes(key: str) -> Callable[[DiskTable, DiskNumbers], FloatArray]:
    def per_s(table: DiskTable, numbers: DiskNumbers) -> FloatArray:
        excess_us = _excess_us(table, numbers, "write_mib_per_s")
        drain_per_s = 1e6 / (1e6 / numbers[key] + excess_us)
        return cache_per_s(table.in_flight, numbers["write_latency_us"] + excess_us, drain_per_s)

    return per_s


def _arms(write: bool) -> Callable[[DiskTable, DiskNumbers], FloatArray]:
    def per_s(table: DiskTable, numbers: DiskNumbers) -> FloatArray:
        settle_ms = numbers.get("write_settle_ms", 0.0) if write else 0.0
        mib_per_s = numbers.get("transfer_mib_per_s", TRACK_BYTES / MIB * table.rpm / 60.0)
        track_bytes = max(round(mib_per_s * MIB * 60.0 / table.rpm), 1)
        arm = arm_of(table.rpm, numbers["seek_average_ms"], track_bytes, settle_ms)
        rates = np.empty(len(table.in_flight))
        for size_kib in set(table.block_kib.tolist()):
            here = table.block_kib == size_kib
            service_s = arm_service_s(arm, round(size_kib * KIB), write)
            rates[here] = arms_per_s(table.in_flight[here], service_s, numbers["queue_depth"], numbers.get("arms", 1.0))
        return rates

    return per_s


def _served(key: str) -> Callable[[DiskTable, DiskNumbers], FloatArray]:
    def per_s(table: DiskTable, numbers: DiskNumbers) -> FloatArray:
        return np.asarray(np.minimum(table.in_flight, numbers["parallel_requests"]) * 1e6 / numbers[key])

    return per_s


ARM_NUMBERS = ("seek_average_ms", "queue_depth", "transfer_mib_per_s")
CACHE_NUMBERS = ("write_latency_us", "destaged_per_s", "write_mib_per_s")
SERVERS = DiskKind(
    "servers",
    "so many requests at once, each for its latency: a volume, a throttle",
    ("read_latency_us", "parallel_requests"),
    ("write_latency_us",),
    _served("read_latency_us"),
    _served("write_latency_us"),
)
KINDS = (
    DiskKind(
        "flash",
        "an interface, dies and a write buffer",
        ("read_latency_us", "reads_per_s", "dies", "read_mib_per_s"),
        ("write_latency_us", "writes_per_s", "write_mib_per_s", "interference"),
        _flash_reads,
        _cached_writes("writes_per_s"),
    ),
    SERVERS,
    DiskKind("arm", "an arm", ARM_NUMBERS, ("write_settle_ms",), _arms(write=False), _arms(write=True)),
    DiskKind(
        "arm behind a cache",
        "an arm with its write cache on",
        ARM_NUMBERS,
        CACHE_NUMBERS,
        _arms(write=False),
        _cached_writes("destaged_per_s"),
    ),
    DiskKind(
        "array",
        "arms among which requests are spread",
        ("arms", *ARM_NUMBERS),
        ("write_settle_ms",),
        _arms(write=False),
        _arms(write=True),
    ),
    DiskKind(
        "array behind a cache",
        "arms among which requests are spread, behind a controller's write cache",
        ("arms", *ARM_NUMBERS),
        CACHE_NUMBERS,
        _arms(write=False),
        _cached_writes("destaged_per_s"),
    ),
)


@dataclass(frozen=True, eq=False)
class TableFit:
    """A kind's numbers with 90 % intervals, and what is left at the points."""

    kind: DiskKind
    table: DiskTable
    numbers: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    """empty where too few depths were measured to tell any"""
    information: float
    """Akaike's criterion, of errors no smaller than NOISE: the least one chooses the kind"""

    @property
    def off(self) -> FloatArray:
        """Each point's rate by the fit, relative to the measured one, less 1."""
        return np.asarray(self.kind.per_s(self.table, self.numbers) / self.table.per_s - 1.0)

    @property
    def error(self) -> float:
        """The mean of their sizes."""
        return float(np.abs(self.off).mean())

    def is_equal(self, other: TableFit) -> bool:
        """Whether the points don't tell two kinds apart."""
        return abs(self.information - other.information) <= DISTINCT_INFORMATION

    def is_identified(self, name: str) -> bool:
        """Whether the points say what a number is: it has an interval, of a factor of ten at most."""
        return name in self.intervals and name not in self.unidentified

    @property
    def unidentified(self) -> list[str]:
        """Numbers with a wider interval. A number without one is measured, not fitted, and is taken."""
        return [name for name, (low, high) in self.intervals.items() if high > IDENTIFIED * low]


def fit_table(table: DiskTable) -> list[TableFit]:
    """Every kind that has fewer numbers than there are places, the likeliest first; servers alone from too few depths.

    Of kinds that fit equally the first one is that of `KINDS`. Raises InputError for several sizes at too few depths.
    """
    if table.depths < FEWEST_DEPTHS:
        return [_servers_of(table)]
    has_writes, places = bool(table.write_fraction.any()), len(_equal_places(table))
    kinds = [kind for kind in KINDS if has_writes or "cache" not in kind.name]
    fits = [_fitted(kind, table) for kind in kinds if len(kind.numbers(table)) < places]
    ranked = sorted(fits, key=lambda fit: fit.information)
    equal = [fit for fit in fits if fit.information <= ranked[0].information + DISTINCT_INFORMATION]
    return [*equal, *(fit for fit in ranked if fit not in equal)]


def _servers_of(table: DiskTable) -> TableFit:
    """Servers of the latency with the fewest in flight; requests in service at the highest rate by Little's law."""
    sizes = sorted(set(table.block_kib.tolist()))
    if len(sizes) > 1:
        raise InputError(
            f"{', '.join(table.files)}: got blocks of {' and '.join(f'{size:g} KiB' for size in sizes)}; "
            "expected one size, or results at four depths or more, which show what a larger request costs"
        )
    write_us = table.lone_us.get("write", 0.0)
    mean_us = (1.0 - table.write_fraction) * table.lone_us["read"] + table.write_fraction * write_us
    numbers = {f"{way}_latency_us": lone_us for way, lone_us in sorted(table.lone_us.items())}
    numbers["parallel_requests"] = max(round(float((table.per_s * mean_us).max()) / 1e6), 1.0)
    return TableFit(kind=SERVERS, table=table, numbers=numbers, intervals={}, information=math.nan)


def _fitted(kind: DiskKind, table: DiskTable) -> TableFit:
    """A kind fitted by the least residuals of logarithms.

    Where a number's bound fits about as well as the best place, its interval ends there.
    """
    names, starts = kind.numbers(table), _starts(table)
    shares = _equal_places(table)
    measured = np.log(table.per_s)

    def residuals(logs: FloatArray) -> FloatArray:
        numbers = dict(zip(names, np.exp(logs).tolist(), strict=True))
        return np.asarray(shares @ (np.log(np.maximum(kind.per_s(table, numbers), 1e-9)) - measured))

    low, high = np.log([BOUNDS[name] for name in names]).T
    start = np.clip(np.log([starts[name] for name in names]), low + 1e-9, high - 1e-9)
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
    return TableFit(
        kind=kind,
        table=table,
        numbers=dict(zip(names, np.exp(best.x).tolist(), strict=True)),
        intervals={name: (float(a), float(b)) for name, (a, b) in zip(names, np.exp(ends).T, strict=True)},
        information=len(left) * math.log(max(robust, NOISE**2)) + 2 * len(start),
    )


def _equal_places(table: DiskTable) -> FloatArray:
    """Matrix that takes the mean of points of equal depth, size and mix: a depth that many jobs make counts once."""
    places = [
        (in_flight, size_kib, round(writes, 2))
        for in_flight, size_kib, writes in zip(
            table.in_flight.tolist(), table.block_kib.tolist(), table.write_fraction.tolist(), strict=True
        )
    ]
    equal = np.array([[place == other for place in places] for other in dict.fromkeys(places)], dtype=float)
    return np.asarray(equal / equal.sum(axis=1, keepdims=True))


def _starts(table: DiskTable) -> dict[str, float]:
    """Where a search begins: latencies of the fewest in flight, the highest rates, bandwidths of the largest size."""
    starts = {
        "dies": 16.0,
        "interference": 0.3,
        "seek_average_ms": 8.0,
        "write_settle_ms": 0.5,
        "queue_depth": 16.0,
        "transfer_mib_per_s": TRACK_BYTES / MIB * table.rpm / 60.0,
    }
    for way, shares in (("read", 1.0 - table.write_fraction), ("write", table.write_fraction)):
        if not shares.any():
            continue
        here = shares == shares.max()
        lone = int(np.argmin(np.where(here, table.in_flight * 1e6 + table.block_kib, np.inf)))
        most = float((table.per_s * shares).max())
        starts[f"{way}_latency_us"] = float(table.in_flight[lone] * 1e6 / table.per_s[lone])
        starts[f"{way}s_per_s"] = 1.02 * most
        starts[f"{way}_mib_per_s"] = 2.0 * float((table.per_s * shares * table.block_kib).max() * KIB / MIB)
    most = float(table.per_s.max())
    starts["destaged_per_s"] = starts.get("writes_per_s", most)
    starts["arms"] = max(most / 300.0, 1.0)
    starts["parallel_requests"] = max(most * starts["read_latency_us"] / 1e6, 1.0)
    return starts
