"""fio's JSON: what a disk does with so many requests in flight, for the catalogue.

Traps: 3.x has `clat_ns` in nanoseconds, 2.x `clat` in microseconds; percentiles have text for keys ("99.000000");
kB/s are KiB/s; jobs of one group share the disk, and their rates and depths add up, also where `group_reporting` has
made one result of them; `bs=8k,4k` is a size for reads and one for writes; engines that wait for each request keep
one in flight whatever `iodepth` says; 2.x writes no options, and depth and size are in its figures; `rw=read` is
sequential; a rate limit or think time says nothing of the disk.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

from oltpsim.calibration.records import DiskPoint, FileReading
from oltpsim.models.input import SourceFile

KIND = "fio result"
KIB = {"": 1 / 1024, "k": 1.0, "m": 1024.0, "g": 1048576.0}
"""of fio's units, which are powers of 1024 whether they say KiB or not"""
RANDOM = ("randread", "randwrite", "randrw")
THROTTLED = ("rate", "rate_iops", "thinktime")
SEVERAL_SIZES = ("bssplit", "bsrange", "blocksize_range")
FEW_ALONE = 50.0
"""percent of the time in which a deep job may have had one request in flight"""

Options = Mapping[str, Any]


def detect(file: SourceFile) -> bool:
    """By the version that opens the JSON."""
    return '"fio version"' in file.head


def read(file: SourceFile) -> FileReading:
    """One point for each direction of each group of jobs. Raises InputError for jobs that say nothing of a disk."""
    reading = FileReading(KIND, file.name)
    data = file.data if file.text.lstrip().startswith("{") else _below_notes(file)
    if not isinstance(data, dict) or not isinstance(data.get("jobs"), list):
        file.refuse("", "JSON without jobs", "fio's own", "run fio with --output-format=json")
    shared = data.get("global options", {})
    groups: dict[Any, list[tuple[str, Mapping[str, Any], Options]]] = {}
    for job in data["jobs"]:
        name = f"job {job.get('jobname')}"
        if job.get("error"):
            file.refuse(name, f"error {job['error']}", "a job that ended well", "run it again")
        groups.setdefault(job.get("groupid", 0), []).append((name, job, {**shared, **job.get("job options", {})}))
    for number, jobs in groups.items():
        place = f"{file.name}, group {number}" if len(groups) > 1 else file.name
        reading.disk += _points(file, place, jobs)
    if not reading.disk:
        file.refuse("jobs", "no read and no write", "at least one", "run fio with a job that does I/O")
    return reading


def _below_notes(file: SourceFile) -> Any:
    """The JSON value below lines such as "note: both iodepth >= 1 and synchronous I/O engine are selected"."""
    try:
        return json.JSONDecoder().raw_decode(file.text, file.text.index("{"))[0]
    except (ValueError, RecursionError):
        return file.data


def block_kib(file: SourceFile, text: str, place: str) -> float:
    """KiB of a block size as fio writes it: 4k, 4KiB, 4096."""
    word = text.lower().strip().removesuffix("ib").removesuffix("b")
    unit = word[-1:] if word[-1:] in ("k", "m", "g") else ""
    return file.positive(word.removesuffix(unit), place) * KIB[unit]


def random_only(file: SourceFile, pattern: str, place: str) -> None:
    """Refuse what isn't one of fio's random patterns."""
    if pattern not in RANDOM:
        file.refuse(place, repr(pattern), f"random requests ({', '.join(RANDOM)})", "run fio with one of them")


