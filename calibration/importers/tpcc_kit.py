"""Output of the laboratory's TPC-C kit for sysbench (calibration/lab/kit): the table of its classes.

Traps: sysbench's own totals before the table are of the whole run, the warm-up with it, and one percentile is all they
have; a rolled-back new order is a transaction, but neither NOPM nor the response times have it.
"""

import re

from oltpsim.calibration.importers.vocabulary import TPCC_CLASSES
from oltpsim.calibration.records import FileReading
from oltpsim.models.input import SourceFile

KIND = "TPC-C kit result"
BANNER = re.compile(
    r"^TPC-C kit of oltpsim: (\d+) warehouses, (\d+) threads, home (\w+), think time (\S+), warm-up \S+ s, seed \d+$"
)
COUNTED = re.compile(r"^TPC-C kit: counted (\S+) s after a warm-up of (\S+) s, from (\S+) to (\S+) s since 1970$")
THREADS = re.compile(r"^Number of threads: (\d+)")
INTERVAL = re.compile(r"^\[ (\d+)s \] tpcc tps: (\S+) new orders: \S+ new orders/min: (\S+) retries/s: \S+$")
ROW = re.compile(rf"^({'|'.join((*TPCC_CLASSES, 'all'))})\s+(\S+(?:\s+\S+){{8}})\s*$")
COLUMNS = ("committed", "rolled back", "retries", "mean ms", "p50 ms", "p90 ms", "p95 ms", "p99 ms", "max ms")
PERCENTILES = ("50", "90", "95", "99")
NOPM = re.compile(r"^NOPM: (\S+) ")
OF_COMMITTED = "of those that committed, BEGIN to the answer of COMMIT, retries with it"


def detect(file: SourceFile) -> bool:
    """By the kit's banner, which sysbench's follows."""
    return "TPC-C kit of oltpsim: " in file.head


def read(file: SourceFile) -> FileReading:
    """Rates and responses by class over the counted time. Raises InputError for a run without its table."""
    reading = FileReading(KIND, file.name, tool="TPC-C kit")
    rows: dict[str, tuple[str, dict[str, float]]] = {}
    counted: tuple[str, list[float]] | None = None
    points: list[tuple[float, float]] = []
    nopm: tuple[str, float] | None = None
    threads: tuple[float, str] | None = None
    for at, line in enumerate(file.lines, 1):
        place = f"line {at}"
        if match := BANNER.match(line):
            _workload(reading, match, place)
            threads = file.number(match[2], place), place
        elif threads and (match := THREADS.match(line)):
            file.agree("threads", *threads, file.number(match[1], place), place)
        elif match := INTERVAL.match(line):
            points.append((file.number(match[1], place), file.number(match[3], f"{place}, new orders/min")))
        elif match := COUNTED.match(line):
            counted = place, [file.number(word, place) for word in match.groups()]
        elif match := ROW.match(line):
            words = zip(COLUMNS, match[2].split(), strict=True)
            rows[match[1]] = place, {name: file.number(word, f"{place}, {name}") for name, word in words}
        elif match := NOPM.match(line):
            nopm = place, file.number(match[1], f"{place}, NOPM")
    if counted is None or nopm is None or set(rows) != {*TPCC_CLASSES, "all"}:
        file.truncated("the table of the five classes and NOPM")
    place, (duration_s, warm_up_s, start_s, end_s) = counted
    file.agree("counted time", duration_s, place, end_s - start_s, "its begin and end", 0.002)
    _compare(file, rows, nopm, duration_s)
    means = "transactions that ended in the counted time, over it"
    reading.set_window("steady" if warm_up_s > 0 else "whole", duration_s, "s", place, means)
    reading.window = (start_s, end_s)
    if warm_up_s > 0:
        reading.add("window.ramp_s", warm_up_s, "s", place, "warm-up with the threads of the run, not counted")
    for name in TPCC_CLASSES:
        _responses(reading, ("outcome", "classes", name), *rows[name])
        where, row = rows[name]
        reading.add(("outcome", "classes", name, "count"), row["committed"], "count", where, "committed")
        reading.add(("outcome", "classes", name, "max_ms"), row["max ms"], "ms", where, f"longest {OF_COMMITTED}")
        means = "deadlocks and serialization failures, each tried again"
        reading.add(("outcome", "classes", name, "errors"), row["retries"], "retries", where, means)
    where, row = rows["all"]
    _responses(reading, ("outcome",), where, row)
    done = row["committed"] + row["rolled back"]
    means = "committed, and new orders rolled back for their last item, per s"
    reading.add("outcome.transactions_per_s", done / duration_s, "count", where, means)
    means = "deadlocks and serialization failures, each tried again, per s"
    reading.add("outcome.errors_per_s", row["retries"] / duration_s, "retries", where, means)
    means = "new orders rolled back for their last item, of the counted time"
    reading.add("outcome.reported.rolled_back", row["rolled back"], "count", where, means)
    orders = rows["new_order"][1]["committed"] / duration_s * 60.0
    where = f"{rows['new_order'][0]} and {place}"
    means = "new orders committed in the counted time, per minute"
    reading.add("outcome.new_orders_per_minute", orders, "count", where, means)
    reading.add("outcome.reported.NOPM", nopm[1], "1/min", nopm[0], "the kit's new orders committed per minute")
    _series(reading, points, warm_up_s)
    return reading


