"""The traps of monitors and of the database's own counters: each test fails if its importer falls into one."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from oltpsim.calibration.records import CounterSnapshot, FileReading, check_record, merge_readings
from oltpsim.calibration.records.record import Resources
from oltpsim.simulator.errors import InputError
from tests.calibration.conftest import SAMPLES, reading_of

Written = Callable[[str, str], FileReading]
PGBENCH = SAMPLES / "pgbench" / "tpcb_summary.txt"


def resources(*readings: FileReading) -> Resources:
    """What they say beside a run of pgbench of 12 s."""
    return merge_readings("run", [reading_of(PGBENCH), *readings]).record.resources


def text_of(sample: str) -> str:
    return (SAMPLES / sample).read_text(encoding="utf-8")


def test_iostats_first_sample_is_since_boot() -> None:
    reads = resources(reading_of(SAMPLES / "monitors/iostat_megabytes.txt")).devices["sda"].reads_per_s
    assert reads is not None
    assert reads.value == pytest.approx(2000)  # 1,334 with the sample since boot


def test_vmstats_first_sample_is_since_boot() -> None:
    user = resources(reading_of(SAMPLES / "monitors/vmstat_tw.txt")).cpu_user_fraction
    assert user is not None
    assert user.value == pytest.approx(0.925)  # 0.757 with it


def test_one_sample_is_not_enough(written: Written) -> None:
    lines = text_of("monitors/iostat_megabytes.txt").splitlines()
    with pytest.raises(InputError, match=r"got 1 sample; expected at least two: the first is since boot"):
        written("iostat.txt", "\n".join(lines[:4]) + "\n")


def test_iostats_columns_are_found_by_name(written: Written) -> None:
    """Version 11 has no r_await, another order, and calls the queue avgqu-sz."""
    header = (
        "Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await  svctm  %util\n"
    )
    row = "sda               0.00     0.00  100.00   50.00   800.00   400.00    16.00     0.60    4.00   2.00  30.00\n"
    device = resources(
        written("iostat.txt", f"Linux 3.10 (x) \t10/02/2026 \t_x86_64_\t(8 CPU)\n\n{header}{row}\n{header}{row}\n")
    )
    sda = device.devices["sda"]
    assert sda.reads_per_s
    assert sda.queue_length
    assert sda.await_ms
    assert (sda.reads_per_s.value, sda.queue_length.value, sda.await_ms.value) == (100, 0.6, 4)
    assert sda.read_await_ms is None


def test_iostats_megabytes_are_no_kilobytes() -> None:
    read = resources(reading_of(SAMPLES / "monitors/iostat_megabytes.txt")).devices["sda"].read_kib_per_s
    assert read is not None
    assert (read.value, read.unit) == (16 * 1024, "rMB/s")


def test_an_await_is_weighted_by_requests() -> None:
    sda = resources(reading_of(SAMPLES / "monitors/iostat_megabytes.txt")).devices["sda"]
    assert sda.read_await_ms is not None
    assert sda.read_await_ms.value == pytest.approx((1000 * 2 + 3000 * 4) / 4000)  # 3.0 by seconds


def test_niced_work_is_user_work_and_interrupts_are_system_work() -> None:
    reading = reading_of(SAMPLES / "monitors/mpstat_text.txt")
    assert reading.samples is not None
    values = reading.samples.rows[0].values
    assert values["resources", "cpu_system_fraction"] == pytest.approx(0.1111 + 0.0303)
    total = sum(value for path, value in values.items() if path[-1].startswith("cpu_"))
    assert total == pytest.approx(1.0, abs=0.001)


def test_single_cpus_and_averages_are_no_samples() -> None:
    reading = reading_of(SAMPLES / "monitors/mpstat_text.txt")
    assert reading.samples is not None
    assert len(reading.samples.rows) == 1


NORMAL: dict[str, object] = {"backend_type": "client backend", "object": "relation", "context": "normal"}


def snapshot_of(rates: dict[str, object], phase: str, written: Written) -> FileReading:
    return written(f"pg_stat_io.{phase}.json", json.dumps([rates]))


def test_reads_of_postgresql_18_are_calls(written: Written) -> None:
    before = NORMAL | {"reads": 100, "read_bytes": 819200, "writes": 0, "write_bytes": 0, "hits": 5000}
    after = before | {"reads": 220, "read_bytes": 819200 + 12 * 8 * 8192 * 10, "hits": 17000}
    found = resources(snapshot_of(before, "start", written), snapshot_of(after, "end", written))
    assert found.buffer_reads_per_s is not None
    assert found.buffer_reads_per_s.value == pytest.approx(960 / 12)  # 10/s by calls
    assert found.buffer_hits_per_s is not None
    assert found.buffer_hits_per_s.value == pytest.approx(1000)


def test_reads_of_postgresql_16_are_pages(written: Written) -> None:
    before = NORMAL | {"reads": 100, "op_bytes": 8192, "writes": 0, "hits": 5000}
    found = resources(snapshot_of(before, "start", written), snapshot_of(before | {"reads": 220}, "end", written))
    assert found.buffer_reads_per_s is not None
    assert found.buffer_reads_per_s.value == pytest.approx(10)


def test_all_of_a_real_pg_stat_io_is_read() -> None:
    snapshot = reading_of(SAMPLES / "pg/pg_stat_io_pg18.json").snapshot
    assert snapshot is not None
    rows = json.loads(text_of("pg/pg_stat_io_pg18.json"))
    expected = sum(row["read_bytes"] or 0 for row in rows if row["object"] == "relation")
    assert snapshot.counters["relation_read_bytes"] == expected >= 84254720 + 81674240


def test_checkpoints_of_postgresql_17_are_elsewhere(written: Written) -> None:
    text = "buffers_clean,maxwritten_clean,buffers_alloc,stats_reset\n10,0,100,\n"
    found = resources(written("bgwriter.start.csv", text), written("bgwriter.end.csv", text))
    assert found.buffer_writes_per_s is None


def test_a_total_alone_is_not_used(written: Written) -> None:
    text = "wal_records,wal_bytes,wal_sync\n1,1000000,500\n"
    merged = merge_readings("run", [reading_of(PGBENCH), written("pg_stat_wal.csv", text)])
    assert merged.record.resources.log_bytes_per_s is None
    assert any("totals since a reset, of which nothing is used" in note for note in merged.notes)


def test_counters_that_fell_are_refused(written: Written) -> None:
    texts = [f"wal_records,wal_bytes,wal_sync\n1,{size},500\n" for size in (2000, 1000)]
    with pytest.raises(InputError, match=r"a counter that fell by 1000; .*restarted or its statistics reset"):
        resources(written("wal.start.csv", texts[0]), written("wal.end.csv", texts[1]))


def test_mysqls_counters_are_differences_by_the_servers_own_clock() -> None:
    found = resources(reading_of(SAMPLES / "mysql/status.before.tsv"), reading_of(SAMPLES / "mysql/status.after.tsv"))
    values = {
        "buffer_reads_per_s": 12000 / 120,
        "buffer_hits_per_s": (3_000_000 - 12000) / 120,
        "buffer_writes_per_s": 2400 / 120,
        "log_bytes_per_s": 24e6 / 120,
        "log_flushes_per_s": 45,
        "commits_per_s": 50,
    }
    assert {key: getattr(found, key).value for key in values} == pytest.approx(values)


def test_mysqls_hits_are_requests_without_reads() -> None:
    found = merge_readings(
        "run", [reading_of(PGBENCH), *(reading_of(SAMPLES / f"mysql/status.{p}.tsv") for p in ("before", "after"))]
    )
    (ratio,) = [finding.text for finding in check_record(found.record) if finding.law == "hit ratio"]
    assert ratio.startswith("pool 0.9960")  # 1 - 12,000 / 3,000,000


def test_innodbs_printed_rates_are_not_used(written: Written) -> None:
    text = text_of("mysql/innodb_status_mariadb1011.txt")
    later = text.replace("2026-11-21 00:31:55", "2026-11-21 00:33:55").replace("Pages read 30513", "Pages read 42513")
    later = later.replace("Log sequence number 313082484", "Log sequence number 325082484")
    found = resources(written("innodb.before.txt", text), written("innodb.after.txt", later))
    assert found.buffer_reads_per_s is not None
    assert found.log_bytes_per_s is not None
    assert found.buffer_reads_per_s.value == pytest.approx(100)  # 0.37 reads/s is printed
    assert found.log_bytes_per_s.value == pytest.approx(1e5)


def test_the_performance_schemas_timers_are_picoseconds() -> None:
    files = (reading_of(SAMPLES / f"mysql/file_summary.{phase}.tsv") for phase in ("before", "after"))
    found = resources(*files).devices["data files"]
    assert found.read_await_ms
    assert found.reads_per_s
    assert found.read_kib_per_s
    assert found.read_await_ms.value == pytest.approx(1.0)  # 3e12 ps over 3,000 reads
    assert found.reads_per_s.value == pytest.approx(3000 / 12)
    assert found.read_kib_per_s.value == pytest.approx(16 * 3000 / 12)


def test_more_device_reads_than_the_pool_asks_for_are_caught(written: Written) -> None:
    """Rows taken for I/Os, or the counters of another database."""
    iostat = reading_of(SAMPLES / "monitors/iostat_megabytes.txt")
    settings = written("settings.csv", "name,setting,unit,boot_val\nblock_size,8192,,8192\n")
    rows = [f"datname,xact_commit,xact_rollback,blks_read,blks_hit\nbench,{n},0,{n * 10},{n * 900}\n" for n in (0, 12)]
    databases = [written(f"db.{phase}.csv", row) for phase, row in zip(("start", "end"), rows, strict=True)]
    record = merge_readings("run", [reading_of(PGBENCH), iostat, settings, *databases]).record
    findings = {finding.law: finding.holds for finding in check_record(record)}
    assert findings["devices read no more than the pool asks for"] is False


def test_fios_latencies_are_ns_in_3_and_us_in_2() -> None:
    (old,) = reading_of(SAMPLES / "fio/version_2.json").disk
    (new,) = reading_of(SAMPLES / "fio/fifo200.qd1.json").disk
    assert (old.mean_us, old.p99_us, old.per_s, old.depth, old.block_kib) == (4980.5, 11200, 800, 4, 8)
    assert (new.mean_us, new.p99_us, new.per_s) == pytest.approx((5270.106, 7634.944, 188.603799), rel=1e-4)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('"error" : 0', '"error" : 5'), "error 5; expected a job that ended well"),
        (('"iops" : 188', '"iops" : 0*'), "decimal point|JSON as the tool writes it"),
        (('"clat_ns"', '"other_ns"'), "no clat_ns and no clat"),
    ],
)
def test_a_faulty_result_of_fio_is_refused(written: Written, change: tuple[str, str], said: str) -> None:
    text = text_of("fio/fifo200.qd1.json")
    assert change[0] in text
    with pytest.raises(InputError, match=said):
        written("fio.json", text.replace(*change))


def test_a_snapshot_needs_to_say_when(written: Written) -> None:
    text = "wal_records,wal_bytes,wal_sync\n1,1000,500\n"
    with pytest.raises(
        InputError, match=r"got 2 snapshots of PostgreSQL pg_stat_wal; .*put start and end into their names"
    ):
        resources(written("wal1.csv", text), written("wal2.csv", text))


@pytest.mark.parametrize(
    ("name", "phase"),
    [
        ("pg_stat_wal.start.csv", "start"),
        ("before_status.tsv", "start"),
        ("status-AFTER.tsv", "end"),
        ("x/pg.end.json", "end"),
        ("restart.csv", None),
        ("backend.csv", None),
        ("start_end.csv", None),
    ],
)
def test_the_phase_is_a_word_of_the_name(name: str, phase: str | None) -> None:
    from oltpsim.calibration.importers.vocabulary import phase_of

    assert phase_of(name) == phase


def test_a_snapshot_has_no_rate_of_its_own(tmp_path: Path) -> None:
    reading = reading_of(SAMPLES / "mysql/global_status_after_run.tsv")
    assert isinstance(reading.snapshot, CounterSnapshot)
    assert reading.snapshot.counters["Innodb_buffer_pool_reads"] == 30513
    assert reading.snapshot.clock_s == 88
    assert not [path for path in reading.values if path[0] == "resources"]


@pytest.mark.parametrize(
    ("text", "gib"),
    [
        ("[mysqld]\ninnodb_buffer_pool_size = 12G\ninnodb_flush_method = O_DIRECT\n", 12),
        ("Variable_name\tValue\ninnodb_buffer_pool_size\t134217728\ninnodb_flush_method\tO_DIRECT\n", 0.125),
        ("| innodb_buffer_pool_size | 536870912 |\n| innodb_flush_method | O_DIRECT |\n", 0.5),
    ],
)
def test_mysqls_pool_is_read_from_variables_and_from_options(written: Written, text: str, gib: float) -> None:
    engine = merge_readings(
        "run", [reading_of(SAMPLES / "sysbench/oltp_rw_histogram.txt"), written("settings.txt", text)]
    ).record.engine
    assert engine.buffer_pool_gib is not None
    assert engine.buffer_pool_gib.value == gib
    assert engine.settings["innodb_flush_method"].value == "O_DIRECT"


def test_a_result_without_times_says_that_all_samples_count() -> None:
    merged = merge_readings("run", [reading_of(PGBENCH), reading_of(SAMPLES / "monitors/vmstat_tw.txt")])
    assert any("the result names no time: all samples are averaged" in note for note in merged.notes)


@pytest.mark.parametrize(
    ("columns", "view"),
    [
        ("query,calls,rows,shared_blks_hit,shared_blks_read,wal_records,wal_bytes", "pg_stat_statements"),
        ("wal_records,wal_fpi,wal_bytes,wal_buffers_full", "pg_stat_wal"),
        ("num_timed,num_done,buffers_written", "pg_stat_checkpointer"),
        ("relid,relname,heap_blks_read,heap_blks_hit,idx_blks_read", "pg_statio_user_tables"),
    ],
)
def test_views_are_told_by_their_columns(written: Written, columns: str, view: str) -> None:
    row = ",".join("7" for _ in columns.split(","))
    assert written("view.start.csv", f"{columns}\n{row}\n").kind == f"PostgreSQL {view}"


def test_statements_count_pages_of_all_queries(written: Written) -> None:
    head = "query,calls,shared_blks_hit,shared_blks_read,wal_bytes\n"
    texts = [f"{head}SELECT 1,1,{hits},{reads},9\nSELECT 2,1,100,10,9\n" for hits, reads in ((0, 0), (1200, 240))]
    found = resources(written("statements.start.csv", texts[0]), written("statements.end.csv", texts[1]))
    assert found.buffer_hits_per_s
    assert found.buffer_reads_per_s
    assert (found.buffer_hits_per_s.value, found.buffer_reads_per_s.value) == (100, 20)
    assert found.log_bytes_per_s is None
