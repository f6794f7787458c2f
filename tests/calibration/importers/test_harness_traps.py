"""The traps of load generators: each test fails if its importer falls into one."""

import re
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from oltpsim.calibration.records import FileReading, check_record, merge_readings
from oltpsim.calibration.records.checks import Finding
from oltpsim.calibration.records.merging import Merged
from oltpsim.simulator.errors import InputError
from tests.calibration.conftest import SAMPLES, reading_of, value_of

Written = Callable[[str, str], FileReading]


def merged(*samples: str) -> Merged:
    """The run of these samples."""
    return merge_readings("run", [reading_of(SAMPLES / sample) for sample in samples])


def text_of(sample: str) -> str:
    return (SAMPLES / sample).read_text(encoding="utf-8")


def test_hammerdbs_iops_after_the_end_are_the_checkpoints() -> None:
    resources = merged("hammerdb/report.json").record.resources
    requests = resources.devices["all"].requests_per_s
    assert requests is not None
    assert requests.value == pytest.approx(5100)  # 13,733 with the point of 31,000 after the end


def test_hammerdbs_cpu_is_of_the_timed_period_and_need_not_add_up() -> None:
    record = merged("hammerdb/report.json").record
    user = record.resources.cpu_user_fraction
    assert user is not None
    assert user.value == pytest.approx(0.61)  # 0.36 with ramp-up and end
    (shares,) = [finding for finding in check_record(record) if finding.law == "CPU shares add up"]
    assert shares.holds is None


RESULT = "Vuser 1:TEST RESULT : System achieved 424556 NOPM from 986477 MariaDB TPM\n"
SCRIPT = """dbset db maria
diset connection maria_host localhost
diset tpcc maria_count_ware 1000
diset tpcc maria_num_vu 16
diset tpcc maria_rampup 1
diset tpcc maria_duration 60
vuset vu 64
vucreate
"""
PARAMETERS = """{"hammerdb_version": "4.12", "warehouses": 1000, "virtual_users": 64, "rampup_seconds": 60,
 "duration_seconds": 3600, "label": "a run"}"""


@pytest.mark.parametrize(("name", "text"), [("run.tcl", SCRIPT), ("parameters.json", PARAMETERS)])
def test_hammerdbs_parameters_may_be_in_another_file(written: Written, name: str, text: str) -> None:
    """The result alone names no time, and users that build the schema are not those that run."""
    result = written("result.txt", RESULT)
    record = merge_readings("run", [result, written(name, text)]).record
    for found, expected in (
        (record.workload.warehouses, 1000), (record.workload.clients, 64), (record.window.duration_s, 3600),
        (record.window.ramp_s, 60), (record.outcome.new_orders_per_minute, 424_556),
    ):  # fmt: skip
        assert found is not None
        assert found.value == pytest.approx(expected)
    with pytest.raises(InputError, match="the result names no measured time"):
        merge_readings("run", [result])


def test_hammerdbs_parameters_that_are_none_are_refused(written: Written) -> None:
    with pytest.raises(InputError, match="count_ware"):
        written("run.tcl", SCRIPT.replace("1000", "many"))
    with pytest.raises(InputError, match="cut off"):
        written("parameters.json", PARAMETERS[:-30])


def test_hammerdbs_series_is_of_the_timed_period() -> None:
    series = merged("hammerdb/report.json").record.outcome.series["commits_per_minute"]
    assert series.values == (95000, 96000)
    steady = reading_of(SAMPLES / "hammerdb/run.log").values["outcome", "series", "commits_per_minute"]
    assert isinstance(steady, dict)
    assert steady["values"] == (95040, 96120, 94980, 95640)


def test_hammerdbs_tpm_is_no_rate_of_new_orders() -> None:
    record = merged("hammerdb/run.log", "hammerdb/timing.json").record
    assert record.outcome.new_orders_per_minute is not None
    assert record.outcome.new_orders_per_minute.value == 41203
    findings = {finding.law: finding for finding in check_record(record)}
    assert findings["commits per new order"].holds is True
    assert findings["mix"].text.startswith("new orders are 43.5%")
    assert findings["Little's law"].holds is True


