"""pgbench's summary, of 9.0 to 18.

Traps: with -R the latency includes the schedule lag, during which a transaction only waits for its turn; before 14 two
rates are printed, of which the one without connecting is meant; `-T` runs to the end of each transaction, which a stall
puts off; 9.x writes "latency average:" or no latency at all; failed and skipped transactions are in no rate.
"""

import math
import re
from collections.abc import Callable

from oltpsim.calibration.importers.several_runs import RunMarks
from oltpsim.calibration.records import FileReading
from oltpsim.models.input import DAMAGED, SourceFile

KIND = "pgbench summary"
WITHOUT_CONNECTING = "without initial connection time|excluding connections establishing|including reconnection times"
LINES = {
    "type": re.compile(r"^transaction type: (.+)$"),
    "scale": re.compile(r"^scaling factor: (\S+)$"),
    "clients": re.compile(r"^number of clients: (\S+)$"),
    "seconds": re.compile(r"^duration: (\S+) s$"),
    "per client": re.compile(r"^number of transactions per client: (\S+)$"),
    "count": re.compile(r"^number of transactions actually processed: ([\d.,]+)(?:/[\d.,]+)?"),
    "failed": re.compile(r"^number of failed transactions: (\d+)"),
    "skipped": re.compile(r"^number of transactions skipped: (\d+)"),
    "latency": re.compile(r"^latency average(?: =|:) (\S+) ms"),
    "stddev": re.compile(r"^latency stddev(?: =|:) (\S+) ms"),
    "lag": re.compile(r"^rate limit schedule lag: avg (\S+) \(max \S+\) ms"),
    "connecting": re.compile(r"^initial connection time = (\S+) ms"),
    "reconnecting": re.compile(r"^average connection time = (\S+) ms"),
    "tps": re.compile(rf"^tps = (\S+) \((?:{WITHOUT_CONNECTING})\)"),
    "tps with connecting": re.compile(r"^tps = (\S+) \(including connections establishing\)"),
}
TABLE = re.compile(r"^(?:transaction type:|scaling factor:|number of |duration:|latency average|tps = )")
LEAST_COVERED = 0.9
"""Least share of the run in lines `progress` whose mean is compared with the run's"""
LEAST_BUSY = 0.95
"""Least share of the duration that clients spend in transactions, without a given rate"""
NOT_READ = re.compile(
    r"^number of (?:threads|transactions (?:retried|above)|retries|serialization|deadlock)|^total number of retries"
)
PROGRESS = re.compile(r"^progress: ([\d.,]+) s, ([\d.,]+) tps, lat ([\d.,]+) ms")
RUNS = RunMarks(
    re.compile("^number of transactions actually processed:"),
    (re.compile(r"^pgbench \("), re.compile("^starting vacuum"), LINES["type"]),
    re.compile("^progress: "),
)


def detect(file: SourceFile) -> bool:
    """By lines that only it prints."""
    return bool(
        re.search(r"^(transaction type: |pgbench \(|progress: [\d.,]+ s, [\d.,]+ tps)", file.head, re.MULTILINE)
    )


def read(file: SourceFile) -> FileReading:
    """Rate, mean time in the database, series. Raises InputError for a run without its summary."""
    reading = FileReading(KIND, file.name, tool="pgbench")
    found = _summary(file)
    points: list[tuple[float, float, float]] = []
    for at, line in enumerate(file.lines, 1):
        if match := PROGRESS.match(line):
            end_s, rate, latency_ms = (file.number(word, f"line {at}") for word in match.groups())
            points.append((end_s, rate, latency_ms))
    missing = [name for name in ("clients", "count", "tps") if name not in found]
    if missing:
        file.truncated(f"pgbench's summary ({', '.join(missing)})")

    def number(name: str) -> float:
        return file.number(found[name][0], f"{found[name][1]}, {name}")

    rate = number("tps")
    if rate <= 0:
        file.refuse(found["tps"][1], f"tps = {rate:g}", "a run that did transactions", "look why none was done")
    seconds = number("seconds") if "seconds" in found else number("count") / rate
    where = found["seconds" if "seconds" in found else "count"][1]
    _compare(file, number, found)
    _compare_progress(file, points, (rate, found["tps"][1]), seconds, found.get("latency"))
    reading.set_window(
        "whole", seconds, "s", where, "transactions done over the time from the first connection made to the last end"
    )
    reading.add("outcome.transactions_per_s", rate, "tps", found["tps"][1], "tps without the time of connecting")
    reading.add("workload.clients", number("clients"), "clients", found["clients"][1], "sessions")
    _latency(reading, number, found)
    failed = [name for name in ("failed", "skipped") if name in found]
    if failed:
        value, place = sum(map(number, failed)), found[failed[0]][1]
        reading.add("outcome.errors_per_s", value / seconds, "count", place, f"{' and '.join(failed)}, per s")
    if "reconnecting" in found:
        value, place = number("reconnecting"), found["reconnecting"][1]
        reading.add("outcome.reported.connection time", value, "ms", place, "mean time of a connection (-C)")
    if "scale" in found:
        reading.add("workload.scale", number("scale"), "scale", found["scale"][1], "100,000 accounts each")
    if "type" in found:
        reading.add_text("workload.driver", f"pgbench {found['type'][0]}", found["type"][1], "script")
    reading.set_database("PostgreSQL", "summary")
    ends_s, rates = [end_s for end_s, _, _ in points], [rate for _, rate, _ in points]
    place, means = f"{len(points)} lines 'progress'", "transactions per s in each interval"
    reading.add_series("transactions_per_s", ends_s, rates, "tps", place, means)
    return reading


