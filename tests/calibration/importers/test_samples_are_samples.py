"""Samples of monitors: none since boot, no averages, each with its own time, none that is cut off."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from oltpsim.calibration.importers.registry import read_file
from oltpsim.calibration.importers.vocabulary import moment_s
from oltpsim.calibration.records import FileReading, check_record, merge_readings
from oltpsim.models.input import SourceFile
from oltpsim.simulator.errors import InputError
from tests.calibration.conftest import SAMPLES, value_of

Written = Callable[[str, str], FileReading]
USER = ("resources", "cpu_user_fraction")
BANNER = "Linux 5.15.0 (host) \t01/02/24 \t_x86_64_\t(4 CPU)\n\n"
MPSTAT = "%-8s     CPU    %%usr   %%nice    %%sys %%iowait    %%irq   %%soft  %%steal  %%guest  %%gnice   %%idle\n"
SHARES = "%-8s     %3s   %5.2f    0.00   20.00   10.00    0.00    0.00    0.00    0.00    0.00   %5.2f\n"
SAR = "%-8s     CPU     %%user     %%nice   %%system   %%iowait    %%steal     %%idle\n"
SAR_ROW = "%-8s     all     %5.2f      0.00     20.00     10.00      0.00     %5.2f\n"


def at(clock: str) -> float:
    return datetime.fromisoformat(f"2024-01-02T{clock}+00:00").timestamp()


def users(reading: FileReading) -> list[float]:
    assert reading.samples is not None
    return [round(row.values[USER], 4) for row in reading.samples.rows]


def times(reading: FileReading) -> list[tuple[float | None, float | None]]:
    assert reading.samples is not None
    return [(row.start_s, row.end_s) for row in reading.samples.rows]


def mpstat(*rows: tuple[str, float], head: str = "10:00:00") -> str:
    return BANNER + MPSTAT % head + "".join(SHARES % (clock, "all", user, 70.0 - user) for clock, user in rows)


def test_a_table_since_boot_is_no_sample(written: Written) -> None:
    with pytest.raises(InputError, match="got one sample, which is since boot; expected at least two"):
        written("mpstat.txt", mpstat(("10:00:00", 1.0)))
    assert users(written("mpstat.txt", mpstat(("10:00:10", 1.0)))) == [0.01]


@pytest.mark.parametrize("word", ["Average:", "Durchschn.:", "Moyenne :", "Media:", "平均時間:"])
def test_averages_are_no_samples_in_any_language(written: Written, word: str) -> None:
    text = mpstat(("10:00:10", 50.0), ("10:00:20", 40.0)) + SHARES % (word, "all", 45.0, 25.0)
    assert users(written("mpstat.txt", text)) == [0.5, 0.4]


def test_rows_all_of_other_tables_are_no_shares(written: Written) -> None:
    text = mpstat(("10:00:10", 50.0)) + "\n10:00:00     CPU    intr/s\n10:00:10     all    100.00\n"
    assert users(written("mpstat.txt", text)) == [0.5]


def test_each_sample_has_its_own_time(written: Written) -> None:
    reading = written("mpstat.txt", mpstat(("10:00:10", 50.0), ("10:00:20", 50.0), ("10:01:20", 40.0)))
    assert times(reading) == [
        (at("10:00:00"), at("10:00:10")), (at("10:00:10"), at("10:00:20")), (at("10:00:20"), at("10:01:20"))
    ]  # fmt: skip


def test_sars_text_is_read_with_its_devices(written: Written) -> None:
    text = BANNER + SAR % "10:00:00" + SAR_ROW % ("10:00:10", 50.0, 20.0) + SAR_ROW % ("10:00:20", 40.0, 30.0)
    text += "Average:        all     45.00      0.00     20.00     10.00      0.00     25.00\n"
    assert users(written("sar.txt", text)) == [0.5, 0.4]
    text += "\n10:00:00          DEV       tps     rkB/s     wkB/s   areq-sz    aqu-sz     await     %util\n"
    text += "10:00:10          sda    100.00    400.00    400.00      8.00      1.00     10.00     80.00\n"
    reading = written("sar.txt", text)
    assert reading.samples is not None
    row = reading.samples.rows[0].values
    assert row[USER] == 0.5
    assert row["resources", "devices", "sda", "utilisation_fraction"] == pytest.approx(0.8)


VMSTAT = """procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 1  0      0 100000   1000 200000    0    0     1     1    1    1  1  1 98  0  0
 5  1      0 100000   1000 200000    0    0   100   200  300  400 50 20 20 10  0
 5  1      0 100000   1000 200000    0    0   100   200  300  400 40 30 20 10  0
"""
IOSTAT = """Linux 5.15.0 (host) \t01/02/24 \t_x86_64_\t(4 CPU)

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          50.00    0.00   20.00   10.00    0.00   20.00