def test_mixed_up_tpm_and_nopm_are_caught(written: Written) -> None:
    text = text_of("hammerdb/run.log").replace("41203 NOPM from 95470", "95470 NOPM from 41203")
    record = merge_readings("run", [written("run.log", text), reading_of(SAMPLES / "hammerdb/timing.json")]).record
    broken = {finding.law for finding in check_record(record) if finding.holds is False}
    assert {"commits per new order", "mix"} <= broken


def test_hammerdbs_timings_say_that_the_ramp_is_in_them() -> None:
    latency = reading_of(SAMPLES / "hammerdb/timing.json").values["outcome", "classes", "new_order", "mean_ms"]
    assert isinstance(latency, dict)
    assert "ramp-up" in str(latency["definition"])


def test_two_nopm_of_one_run_keep_their_definitions(written: Written) -> None:
    other = written("other.log", "Vuser 1:TEST RESULT : System achieved 38000 NOPM from 88000 PostgreSQL TPM\n")
    both = merge_readings("run", [reading_of(SAMPLES / "hammerdb/run.log"), other])
    assert both.record.outcome.new_orders_per_minute is not None
    assert both.record.outcome.new_orders_per_minute.value == 41203
    kept = both.record.outcome.reported["new_orders_per_minute, HammerDB log"]
    assert (kept.value, kept.source) == (38000, "other.log, line 1")
    assert any("-7.8% of that taken" in note for note in both.notes)


def test_results_of_two_runs_are_no_run(written: Written) -> None:
    other = written("other.log", "Vuser 1:TEST RESULT : System achieved 8000 NOPM from 18500 PostgreSQL TPM\n")
    with pytest.raises(
        InputError, match=r"got new_orders_per_minute 8,000.0, where another file of the run says 41,203.0"
    ):
        merge_readings("run", [reading_of(SAMPLES / "hammerdb/run.log"), other])


TIMES = ", ".join(f"{name}_ms REAL" for name in ("min", "avg", "max", "total", "p99", "p95", "p50")) + ", sd REAL"
DATABASE_4_6 = {
    "JOBMAIN": "jobid TEXT, db TEXT, bm TEXT, jobdict TEXT, timestamp TEXT",
    "JOBTIMING": f"jobid TEXT, vu INTEGER, procname TEXT, calls INTEGER, {TIMES}, summary INTEGER, elapsed_ms REAL",
    "JOBTCOUNT": "jobid TEXT, counter INTEGER, metric TEXT, timestamp TEXT",
    "JOBOUTPUT": "jobid TEXT, vu INTEGER, output TEXT",
}
DATABASE_6 = DATABASE_4_6 | {
    "JOBTIMING": f"elapsed_ms REAL, summary INTEGER, p75_ms REAL, p25_ms REAL, jobid TEXT, vu INTEGER, {TIMES}, "
    "procname TEXT, calls INTEGER",
    "JOBMETRIC": "jobid TEXT, usr REAL, sys REAL, irq REAL, idle REAL, iops REAL, mbps REAL, timestamp TEXT",
}


