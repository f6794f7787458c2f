"""sysbench's text of 0.4, 0.5, 1.0 and 1.1: its OLTP scripts and sysbench-tpcc, with text or CSV reports.

Traps: there is one percentile and it is the one that was asked for; 1.0.15 writes `err/s 0.00` and 1.0.20 `err/s:
0.00`; no line names the script, and a transaction that is tried again repeats its queries, so that TPC-C is told by the
text or the name of file or folder alone; 10 of 23 are new orders then. 0.4 calls errors deadlocks and writes no
"queries". 1.1 has --warmup-time, says it ("Warmup time: 30s"; akopytov/sysbench issue 167) and counts after it.
With --rate clients wait for their turn: reports have a second line with the queue, and latencies include the wait.
"""

import re
from dataclasses import dataclass, field
from statistics import fmean

from oltpsim.calibration.importers import tpcc_kit
from oltpsim.calibration.importers.several_runs import RunMarks
from oltpsim.calibration.records import FileReading
from oltpsim.models.input import SourceFile

KIND = "sysbench result"
NEW_ORDERS = 10.0 / 23.0
"""sysbench-tpcc draws new order, payment, order status, delivery and stock level with weights 10, 10, 1, 1, 1."""
SCRIPTS = {
    "oltp_read_write": (14, 4),
    "oltp_write_only": (0, 4),
    "oltp_point_select": (1, 0),
    "oltp_read_only": (14, 0),
}
"""Reads and writes of one transaction of the scripts that come with sysbench; the first that fits is taken"""
REPORT = re.compile(r"^\[ *[\d.]+s *\] ")
INTERVAL = re.compile(
    r"^\[ *([\d.]+)s *\] (?:thds|threads): (\d+),? tps: ([\d.,]+?),? .*?"
    r"(?:lat \(ms,\d+%\): [\d.,]+ err/s:? [\d.,]+|response time: [\d.,]+ms \([\d.]+%\).*)"
)
QUEUE = re.compile(r"^\[ *[\d.]+s *\] queue length: (\d+), concurrency: \d+\s*$")
TARGET = re.compile(r"^Target transaction rate: (\d+)/sec")
CSV = re.compile(r"^(\d+),(\d+),([\d.]+),([\d.]+),([\d.]+),([\d.]+),([\d.]+),([\d.]+),([\d.]+),([\d.]+)$")
THREADS = re.compile(r"^Number of threads: (\d+)")
WARM_UP = re.compile(r"^Warmup time: (\d+)s")
COUNT = re.compile(r"(\S+)\s+\((\S+) per sec\.\)")
PLAIN = re.compile(r"([-+\d.,]+)\s*(?:ms|s)?")
COUNTS = ("transactions", "queries", "ignored errors", "deadlocks", "read/write requests", "other operations")
FIGURES = (
    "read",
    "write",
    "other",
    "total",
    "total time",
    "time elapsed",
    "total number of events",
    "min",
    "avg",
    "max",
    "sum",
    "total time taken by event execution",
    "percentile",
)
LABELS = dict.fromkeys(COUNTS, COUNT) | dict.fromkeys(FIGURES, PLAIN)
PERCENTILE = re.compile(r"(?:approx\.\s+)?([\d.]+)(?:th)? percentile")
RUNS = RunMarks(
    re.compile(r"^\s+(?:total time|time elapsed):\s"),
    tuple(
        map(
            re.compile,
            (r"^sysbench \d", r"^Running the test with following options", r"^(?:SQL|OLTP test) statistics:"),
        )
    ),
    REPORT,
)


def detect(file: SourceFile) -> bool:
    """By the banner, or by what its reports look like, unless our own kit wrote before them."""
    sysbenchs = re.search(r"^sysbench \d|^\[ *[\d.]+s *\] (?:thds|threads): ", file.head, re.MULTILINE)
    return bool(sysbenchs) and not tpcc_kit.detect(file)


