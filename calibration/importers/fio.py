"""fio's JSON: what a disk does at one depth, for the catalogue.

Traps: 3.x has `clat_ns` in nanoseconds, 2.x `clat` in microseconds; percentiles have text for keys ("99.000000");
kB/s are KiB/s; with numjobs several jobs share the disk and their rates add up.
"""

import math
from collections.abc import Mapping
from typing import Any

from calibration.records import DiskPoint, FileReading
from models.input import SourceFile

KIND = "fio result"
KIB = {"k": 1.0, "m": 1024.0, "": 1 / 1024}


def detect(file: SourceFile) -> bool:
    """By the version that opens the JSON."""
    return '"fio version"' in file.head


def read(file: SourceFile) -> FileReading:
    """One point for each direction that did any I/O. Raises InputError for jobs that failed."""
    reading = FileReading(KIND, file.name)
    data = file.data
    if not isinstance(data, dict) or not isinstance(data.get("jobs"), list):
        file.refuse("", "JSON without jobs", "fio's own", "run fio with --output-format=json")
    shared = data.get("global options", {})
    jobs: dict[tuple[str, float, float], list[tuple[float, float, float]]] = {}
    for job in data["jobs"]:
        name = f"job {job.get('jobname')}"
        if job.get("error"):
            file.refuse(name, f"error {job['error']}", "a job that ended well", "run it again")
        options = {**shared, **job.get("job options", {})}
        depth = file.number(options.get("iodepth", 1), f"{name}, iodepth")
        size_kib = _block(file, str(options.get("bs", options.get("blocksize", "4k"))), name)
        for way in ("read", "write"):
            found = _direction(file, job.get(way, {}), f"{name}, {way}")
            if found is not None:
                jobs.setdefault((way, depth, size_kib), []).append(found)
    for (way, depth, size_kib), results in jobs.items():
        per_s = sum(each[0] for each in results)
        mean_us = sum(each[0] * each[1] for each in results) / per_s
        p99_us = max(each[2] for each in results)
        reading.disk.append(DiskPoint(file.name, way, depth * len(results), size_kib, per_s, mean_us, p99_us))
    if not reading.disk:
        file.refuse("jobs", "no read and no write", "at least one", "run fio with a job that does I/O")
    return reading


def _direction(file: SourceFile, part: Mapping[str, Any], place: str) -> tuple[float, float, float] | None:
    per_s = file.number(part.get("iops", 0), f"{place}, iops")
    if per_s <= 0:
        return None
    for key, per_us in (("clat_ns", 1000.0), ("clat", 1.0)):
        if key in part:
            mean_us = file.number(part[key].get("mean"), f"{place}, {key}.mean") / per_us
            percentiles = {float(word): value for word, value in part[key].get("percentile", {}).items()}
            p99 = file.number(percentiles[99.0], f"{place}, p99") / per_us if 99.0 in percentiles else math.nan
            return per_s, mean_us, p99
    return file.refuse(place, "no clat_ns and no clat", "completion latencies", "run fio without disable_clat")


def _block(file: SourceFile, text: str, name: str) -> float:
    word = text.lower().split(",")[0].removesuffix("ib").removesuffix("b")
    unit = word[-1:] if word[-1:] in ("k", "m") else ""
    return file.number(word.removesuffix(unit), f"{name}, bs") * KIB[unit]