def hammer_db(path: Path, tables: dict[str, str], jobs: tuple[str, ...] = ("A1",)) -> Path:
    """A database of HammerDB with a job that has a result, one that has none, and timings of each user."""
    database = sqlite3.connect(path)
    for name, columns in tables.items():
        database.execute(f"CREATE TABLE {name}({columns})")
    settings = "tpcc {pg_count_ware 50 pg_num_vu 8 pg_rampup 2 pg_duration 5}"
    for job in (*jobs, "B2"):
        database.execute(
            "INSERT INTO JOBMAIN(jobid, db, bm, jobdict, timestamp) VALUES(?, 'pg', 'TPC-C', ?, '')", (job, settings)
        )
    for job in jobs:
        for line in (
            "8 Active Virtual Users configured",
            "TEST RESULT : System achieved 41203 NOPM from 95470 PostgreSQL TPM",
        ):
            database.execute("INSERT INTO JOBOUTPUT(jobid, vu, output) VALUES(?, 1, ?)", (job, line))
    database.execute("INSERT INTO JOBOUTPUT(jobid, vu, output) VALUES('B2', 1, 'stopped')")
    columns = "jobid, vu, procname, calls, avg_ms, max_ms, total_ms, p99_ms, p95_ms, p50_ms, summary, elapsed_ms"
    row = f"INSERT INTO JOBTIMING({columns}) "
    for user, summary, calls, total in ((0, 1, 288400, 2090900.0), (1, 0, 500, 1000.0)):
        database.execute(
            row + "VALUES('A1', ?, 'NEWORD', ?, 7.25, 96.4, ?, 22.31, 15.02, 6.48, ?, 420300.0)",
            (user, calls, total, summary),
        )
    for minute in range(1, 43):
        moment = f"2026-10-02 09:{minute // 6:02}:{minute % 6}0"
        database.execute("INSERT INTO JOBTCOUNT VALUES('A1', ?, 'pg tpm', ?)", (90000 + minute, moment))
        if "JOBMETRIC" in tables:
            share = 20.0 if minute <= 12 else 60.0
            database.execute(
                "INSERT INTO JOBMETRIC(jobid, usr, sys, irq, idle, timestamp) VALUES('A1', ?, 8, 1, 25, ?)",
                (share, moment),
            )
    database.commit()
    database.close()
    return path


@pytest.mark.parametrize("tables", [DATABASE_4_6, DATABASE_6], ids=["4.6", "6"])
def test_hammerdbs_database_is_read_by_names_in_all_versions(tmp_path: Path, tables: dict[str, str]) -> None:
    reading = reading_of(hammer_db(tmp_path / "hammer.DB", tables))
    expected = {
        "outcome.new_orders_per_minute": 41203,
        "outcome.classes.new_order.count": 288400,  # and not 500 of a single user
        "outcome.classes.new_order.percentiles_ms.50": 6.48,
        "workload.clients": 8,
        "workload.warehouses": 50,
        "window.duration_s": 300,
        "window.ramp_s": 120,
    }
    assert {key: value_of(reading, key) for key in expected} == pytest.approx(expected)
    has_metrics = "JOBMETRIC" in tables
    assert (reading.samples is not None) == has_metrics
    assert any("JOBMETRIC" in note for note in reading.notes) != has_metrics
    if has_metrics:
        user = merge_readings("run", [reading]).record.resources.cpu_user_fraction
        assert user is not None
        assert user.value == pytest.approx(0.60)  # 0.49 with the ramp-up


def test_a_database_of_two_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"got 2 jobs with a result \(A1, C3\); expected one"):
        reading_of(hammer_db(tmp_path / "hammer.DB", DATABASE_6, ("A1", "C3")))


def test_a_database_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    path = hammer_db(tmp_path / "hammer.DB", DATABASE_6)
    path.write_bytes(path.read_bytes()[:9000])
    with pytest.raises(InputError, match="a database that SQLite can't read"):
        reading_of(path)


def test_benchbases_units_are_in_the_names() -> None:
    milliseconds = value_of(reading_of(SAMPLES / "benchbase/run.results.csv"), "outcome.mean_ms")
    microseconds = value_of(reading_of(SAMPLES / "benchbase/run.samples.csv"), "outcome.mean_ms")
    assert milliseconds == microseconds == pytest.approx((480 * 20.8 + 520 * 19.23) / 1000)


def test_benchbase_with_another_unit_is_refused(written: Written) -> None:
    with pytest.raises(InputError, match="expected a unit of time in its name"):
        written(
            "run.summary.json",
            text_of("benchbase/run.summary.json").replace("Latency (microseconds)", "Latency (ticks)"),
        )