def _points(file: SourceFile, place: str, jobs: list[tuple[str, Mapping[str, Any], Options]]) -> list[DiskPoint]:
    """Points of jobs that ran at the same time."""
    kinds: dict[tuple[float, str], str] = {}
    found: dict[tuple[str, float], list[tuple[float, float, float, float]]] = {}
    in_flight = 0.0
    for name, job, options in jobs:
        _says_something(file, name, options)
        depth = file.whole(_depth(file, name, job, options), f"{name}, iodepth")
        alone = float(job.get("iodepth_level", {}).get("1", 0.0))
        if depth > 1 and alone > FEW_ALONE:
            engine = options.get("ioengine", "psync, fio's own choice")
            came = f"{depth} with one request in flight for {alone:g} % of the time (ioengine {engine})"
            file.refuse(f"{name}, iodepth", came, "so many in flight", "run fio with --ioengine=libaio --direct=1")
        sizes = str(options.get("bs", options.get("blocksize", "4k" if options else _size(file, name, job))))
        kinds.setdefault((depth, sizes), name)
        if len(kinds) > 1:
            (one, before), (other, now) = ((key, job_name) for key, job_name in kinds.items())
            came = f"iodepth {other[0]:g} and bs {other[1]} at the same time as {one[0]:g} and {one[1]} of {before}"
            file.refuse(now, came, "jobs of one depth and size at a time", "write 'stonewall' into each job")
        together = "group_reporting" in options
        in_flight += depth * (file.whole(options.get("numjobs", 1), f"{name}, numjobs") if together else 1)
        flush_us = _flush_us(file, job.get("sync", {}), f"{name}, sync")
        for way in ("read", "write"):
            result = _direction(file, job.get(way, {}), f"{name}, {way}")
            if result is not None:
                words = sizes.split(",")
                word = words[1] if way == "write" and len(words) > 1 and words[1] else words[0]
                size_kib = block_kib(file, word, f"{name}, bs")
                if kib_per_s := file.number(job[way].get("bw", 0), f"{name}, {way}, bw"):
                    rounding = 2.0 * size_kib + 1.0  # bw is whole KiB/s, and both are means of samples
                    where = "iops and bs"
                    file.agree("bw", kib_per_s, f"{name}, {way}", result[0] * size_kib, where, rounding)
                found.setdefault((way, size_kib), []).append((*result, flush_us if way == "write" else math.nan))
    if len({size for _, size in found}) > 1:
        file.refuse(
            jobs[0][0],
            f"bs {jobs[0][2].get('bs')}",
            "one size for reads and writes in flight together",
            "run fio with one bs",
        )
    points = []
    for (way, size_kib), results in found.items():
        per_s = sum(result[0] for result in results)
        mean_us = sum(result[0] * result[1] for result in results) / per_s
        p99_us, flush_us = max(result[2] for result in results), max(result[3] for result in results)
        points.append(DiskPoint(place, way, in_flight, size_kib, per_s, mean_us, p99_us, flush_us))
    return points


def _depth(file: SourceFile, name: str, job: Mapping[str, Any], options: Options) -> object:
    """Requests in flight of a job: its option, or fio's own choice; 2.x without options tells them by iodepth_level."""
    if options:
        return options.get("iodepth", 1)
    levels = {
        word: file.number(share, f"{name}, iodepth_level") for word, share in job.get("iodepth_level", {}).items()
    }
    if not levels or max(levels.values()) <= FEW_ALONE:
        file.refuse(name, "neither options nor one iodepth_level", "the depth of the job", "run fio 3 with JSON")
    level = max(levels, key=lambda word: levels[word])
    if level == "1":
        return 1
    busy = sum(
        result[0] * result[1] / 1e6
        for way in ("read", "write")
        if (result := _direction(file, job.get(way, {}), f"{name}, {way}"))
    )
    least = int(level.lstrip(">="))
    return round(busy) if least <= round(busy) < 2 * least or (level.startswith(">") and busy >= least) else least


def _size(file: SourceFile, name: str, job: Mapping[str, Any]) -> str:
    """Size of a request in KiB, by bandwidth and rate, where fio wrote no options."""
    for way in ("read", "write"):
        per_s = file.number(job.get(way, {}).get("iops", 0), f"{name}, {way}, iops")
        if per_s > 0:
            kib = file.number(job[way].get("bw"), f"{name}, {way}, bw") / per_s
            return f"{round(kib * 2) / 2:g}k"
    return file.refuse(name, "no options and no I/O", "a job that did I/O", "run fio again")


def _says_something(file: SourceFile, name: str, options: Options) -> None:
    """Refuse jobs that weren't bound by the disk, or whose sizes nobody knows."""
    if "rw" in options or "readwrite" in options:
        random_only(file, str(options.get("rw", options.get("readwrite"))), f"{name}, rw")
    for key in THROTTLED:
        if options.get(key, "0") not in ("0", 0):
            file.refuse(f"{name}, {key}", repr(options[key]), "a job as fast as the disk", f"run fio without {key}")
    for key in SEVERAL_SIZES:
        if key in options:
            file.refuse(f"{name}, {key}", repr(options[key]), "one size in each job", "run fio with bs")


def _flush_us(file: SourceFile, part: Mapping[str, Any], place: str) -> float:
    if not part.get("total_ios"):
        return math.nan
    return file.number(part.get("lat_ns", {}).get("mean"), f"{place}, lat_ns.mean") / 1000.0


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
