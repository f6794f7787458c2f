"""Figures that a file says twice: a change of one alone is refused, with both places; rounding is not."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from oltpsim.calibration.importers.registry import read_runs
from oltpsim.calibration.records import FileReading, check_record, merge_readings
from oltpsim.models.input import SourceFile
from oltpsim.simulator.errors import InputError
from tests.calibration.conftest import SAMPLES

Written = Callable[[str, str], FileReading]
CHANGES = [
    ("sysbench/oltp_rw_histogram.txt", r"(transactions: +)(\d+)", "transactions"),
    ("sysbench/oltp_rw_histogram.txt", r"(total time: +)([\d.]+)", "per s"),
    ("sysbench/oltp_rw_histogram.txt", r"(avg: +)([\d.]+)", "avg"),
    ("sysbench/oltp_rw_histogram.txt", r"(Number of threads: )(\d+)", "threads"),
    ("sysbench/oltp_rw_histogram.txt", r"(queries: +)(\d+)", "queries"),
    ("pgbench/tpcb_summary.txt", r"(processed: )(\d+)", "tps"),
    ("pgbench/tpcb_summary.txt", r"(duration: )(\d+)", "tps"),
    ("pgbench/tpcb_summary.txt", r"(\ntps = )([\d.]+)", "tps"),
    ("tpcc-mysql/run.txt", r"(\[0\] sc:)(\d+)", "count of class 0|TpmC"),
    ("tpcc-mysql/run.txt", r"( in )(\d+)(?= sec)", "measured time|TpmC"),
    ("tpcc-mysql/run.txt", r"(Payment: )([\d.]+)", "share of payment"),
    ("dbt2/summary.rst", r"(Throughput: )([\d.]+)", "NOTPM"),
    ("dbt2/summary.rst", r"(Payment +43.01 +\S+ +\S+ +)(\d+)", "share of"),
    ("dbt2/summary.rst", r"(Duration: )([\d.]+)", "NOTPM"),
    ("go-tpc/tpcc_run_plain.txt", r"(NEW_ORDER - Takes\(s\): 11.4, Count: )(\d+)", "new_order"),
    ("go-tpc/tpcc_run_plain.txt", r"(tpmC: )([\d.]+)", "tpmC"),
    ("hammerdb/run.log", r"(Timing test period of )(\d+)", "timed minutes"),
    ("hammerdb/timing.json", r'("avg_ms": "?)([\d.]+)', "avg of"),
    ("oracle/awr.txt", r"(Elapsed:[ |]+)([\d.]+)", "Elapsed"),
    ("oracle/awr.txt", r"(Transactions:[ |]+)([\d.,]+)", "Transactions"),
    ("monitors/mpstat_text.txt", r"(all +)([\d.]+)", "CPU shares"),
]


def changed(text: str, pattern: str, factor: float) -> str:
    def other(match: re.Match[str]) -> str:
        word = match[2].replace(",", "")
        number = float(word) * factor
        return match[1] + (f"{number:.{len(word.partition('.')[2])}f}" if "." in word else str(round(number)))

    changed_text, count = re.subn(pattern, other, text, count=1)
    assert count == 1
    return changed_text


@pytest.mark.parametrize(("sample", "pattern", "said"), CHANGES)
@pytest.mark.parametrize("factor", [1.5, 0.6])
def test_a_change_of_one_of_two_is_refused(tmp_path: Path, sample: str, pattern: str, said: str, factor: float) -> None:
    text = (SAMPLES / sample).read_text(encoding="utf-8")
    path = tmp_path / Path(sample).name
    path.write_text(changed(text, pattern, factor), encoding="utf-8")
    with pytest.raises(InputError) as raised:
        read_runs(SourceFile(path, path.name))
    assert any(part in str(raised.value) for part in said.split("|")), raised.value
    assert "; expected " in str(raised.value)


@pytest.mark.parametrize("sample", sorted({sample for sample, _, _ in CHANGES}))
def test_rounding_is_no_difference(tmp_path: Path, sample: str) -> None:
    """The samples are outputs as their tools rounded them."""
    assert read_runs(SourceFile(SAMPLES / sample, sample))


@pytest.mark.parametrize(("value", "passes"), [(100.0, True), (100.9, True), (102.0, False), (98.0, False)])
def test_one_function_compares(tmp_path: Path, value: float, passes: bool) -> None:
    file = SourceFile(tmp_path / "x", "x")
    if passes:
        file.agree("rate", value, "line 1", 100.0, "line 2")
    else:
        with pytest.raises(InputError, match=r"x, line 1: got rate .*; expected 100 by line 2; .*copy it again"):
            file.agree("rate", value, "line 1", 100.0, "line 2")
    file.agree("rate", value, "line 1", 100.0, "line 2", rounding=2.0)


@pytest.mark.parametrize(
    ("sample", "old", "new"),
    [
        ("sysbench/oltp_rw_histogram.txt", "transactions:", "transactions: x"),
        ("pgbench/tpcb_summary.txt", "duration: 12 s", "duration: 12 x"),
        ("tpcc-mysql/run.txt", "[3] sc:900 lt:30", "[3] sc:900 it:30"),
        ("tpcc-mysql/run.txt", "10, trx: 1500, 95%:", "10, trx: 1500, 96%:"),
        ("dbt2/summary.rst", "408            0", "4o8            0"),
        ("go-tpc/tpcc_run_plain.txt", "[Summary] PAYMENT - Takes", "[Summary] PAYMENT = Takes"),
        ("hammerdb/run.log", "NOPM from", "N0PM from"),
    ],
)
def test_a_row_of_a_known_table_is_never_skipped(tmp_path: Path, sample: str, old: str, new: str) -> None:
    text = (SAMPLES / sample).read_text(encoding="utf-8")
    if old not in text:
        old, new = old.replace("408", "4308"), new.replace("4o8", "43o8")
    assert old in text
    path = tmp_path / Path(sample).name
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError):
        read_runs(SourceFile(path, path.name))


TIMED = """Hammerdb Log @ Mon Jan 01 10:00:00 UTC 2021
Vuser 1:Timing test period of 2 in minutes
Vuser 1:4 Active Virtual Users configured
Vuser 1:TEST RESULT : System achieved {result}
Vuser 2:FINISHED SUCCESS
"""


@pytest.mark.parametrize(
    ("result", "holds"),
    [
        ("10000 NOPM from 30300 MySQL TPM", True),  # 4.1 counts rollbacks and reads
        ("30000 Oracle TPM at 10000 NOPM", True),
        ("60501 SQL Server TPM at 13207 NOPM", True),  # 3.1 counts batch requests
        ("10000 NOPM from 23200 PostgreSQL TPM", True),
        ("0 Oracle TPM at 27975 NOPM", None),
        ("10000 NOPM from 46000 PostgreSQL TPM", False),
        ("10000 NOPM from 60000 MySQL TPM", False),
        ("10000 NOPM from 9000 Oracle TPM", False),
    ],
)
def test_commits_per_new_order_depend_on_engine_and_release(written: Written, result: str, holds: bool | None) -> None:
    record = merge_readings("run", [written("run.log", TIMED.format(result=result))]).record
    (found,) = [finding for finding in check_record(record) if finding.law == "commits per new order"]
    assert found.holds is holds


def test_virtual_users_that_failed_count(written: Written) -> None:
    text = TIMED.format(result="10000 NOPM from 23200 PostgreSQL TPM")
    failed = text + "Vuser 3:FINISHED FAILED\nVuser 4:FINISHED FAILED\n"
    for log, broken in ((text, []), (failed, ["all clients ran to the end"])):
        record = merge_readings("run", [written("run.log", log)]).record
        assert [finding.law for finding in check_record(record) if finding.holds is False] == broken


@pytest.mark.parametrize(("mean_ms", "holds"), [("26.5", True), ("13.0", False)])
def test_a_closed_harness_leaves_no_think_time(written: Written, mean_ms: str, holds: bool) -> None:
    text = (SAMPLES / "tpcc-mysql/run.txt").read_text(encoding="utf-8").replace("avg_rt: 26.5", f"avg_rt: {mean_ms}")
    record = merge_readings("run", [written("run.txt", text)]).record
    assert check_record(record)[0].holds is holds