def test_benchbases_throughput_is_of_all_transactions() -> None:
    record = merged("benchbase/run.summary.json").record
    assert record.outcome.new_orders_per_minute is None
    assert check_record(record)[0].holds is True
    assert any("add raw.csv for new orders" in note for note in record.notes)


def test_go_tpcs_rate_is_of_one_window() -> None:
    record = merged("go-tpc/tpcc_run_plain.txt").record
    rate, reported = record.outcome.transactions_per_s, record.outcome.reported["tpmTotal"]
    assert rate is not None
    counted = (57 + 730 + 66 + 766 + 78) / (766 / 3977.5 * 60)
    assert rate.value == pytest.approx(counted)
    assert reported.value / (rate.value * 60) == pytest.approx(1.058, abs=0.001)


def test_go_tpcs_tpmc_is_of_the_new_orders_own_time(written: Written) -> None:
    """In a short run another class may take much longer than the new orders."""
    row, totals = "NEW_ORDER - Takes(s): 11.4, Count: 730, TPM: 3827.0", "tpmC: 3826.9"
    text = text_of("go-tpc/tpcc_run_plain.txt")
    text = text.replace(row, "NEW_ORDER - Takes(s): 10.0, Count: 730, TPM: 4380.0")
    text = text.replace("tpmTotal: 9324.1, efficiency: 14878.9", "tpmTotal: 9878.1, efficiency: 17029.5")
    assert value_of(written("run.txt", text.replace(totals, "tpmC: 4380.0")), "outcome.reported.tpmC") == 4380
    with pytest.raises(InputError, match=r"tpmC 3,826\.9; expected 4,380 by TPM of the row NEW_ORDER"):
        written("run.txt", text)


def test_go_tpcs_errors_are_no_throughput() -> None:
    record = merged("go-tpc/tpcc_run_plain.txt").record
    assert set(record.outcome.classes) == {"new_order", "payment", "order_status", "delivery", "stock_level"}
    errors = record.outcome.errors_per_s
    assert errors is not None
    assert errors.value == pytest.approx((3 + 1) / 11.555, abs=0.001)


def test_go_tpcs_json_is_text_and_reads_as_the_other_forms_do() -> None:
    keys = [set(reading_of(SAMPLES / f"go-tpc/tpcc_run_{form}.txt").values) for form in ("plain", "table", "json")]
    assert keys[0] == keys[1] == keys[2]


def test_sysbenchs_percentile_is_the_one_that_was_asked_for() -> None:
    assert list(merged("sysbench/tpcc_1.0.15.txt").record.outcome.percentiles_ms) == ["99"]


@pytest.mark.parametrize("form", ["err/s 1.80", "err/s: 1.80"])
def test_sysbenchs_reports_are_read_in_both_spellings(written: Written, form: str) -> None:
    text = re.sub(r"err/s \d\.\d\d", form, text_of("sysbench/tpcc_1.0.15.txt"))
    series = merge_readings("run", [written("run.txt", text)]).record.outcome.series["transactions_per_s"]
    assert series.values == (400.1, 440.3, 479.6)
    assert series.interval_s == 10


def test_sysbenchs_csv_reports_are_a_series_too(written: Written) -> None:
    text = re.sub(r"^\[ (\d+)s \] thds: 24 tps: (\S+).*$", r"\1,24,\2,1.00,1.00,1.00,1.00,9.00,0.00,0.00",
                  text_of("sysbench/tpcc_1.0.15.txt"), flags=re.MULTILINE)  # fmt: skip
    assert merge_readings("run", [written("run.txt", text)]).record.outcome.series["transactions_per_s"].values == (
        400.1,
        440.3,
        479.6,
    )


def test_only_sysbench_tpcc_has_new_orders() -> None:
    assert merged("sysbench/oltp_rw_histogram.txt").record.outcome.new_orders_per_minute is None
    tpcc = merged("sysbench/tpcc_1.0.15.txt").record.outcome
    assert tpcc.new_orders_per_minute is not None
    assert tpcc.transactions_per_s is not None
    assert tpcc.new_orders_per_minute.value == pytest.approx(tpcc.transactions_per_s.value * 60 * 10 / 23)
    assert "not a count" in tpcc.new_orders_per_minute.definition


