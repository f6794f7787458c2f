"""fio's own text, of 2.x and 3.x: a group of jobs of one kind.

Traps: rates are rounded (10.0k) and bytes are exact, so both are compared; clat is in nsec, usec or msec, as its line
says; 2.x writes `iops=10000`; jobs of other kinds one after the other have lines of their own, but not which is which.
"""

import math
import re
from dataclasses import dataclass

from oltpsim.calibration.importers.fio import block_kib, random_only
from oltpsim.calibration.records import DiskPoint, FileReading
from oltpsim.models.input import SourceFile

KIND = "fio text"
JOB = re.compile(r"^(\S+): \(g=(\d+)\): rw=(\w+), (.*)$")
TERSE = re.compile(r"^[2-5];fio-\d[^;]*;(?:[^;]*;){40}")
SIZE = re.compile(r"bs=(?:\(\w\) )?([\d.]+[kKMG]?i?B?)")
DEPTH = re.compile(r"iodepth=(\d+)")
GROUP = re.compile(r"^(\S+): \(groupid=(\d+), jobs=(\d+)\): err=\s*(\d+)")
NEW_RATE = re.compile(
    r"^\s+(read|write)\s*: IOPS=([\d.]+)([kM]?), BW=[\d.]+(?:[KMGTP]i)?B/s .*\(([\d.]+)(?:([KMGTP])i)?B/(\d+)msec\)"
)
OLD_RATE = re.compile(r"^\s+(read|write)\s*: io=([\d.]+)([KMGTP]?)B, bw=.*, iops=\s*([\d.]+)([kM]?), runt=\s*(\d+)msec")
RATE = re.compile(r"^\s+(?:read|write)\s*: (?:IOPS=|io=)")
LATENCY = re.compile(r"^\s+clat \((nsec|usec|msec)\): .*\bavg=\s*([\d.]+)([KM]?)")
UNIT = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6}
KIB = {None: 1 / 1024.0, "": 1 / 1024.0, "K": 1.0, "M": 1024.0, "G": 1024.0**2, "T": 1024.0**3, "P": 1024.0**4}
TO_US = {"nsec": 1e-3, "usec": 1.0, "msec": 1e3}
JSON_REMEDY = "run fio with --output-format=json"


@dataclass(frozen=True)
class Rate:
    """Line of results: read or write, requests per s as rounded, KiB per s by bytes and time."""

    way: str
    per_s: float
    kib_per_s: float
    place: str


def detect(file: SourceFile) -> bool:
    """By the line of a job, or that of a group's results."""
    return '"fio version"' not in file.head and any(
        JOB.match(line) or GROUP.match(line) or TERSE.match(line) for line in file.head.splitlines()[:400]
    )


def read(file: SourceFile) -> FileReading:
    """A point for reads and one for writes. Raises InputError for jobs that differ and for results without a size."""
    reading = FileReading(KIND, file.name)
    rates: list[Rate] = []
    means_us: list[float] = []
    for at, line in enumerate(file.lines, 1):
        if TERSE.match(line):
            came = "fio's terse output, which says neither pattern nor depth"
            file.refuse(f"line {at}", came, "its JSON or its text", JSON_REMEDY)
        if RATE.match(line):
            rates.append(_rate(file, line, at))
        elif match := LATENCY.match(line):
            means_us.append(file.number(match[2], f"line {at}, avg") * UNIT[match[3]] * TO_US[match[1]])
    size_kib, in_flight = _jobs(file)
    if not rates:
        file.truncated("the results of a group of jobs")
    if len(means_us) != len(rates):
        file.refuse("", f"{len(means_us)} lines clat for {len(rates)} rates", "one for each", JSON_REMEDY)
    for way in ("read", "write"):
        found = [(rate, mean_us) for rate, mean_us in zip(rates, means_us, strict=True) if rate.way == way]
        for rate, _ in found:
            rounding = 0.06 * 10 ** max(0, len(f"{rate.per_s:.0f}") - 3) + 1.0
            where = "bytes over time and bs"
            file.agree("IOPS", rate.per_s, rate.place, rate.kib_per_s / size_kib, where, rounding)
        if found:
            per_s = sum(rate.per_s for rate, _ in found)
            mean_us = sum(rate.per_s * mean_us for rate, mean_us in found) / per_s
            reading.disk.append(DiskPoint(file.name, way, in_flight, size_kib, per_s, mean_us, math.nan))
    return reading


def _jobs(file: SourceFile) -> tuple[float, float]:
    """Block size in KiB and requests in flight of all jobs, which must be of one kind."""
    jobs = [match for line in file.lines if (match := JOB.match(line))]
    groups = [(at, match) for at, line in enumerate(file.lines, 1) if (match := GROUP.match(line))]
    for at, group in groups:
        if group[4] != "0":
            file.refuse(f"line {at}", f"err={group[4]}", "a job that ended well", "run it again")
    if not groups:
        file.truncated("the results of a group of jobs")
    kinds = {(job[3], tuple(SIZE.findall(job[4])[:1]), tuple(DEPTH.findall(job[4]))) for job in jobs}
    if len(kinds) != 1 or len({group[2] for _, group in groups}) != 1:
        file.refuse(
            "", f"{len(kinds)} kinds of jobs and {len(groups)} results", "jobs of one kind in text", JSON_REMEDY
        )
    ((pattern, sizes, depths),) = kinds
    if not sizes or not depths:
        file.refuse("", "no bs or iodepth", "both in the job's line", JSON_REMEDY)
    random_only(file, pattern, "rw")
    together = sum(file.whole(group[3], f"line {at}, jobs") for at, group in groups)
    return block_kib(file, sizes[0], "bs"), file.whole(depths[0], "iodepth") * together


def _rate(file: SourceFile, line: str, at: int) -> Rate:
    """A line of results."""
    place = f"line {at}"
    if match := OLD_RATE.match(line):
        way, size, unit, iops, factor, run_ms = match.groups()
    else:
        match = file.matched(NEW_RATE, line, at, "IOPS, bandwidth, bytes and time of fio")
        way, iops, factor, size, unit, run_ms = match.groups()
    kib_per_s = file.number(size, place) * KIB[unit] / file.positive(run_ms, place) * 1e3
    return Rate(way, file.positive(iops, place) * UNIT[factor], kib_per_s, place)
