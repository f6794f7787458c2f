"""pgbench's summary.

Traps: with -R the latency includes the schedule lag, during which a transaction only waits for its turn; older
versions print two rates, of which the one without connecting is meant; `-T` runs to the end of each transaction.
"""

import re
from collections.abc import Callable

from oltpsim.calibration.records import FileReading
from oltpsim.models.input import SourceFile

KIND = "pgbench summary"
LINES = {
    "type": re.compile(r"^transaction type: (.+)$"),
    "scale": re.compile(r"^scaling factor: (\S+)$"),
    "clients": re.compile(r"^number of clients: (\S+)$"),
    "seconds": re.compile(r"^duration: (\S+) s$"),
    "count": re.compile(r"^number of transactions actually processed: ([\d.,]+)"),
    "failed": re.compile(r"^number of failed transactions: (\d+)"),
    "latency": re.compile(r"^latency average = (\S+) ms"),
    "lag": re.compile(r"^rate limit schedule lag: avg (\S+) \(max \S+\) ms"),
    "tps": re.compile(
        r"^tps = (\S+) \((?:without initial connection time|excluding connections establishing"
        r"|including reconnection times)\)"
    ),
}
PROGRESS = re.compile(r"^progress: ([\d.,]+) s, ([\d.,]+) tps, lat ([\d.,]+) ms")


def detect(file: SourceFile) -> bool:
    """By lines that only it prints."""
    return bool(
        re.search(r"^(transaction type: |pgbench \(|progress: [\d.,]+ s, [\d.,]+ tps)", file.head, re.MULTILINE)
    )


def read(file: SourceFile) -> FileReading:
    """Rate, mean time in the database, series. Raises InputError for a run without its summary."""
    reading = FileReading(KIND, file.name, tool="pgbench")
    found: dict[str, tuple[str, str]] = {}
    points: list[tuple[float, float]] = []
    for at, line in enumerate(file.lines, 1):
        for name, pattern in LINES.items():
            if match := pattern.match(line):
                found[name] = (match[1], f"line {at}")
        if match := PROGRESS.match(line):
            points.append((file.number(match[1], f"line {at}"), file.number(match[2], f"line {at}, tps")))
    missing = [name for name in ("clients", "count", "latency", "tps") if name not in found]
    if missing:
        file.truncated(f"pgbench's summary ({', '.join(missing)})")

    def number(name: str) -> float:
        return file.number(found[name][0], f"{found[name][1]}, {name}")

    rate = number("tps")
    seconds = number("seconds") if "seconds" in found else number("count") / rate
    where = found["seconds" if "seconds" in found else "count"][1]
    reading.set_window(
        "whole", seconds, "s", where, "transactions done over the time from the first connection made to the last end"
    )
    reading.add("outcome.transactions_per_s", rate, "tps", found["tps"][1], "tps without the time of connecting")
    reading.add("workload.clients", number("clients"), "clients", found["clients"][1], "sessions")
    _latency(reading, number, found)
    if "failed" in found:
        reading.add("outcome.errors_per_s", number("failed") / seconds, "count", found["failed"][1], "failed, per s")
    if "scale" in found:
        reading.add("workload.scale", number("scale"), "scale", found["scale"][1], "100,000 accounts each")
    if "type" in found:
        reading.add_text("workload.driver", f"pgbench {found['type'][0]}", found["type"][1], "script")
    reading.set_database("PostgreSQL", "summary")
    if len(points) >= 2:
        interval_s = points[1][0] - points[0][0]
        rates, place = [rate for _, rate in points], f"{len(points)} lines 'progress'"
        reading.add_series("transactions_per_s", interval_s, rates, "tps", place, "transactions per s in each interval")
    return reading


def _latency(reading: FileReading, number: Callable[[str], float], lines: dict[str, tuple[str, str]]) -> None:
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