@pytest.mark.parametrize(("reads", "other", "script"), [(1, 0, "oltp_point_select"), (14, 2, "oltp_read_only")])
def test_sysbenchs_scripts_of_reads_are_told_apart(written: Written, reads: int, other: int, script: str) -> None:
    text = text_of("sysbench/oltp_rw_histogram.txt")
    total = (reads + other) * 4535
    for old, new in (("63490", reads * 4535), ("18140", 0), ("9070\n", f"{other * 4535}\n"), ("90700", total)):
        text = text.replace(old, str(new))
    text = text.replace("(11308.72 per", f"({total / 8.0174:.2f} per")
    assert str(value_of(written("run.txt", text), "workload.driver")).startswith(f"sysbench {script},")


def test_tpcc_mysqls_reports_are_of_their_own_length() -> None:
    series = merged("tpcc-mysql/run.txt").record.outcome.series["new_orders_per_minute"]
    assert (series.interval_s, series.values) == (10, (9000, 9600))


def test_tpcc_mysqls_late_transactions_count() -> None:
    record = merged("tpcc-mysql/run.txt").record
    assert record.outcome.new_orders_per_minute is not None
    assert record.outcome.new_orders_per_minute.value == 9300  # 9,000 in time
    assert check_record(record)[0].holds is True


def test_dbt2s_times_are_seconds() -> None:
    mean = merged("dbt2/summary.rst").record.outcome.classes["payment"].mean_ms
    assert mean is not None
    assert (mean.value, mean.unit) == (31, "s")


def test_pgbenchs_logs_are_one_run_together(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / "pgbench", tmp_path / "run")
    (tmp_path / "run" / "pgbench_log.25789.1").unlink()
    alone = value_of(reading_of(tmp_path / "run" / "pgbench_log.25789"), "outcome.transactions_per_s")
    together = value_of(reading_of(SAMPLES / "pgbench/pgbench_log.25789"), "outcome.transactions_per_s")
    assert (alone, together) == (pytest.approx(408.2), pytest.approx(815.5))
    assert reading_of(SAMPLES / "pgbench/pgbench_log.25789.1").tool is None


def test_a_log_of_a_later_thread_alone_is_refused(tmp_path: Path) -> None:
    shutil.copy(SAMPLES / "pgbench/pgbench_log.25789.1", tmp_path)
    with pytest.raises(InputError, match=r"pgbench_log.25789 beside it"):
        reading_of(tmp_path / "pgbench_log.25789.1")


def test_a_missing_thread_is_refused(tmp_path: Path) -> None:
    shutil.copy(SAMPLES / "pgbench/pgbench_log.25789", tmp_path)
    shutil.copy(SAMPLES / "pgbench/pgbench_log.25789.1", tmp_path / "pgbench_log.25789.2")
    with pytest.raises(InputError, match="without a gap"):
        reading_of(tmp_path / "pgbench_log.25789")


def test_pgbenchs_first_interval_is_partial() -> None:
    reading = reading_of(SAMPLES / "pgbench/pgbench_log.25789")
    assert reading.window == (1795221131, 1795221141)
    assert value_of(reading, "outcome.transactions_per_s") == pytest.approx(815.5)  # 742.9 with it


def test_pgbenchs_schedule_lag_is_no_response_time() -> None:
    record = merged("pgbench/rate_limited.txt").record
    assert record.outcome.mean_ms is not None
    assert record.outcome.mean_ms.value == pytest.approx(3.83)
    assert record.outcome.reported["latency with schedule lag"].value == 4.075


def test_lag_is_taken_off_aggregates_too(written: Written) -> None:
    lines = "".join(f"{1795221129 + 2 * at} 100 500000 9 1 9 200000 9 1 9\n" for at in range(4))
    assert value_of(written("pgbench_log.7", lines), "outcome.mean_ms") == pytest.approx(3.0)


