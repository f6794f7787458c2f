"""BenchBase's summary.json, its tables (raw, results, samples), and the warm-up of its config.xml and log.

Traps: units are in the text of the keys; results.csv is in ms, samples.csv and the summary in microseconds;
throughput is of all transactions; `Start Time (microseconds)` of the raw table is seconds; new orders are told only
by the raw table.
"""

import re

from oltpsim.calibration.importers.vocabulary import class_name, mean_bounds, percentile
from oltpsim.calibration.records import FileReading, ResultRank
from oltpsim.models.input import SourceFile

KIND = "BenchBase"
TOOL = "BenchBase"
UNIT = re.compile(r"^(.*?) \((.+)\)$")
TO_MS = {
    "microseconds": 1e-3, "microsecond": 1e-3, "milliseconds": 1.0, "millisecond": 1.0, "ms": 1.0, "us": 1e-3,
    "nanoseconds": 1e-6, "seconds": 1e3,
}  # fmt: skip
PERCENTILES = {
    "25th Percentile Latency": "25",
    "Median Latency": "50",
    "75th Percentile Latency": "75",
    "90th Percentile Latency": "90",
    "95th Percentile Latency": "95",
    "99th Percentile Latency": "99",
}
PHASE = re.compile(r"PHASE START.* :: .*\[WarmupTime=(\d+)\]")
"""of its log: a phase that begins, with its warm-up in seconds"""
WORK = re.compile(r"<work>(.*?)</work>", re.DOTALL)
WARM_UP = re.compile(r"<warmup>\s*(.*?)\s*</warmup>")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
RATE = "Throughput (requests/second)"
ALL = "all transactions done, per s of measured time"


def detect(file: SourceFile) -> bool:
    """By keys and columns that only it writes."""
    first = file.head.lstrip().partition("\n")[0]
    return (
        ('"Benchmark Type"' in file.head and '"Latency Distribution"' in file.head)
        or first.startswith("Transaction Type Index,Transaction Name,")
        or (first.startswith("Time (seconds),") and "Latency (" in first)
        or _is_config(file)
        or bool(PHASE.search(file.head))
    )


def read(file: SourceFile) -> FileReading:
    """Contents of one of its files."""
    if _is_config(file) or PHASE.search(file.head):
        return _warm_up(file)
    reading = FileReading(KIND, file.name, tool=TOOL)
    if file.head.lstrip().startswith("{"):
        _summary(file, reading)
        return reading
    reading.rank = ResultRank.DETAIL
    rows = file.rows()
    if not rows:
        file.truncated("rows")
    if "Transaction Name" in rows[0]:
        _raw(file, reading, rows)
    else:
        _intervals(file, reading, rows)
    return reading


def _is_config(file: SourceFile) -> bool:
    return "<parameters>" in file.head and "<works>" in file.head


def _warm_up(file: SourceFile) -> FileReading:
    """How long the clients ran before what is counted, from a file that has no result."""
    reading = FileReading(f"{KIND} settings", file.name)
    if _is_config(file):
        works = WORK.findall(COMMENT.sub("", file.text))
        found = [WARM_UP.search(work) for work in works]
        words, place = ["0" if match is None else match[1] for match in found], "works, warmup"
    else:
        lines = [(at, match) for at, line in enumerate(file.lines, 1) if (match := PHASE.search(line))]
        words, place = [match[1] for _, match in lines], f"line {lines[0][0]}, WarmupTime"
    if len(words) == 1:
        seconds = file.number(words[0], place)
        reading.add("window.ramp_s", seconds, "s", place, "warm-up with the clients of the run, not counted")
    else:
        reading.notes.append(f"{len(words)} phases: which one was counted isn't said, nor its warm-up")
    return reading


def _milliseconds(file: SourceFile, key: str, value: object, place: str) -> tuple[str, float, str]:
    """The name of a key without its unit, the value in ms, and the unit."""
    match = UNIT.match(key)
    if match is None or match[2].lower() not in TO_MS:
        file.refuse(place, repr(key), "a unit of time in its name", "give BenchBase's own file")
    return match[1], file.number(value, f"{place}, {key}") * TO_MS[match[2].lower()], match[2]


