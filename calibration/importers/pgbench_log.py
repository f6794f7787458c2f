"""pgbench's logs, per transaction (`-l`) or per interval (`--aggregate-interval`).

Traps: `-j N` writes N logs, `.1`, `.2` beside the first, and only all together are the run; the first interval
begins in the middle and the last one is not written; times are microseconds; with -R the latency includes the
schedule lag.
"""

import re
from itertools import pairwise
from pathlib import Path

from oltpsim.calibration.importers.vocabulary import percentile
from oltpsim.calibration.records import FileReading, ResultRank
from oltpsim.models.input import SourceFile

KIND = "pgbench log"
AGGREGATE = re.compile(r"^\d{10} \d+ \d+ \d+ \d+ \d+( \d+)*$")
SINGLE = re.compile(r"^\d+ \d+ (\d+|failed|skipped|serialization|deadlock) \d+ \d{10} \d{1,6}( \d+)*$")
NUMBERED = re.compile(r"^(.*\.\d+)\.(\d+)$")
PERCENTILES = ("50", "90", "95", "99")


def detect(file: SourceFile) -> bool:
    """By the shape of its first line."""
    first = file.head.partition("\n")[0].strip()
    return bool(AGGREGATE.match(first) or SINGLE.match(first))


def read(file: SourceFile) -> FileReading:
    """The logs of all threads, read with the first of them. Raises InputError if a thread's log lacks."""
    reading = FileReading(KIND, file.name, tool="pgbench", rank=ResultRank.DETAIL)
    numbered = NUMBERED.match(file.path.name)
    if numbered and file.path.with_name(numbered[1]).exists():
        return FileReading(f"{KIND}, read with {numbered[1]}", file.name)
    if numbered:
        file.refuse(
            "", f"the log of thread {numbered[2]} alone", f"{numbered[1]} beside it", "give the folder with all logs"
        )
    logs = [file, *(SourceFile(path, path.name) for path in _logs_of_threads(file))]
    rows = [[(at, line.split()) for at, line in enumerate(log.whole_lines, 1) if line.strip()] for log in logs]
    pattern = AGGREGATE if AGGREGATE.match(file.lines[0].strip()) else SINGLE
    for log in logs:
        for at, line in enumerate(log.lines, 1):
            if line.strip() and not pattern.match(line.strip()):
                log.refuse(f"line {at}", repr(line[:40]), "a line like the first", "the log is cut off: copy it again")
    reading.set_database("PostgreSQL", "log")
    place = f"{len(logs)} logs" if len(logs) > 1 else "log"
    if pattern is AGGREGATE:
        _aggregate(file, reading, rows, place)
    else:
        _single(file, reading, rows, place)
    return reading


def _logs_of_threads(file: SourceFile) -> list[Path]:
    found = [path for path in file.path.parent.glob(f"{file.path.name}.*") if path.suffix[1:].isdigit()]
    found.sort(key=lambda path: int(path.suffix[1:]))
    if [int(path.suffix[1:]) for path in found] != list(range(1, len(found) + 1)):
        names = ", ".join(path.name for path in found)
        file.refuse("", names, "the logs .1, .2, ... without a gap", "copy all threads' logs")
    return found


def _aggregate(file: SourceFile, reading: FileReading, rows: list[list[tuple[int, list[str]]]], place: str) -> None:
    by_start: dict[int, list[float]] = {}
    for log in rows:
        for _, words in log:
            totals = by_start.setdefault(int(words[0]), [0.0, 0.0])
            lag_us = float(words[6]) if len(words) > 6 else 0.0
            totals[0], totals[1] = totals[0] + float(words[1]), totals[1] + float(words[2]) - lag_us
    starts = sorted(by_start)
    if len(starts) < 3:
        file.refuse("", f"{len(starts)} intervals", "at least three: the first begins in the middle", "run it longer")
    interval_s = min(after - before for before, after in pairwise(starts))
    kept = starts[1:]
    seconds = float(interval_s * len(kept))
    count, total_us = (sum(by_start[start][column] for start in kept) for column in (0, 1))
    means = "transactions of all threads in whole intervals; the first and the unwritten last are left out"
    _rates(reading, count / seconds, total_us / max(count, 1.0) / 1000.0, seconds, place, means)
    reading.window = (float(kept[0]), kept[-1] + float(interval_s))
    rates = [by_start[start][0] / interval_s for start in kept]
    reading.add_series("transactions_per_s", [start + interval_s for start in kept], rates, "count", place, means)


def _single(file: SourceFile, reading: FileReading, rows: list[list[tuple[int, list[str]]]], place: str) -> None:
    times_us: list[float] = []
    ends_us: list[int] = []
    failed = 0
    for log in rows:
        for _, words in log:
            ends_us.append(int(words[4]) * 1_000_000 + int(words[5]))
            if not words[2].isdigit():
                failed += 1
            else:
                lag_us = float(words[6]) if len(words) > 6 else 0.0
                times_us.append(float(words[2]) - lag_us)
    seconds = (max(ends_us) - min(ends_us)) / 1e6
    if seconds <= 0 or len(times_us) < 2:
        file.refuse(
            "", f"{len(times_us)} transactions in {seconds:g} s", "at least two that end apart", "run it longer"
        )
    means = "transactions of all threads between the first end and the last, schedule lag taken off"
    _rates(reading, (len(times_us) - 1) / seconds, sum(times_us) / len(times_us) / 1000.0, seconds, place, means)
    reading.window = (min(ends_us) / 1e6, max(ends_us) / 1e6)
    times_us.sort()
    for percent in PERCENTILES:
        value_ms = percentile(times_us, percent) / 1000.0
        reading.add(("outcome", "percentiles_ms", percent), value_ms, "us", place, f"{percent} % of {means}")
    if failed:
        reading.add("outcome.errors_per_s", failed / seconds, "count", place, "failed or skipped, per s")


def _rates(reading: FileReading, per_s: float, mean_ms: float, seconds: float, place: str, means: str) -> None:
    reading.set_window("steady", seconds, "s", place, means)
    reading.add("outcome.transactions_per_s", per_s, "count", place, means)
    reading.add("outcome.mean_ms", mean_ms, "us", place, f"mean of {means}")