def test_failed_transactions_of_a_log_are_errors(written: Written) -> None:
    lines = "0 1 1000 0 1795221142 100000\n0 2 failed 0 1795221142 300000\n0 3 3000 0 1795221143 100000\n"
    reading = written("pgbench_log.8", lines)
    assert value_of(reading, "outcome.errors_per_s") == pytest.approx(1.0)
    assert value_of(reading, "outcome.transactions_per_s") == pytest.approx(1.0)


def test_awrs_misses_are_those_of_the_buffer_cache() -> None:
    record = merged("oracle/awr.txt").record
    misses = record.resources.buffer_reads_per_s
    assert misses is not None
    assert misses.value == 1050  # 61,000 physical reads, of which 59,950 went past the cache


def test_awrs_redo_is_bytes_and_its_commits_are_none() -> None:
    resources = merged("oracle/awr.txt").record.resources
    assert resources.log_bytes_per_s is not None
    assert resources.commits_per_s is not None
    assert resources.log_flushes_per_s is not None
    units = [each.unit for each in (resources.log_bytes_per_s, resources.commits_per_s, resources.log_flushes_per_s)]
    assert units == ["B/s", "1/s", "1/s"]


def test_awr_is_a_witness_beside_a_load_generator() -> None:
    record = merged("oracle/awr.txt", "sysbench/oltp_rw_histogram.txt").record
    assert record.outcome.transactions_per_s is not None
    assert record.outcome.transactions_per_s.value == pytest.approx(565.64, abs=0.01)
    assert record.resources.buffer_reads_per_s is not None


def test_results_of_two_tools_are_no_run() -> None:
    with pytest.raises(
        InputError, match=r"got results of HammerDB and sysbench .*; expected one run; give each a folder"
    ):
        merged("hammerdb/run.log", "sysbench/oltp_rw_histogram.txt")


def test_blkparse_without_all_completions_gives_no_rates(written: Written) -> None:
    text = text_of("blktrace/blkparse.txt").replace("Reads Completed:        2", "Reads Completed:    2,000")
    reading = written("trace.txt", text)
    assert ("resources", "devices", "8,16", "reads_per_s") not in reading.values
    assert "3 of 2,001 completions are in the file" in reading.notes[0]


def test_a_long_log_is_recognised_before_its_result(written: Written) -> None:
    lines = "HammerDB CLI v4.12\nVuser 1:Beginning rampup time of 2 minutes\n" + "Vuser 2:Processing\n" * 5000
    reading = written(
        "hammerdb.log", lines + text_of("hammerdb/run.log").replace("Vuser 1:Rampup 1 minutes complete ...\n", "")
    )
    assert (value_of(reading, "outcome.new_orders_per_minute"), value_of(reading, "window.ramp_s")) == (41203, 120)


def sysbench_1_1(warm_up: str) -> str:
    """The sample as sysbench 1.1 prints it."""
    text = text_of("sysbench/oltp_rw_histogram.txt").replace("sysbench 1.0.20", "sysbench 1.1.0")
    text = re.sub(r"General statistics:\n    total time:  ", "Throughput:\n    time elapsed:", text)
    text = re.sub(r"\[ (\d+)s \]", r"[ \1.0s ]", text)
    return text.replace("Number of threads: 4\n", f"Number of threads: 4\n{warm_up}")


def test_sysbenchs_warm_up_is_before_what_is_counted(written: Written) -> None:
    plain, warmed = (written("x.txt", sysbench_1_1(line)) for line in ("", "Warmup time: 30s\n"))
    assert ("window", "ramp_s") not in plain.values
    assert plain.values["window", "kind"] == "whole"
    assert value_of(warmed, "window.ramp_s") == 30
    assert warmed.values["window", "kind"] == "steady"
    for reading in (plain, warmed):
        assert value_of(reading, "window.duration_s") == 8.0174
        assert ("outcome", "series", "transactions_per_s") in reading.values


