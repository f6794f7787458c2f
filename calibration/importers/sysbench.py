"""sysbench's text, of its OLTP scripts and of sysbench-tpcc, with text or CSV reports.

Traps: there is one percentile and it is the one that was asked for; 1.0.15 writes `err/s 0.00` and 1.0.20 `err/s:
0.00`; no line names the script, so TPC-C is told by its queries per transaction; a third or so of those are new
orders, 10 of 23. 1.1 has --warmup-time, says it ("Warmup time: 30s"; akopytov/sysbench issue 167) and counts after it.
"""

import re
from itertools import pairwise

from oltpsim.calibration.importers import tpcc_kit
from oltpsim.calibration.records import FileReading
from oltpsim.models.input import SourceFile

KIND = "sysbench result"
NEW_ORDERS = 10.0 / 23.0
"""sysbench-tpcc draws new order, payment, order status, delivery and stock level with weights 10, 10, 1, 1, 1."""
LEAST_TPCC_QUERIES = 24.0
"""oltp_read_write, the longest of the scripts that come with sysbench, has 20 queries."""
INTERVAL = re.compile(r"^\[ ([\d.]+)s \] thds: (\d+) tps: ([\d.,]+) .*?lat \(ms,(\d+)%\): ([\d.,]+) err/s:? ([\d.,]+)")
CSV = re.compile(r"^(\d+),(\d+),([\d.]+),([\d.]+),([\d.]+),([\d.]+),([\d.]+),([\d.]+),([\d.]+),([\d.]+)$")
THREADS = re.compile(r"^Number of threads: (\d+)")
WARM_UP = re.compile(r"^Warmup time: (\d+)s")
LABELS = {
    "transactions": re.compile(r"^\s+transactions:\s+(\S+)\s+\((\S+) per sec\.\)"),
    "queries": re.compile(r"^\s+queries:\s+(\S+)\s+\((\S+) per sec\.\)"),
    "errors": re.compile(r"^\s+ignored errors:\s+(\S+)\s+\((\S+) per sec\.\)"),
    "time": re.compile(r"^\s+(?:total time|time elapsed):\s+([\d.,]+)s"),
    "min": re.compile(r"^\s+min:\s+(\S+)"),
    "avg": re.compile(r"^\s+avg:\s+(\S+)"),
    "max": re.compile(r"^\s+max:\s+(\S+)"),
    "sum": re.compile(r"^\s+sum:\s+(\S+)"),
    "percentile": re.compile(r"^\s+(\d+)th percentile:\s+(\S+)"),
}


def detect(file: SourceFile) -> bool:
    """By the banner, or by what its reports look like, unless our own kit wrote before them."""
    sysbenchs = re.search(r"^sysbench \d", file.head, re.MULTILINE) or INTERVAL.search(file.head)
    return bool(sysbenchs) and not tpcc_kit.detect(file)


def read(file: SourceFile) -> FileReading:
    """Rate, latency and series. Raises InputError for a run without its totals."""
    reading = FileReading(KIND, file.name, tool="sysbench")
    totals: dict[str, tuple[int, tuple[str, ...]]] = {}
    points: list[tuple[float, float]] = []
    for at, line in enumerate(file.lines, 1):
        for name, pattern in LABELS.items():
            if match := pattern.match(line):
                totals.setdefault(name, (at, match.groups()))
        if match := INTERVAL.match(line) or CSV.match(line):
            points.append((file.number(match[1], f"line {at}"), file.number(match[3], f"line {at}, tps")))
        elif match := THREADS.match(line):
            reading.add("workload.clients", float(match[1]), "threads", f"line {at}", "threads without think time")
        elif match := WARM_UP.match(line):
            means = "warm-up with the threads of the run, not counted"
            reading.add("window.ramp_s", float(match[1]), "s", f"line {at}", means)
    missing = [name for name in ("transactions", "queries", "time", "avg", "sum") if name not in totals]
    if missing:
        file.truncated(f"sysbench's totals ({', '.join(missing)})")

    def number(name: str, group: int = 0) -> tuple[float, str]:
        at, words = totals[name]
        return file.number(words[group], f"line {at}, {name}"), f"line {at}"

    seconds, where = number("time")
    if ("window", "ramp_s") in reading.values:
        reading.set_window("steady", seconds, "s", where, "transactions done over total time, after the warm-up")
    else:
        reading.set_window("whole", seconds, "s", where, "transactions done over total time, from the first one on")
    transactions, where = number("transactions")
    rate = number("transactions", 1)[0]
    reading.add("outcome.transactions_per_s", transactions / seconds, "count", where, "transactions over total time")
    reading.add("outcome.reported.tps", rate, "1/s", where, "sysbench's transactions per s")
    _latencies(file, reading, totals)
    if "errors" in totals:
        means = "transactions that were tried again after an error"
        reading.add("outcome.errors_per_s", number("errors")[0] / seconds, "count", number("errors")[1], means)
    queries = number("queries")[0] / transactions if transactions else 0.0
    _script(reading, queries, transactions / seconds, where)
    _series(reading, points)
    return reading


def _latencies(file: SourceFile, reading: FileReading, totals: dict[str, tuple[int, tuple[str, ...]]]) -> None:
    at, (word, *_) = totals["avg"]
    reading.add("outcome.mean_ms", file.number(word, f"line {at}, avg"), "ms", f"line {at}", "mean of all transactions")
    if "percentile" in totals:
        at, (percentile, word) = totals["percentile"]
        value = file.number(word, f"line {at}, percentile")
        means = "of all transactions, by a histogram of 1 % steps; the only one that sysbench keeps"
        reading.add(("outcome", "percentiles_ms", percentile), value, "ms", f"line {at}", means)


def _script(reading: FileReading, queries: float, per_s: float, where: str) -> None:
    if queries < LEAST_TPCC_QUERIES:
        reading.add_text("workload.driver", f"sysbench, {queries:.4g} queries per transaction", where, "load generator")
        return
    reading.add_text("workload.driver", "sysbench-tpcc", where, f"told by {queries:.3g} queries per transaction")
    means = "transactions per minute * 10/23: the share of new orders that sysbench-tpcc draws, not a count"
    reading.add("outcome.new_orders_per_minute", per_s * 60.0 * NEW_ORDERS, "transactions", where, means)
    reading.notes.append(
        f"taken for sysbench-tpcc, for it has {queries:.3g} queries per transaction; new orders are 10 of 23"
    )


def _series(reading: FileReading, points: list[tuple[float, float]]) -> None:
    steps = sorted(after[0] - before[0] for before, after in pairwise(points))
    if steps and steps[len(steps) // 2] > 0:
        interval_s = steps[len(steps) // 2]
        rates = [rate for _, rate in points]
        means = "transactions per s in each report"
        reading.add_series("transactions_per_s", interval_s, rates, "tps", f"{len(points)} reports", means)
