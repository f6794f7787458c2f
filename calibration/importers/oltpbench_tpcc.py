"""TPC-C of Yugabyte, a fork of OLTP-Bench: the log of its DBWorkload.java, of 2020 to 2022.

Traps: terminals wait as the specification says, and the rate is limited; TPM-C was cut to whole numbers once, later it
has commas; times of transactions with and without retries follow each other, of which the first are taken.
"""

import re

from oltpsim.calibration.importers.several_runs import RunMarks
from oltpsim.calibration.importers.vocabulary import class_name, labelled
from oltpsim.calibration.records import FileReading
from oltpsim.models.input import SourceFile

KIND = "OLTP-Bench TPC-C log"
FIGURES = {
    "nanoseconds": re.compile(r"Results\(nanoSeconds=(\d+),"),
    "requests": re.compile(r"measuredRequests=(\d+)\)"),
    "rate": re.compile(r"measuredRequests=\d+\) = (\S+) requests/sec"),
    "new orders": re.compile(r"Num New Order transactions : (\d+),"),
    "seconds": re.compile(r"Num New Order transactions : \d+, time seconds: (\d+)"),
    "TPM-C": re.compile(r"- TPM-C: (\S+)"),
    "efficiency": re.compile(r"- Efficiency : ([\d.]+)"),
}
TIMES = re.compile(r"- (\w+), Avg Latency: (\S+) msecs, p99 Latency: (\S+) msecs")
MOST_PER_WAREHOUSE = 12.86
RUNS = RunMarks(FIGURES["new orders"])


def detect(file: SourceFile) -> bool:
    """By the class that logs."""
    return "(DBWorkload.java:" in file.head


def read(file: SourceFile) -> FileReading:
    """New orders per minute, all transactions per s, times by class. Raises InputError without its result."""
    reading = FileReading(KIND, file.name, tool="OLTP-Bench TPC-C")
    figures = {
        name: (file.number(word, f"{place}, {name}", grouped=True), place)
        for name, (word, place) in labelled(file, FIGURES).items()
    }
    missing = [name for name in ("new orders", "seconds", "TPM-C") if name not in figures]
    if missing:
        file.truncated(", ".join(missing))
    (orders, place), (seconds, _) = figures["new orders"], figures["seconds"]
    if seconds <= 0:
        file.refuse(place, f"{seconds:g} s", "a measured time", "run it longer")
    per_minute = orders / seconds * 60.0
    file.agree("TPM-C", *figures["TPM-C"], per_minute, "new orders over the time", 1.0)
    reading.set_window("whole", seconds, "s", place, "transactions done in the time of execution")
    means = "new orders done in the time of execution, per minute; not an audited tpmC"
    reading.add("outcome.new_orders_per_minute", per_minute, "transactions", place, means)
    if {"nanoseconds", "requests", "rate"} <= figures.keys():
        (requests, where), (rate, _) = figures["requests"], figures["rate"]
        measured_s = figures["nanoseconds"][0] / 1e9
        file.agree("requests/sec", rate, where, requests / max(measured_s, 1e-9), "requests over their time")
        file.agree("time", seconds, place, measured_s, f"{where}, nanoSeconds", 1.0)
        reading.add("outcome.transactions_per_s", rate, "requests/sec", where, "all transactions, per s")
    if "efficiency" in figures and figures["efficiency"][0] > 0:
        efficiency, where = figures["efficiency"]
        means = "from TPM-C and efficiency, which is TPM-C / (12.86 * warehouses)"
        warehouses = figures["TPM-C"][0] / (MOST_PER_WAREHOUSE * efficiency / 100.0)
        reading.add("workload.warehouses", round(warehouses), "%", where, means)
    for at, line in enumerate(file.lines, 1):
        if match := TIMES.search(line):
            _times(file, reading, match, f"line {at}")
    reading.add_text("workload.driver", "OLTP-Bench tpcc, with the specification's waits", place, "load generator")
    return reading


def _times(file: SourceFile, reading: FileReading, match: re.Match[str], place: str) -> None:
    base = ("outcome", "classes", class_name(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", match[1])))
    if (*base, "mean_ms") not in reading.values:
        mean_ms, p99_ms = file.number(match[2], place), file.number(match[3], place)
        reading.add((*base, "mean_ms"), mean_ms, "ms", place, "mean latency")
        reading.add((*base, "percentiles_ms", "99"), p99_ms, "ms", place, "99 % were at most so long")