def _summary(file: SourceFile) -> dict[str, tuple[str, str]]:
    """Words of the summary and their lines, from the type to the rate: notes stand before or after them.

    Raises InputError for a damaged line between.
    """
    found: dict[str, tuple[str, str]] = {}
    types = [at for at, line in enumerate(file.lines) if line.startswith("transaction type:")]
    first = types[-1] if types else 0
    for at, line in enumerate(file.lines[first:], first + 1):
        matches = {name: match for name, pattern in LINES.items() if (match := pattern.match(line))}
        found |= {name: (match[1], f"line {at}") for name, match in matches.items()}
        if "tps" in matches:
            break
        if not matches and TABLE.match(line) and not NOT_READ.match(line):
            file.refuse(f"line {at}", repr(line[:80]), "a line of pgbench's summary", DAMAGED)
    return found


def _compare(file: SourceFile, number: Callable[[str], float], found: dict[str, tuple[str, str]]) -> None:
    """Rate, count and duration say one figure; the last transactions end after the duration."""
    count = number("count")
    if "per client" in found and "failed" not in found:
        all_of_them, where = number("clients") * number("per client"), "clients times transactions of each"
        if count > all_of_them:
            file.agree("transactions", count, found["count"][1], all_of_them, where, 0.5)
    if "seconds" in found:
        kind = "tps with connecting" if "tps with connecting" in found else "tps"
        seconds = number("seconds") - (number("connecting") / 1000.0 if "connecting" in found else 0.0)
        seconds = max(seconds, 0.1)
        tail_s = 3.0 * number("latency") / 1000.0 if "latency" in found else seconds * 0.1
        rate = count / seconds
        longest_s = max(tail_s, _longest_tail_s(number, found, seconds)) if "latency" in found else tail_s
        rate_or_less = min(max(number(kind), count / (seconds + longest_s)), rate)
        where = "the count over the duration"
        file.agree(kind, number(kind), found[kind][1], rate_or_less, where, rate * tail_s / seconds)
    _compare_latency(file, number, found)
    if "tps with connecting" in found and (slower := number("tps with connecting")) > number("tps"):
        file.agree("tps with connecting", slower, found["tps with connecting"][1], number("tps"), "tps without it")


def _compare_latency(file: SourceFile, number: Callable[[str], float], found: dict[str, tuple[str, str]]) -> None:
    """Without a deviation beside it the mean latency is no measurement: pgbench makes it of clients, time and count."""
    if "latency" not in found or {"stddev", "lag", "reconnecting"} & found.keys():
        return
    if any(number(name) for name in ("failed", "skipped") if name in found):
        return
    kind = "tps with connecting" if "tps with connecting" in found else "tps"
    latency_ms, place = number("latency"), found["latency"][1]
    if latency_ms > 0:
        of_rate_ms = number("clients") / number(kind) * 1000.0
        connecting = number("connecting") / 1000.0 / (number("count") / number("tps")) if "connecting" in found else 0.0
        rounding = 0.0005 + of_rate_ms * min(connecting, 1.0)
        file.agree("latency average", latency_ms, place, of_rate_ms, "clients over tps", rounding)


def _compare_progress(
    file: SourceFile,
    points: list[tuple[float, float, float]],
    rate: tuple[float, str],
    seconds: float,
    latency: tuple[str, str] | None,
) -> None:
    """Rate and latency are the means of the lines `progress`, but for what comes after the last one."""
    covered_s = points[-1][0] if points else 0.0
    if not LEAST_COVERED * seconds <= covered_s <= seconds + points[0][0]:
        return
    starts_s = [0.0, *(end_s for end_s, _, _ in points[:-1])]
    counts = [(end_s - start_s) * per_s for start_s, (end_s, per_s, _) in zip(starts_s, points, strict=True)]
    total = sum(counts)
    slack = abs(1.0 - covered_s / seconds) + 0.01
    where = f"the mean of {len(points)} lines 'progress'"
    file.agree("tps", *rate, total / covered_s, where, slack * rate[0])
    if latency is not None and total > 0:
        mean_ms = sum(count * each[2] for count, each in zip(counts, points, strict=True)) / total
        file.agree("latency average", file.number(*latency), latency[1], mean_ms, where, slack * mean_ms + 0.001)


def _longest_tail_s(number: Callable[[str], float], found: dict[str, tuple[str, str]], seconds: float) -> float:
    """Longest time that transactions may take beyond the duration by their mean, and by their deviation if given."""
    count, latency_s = number("count"), number("latency") / 1000.0
    if "stddev" in found:
        return latency_s + number("stddev") / 1000.0 * math.sqrt(count)
    return count * latency_s - LEAST_BUSY * number("clients") * seconds


def _latency(reading: FileReading, number: Callable[[str], float], lines: dict[str, tuple[str, str]]) -> None:
    if "latency" not in lines:
        return
    latency_ms, where = number("latency"), lines["latency"][1]
    if "lag" not in lines:
        reading.add("outcome.mean_ms", latency_ms, "ms", where, "mean of all transactions")
        return
    lag_ms = number("lag")
    means = "mean latency less mean schedule lag (-R): the time in the database"
    reading.add("outcome.mean_ms", latency_ms - lag_ms, "ms", f"{where} less {lines['lag'][1]}", means)
    reading.add("outcome.reported.latency with schedule lag", latency_ms, "ms", where, "pgbench's latency average")
    reading.notes.append(
        f"run with -R: {lag_ms:g} ms of its latency are schedule lag and taken off; the rate was given, not reached"
    )