def _summary(file: SourceFile, reading: FileReading) -> None:
    data = file.data
    try:
        elapsed = next(key for key in data if key.startswith("Elapsed Time ("))
        _, elapsed_ms, unit = _milliseconds(file, elapsed, data[elapsed], "summary")
        latencies = data["Latency Distribution"]
        rate = file.number(data[RATE], RATE)
    except (StopIteration, KeyError, AttributeError) as error:
        file.refuse(
            "", f"no {error}", "Elapsed Time, Latency Distribution and Throughput", "give the whole summary.json"
        )
    reading.set_window("steady", elapsed_ms / 1000.0, unit, elapsed, f"{ALL}, after the warm-up")
    reading.add("outcome.transactions_per_s", rate, "requests/second", RATE, ALL)
    _goodput(file, reading, rate)
    if (done := data.get("Measured Requests")) is not None:
        counted = file.number(done, "Measured Requests") / elapsed_ms * 1000.0
        file.agree("Throughput", rate, RATE, counted, "Measured Requests over Elapsed Time")
    times_ms: dict[str, float] = {}
    for key, value in latencies.items():
        name, value_ms, unit = _milliseconds(file, key, value, "Latency Distribution")
        times_ms[name] = value_ms
        if name in PERCENTILES:
            path = ("outcome", "percentiles_ms", PERCENTILES[name])
            reading.add(path, value_ms, unit, key, "of all transactions")
        elif name == "Average Latency":
            reading.add("outcome.mean_ms", value_ms, unit, key, "mean of all transactions")
    _compare_latencies(file, times_ms)
    if data.get("terminals") is not None:
        reading.add(
            "workload.clients", file.number(data["terminals"], "terminals"), "terminals", "terminals", "terminals"
        )
    reading.add_text("workload.driver", f"BenchBase {data['Benchmark Type']}", "Benchmark Type", "benchmark")
    if data.get("DBMS Type"):
        reading.set_database(str(data["DBMS Type"]), "DBMS Type")
    if data.get("DBMS Version"):
        reading.add_text("engine.version", str(data["DBMS Version"]), "DBMS Version", "version of the server")
    if data["Benchmark Type"] == "tpcc":
        if data.get("scalefactor") is not None:
            value = file.number(data["scalefactor"], "scalefactor")
            reading.add("workload.warehouses", value, "scalefactor", "scalefactor", "warehouses")
        reading.notes.append("its throughput is of all transactions; add raw.csv for new orders")
    _window(file, reading, elapsed, elapsed_ms)


def _window(file: SourceFile, reading: FileReading, elapsed: str, elapsed_ms: float) -> None:
    """The time that was counted, up to the summary's own time; `elapsed`: the key of its length."""
    data = file.data
    moments_ms = {
        name: _milliseconds(file, key, data[key], "summary")[1]
        for name in ("Start timestamp", "Current Timestamp")
        for key in data
        if key.startswith(f"{name} (")
    }
    if "Current Timestamp" in moments_ms:
        end_s = moments_ms["Current Timestamp"] / 1000.0
        reading.window = (end_s - elapsed_ms / 1000.0, end_s)
        if "Start timestamp" in moments_ms:
            most_ms = moments_ms["Current Timestamp"] - moments_ms["Start timestamp"]
            file.within(elapsed, elapsed_ms / 1000.0, "summary", (0.0, most_ms / 1000.0), "the two timestamps")


def _compare_latencies(file: SourceFile, times_ms: dict[str, float]) -> None:
    """The mean is one that the percentiles allow."""
    percentiles = {PERCENTILES[name]: value for name, value in times_ms.items() if name in PERCENTILES}
    extremes = [times_ms.get(f"{name} Latency") for name in ("Minimum", "Maximum")]
    if "Average Latency" in times_ms and percentiles and extremes[0] is not None and extremes[1] is not None:
        bounds = mean_bounds(percentiles, extremes[0], extremes[1])
        where = "the percentiles"
        file.within("Average Latency", times_ms["Average Latency"], "Latency Distribution", bounds, where)


