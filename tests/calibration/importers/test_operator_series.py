"""Series that operators have: each system's JSON, and what a query, a restart or a missing part makes of it."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from oltpsim.calibration.records import FileReading
from oltpsim.simulator.errors import InputError

Written = Callable[[str, str], FileReading]
T0 = 1_795_000_000


def prometheus(*series: tuple[dict[str, str], list[float]]) -> dict[str, Any]:
    result = [
        {"metric": labels, "values": [[T0 + 15 * at, str(value)] for at, value in enumerate(values)]}
        for labels, values in series
    ]
    return {"status": "success", "data": {"resultType": "matrix", "result": result}}


def cpu(mode: str, number: int, values: list[float]) -> tuple[dict[str, str], list[float]]:
    return {"__name__": "node_cpu_seconds_total", "cpu": str(number), "mode": mode, "instance": "db:9100"}, values


READS = ({"__name__": "node_disk_reads_completed_total", "device": "nvme0n1"}, [1000.0, 2500.0, 4000.0])
SECONDS = {
    "user": [10.0, 16.0, 22.0],
    "system": [1.0, 2.5, 4.0],
    "iowait": [0.0, 1.5, 3.0],
    "idle": [50.0, 56.0, 62.0],
}
NODE = prometheus(READS, *(cpu(mode, number, values) for number in (0, 1) for mode, values in SECONDS.items()))
LATEST_FIRST = ["2026-11-01T10:02:00+00:00", "2026-11-01T10:01:00+00:00", "2026-11-01T10:00:00+00:00"]
READ_IOPS = {"Label": "ReadIOPS", "Timestamps": LATEST_FIRST, "Values": [300.0, 200.0, 100.0], "StatusCode": "Complete"}
LATENCY = {
    "Label": "ReadLatency",
    "Timestamps": LATEST_FIRST,
    "Values": [0.003, 0.002, 0.001],
    "StatusCode": "Complete",
}
CLOUDWATCH = {"MetricDataResults": [READ_IOPS, LATENCY]}
DATAPOINTS = [
    {"Timestamp": "2026-11-01T10:01:00Z", "Average": 40.0, "Unit": "Percent"},
    {"Timestamp": "2026-11-01T10:00:00Z", "Average": 60.0, "Unit": "Percent"},
]
INSIGHTS = {
    "MetricList": [
        {
            "Key": {"Metric": "os.cpuUtilization.user.avg"},
            "DataPoints": [
                {"Timestamp": "2026-11-01T10:00:00Z", "Value": 25.0},
                {"Timestamp": "2026-11-01T10:01:00Z", "Value": 30.0},
                {"Timestamp": "2026-11-01T10:02:00Z"},
            ],
        }
    ]
}


def figures(reading: FileReading) -> list[dict[str, float]]:
    assert reading.samples is not None
    return [{".".join(path[1:]): value for path, value in row.values.items()} for row in reading.samples.rows]


def test_prometheus_counters_are_differences(written: Written) -> None:
    reading = written("range.json", json.dumps(NODE))
    expected = {
        "devices.nvme0n1.reads_per_s": 100,
        "cpu_user_fraction": 0.4,
        "cpu_system_fraction": 0.1,
        "cpu_iowait_fraction": 0.1,
        "cpu_idle_fraction": 0.4,
    }
    assert figures(reading) == [pytest.approx(expected)] * 2
    assert reading.samples is not None
    assert [(row.start_s, row.end_s) for row in reading.samples.rows] == [(None, T0 + 15), (T0 + 15, T0 + 30)]


def test_shares_without_idle_time_are_none(written: Written) -> None:
    part = prometheus(READS, cpu("user", 0, [10.0, 16.0, 22.0]), cpu("system", 0, [1.0, 2.0, 3.0]))
    assert figures(written("range.json", json.dumps(part))) == [{"devices.nvme0n1.reads_per_s": 100}] * 2


def test_cloudwatchs_points_begin_their_period_and_the_latest_is_first(written: Written) -> None:
    assert figures(written("metrics.json", json.dumps(CLOUDWATCH))) == [
        {"devices.volume.reads_per_s": 100, "devices.volume.read_await_ms": 1},
        {"devices.volume.reads_per_s": 200, "devices.volume.read_await_ms": 2},
    ]
    statistics = {"Label": "CPUUtilization", "Datapoints": DATAPOINTS}
    assert figures(written("statistics.json", json.dumps(statistics))) == [{"cpu_busy_fraction": 0.6}]


def test_insights_are_read_and_a_point_without_a_value_is_none(written: Written) -> None:
    assert figures(written("insights.json", json.dumps(INSIGHTS))) == [{"cpu_user_fraction": 0.25}]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (prometheus(({}, [1.0, 2.0])), "got a metric without a name; expected metrics such as node_disk_reads"),
        (prometheus((READS[0], [2000.0, 100.0])), "got 100 after 2000; expected a counter that rises"),
        (
            {"data": {"resultType": "vector", "result": []}},
            "resultType: got vector; expected matrix; ask for a range: /api/v1/query_range",
        ),
        (
            {"MetricDataResults": [{**READ_IOPS, "StatusCode": "PartialData"}]},
            "ReadIOPS: got PartialData; expected Complete",
        ),
        ({"Label": "FreeableMemory", "Datapoints": DATAPOINTS}, "got FreeableMemory"),
        ({"MetricList": [{"Key": {}}]}, "KeyError"),
    ],
)
def test_what_says_nothing_is_refused(written: Written, answer: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as raised:
        written("series.json", json.dumps(answer))
    assert said in str(raised.value)
