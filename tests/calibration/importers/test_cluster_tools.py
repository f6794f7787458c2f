"""TPC-C of cockroach and Yugabyte, in the form that the tools' sources write; figures are our own."""

from collections.abc import Callable

import pytest

from oltpsim.calibration.records import FileReading
from oltpsim.simulator.errors import InputError
from tests.calibration.conftest import SAMPLES, value_of

Written = Callable[[str, str], FileReading]
COCKROACH = (SAMPLES / "cockroach/tpcc.txt").read_text(encoding="utf-8")
YUGABYTE = (SAMPLES / "yugabyte/tpcc.log").read_text(encoding="utf-8")
TICKS, TOTAL = (
    COCKROACH.partition("\n")[0] + "\n",
    "\n_elapsed" + COCKROACH.split("\n_elapsed")[2].partition("total\n")[0],
)
CLASSES = [line for line in COCKROACH.splitlines() if line.startswith("  300.0s        2") and line[-1].isalpha()]


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