def read(file: SourceFile) -> FileReading:
    """Rate, latency and series. Raises InputError for a run without its totals, or totals that differ."""
    reading = FileReading(KIND, file.name, tool="sysbench")
    threads = _options(file, reading)
    reports = _Reports()
    for at, line in enumerate(file.lines, 1):
        _add_report(file, reports, at, line)
    totals, percentile = _totals(file)
    if reports.clients and threads[0]:
        most, place = max(reports.clients)
        file.agree("threads", most, place, threads[0], threads[1])
    if "transactions" not in totals and "total time" in totals:
        file.refuse(
            "", "a sysbench test without transactions", "one of a database", "give the result of an OLTP script"
        )
    _old_names(totals)
    missing = [name for name in ("transactions", "total time", "avg", "percentile", "max") if name not in totals]
    if missing:
        file.truncated(f"sysbench's totals ({', '.join(missing)})")
    has_rate = _is_rate_limited(reading, reports)
    _compare(file, totals, (0.0, "") if has_rate else threads)
    seconds, where = totals["total time"][1][0], f"line {totals['total time'][0]}"
    if ("window", "ramp_s") in reading.values:
        reading.set_window("steady", seconds, "s", where, "transactions done over total time, after the warm-up")
    else:
        reading.set_window("whole", seconds, "s", where, "transactions done over total time, from the first one on")
    at, (transactions, rate) = totals["transactions"]
    where = f"line {at}"
    reading.add("outcome.transactions_per_s", transactions / seconds, "count", where, "transactions over total time")
    reading.add("outcome.reported.tps", rate, "1/s", where, "sysbench's transactions per s")
    _latencies(reading, totals, percentile)
    if "ignored errors" in totals:
        at, (errors, _) = totals["ignored errors"]
        means = "transactions that were tried again after an error"
        reading.add("outcome.errors_per_s", errors / seconds, "count", f"line {at}", means)
    _script(file, reading, totals, where)
    means = "transactions per s in each report"
    ends_s, rates = [end_s for end_s, _ in reports.points], [rate for _, rate in reports.points]
    reading.add_series("transactions_per_s", ends_s, rates, "tps", f"{len(reports.points)} reports", means)
    return reading


@dataclass
class _Reports:
    """Reports between start and end."""

    points: list[tuple[float, float]] = field(default_factory=list)
    """end and transactions per s of each interval"""
    clients: list[tuple[float, str]] = field(default_factory=list)
    """threads at work and their line; fewer after a thread has ended"""
    queues: list[float] = field(default_factory=list)
    """transactions that wait for a thread, with --rate"""


def _totals(file: SourceFile) -> tuple[dict[str, tuple[int, list[float]]], str]:
    """Line and numbers of each total by its label, and which percentile was asked for."""
    totals: dict[str, tuple[int, list[float]]] = {}
    percentile = ""
    for at, line in enumerate(file.lines, 1):
        label, colon, words = line.strip().partition(":")
        if match := PERCENTILE.fullmatch(label):
            label, percentile = "percentile", match[1]
        if colon and line[:1].isspace() and label in LABELS and words.strip():
            match = file.matched(LABELS[label], words.strip(), at, f"sysbench's line '{label}'")
            totals.setdefault(label, (at, [file.number(word, f"line {at}, {label}") for word in match.groups()]))
    return totals, percentile


def _options(file: SourceFile, reading: FileReading) -> tuple[float, str]:
    """Number of threads and its line; adds the options that sysbench prints."""
    threads = (0.0, "")
    for at, line in enumerate(file.lines, 1):
        if match := THREADS.match(line):
            threads = float(match[1]), f"line {at}"
            reading.add("workload.clients", threads[0], "threads", threads[1], "threads without think time")
        elif match := WARM_UP.match(line):
            means = "warm-up with the threads of the run, not counted"
            reading.add("window.ramp_s", float(match[1]), "s", f"line {at}", means)
        elif match := TARGET.match(line):
            reading.add("outcome.reported.target", float(match[1]), "1/s", f"line {at}", "rate that was asked for")
    return threads


def _add_report(file: SourceFile, reports: _Reports, at: int, line: str) -> None:
    """Add the report of a line, if it is one. Raises InputError for a damaged one."""
    if match := QUEUE.match(line):
        reports.queues.append(file.number(match[1], f"line {at}, queue length"))
    elif REPORT.match(line) or CSV.match(line):
        match = CSV.match(line) or file.matched(INTERVAL, line, at, "a report of sysbench")
        reports.points.append((file.number(match[1], f"line {at}"), file.number(match[3], f"line {at}, tps")))
        reports.clients.append((float(match[2]), f"line {at}"))


def _is_rate_limited(reading: FileReading, reports: _Reports) -> bool:
    """Whether the rate was given (--rate), as options or reports say; adds the queue."""
    if reports.queues:
        means = "mean of the reports: transactions that wait for a thread, at a given rate"
        place = f"{len(reports.queues)} reports"
        reading.add("outcome.reported.queue length", fmean(reports.queues), "transactions", place, means)
    if not reports.queues and ("outcome", "reported", "target") not in reading.values:
        return False
    reading.notes.append("run with --rate: the rate was given, not reached; latencies include the wait for a thread")
    return True


def _old_names(totals: dict[str, tuple[int, list[float]]]) -> None:
    """Lines of other releases under the names of 1.0, in its units."""
    for name, former in (("total time", "time elapsed"), ("ignored errors", "deadlocks")):
        if former in totals:
            totals.setdefault(name, totals[former])
    if "total time taken by event execution" in totals:
        at, (seconds,) = totals["total time taken by event execution"]
        totals.setdefault("sum", (at, [seconds * 1000.0]))