def _goodput(file: SourceFile, reading: FileReading, rate: float) -> None:
    """Transactions that committed; the throughput has those that failed, too."""
    goodput = "Goodput (requests/second)"
    if goodput in file.data:
        value = file.number(file.data[goodput], goodput)
        if value > rate:
            file.agree("Throughput", rate, RATE, value, "Goodput, which is at most it")
        reading.add("outcome.reported.Goodput", value, "requests/second", goodput, "transactions that committed, per s")
        reading.add(
            "outcome.errors_per_s", max(0.0, rate - value), "requests/second", goodput, "throughput less goodput"
        )


def _intervals(file: SourceFile, reading: FileReading, rows: list[dict[str, str]]) -> None:
    """results.csv or samples.csv: a row an interval, and each column says its unit."""
    times = [file.number(row["Time (seconds)"], f"row {at}, Time") for at, row in enumerate(rows, 1)]
    interval_s = times[1] - times[0] if len(times) > 1 else 1.0
    rates = [file.number(row[RATE], f"row {at}, {RATE}") for at, row in enumerate(rows, 1)]
    place = f"{len(rows)} rows"
    seconds = interval_s * len(rows)
    reading.set_window("steady", seconds, "s", place, ALL)
    reading.add(
        "outcome.transactions_per_s", sum(rates) / len(rates), "requests/second", place, f"{ALL}, mean of the rows"
    )
    mean = next((key for key in rows[0] if key.startswith("Average Latency (")), None)
    if mean is not None:
        values = [_milliseconds(file, mean, row[mean], f"row {at}") for at, row in enumerate(rows, 1)]
        weighted = sum(value[1] * rate for value, rate in zip(values, rates, strict=True)) / max(sum(rates), 1e-9)
        reading.add("outcome.mean_ms", weighted, values[0][2], place, "mean latency of the rows, by their rates")
    reading.add_series("transactions_per_s", times, rates, "requests/second", place, ALL)


def _raw(file: SourceFile, reading: FileReading, rows: list[dict[str, str]]) -> None:
    """Every transaction: what counts is by name, and from the first start to the last end."""
    latency = next((key for key in rows[0] if key.startswith("Latency (")), "")
    start = next((key for key in rows[0] if key.startswith("Start Time (")), "")
    times_ms: dict[str, list[float]] = {}
    first_s, last_s, unit = float("inf"), 0.0, ""
    for at, row in enumerate(rows, 2):
        _, value_ms, unit = _milliseconds(file, latency, row.get(latency), f"line {at}")
        begun = file.number(row.get(start), f"line {at}, {start}")
        begun_s = begun if begun < 1e11 else begun / 1e6
        first_s, last_s = min(first_s, begun_s), max(last_s, begun_s + value_ms / 1000.0)
        times_ms.setdefault(row["Transaction Name"], []).append(value_ms)
    seconds, place = last_s - first_s, f"{len(rows)} rows"
    reading.window = (first_s, last_s)
    reading.set_window("steady", seconds, "s", place, f"{ALL}, from the first start to the last end")
    reading.add("outcome.transactions_per_s", len(rows) / seconds, "rows", place, ALL)
    reading.add(
        "outcome.mean_ms", sum(map(sum, times_ms.values())) / len(rows), unit, place, "mean of all transactions"
    )
    for name, values in times_ms.items():
        values.sort()
        base = ("outcome", "classes", class_name(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)))
        reading.add((*base, "count"), len(values), "rows", f"rows {name}", "transactions")
        reading.add((*base, "mean_ms"), sum(values) / len(values), unit, f"rows {name}", "mean latency")
        for percent in ("50", "95", "99"):
            value, means = percentile(values, percent), f"{percent} % were at most so long"
            reading.add((*base, "percentiles_ms", percent), value, unit, f"rows {name}", means)
    if "NewOrder" in times_ms:
        means = "new orders in the raw table, per minute"
        reading.add(
            "outcome.new_orders_per_minute", len(times_ms["NewOrder"]) / seconds * 60.0, "rows", "rows NewOrder", means
        )
