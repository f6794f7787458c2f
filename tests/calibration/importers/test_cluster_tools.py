"""TPC-C of cockroach and Yugabyte, in the form that the tools' sources write; figures are our own."""

from collections.abc import Callable

import pytest

from oltpsim.calibration.records import FileReading
from oltpsim.simulator.errors import InputError
from tests.calibration.conftest import value_of

Written = Callable[[str, str], FileReading]
TICKS = "_elapsed___errors__ops/sec(inst)___ops/sec(cum)__p50(ms)__p95(ms)__p99(ms)_pMax(ms)\n"
TOTAL = "\n_elapsed___errors_____ops(total)___ops/sec(cum)__avg(ms)__p50(ms)__p95(ms)__p99(ms)_pMax(ms)__"
CLASSES = (
    "  300.0s        2            400            1.3    100.0     90.0    150.0    200.0    300.0  delivery",
    "  300.0s        2           4000           13.3     50.0     40.0     90.0    120.0    250.0  newOrder",
    "  300.0s        2            400            1.3     10.0      8.0     20.0     30.0     60.0  orderStatus",
    "  300.0s        2           4100           13.7     20.0     15.0     40.0     70.0    110.0  payment",
    "  300.0s        2            400            1.3     15.0     12.0     30.0     45.0     80.0  stockLevel",
)
COCKROACH = (
    TICKS
    + "    1.0s        0           10.0           10.0     40.0     90.0    120.0    250.0 newOrder\n"
    + "   30.0s        0           12.0           11.0     40.0     90.0    120.0    250.0 newOrder\n"
    + TICKS
    + "    1.0s        0           13.0           13.0     40.0     90.0    120.0    250.0 newOrder\n"
    + "".join(f"{TOTAL}total\n{row}\n" for row in CLASSES)
    + f"{TOTAL}result\n  300.0s        2           9300           31.0     35.7     30.0     80.0    120.0    300.0  \n"
    + "Audit check 9.2.1.7: PASS\n\n"
    + "_elapsed_______tpmC____efc__avg(ms)__p50(ms)__p90(ms)__p95(ms)__p99(ms)_pMax(ms)\n"
    + "  300.0s      800.0  95.7%     50.0     40.0     80.0     90.0    120.0    250.0\n"
)
LOG = "21:09:23,588 (DBWorkload.java:955) INFO  - "
YUGABYTE = (
    f"{LOG}Throughput: Results(nanoSeconds=1800000263504, measuredRequests=54000) = 29.999996 requests/sec reqs/sec\n"
    f"{LOG}Num New Order transactions : 24300, time seconds: 1800\n"
    f"{LOG}TPM-C: 810\n"
    f"{LOG}Efficiency : 96.92%\n"
    f"{LOG}NewOrder, Avg Latency: 66.5 msecs, p99 Latency: 212.5 msecs\n"
    f"{LOG}StockLevel, Avg Latency: 98.25 msecs, p99 Latency: 192.0 msecs\n"
    f"{LOG}NewOrder, Avg Latency: 60.5 msecs, p99 Latency: 200.5 msecs\n"
)


def test_cockroachs_totals_are_read(written: Written) -> None:
    reading = written("run.txt", COCKROACH)
    expected = {
        "outcome.new_orders_per_minute": 800,
        "outcome.transactions_per_s": 31,
        "outcome.errors_per_s": 2 / 300,
        "outcome.classes.new_order.percentiles_ms.95": 90,
        "outcome.classes.stock_level.mean_ms": 15,
        "workload.warehouses": 65,
        "window.duration_s": 300,
        "window.ramp_s": 30,
    }
    assert {key: value_of(reading, key) for key in expected} == pytest.approx(expected)
    assert value_of(reading, "workload.driver") == "cockroach workload tpcc"
    assert reading.values["window", "kind"] == "steady"
    assert ("workload", "clients") not in reading.values, "absent stays absent"


def test_another_workload_of_cockroach_has_no_new_orders(written: Written) -> None:
    row = "   60.0s        0          60000         1000.0      2.0      1.5      4.0      8.0     30.0"
    reading = written("run.txt", f"{TICKS}{TOTAL}total\n{row}  read\n{TOTAL}result\n{row}  \n")
    assert value_of(reading, "workload.driver") == "cockroach workload of read"
    assert ("outcome", "new_orders_per_minute") not in reading.values
    assert reading.values["window", "kind"] == "whole"


def test_yugabytes_log_is_read(written: Written) -> None:
    reading = written("run.log", YUGABYTE)
    expected = {
        "outcome.new_orders_per_minute": 810,
        "outcome.transactions_per_s": 29.999996,
        "outcome.classes.new_order.mean_ms": 66.5,
        "outcome.classes.stock_level.percentiles_ms.99": 192,
        "workload.warehouses": 65,
        "window.duration_s": 1800,
    }
    assert {key: value_of(reading, key) for key in expected} == pytest.approx(expected)
    grouped = YUGABYTE.replace("24300", "2430000").replace("TPM-C: 810", "TPM-C: 81,000")
    assert value_of(written("run.log", grouped), "outcome.new_orders_per_minute") == 81_000


@pytest.mark.parametrize(
    ("text", "old", "new", "said"),
    [
        (COCKROACH, "4000           13.3", "4000           15.3", "ops/sec of new_order 15.3"),
        (COCKROACH, CLASSES[3], CLASSES[1], "a second row of new_order"),
        (COCKROACH, "9300", "9900", "ops(total) 9,900; expected 9,300"),
        (COCKROACH, "35.7", "45.7", "avg(ms) 45.7"),
        (COCKROACH, "      800.0  95.7%", "      900.0  95.7%", "tpmC 900; expected 800"),
        (COCKROACH, "__result", "__nothing", "the rows __total and __result"),
        (YUGABYTE, "TPM-C: 810", "TPM-C: 910", "TPM-C 910; expected 810"),
        (YUGABYTE, "measuredRequests=54000", "measuredRequests=64000", "requests/sec"),
        (YUGABYTE, "time seconds: 1800", "time seconds: 1700", "TPM-C 810"),
        (YUGABYTE, "- TPM-C", "- TPMC", "expected TPM-C"),
    ],
)
def test_a_result_that_contradicts_itself_or_is_cut_is_refused(
    written: Written, text: str, old: str, new: str, said: str
) -> None:
    assert old in text
    with pytest.raises(InputError) as raised:
        written("run.txt", text.replace(old, new, 1))
    assert said in str(raised.value)