def _compare(file: SourceFile, totals: dict[str, tuple[int, list[float]]], threads: tuple[float, str]) -> None:
    """Hold each figure that is written twice against its other value."""
    seconds = totals["total time"][1][0]
    if seconds <= 0:
        file.refuse(f"line {totals['total time'][0]}", f"{seconds:g} s", "a measured time", "run it longer")
    for name in ("transactions", "queries", "ignored errors", "read/write requests", "other operations"):
        if name in totals:
            at, (count, per_s) = totals[name]
            file.agree(f"{name} per s", per_s, f"line {at}", count / seconds, "count over total time", 0.01)

    _compare_latencies(file, totals, threads)

    def value(name: str) -> float:
        return totals[name][1][0]

    def agree(name: str, other: float, where: str, rounding: float = 0.5) -> None:
        file.agree(name, value(name), f"line {totals[name][0]}", other, where, rounding)

    if {"read", "write", "other", "total"} <= totals.keys():
        agree("total", value("read") + value("write") + value("other"), "read, write and other")
        if "queries" in totals:
            agree("queries", value("total"), "the line 'total'")
    if "total number of events" in totals:
        agree("transactions", value("total number of events"), "the total number of events")


def _compare_latencies(
    file: SourceFile, totals: dict[str, tuple[int, list[float]]], threads: tuple[float, str]
) -> None:
    """Hold mean, sum and extremes of the latencies against each other and the threads."""

    def value(name: str) -> float:
        return totals[name][1][0]

    seconds = value("total time")
    if "sum" in totals and value("transactions"):
        mean_ms, place = value("sum") / value("transactions"), f"line {totals['avg'][0]}"
        file.agree("avg", value("avg"), place, mean_ms, "sum over transactions", 0.02)
        if threads[0]:
            busy, where = value("sum") / 1000.0 / seconds, "the sum of latencies over total time"
            if busy > threads[0] * 1.1 or busy < threads[0] * 0.5:
                file.refuse(
                    threads[1], f"{threads[0]:g} threads", f"about {busy:.3g} by {where}", "give the file whole"
                )
    if "min" in totals and not value("min") <= value("avg") <= value("max"):
        seen = f"{value('min'):g}, {value('avg'):g} and {value('max'):g} ms"
        file.refuse(f"line {totals['avg'][0]}", f"min, avg and max of {seen}", "them in order", "give the file whole")
    if value("percentile") > value("max") * 1.02 + 0.01:
        seen = f"a percentile of {value('percentile'):g} ms"
        file.refuse(f"line {totals['percentile'][0]}", seen, f"at most max, {value('max'):g} ms", "give the file whole")


def _latencies(reading: FileReading, totals: dict[str, tuple[int, list[float]]], percentile: str) -> None:
    at, (mean_ms,) = totals["avg"]
    reading.add("outcome.mean_ms", mean_ms, "ms", f"line {at}", "mean of all transactions")
    at, (value_ms,) = totals["percentile"]
    if value_ms > 0 or not mean_ms:  # --percentile=0 keeps none
        means = "of all transactions, by a histogram of 1 % steps; the only one that sysbench keeps"
        reading.add(("outcome", "percentiles_ms", percentile), value_ms, "ms", f"line {at}", means)


def _script(file: SourceFile, reading: FileReading, totals: dict[str, tuple[int, list[float]]], where: str) -> None:
    """Name of the script; new orders only where text, file or folder names TPC-C."""
    transactions = totals["transactions"][1][0]
    reads, writes = (totals[name][1][0] if name in totals else 0.0 for name in ("read", "write"))
    attempts = transactions + (totals["ignored errors"][1][0] if "ignored errors" in totals else 0.0)
    queries = (totals["total"][1][0] if "total" in totals else 0.0) / max(attempts, 1.0)
    script = next((name for name, shape in SCRIPTS.items() if _is_of_shape(reads, writes, queries, shape)), "")
    names = (file.name, file.head) if script else (file.name, file.head, file.path.resolve().parent.name)
    if any(word in name.lower() for name in names for word in ("tpcc", "tpc-c")):
        per_s = transactions / totals["total time"][1][0]
        reading.add_text("workload.driver", "sysbench-tpcc", where, "named by the file, its folder or its text")
        means = "transactions per minute * 10/23: the share of new orders that sysbench-tpcc draws, not a count"
        reading.add("outcome.new_orders_per_minute", per_s * 60.0 * NEW_ORDERS, "transactions", where, means)
        reading.notes.append("taken for sysbench-tpcc, which it names; new orders are 10 of 23")
        return
    name = f"sysbench {script}, {queries:.4g} queries per transaction".replace(" ,", ",")
    reading.add_text("workload.driver", name, where, "script, told by its reads and writes; tries again counted")


def _is_of_shape(reads: float, writes: float, queries: float, shape: tuple[int, int]) -> bool:
    """Whether reads and writes are in the proportion of a script; what was tried again repeats both."""
    same = bool(reads) == bool(shape[0]) and bool(writes) == bool(shape[1]) and reads + writes > 0
    proportion = abs(reads * shape[1] - writes * shape[0]) <= 0.02 * writes * shape[0]
    return same and proportion and (sum(shape) > 1 or queries <= 1.0)
