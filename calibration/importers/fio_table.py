"""A table of fio's results, CSV: a row for each run, columns by fio's own names, units in the names of others.

Wanted: `rw` (randread, randwrite, randrw), `bs` as fio writes it or `block_kib`, `iodepth`, and `iops`. If there:
`numjobs` (or `jobs`), `device`, `lat_mean_us` or `_ms`, `lat_p99_us` or `_ms` (or `clat_`). A row of randrw has
`read_iops` and `write_iops`, or `iops` of both together and `rwmixread`, the share of reads in percent. Lines that
begin with # are comments; other columns are left alone.
"""

import csv
import math
from collections.abc import Iterable

from oltpsim.calibration.importers.fio import block_kib, random_only
from oltpsim.calibration.records import DiskPoint, FileReading
from oltpsim.models.input import SourceFile, did_you_mean

KIND = "table of fio results"
SIGNS = ("rw", "bs", "block_kib", "iodepth", "numjobs", "iops", "read_iops", "write_iops", "rwmixread")
"""columns by two of which a table is recognised"""
NEEDED_COLUMNS = (("rw",), ("bs", "block_kib"), ("iodepth",), ("iops", "read_iops"))
PER_US = {"ns": 0.001, "us": 1.0, "ms": 1000.0}
TIMES = (("lat_mean", "clat_mean"), ("lat_p99", "clat_p99"))
MOST_KIB = 65536.0


def detect(file: SourceFile) -> bool:
    """By the names in the first line that is no comment."""
    header = next((line for line in file.head.splitlines() if line.strip() and not line.startswith("#")), "")
    return len(set(SIGNS) & set(_words(header))) >= 2


def read(file: SourceFile) -> FileReading:
    """One point for each direction of each row. Raises InputError with line and column."""
    reading = FileReading(KIND, file.name)
    header: list[str] = []
    for at, line in enumerate(file.whole_lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        words = _words(line)
        if not header:
            header = words
            _check_header(file, header, f"line {at}")
            continue
        if len(words) != len(header):
            remedy = "the file is cut off or its numbers hold commas: export it again with LC_ALL=C"
            file.refuse(f"line {at}", f"{len(words)} columns", f"{len(header)} as in the header", remedy)
        reading.disk += _points(file, dict(zip(header, words, strict=True)), at)
    if not reading.disk:
        file.refuse("", "a header without rows", "a row for each run of fio", "export it again")
    return reading


def _words(line: str) -> list[str]:
    return [word.strip() for word in next(csv.reader([line]), [])]


def _check_header(file: SourceFile, header: list[str], place: str) -> None:
    twice = [name for at, name in enumerate(header) if name in header[:at]]
    if twice:
        file.refuse(f"{place}, {twice[0]}", "the column twice", "each column once", "delete one of them")
    for names in NEEDED_COLUMNS:
        if not set(names) & set(header):
            hint, columns = did_you_mean(names[0], header), ", ".join(header)
            file.refuse(place, f"the columns {columns}", f"{' or '.join(names)} too", f"name a column so{hint}")
    for name in header:
        if name.startswith(sum(TIMES, ())) and name.rpartition("_")[2] not in PER_US:
            allowed = " or ".join(f"{name}_{unit}" for unit in PER_US)
            file.refuse(f"{place}, {name}", "a time without its unit", allowed, "name the column so")


def _points(file: SourceFile, row: dict[str, str], at: int) -> list[DiskPoint]:
    def place(column: str) -> str:
        return f"line {at}, {column}"

    pattern = row["rw"]
    random_only(file, pattern, place("rw"))
    if "block_kib" in row:
        size_kib = file.positive(row["block_kib"], place("block_kib"), MOST_KIB)
    else:
        size_kib = block_kib(file, row["bs"], place("bs"))
        if not 0.5 <= size_kib <= MOST_KIB:
            file.refuse(
                place("bs"), row["bs"], "512 bytes to 64 MiB", "write fio's own, such as 4k (a number is bytes)"
            )
    depth = file.whole(row["iodepth"], place("iodepth"))
    jobs = next((name for name in ("numjobs", "jobs") if row.get(name)), None)
    in_flight = depth * (1 if jobs is None else file.whole(row[jobs], place(jobs)))
    mean_us, p99_us = (_time_us(file, row, names, at) for names in TIMES)
    return [
        DiskPoint(f"{file.name}, line {at}", way, in_flight, size_kib, per_s, mean_us, p99_us, math.nan, device)
        for device in (row.get("device", ""),)
        for way, per_s in _rates(file, row, pattern, at)
        if per_s > 0.0
    ]


def _rates(file: SourceFile, row: dict[str, str], pattern: str, at: int) -> Iterable[tuple[str, float]]:
    """Requests/s of each direction."""
    if pattern == "randrw":
        if row.get("read_iops") and row.get("write_iops"):
            return [(way, file.positive(row[f"{way}_iops"], f"line {at}, {way}_iops")) for way in ("read", "write")]
        if not row.get("rwmixread") or not row.get("iops"):
            file.refuse(
                f"line {at}, rw",
                "randrw without rates of reads and of writes",
                "read_iops and write_iops, or iops and rwmixread",
                "add the columns",
            )
        per_s = file.positive(row["iops"], f"line {at}, iops")
        reads = file.positive(row["rwmixread"], f"line {at}, rwmixread", 99.0) / 100.0
        return [("read", per_s * reads), ("write", per_s * (1.0 - reads))]
    way = pattern.removeprefix("rand")
    column = "iops" if row.get("iops") else f"{way}_iops"
    return [(way, file.positive(row.get(column), f"line {at}, {column}"))]


def _time_us(file: SourceFile, row: dict[str, str], names: Iterable[str], at: int) -> float:
    """A latency of a row in microseconds; NaN if it has none."""
    for column, unit in ((f"{name}_{unit}", unit) for name in names for unit in PER_US):
        if row.get(column):
            return file.positive(row[column], f"line {at}, {column}") * PER_US[unit]
    return math.nan
