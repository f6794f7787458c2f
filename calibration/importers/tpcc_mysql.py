"""tpcc-mysql's text.

Traps: `sc` (in time) and `lt` (late) are both done and only together a rate; classes have numbers, in the order new
order, payment, order status, delivery, stock level; reports are of 1 or 10 s and may be cut out of a file; counts
stand there twice, added up by class and by thread; its TpmC is not an audited one.
"""

import re
from itertools import pairwise

from oltpsim.calibration.importers.several_runs import RunMarks
from oltpsim.calibration.importers.vocabulary import TPCC_CLASSES, class_name
from oltpsim.calibration.records import FileReading
from oltpsim.models.input import SourceFile

KIND = "tpcc-mysql result"
RAW_ROW = re.compile(r"^\s*\[\d\] sc:")
RAW = re.compile(r"^\s*\[(\d)\] sc:\s*(\d+)\s+lt:\s*(\d+)\s+rt:\s*(\d+)\s+fl:\s*(\d+)(?:\s+avg_rt: ([\d.,]+))?")
SECONDS = re.compile(r"^\s*in (\d+) sec\.")
REPORT_ROW = re.compile(r"^\s*\d+, trx:")
REPORT = re.compile(r"^\s*(\d+), trx: (\d+), 95%: ([\d.,]+), 99%: ([\d.,]+), max_rt: ([\d.,]+)")
SETTING = re.compile(r"^\s*\[(warehouse|connection|rampup|measure)\]: (\d+)")
TPMC = re.compile(r"^\s*([\d.,]+) TpmC\s*$")
SHARE = re.compile(r"^\s*(Payment|Order-Status|Delivery|Stock-Level): ([\d.]+)% \(>=")
RUNS = RunMarks(
    re.compile(r"^<TpmC>"),
    (re.compile("###easy### TPC-C Load Generator"), re.compile("^<Parameters>"), re.compile("^MEASURING START")),
    re.compile(r"^<Raw Results>|^\s*\d+, trx:"),
)


def detect(file: SourceFile) -> bool:
    """By the banner, its raw results, or its settings."""
    return "###easy### TPC-C Load Generator" in file.head or "<Raw Results>" in file.head


def read(file: SourceFile) -> FileReading:
    """Rates from counts. Raises InputError for a run without raw results."""
    reading = FileReading(KIND, file.name, tool="tpcc-mysql")
    raw, seconds = _raw(file)
    settings: dict[str, float] = {}
    points: list[tuple[float, float]] = []
    reported: tuple[float, str] | None = None
    shares: list[tuple[str, float, str]] = []
    for at, line in enumerate(file.lines, 1):
        if match := SHARE.match(line):
            shares.append((class_name(match[1]), file.number(match[2], f"line {at}") / 100.0, f"line {at}"))
        elif match := SETTING.match(line):
            settings[match[1]] = file.number(match[2], f"line {at}")
        elif REPORT_ROW.match(line):
            report = file.matched(REPORT, line, at, "a report: seconds, trx, 95%, 99%, max_rt")
            points.append((file.number(report[1], f"line {at}"), file.number(report[2], f"line {at}, trx")))
        elif match := TPMC.match(line):
            reported = (file.number(match[1], f"line {at}"), f"line {at}")
    if sorted(raw) != [0, 1, 2, 3, 4] or not seconds:
        file.truncated("<Raw Results> of five classes and 'in N sec.'")
    reading.set_window(
        "steady", seconds, "s", "raw results", "transactions in time and late, over the measured time after the ramp"
    )
    if "rampup" in settings:
        reading.add("window.ramp_s", settings["rampup"], "s", "[rampup]", "time before the measured time")
    _compare(file, raw, (seconds, settings.get("measure")), reported, shares)
    _counts(file, reading, raw, seconds)
    _settings(reading, settings, points, reported)
    return reading


def _raw(file: SourceFile) -> tuple[dict[int, tuple[int, list[str]]], float]:
    """Line and words of each class, and the measured time; the second table has the same counts, added up by thread."""
    raw: dict[int, tuple[int, list[str]]] = {}
    seconds = 0.0
    for at, line in enumerate(file.lines, 1):
        if RAW_ROW.match(line):
            row = file.matched(RAW, line, at, "a row of raw results: sc, lt, rt, fl")
            number, words = int(row[1]), [word or "" for word in row.groups()]
            first_at, first = raw.setdefault(number, (at, words))
            counts = [sum(float(word) for word in each[1:5]) for each in (words, first)]
            file.agree(f"count of class {number}", counts[0], f"line {at}", counts[1], f"line {first_at}", 50.0)
        elif match := SECONDS.match(line):
            seconds = seconds or file.number(match[1], f"line {at}")
    return raw, seconds


def _compare(
    file: SourceFile,
    raw: dict[int, tuple[int, list[str]]],
    times_s: tuple[float, float | None],
    reported: tuple[float, str] | None,
    shares: list[tuple[str, float, str]],
) -> None:
    """Time, TpmC and the shares of classes are written beside the counts."""
    done = {TPCC_CLASSES[number]: float(words[1]) + float(words[2]) for number, (_, words) in raw.items()}
    seconds, measured_s = times_s
    if measured_s is not None:
        file.agree("measured time", seconds, "the line 'in N sec.'", measured_s, "[measure]", 1.0)
    if reported is not None:
        file.agree("TpmC", *reported, done["new_order"] / seconds * 60.0, "new orders over the time")
    for name, share, place in shares:
        counted = done[name] / max(sum(done.values()), 1.0)
        file.agree(f"share of {name}", share, place, counted, "the raw results", 0.0005)


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
    interval_s = min((after[0] - before[0] for before, after in pairwise(points)), default=0.0)
    if interval_s > 0:
        ends_s, rates = [end_s for end_s, _ in points], [count / interval_s * 60.0 for _, count in points]
        means = "new orders in each report"
        reading.add_series("new_orders_per_minute", ends_s, rates, "trx", f"{len(points)} reports", means)
