"""tpcc-mysql's text.

Traps: `sc` (in time) and `lt` (late) are both done and only together a rate; classes have numbers, in the order new
order, payment, order status, delivery, stock level; reports are of 1 or 10 s; its TpmC is not an audited one.
"""

import re

from oltpsim.calibration.importers.vocabulary import TPCC_CLASSES
from oltpsim.calibration.records import FileReading
from oltpsim.models.input import SourceFile

KIND = "tpcc-mysql result"
RAW = re.compile(r"^\s*\[(\d)\] sc:\s*(\d+)\s+lt:\s*(\d+)\s+rt:\s*(\d+)\s+fl:\s*(\d+)(?:\s+avg_rt: ([\d.,]+))?")
SECONDS = re.compile(r"^\s*in (\d+) sec\.")
REPORT = re.compile(r"^\s*(\d+), trx: (\d+), 95%: ([\d.,]+), 99%: ([\d.,]+), max_rt: ([\d.,]+)")
SETTING = re.compile(r"^\s*\[(warehouse|connection|rampup|measure)\]: (\d+)")
TPMC = re.compile(r"^\s*([\d.,]+) TpmC\s*$")


def detect(file: SourceFile) -> bool:
    """By the banner, its raw results, or its settings."""
    return "###easy### TPC-C Load Generator" in file.head or "<Raw Results>" in file.head


def read(file: SourceFile) -> FileReading:
    """Rates from counts. Raises InputError for a run without raw results."""
    reading = FileReading(KIND, file.name, tool="tpcc-mysql")
    raw: dict[int, tuple[int, list[str]]] = {}
    settings: dict[str, float] = {}
    points: list[tuple[float, float]] = []
    seconds = 0.0
    reported: tuple[float, str] | None = None
    for at, line in enumerate(file.lines, 1):
        if (match := RAW.match(line)) and int(match[1]) not in raw:
            raw[int(match[1])] = (at, [word or "" for word in match.groups()])
        elif match := SETTING.match(line):
            settings[match[1]] = file.number(match[2], f"line {at}")
        elif match := SECONDS.match(line):
            seconds = seconds or file.number(match[1], f"line {at}")
        elif match := REPORT.match(line):
            points.append((file.number(match[1], f"line {at}"), file.number(match[2], f"line {at}, trx")))
        elif match := TPMC.match(line):
            reported = (file.number(match[1], f"line {at}"), f"line {at}")
    if sorted(raw) != [0, 1, 2, 3, 4] or not seconds:
        file.truncated("<Raw Results> of five classes and 'in N sec.'")
    reading.set_window(
        "steady", seconds, "s", "raw results", "transactions in time and late, over the measured time after the ramp"
    )
    if "rampup" in settings:
        reading.add("window.ramp_s", settings["rampup"], "s", "[rampup]", "time before the measured time")
    _counts(file, reading, raw, seconds)
    _settings(reading, settings, points, reported)
    return reading


def _counts(file: SourceFile, reading: FileReading, raw: dict[int, tuple[int, list[str]]], seconds: float) -> None:
    """Classes and their sums."""
    total = weighted = failed = 0.0
    timed = True
    for number, (at, words) in sorted(raw.items()):
        base, place = ("outcome", "classes", TPCC_CLASSES[number]), f"line {at}"
        done = float(words[1]) + float(words[2])
        total, failed = total + done, failed + float(words[4])
        reading.add((*base, "count"), done, "sc + lt", place, "done in time and late")
        reading.add((*base, "errors"), float(words[4]), "fl", place, "failed")
        if words[5]:
            mean_ms = file.number(words[5], f"{place}, avg_rt")
            weighted += mean_ms * done
            reading.add((*base, "mean_ms"), mean_ms, "ms", place, "avg_rt, of all that were done")
        timed = timed and bool(words[5])
        if number == 0:
            means = "new orders done in time and late, per minute of measured time"
            path = ("outcome", "new_orders_per_minute")
            reading.add(path, done / seconds * 60.0, "sc + lt", place, means)
    place = "raw results"
    reading.add("outcome.transactions_per_s", total / seconds, "sc + lt", place, "all done, per s")
    reading.add("outcome.errors_per_s", failed / seconds, "fl", place, "failed, per s")
    if timed and total:
        reading.add("outcome.mean_ms", weighted / total, "ms", place, "avg_rt of all classes by their counts")


def _settings(
    reading: FileReading,
    settings: dict[str, float],
    points: list[tuple[float, float]],
    reported: tuple[float, str] | None,
) -> None:
    reading.add_text("workload.driver", "tpcc-mysql", "raw results", "load generator")
    if "connection" in settings:
        reading.add(
            "workload.clients", settings["connection"], "connections", "[connection]", "threads without think time"
        )
    if "warehouse" in settings:
        reading.add("workload.warehouses", settings["warehouse"], "warehouses", "[warehouse]", "warehouses used")
    if reported:
        means = "tpcc-mysql's TpmC: new orders in time and late per minute; not an audited tpmC"
        reading.add("outcome.reported.TpmC", reported[0], "1/min", reported[1], means)
    if len(points) >= 2 and points[1][0] > points[0][0]:
        interval_s = points[1][0] - points[0][0]
        rates = [count / interval_s * 60.0 for _, count in points]
        reading.add_series(
            "new_orders_per_minute", interval_s, rates, "trx", f"{len(points)} reports", "new orders in each report"
        )