Device:         r/s     w/s    rkB/s    wkB/s avgqu-sz   await  svctm  %util
sda          100.00  100.00   800.00   800.00     2.00   10.00   4.00  80.00

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          40.00    0.00   30.00   10.00    0.00   20.00

Device:         r/s     w/s    rkB/s    wkB/s avgqu-sz   await  svctm  %util
sda          200.00  200.00  1600.00  1600.00     4.00   10.00   2.00  90.00

"""
STAMPS = {
    "2024-01-02 10:00:{second:02d}.000000\t": True, "[2024-01-02T10:00:{second:02d}+00:00] ": True,
    "17041896{second:02d} ": True, "10:00:{second:02d} ": False,
}  # fmt: skip


@pytest.mark.parametrize("stamp", STAMPS)
@pytest.mark.parametrize(("name", "text", "seen"), [("v.txt", VMSTAT, [0.5, 0.4]), ("i.txt", IOSTAT, [0.4])])
def test_a_time_before_each_line_is_taken_for_it(
    written: Written, stamp: str, name: str, text: str, seen: list[float]
) -> None:
    lines = text.splitlines()
    stamped = "".join(f"{stamp.format(second=number)}{line}\n" for number, line in enumerate(lines))
    reading = written(name, stamped)
    assert users(reading) == seen == users(written(name, text))
    assert (times(reading)[-1][1] is not None) is STAMPS[stamp]


def test_one_await_is_of_reads_and_writes(written: Written) -> None:
    result = (SAMPLES / "pgbench/tpcb_summary.txt").read_text(encoding="utf-8")
    for queue, holds in (("4.00", True), ("9.00", None)):  # a window of 12 s may hold a stall
        monitor = written("iostat.txt", IOSTAT.replace("4.00   10.00   2.00", f"{queue}   10.00   2.00"))
        record = merge_readings("run", [written("run.txt", result), monitor]).record
        (law,) = [finding for finding in check_record(record) if finding.law == "Little's law of the device"]
        assert law.holds is holds
        assert record.resources.devices["sda"].read_await_ms is None


@pytest.mark.parametrize(
    ("name", "text"), [("v.txt", VMSTAT), ("m.txt", mpstat(("10:00:10", 50.0), ("10:00:20", 40.0)))]
)
def test_a_last_line_without_its_end_is_no_sample(written: Written, name: str, text: str) -> None:
    assert users(written(name, text)) == [0.5, 0.4]
    assert users(written(name, text[:-1])) == users(written(name, text[:-4])) == [0.5]


def test_a_last_device_without_its_end_drops_the_sample(written: Written) -> None:
    lines = [line + line.replace("sda", "sdb") * line.startswith("sda") for line in IOSTAT.splitlines(keepends=True)]
    text = "".join(lines) + "".join(lines[7:-1])
    assert users(written("i.txt", text)) == [0.4, 0.4]
    reading = written("i.txt", text[:-4])
    assert users(reading) == [0.4]
    assert "its last sample is incomplete and left out" in reading.notes
    with pytest.raises(InputError, match="a sample without all devices"):
        written("i.txt", text.rpartition("sdb")[0])


@pytest.mark.parametrize(
    ("text", "shift_h"),
    [
        ("2024-01-02 10:00:00", 0), ("2024-01-02T10:00:00Z", 0), ("2024-01-02 10:00:00+02:00", -2),
        ("2024-01-02T10:00:00-0530", 5.5), ("01/02/24 10:00:00", 0), ("1704189600", 0), ("2024-01-02 10:00:00,000", 0),
    ],
)  # fmt: skip
def test_a_moment_has_its_offset(text: str, shift_h: float) -> None:
    assert moment_s(text) == datetime(2024, 1, 2, 10, tzinfo=UTC).timestamp() + 3600.0 * shift_h


@pytest.mark.parametrize("text", ["2024-01-02", "10:00:00", "soon", "", "2024-13-02 10:00:00"])
def test_what_is_no_moment_has_none(text: str) -> None:
    assert moment_s(text) is None


def test_reports_that_are_missing_leave_a_gap(written: Written) -> None:
    text = (SAMPLES / "tpcc-mysql/run.txt").read_text(encoding="utf-8")
    report = "  60, trx: 1700, 95%: 30.783, 99%: 47.683, max_rt: 153.690, 1602|59.974, 160|21.238, 158|2.2, 160|8.2\n"
    gap = written("run.txt", text.replace("\nSTOPPING", report + "\nSTOPPING"))
    series = gap.values["outcome", "series", "new_orders_per_minute"]
    assert isinstance(series, dict)
    assert (series["ends_s"], series["values"]) == ((10, 20, 60), (9000, 9600, 10200))
    even = written("run.txt", text).values["outcome", "series", "new_orders_per_minute"]
    assert isinstance(even, dict)
    assert (even["ends_s"], even["interval_s"]) == ((), 10)


FIO_2 = """{"fio version": "fio-2.1.3", "jobs": [{"jobname": "r", "error": 0, "groupid": 0,
 "read": {"iops": %(iops)s, "bw": %(bw)s, "clat": {"mean": %(mean)s, "percentile": {}}},
 "write": {"iops": 0, "bw": 0, "clat": {"mean": 0, "percentile": {}}}, "iodepth_level": %(levels)s}]}"""


@pytest.mark.parametrize(
    ("levels", "mean", "depth"),
    [
        ('{"1": 100.0, "2": 0.0, ">=64": 0.0}', 100, 1),
        ('{"1": 0.1, "16": 99.9}', 1600, 16),
        ('{"1": 0.1, "16": 99.9}', 2400, 24),
        ('{"1": 0.1, ">=64": 99.9}', 12800, 128),
    ],
)
def test_fio_without_options_tells_depth_and_size_by_its_figures(
    written: Written, levels: str, mean: int, depth: int
) -> None:
    (point,) = written("f.json", FIO_2 % {"iops": 10000, "bw": 80000, "mean": mean, "levels": levels}).disk
    assert (point.depth, point.block_kib) == (depth, 8)


def test_fio_without_options_and_depth_is_refused(written: Written) -> None:
    with pytest.raises(InputError, match="neither options nor one iodepth_level"):
        written("f.json", FIO_2 % {"iops": 10000, "bw": 80000, "mean": 99, "levels": "{}"})


def test_awrs_idle_includes_waiting_for_io(tmp_path: Path) -> None:
    report = """WORKLOAD REPOSITORY report for