def _compare(
    file: SourceFile, rows: dict[str, tuple[str, dict[str, float]]], nopm: tuple[str, float], duration_s: float
) -> None:
    """The row of all has the classes' sums and mean; NOPM is of the new orders."""
    place, total = rows["all"]
    for name in ("committed", "rolled back", "retries"):
        file.agree(name, total[name], place, sum(rows[each][1][name] for each in TPCC_CLASSES), "the classes", 0.5)
    weighted = sum(rows[each][1]["committed"] * rows[each][1]["mean ms"] for each in TPCC_CLASSES)
    file.agree("mean ms", total["mean ms"], place, weighted / max(total["committed"], 1.0), "the classes", 0.002)
    where, row = rows["new_order"]
    per_minute = row["committed"] / max(duration_s, 1e-9) * 60.0
    file.agree("NOPM", nopm[1], nopm[0], per_minute, f"{where}, the new orders committed", 0.1)


def _workload(reading: FileReading, match: re.Match[str], place: str) -> None:
    home, think_time = match[3], match[4]
    reading.add("workload.warehouses", float(match[1]), "warehouses", place, "warehouses used")
    means = "threads without think time" if think_time == "no" else f"threads, think time {think_time}"
    reading.add("workload.clients", float(match[2]), "threads", place, means)
    if think_time == "no":
        reading.add("workload.think_time_s", 0.0, "s", place, "none")
    elif think_time != "specification":
        reading.add("workload.think_time_s", float(think_time), "s", place, "mean of exponential ones")
    means = "load generator; weights 45, 43, 4, 4, 4"
    reading.add_text("workload.driver", f"oltpsim's TPC-C kit for sysbench, home {home}", place, means)


def _responses(reading: FileReading, base: tuple[str, ...], place: str, row: dict[str, float]) -> None:
    reading.add((*base, "mean_ms"), row["mean ms"], "ms", place, f"mean {OF_COMMITTED}")
    for each in PERCENTILES:
        means = f"{OF_COMMITTED}, by a histogram of 1 % steps"
        reading.add((*base, "percentiles_ms", each), row[f"p{each} ms"], "ms", place, means)


def _series(reading: FileReading, points: list[tuple[float, float]], warm_up_s: float) -> None:
    """The intervals that lie in the counted time."""
    if len(points) < 2 or (interval_s := points[1][0] - points[0][0]) <= 0:
        return
    counted = [(end_s, rate) for end_s, rate in points if end_s - interval_s >= warm_up_s]
    ends_s, rates = [end_s for end_s, _ in counted], [rate for _, rate in counted]
    place = f"{len(rates)} reports of the counted time"
    reading.add_series("new_orders_per_minute", ends_s, rates, "1/min", place, "new orders committed in each report")