CONFIG = """<?xml version="1.0"?>
<parameters>
    <type>POSTGRES</type>
    <works>
        <!-- <work><warmup>5</warmup></work> -->
        <work>
            <time>300</time>
            <warmup>60</warmup>
        </work>
    </works>
</parameters>
"""
PHASE = (
    "[INFO ] 2026-01-01 12:00:00,000 [main] com.oltpbenchmark.ThreadBench - PHASE START :: [Workload=TPCC] "
    "[Serial=false] [Time=300] [WarmupTime=60] [Rate=unlimited] [Arrival=REGULAR]\n"
)


def test_benchbases_warm_up_is_in_its_settings_and_in_its_log(written: Written) -> None:
    summary = reading_of(SAMPLES / "benchbase/run.summary.json")
    assert merge_readings("run", [summary]).record.window.ramp_s is None
    for name, text in (("tpcc.config.xml", CONFIG), ("benchbase.log", PHASE)):
        record = merge_readings("run", [summary, written(name, text)]).record
        assert record.window.ramp_s is not None
        assert (record.window.ramp_s.value, record.window.kind) == (60, "steady")
        assert name in record.window.ramp_s.source
    none = written("tpcc.config.xml", CONFIG.replace("<warmup>60</warmup>", ""))
    assert value_of(none, "window.ramp_s") == 0
    for name, text in (
        ("tpcc.config.xml", CONFIG.replace("</work>\n", "</work><work><time>9</time></work>\n")),
        ("benchbase.log", PHASE + PHASE),
    ):
        two = written(name, text)
        assert not two.values
        assert two.notes == ["2 phases: which one was counted isn't said, nor its warm-up"]
    with pytest.raises(InputError, match=r"tpcc\.config\.xml, works, warmup: got 'soon'; expected a finite number"):
        written("tpcc.config.xml", CONFIG.replace("60", "soon"))


def rate_limited(text: str) -> str:
    """The sysbench sample as `--rate` writes it: a target, queues, and clients that are idle for most of the time."""
    text = re.sub(r"^(\[ \d+s \]) thds: 24 .*$", r"\g<0>\n\1 queue length: 0, concurrency: 2", text, flags=re.MULTILINE)
    text = text.replace("Number of threads: 24\n", "Number of threads: 24\nTarget transaction rate: 440/sec\n")
    return text.replace(" 54.52\n", "  5.45\n").replace("719664.00", "71966.40")


@pytest.mark.parametrize(
    "without", ["Target transaction rate: 440/sec\n", "queue length: 0, concurrency: 2", "nothing"]
)
def test_sysbenchs_clients_may_be_idle_at_a_given_rate(written: Written, without: str) -> None:
    text = rate_limited(text_of("sysbench/tpcc_1.0.15.txt"))
    text = "".join(line for line in text.splitlines(keepends=True) if without.strip() not in line)
    record = merge_readings("run", [written("run.txt", text)]).record
    assert {"target", "queue length"} & set(record.outcome.reported)
    assert record.outcome.series["transactions_per_s"].values == (400.1, 440.3, 479.6)
    assert check_record(record)[0].holds is None


def test_sysbenchs_threads_may_end_before_the_run(written: Written) -> None:
    text = text_of("sysbench/tpcc_1.0.15.txt")
    assert value_of(written("run.txt", text.replace("30s ] thds: 24", "30s ] thds: 23")), "workload.clients") == 24
    with pytest.raises(InputError, match=r"got threads 25; expected 24"):
        written("run.txt", text.replace("30s ] thds: 24", "30s ] thds: 25"))


WORKLOAD_F = """Command line: -threads 8 -t
[OVERALL], RunTime(ms), 10000
[OVERALL], Throughput(ops/sec), 1000.0
[READ], Operations, 10000
[READ], AverageLatency(us), 5000.0
[READ-MODIFY-WRITE], Operations, 5000
[READ-MODIFY-WRITE], AverageLatency(us), 11000.0
[UPDATE], Operations, 5000
[UPDATE], AverageLatency(us), 6000.0
"""