Begin Snap:         1 01-Jan-24 10:00:00        20       1.0
  End Snap:         2 01-Jan-24 10:10:00        20       1.0
   Elapsed:               10.00 (mins)

Load Profile              Per Second    Per Transaction   Per Exec   Per Call
~~~~~~~~~~~~         ---------------    --------------- ---------- ----------
   Logical reads:           20,000.0              200.0
    Transactions:              100.0

Host CPU (CPUs:    4 Cores:    4 Sockets:    1)
               Begin       End     %User   %System      %WIO     %Idle
           --------- --------- --------- --------- --------- ---------
                1.00      2.00      20.0      10.0      50.0      70.0
"""
    (tmp_path / "awr.txt").write_text(report, encoding="utf-8")
    reading = read_file(SourceFile(tmp_path / "awr.txt", "awr.txt"))
    assert reading is not None
    shares = [value_of(reading, f"resources.cpu_{name}_fraction") for name in ("user", "system", "iowait", "idle")]
    assert shares == pytest.approx([0.2, 0.1, 0.5, 0.2])
    (tmp_path / "awr.txt").write_text(report.replace("10.00 (mins)", "20.00 (mins)"), encoding="utf-8")
    with pytest.raises(InputError, match="Elapsed 20; expected 10 by the snapshots' times"):
        read_file(SourceFile(tmp_path / "awr.txt", "awr.txt"))


DSTAT = (SAMPLES / "monitors/dstat.csv").read_text(encoding="utf-8")


def test_dstats_table_is_read_without_its_first_row(written: Written) -> None:
    reading = written("dstat.csv", DSTAT)
    assert reading.samples is not None
    first, second = reading.samples.rows
    disk = ("resources", "devices", "sda")
    assert first.values["resources", "cpu_iowait_fraction"] == 0.2
    assert [first.values[*disk, key] for key in ("read_kib_per_s", "writes_per_s")] == [100, 50]
    assert second.end_s is not None
    assert (second.start_s, second.end_s - (first.end_s or 0)) == (first.end_s, 1)
    epoch = DSTAT.replace('"time"', '"epoch"').replace("07-11 10:00:0", "179500000")
    later = written("dstat.csv", epoch).samples
    assert later is not None
    assert later.rows[1].end_s == 1_795_000_002


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("07-11 10:00:02,50.0,", "07-11 10:00:02,", "line 10: got 9 columns; expected 10"),
        ("40.0,10.0", "80.0,10.0", "140.0 % together"),
        (DSTAT[DSTAT.index("07-11 10:00:01") :], "", "got 1 sample; expected at least two"),
    ],
)
def test_a_faulty_table_of_dstat_is_refused(written: Written, old: str, new: str, said: str) -> None:
    assert old in DSTAT
    with pytest.raises(InputError) as raised:
        written("dstat.csv", DSTAT.replace(old, new, 1))
    assert said in str(raised.value)
