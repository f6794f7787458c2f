"""Series of operators' systems: Prometheus range queries, CloudWatch get-metric-data, Performance Insights, as JSON.

Traps: counters mean something only as differences, and one that fell was reset; a query with rate() or sum() has lost
its name, so that nobody can say what it is; a point of CloudWatch and Insights stands at the beginning of its period,
and CloudWatch gives the latest first; PartialData lacks points; databases of one server add up.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from oltpsim.calibration.importers.vocabulary import CPU_SHARES, moment_s, with_starts
from oltpsim.calibration.records import FileReading, Meaning, MonitorSample, MonitorSamples, RecordKey
from oltpsim.models.input import Number, SourceFile, Spec, read_mapping, validated

KIND = "operators' series"
OPENINGS = ('"resultType"', '"MetricDataResults"', '"MetricList"', '"Datapoints"')
IDLE = ("resources", "cpu_idle_fraction")
MetricPoints = list[tuple[float, float]]


class OperatorMetric(Spec):
    """A row of the table beside this file."""

    key: str
    factor: Number = 1.0
    counter: bool = False


@cache
def operator_metrics() -> dict[str, dict[str, OperatorMetric]]:
    """The table, by system and metric."""
    rows = read_mapping(Path(__file__).with_name("operator_metrics.yaml"))
    return {
        str(system): {str(name): validated(OperatorMetric, row, str(name)) for name, row in metrics.items()}
        for system, metrics in rows.items()
    }


def detect(file: SourceFile) -> bool:
    """By the keys of each answer."""
    return file.head.lstrip().startswith("{") and any(word in file.head for word in OPENINGS)


def read(file: SourceFile) -> FileReading:
    """Samples of the metrics that are known. Raises InputError if there is none of them."""
    reading = FileReading(KIND, file.name)
    system, series = _series(file)
    known = operator_metrics()[system]
    sums: dict[RecordKey, dict[float, float]] = defaultdict(lambda: defaultdict(float))
    meanings: dict[RecordKey, Meaning] = {}
    unknown: list[str] = []
    seconds: set[RecordKey] = set()
    for name, labels, points in series:
        metric = known.get(name)
        mode = CPU_SHARES.get(labels.get("mode", ""), "")
        if metric is None or ("{mode}" in metric.key and not mode):
            unknown += [name] if metric is None else []
            continue
        key = metric.key.format(device=labels.get("device", "disk").replace(".", "_"), mode=mode)
        path = ("resources", *key.split("."))
        seconds |= {path} if mode else set()
        meanings[path] = Meaning(name, metric.factor, f"{name}, of all its series")
        for end_s, value in _rises(file, name, points) if metric.counter else _means(points):
            sums[path][end_s] += value * metric.factor
    if not sums:
        names = ", ".join(dict.fromkeys(unknown)) or "no metric"
        remedy = "export the metrics themselves, without rate() or sum(), under their own names"
        file.refuse("", names, f"metrics such as {', '.join(list(known)[:3])}", remedy)
    if unknown:
        reading.notes.append(f"metrics that aren't read: {', '.join(dict.fromkeys(unknown))}")
    reading.samples = MonitorSamples(_samples(sums, seconds), meanings)
    return reading


def _samples(sums: Mapping[RecordKey, Mapping[float, float]], seconds: set[RecordKey]) -> tuple[MonitorSample, ...]:
    """One for each time, with `seconds` of CPUs as shares of all of them, if idle ones are among them."""
    rows = []
    for end_s in sorted({end_s for values in sums.values() for end_s in values}):
        values = {path: by_time[end_s] for path, by_time in sums.items() if end_s in by_time}
        shares = [path for path in values if path in seconds]
        total = sum(values[path] for path in shares)
        if IDLE not in shares or total <= 0:
            values = {path: value for path, value in values.items() if path not in shares}
        else:
            values |= {path: values[path] / total for path in shares}
        rows.append(MonitorSample(f"the point of {end_s:.0f} s since 1970", values, end_s=end_s))
    return tuple(with_starts(rows))


def _rises(file: SourceFile, name: str, points: MetricPoints) -> Iterator[tuple[float, float]]:
    """Rise per s up to each time. Raises InputError for a counter that fell."""
    for (before_s, before), (after_s, after) in pairwise(points):
        if after < before:
            remedy = "export a time without a restart"
            file.refuse(name, f"{after:g} after {before:g}", "a counter that rises", remedy)
        if after_s > before_s:
            yield after_s, (after - before) / (after_s - before_s)


def _means(points: MetricPoints) -> Iterator[tuple[float, float]]:
    """Each point at the end of its period, which the next one begins."""
    for (_, value), (after_s, _) in pairwise(points):
        yield after_s, value


def _series(file: SourceFile) -> tuple[str, list[tuple[str, dict[str, str], MetricPoints]]]:
    """The system, and name, labels and points in order of each series. Raises InputError for another shape."""
    data: Any = file.data
    if "MetricDataResults" in data:
        for each in data["MetricDataResults"]:
            if each.get("StatusCode", "Complete") != "Complete":
                file.refuse(str(each.get("Label")), str(each["StatusCode"]), "Complete", "ask again for the rest")
        return "cloudwatch", [
            (str(each["Label"]), {}, _points(file, zip(each["Timestamps"], each["Values"], strict=True)))
            for each in data["MetricDataResults"]
        ]
    if "Datapoints" in data:
        rows = [(row["Timestamp"], row["Average"]) for row in data["Datapoints"]]
        return "cloudwatch", [(str(data["Label"]), {}, _points(file, rows))]
    if "MetricList" in data:
        return "insights", [
            (
                str(each["Key"]["Metric"]),
                {},
                _points(file, [(row["Timestamp"], row.get("Value")) for row in each["DataPoints"]]),
            )
            for each in data["MetricList"]
        ]
    result = data["data"]
    if result["resultType"] != "matrix":
        file.refuse("resultType", str(result["resultType"]), "matrix", "ask for a range: /api/v1/query_range")
    return "prometheus", [
        (str(each["metric"].get("__name__", "a metric without a name")), each["metric"], _points(file, each["values"]))
        for each in result["result"]
    ]


def _points(file: SourceFile, rows: Any) -> MetricPoints:
    """Times, s since 1970, and values, in order; a value that is missing is left out."""
    points = []
    for stamp, value in rows:
        time_s = float(stamp) if isinstance(stamp, int | float) else moment_s(str(stamp))
        if time_s is None:
            file.refuse(str(stamp), "no time", "seconds since 1970 or a date", "export it as JSON")
        if value is not None:
            points.append((time_s, file.number(value, f"value at {stamp}")))
    return sorted(points)