def test_ycsbs_read_modify_write_counts_once(written: Written) -> None:
    record = merge_readings("run", [written("run.txt", WORKLOAD_F)]).record
    assert record.outcome.transactions_per_s is not None
    assert record.outcome.transactions_per_s.value == 1000
    assert record.outcome.mean_ms is not None
    assert record.outcome.mean_ms.value == pytest.approx(8)  # (5,000 * 5 + 5,000 * 11) / 10,000
    assert check_record(record)[0].holds is True


def test_ycsbs_throughput_holds_failed_operations(written: Written) -> None:
    text = WORKLOAD_F.replace("[READ], Operations, 10000", "[READ-FAILED], Operations, 2000\n[READ], Operations, 8000")
    reading = written("run.txt", text)
    assert value_of(reading, "outcome.transactions_per_s") == 800
    assert value_of(reading, "outcome.errors_per_s") == 200
    assert value_of(reading, "outcome.reported.throughput") == 1000
    with pytest.raises(InputError, match="throughput 1,200"):
        written("run.txt", text.replace("1000.0", "1200.0"))


PGBENCH_STALL = """transaction type: <builtin: TPC-B (sort of)>
scaling factor: 10
number of clients: 8
duration: 60 s
number of transactions actually processed: 60000
latency average = 10.000 ms
initial connection time = 10.000 ms
tps = 800.0 (without initial connection time)
"""


def test_pgbenchs_last_transactions_may_take_long(written: Written) -> None:
    """A stall at the end: clients wait for 15 s beyond the duration, and tps is over all of the time."""
    text = PGBENCH_STALL
    assert value_of(written("run.txt", text), "outcome.transactions_per_s") == 800
    with pytest.raises(InputError, match="tps 250"):
        written("run.txt", text.replace("tps = 800.0", "tps = 250.0"))
    with pytest.raises(InputError, match="tps 800"):  # a deviation that no stall of this length leaves
        written(
            "run.txt", text.replace("initial connection time =", "latency stddev = 3.000 ms\ninitial connection time =")
        )


def test_pgbenchs_summary_is_between_its_type_and_its_rate(written: Written) -> None:
    text = f"number of vCPUs: 16\n{text_of('pgbench/tpcb_summary.txt')}\nduration: about an hour\n"
    assert value_of(written("run.txt", text), "workload.clients") == value_of(
        reading_of(SAMPLES / "pgbench/tpcb_summary.txt"), "workload.clients"
    )


def idle_clients(reading: FileReading) -> Finding:
    """Finding of Little's law if the clients are four times as many as the file says."""
    leaf = reading.values["workload", "clients"]
    assert isinstance(leaf, dict)
    reading.values["workload", "clients"] = {**leaf, "value": 4 * float(str(leaf["value"]))}
    return check_record(merge_readings("run", [reading]).record)[0]


def test_idle_clients_break_littles_law_only_if_the_file_excludes_think_time(written: Written) -> None:
    summary = text_of("pgbench/tpcb_summary.txt")
    assert idle_clients(written("run.txt", summary)).holds is False
    reconnecting = summary.replace("without initial connection time", "including reconnection times")
    reconnecting = reconnecting.replace("initial connection time", "average connection time")
    go_tpc = re.sub("efficiency: .*%", "efficiency: 89.9%", text_of("go-tpc/tpcc_run_plain.txt"))
    for text, option in (
        (summary.replace("<builtin: TPC-B (sort of)>", "ours.sql"), "sleep"),
        (reconnecting, "-C"),
        (go_tpc, "--wait"),
        (WORKLOAD_F, "target"),
    ):
        finding = idle_clients(written("run.txt", text))
        assert (finding.holds, option in finding.text) == (None, True)
    assert idle_clients(reading_of(SAMPLES / "go-tpc/tpcc_run_plain.txt")).holds is False  # above what waits allow
