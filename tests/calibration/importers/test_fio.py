"""fio's JSON and tables of its results: groups of jobs, sizes, mixes, and what is refused where it stands."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from oltpsim.calibration.records import FileReading
from oltpsim.simulator.errors import InputError
from tests.calibration.conftest import SAMPLES, reading_of

Written = Callable[[str, str], FileReading]
PLOT = Path(__file__).resolve().parents[3] / "calibration" / "runs" / "fio" / "fio_plot.csv"


def job(per_s: float, way: str = "read", group: int = 0, **options: str) -> dict[str, Any]:
    """A job of fio's, 200 us in the mean, 900 us p99."""
    times = {"mean": 200_000.0, "percentile": {"99.000000": 900_000}}
    return {
        "jobname": f"job{group}",
        "groupid": group,
        "error": 0,
        "job options": options,
        way: {"iops": per_s, "clat_ns": times},
    }


def text(*jobs: dict[str, Any], **shared: str) -> str:
    return json.dumps({"fio version": "fio-3.33", "global options": shared, "jobs": jobs})


def test_jobs_of_a_group_add_up_and_groups_do_not(written: Written) -> None:
    jobs = [job(1000.0, group=group, iodepth="4", bs="8k", rw="randread") for group in (0, 0, 1)]
    points = written("x.json", text(*jobs)).disk
    assert [(point.file, point.depth, point.per_s) for point in points] == [
        ("x.json, group 0", 8, 2000.0),
        ("x.json, group 1", 4, 1000.0),
    ]
    assert (points[0].mean_us, points[0].p99_us, points[0].block_kib) == (200.0, 900.0, 8.0)


def test_a_group_that_is_reported_as_one_has_the_depth_of_all_its_jobs(written: Written) -> None:
    options = {"numjobs": "8", "iodepth": "4", "bs": "4k"}
    (point,) = written("x.json", text(job(1000.0, **options, group_reporting=""))).disk
    assert point.depth == 32
    (point,) = written("x.json", text(job(1000.0, **options))).disk
    assert point.depth == 4, "each of eight entries has its own"


def test_reads_and_writes_have_their_sizes_and_a_flush_its_time(written: Written) -> None:
    (point,) = written("x.json", text(job(500.0, "write", bs="8k,16k"))).disk
    assert (point.operation, point.block_kib) == ("write", 16.0)
    assert math.isnan(point.flush_us)
    (point,) = written("x.json", text(job(500.0, "write", bs="8k,"))).disk
    assert point.block_kib == 8.0
    flushed = {**job(500.0, "write", bs="4096", fsync="1"), "sync": {"total_ios": 9, "lat_ns": {"mean": 1_500_000.0}}}
    (point,) = written("x.json", text(flushed)).disk
    assert (point.block_kib, point.flush_us) == (4.0, 1500.0)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rw": "read"}, r"job job0, rw: got 'read'; expected random requests \(randread, randwrite, randrw\)"),
        ({"rate_iops": "500"}, "rate_iops: got '500'; expected a job as fast as the disk; run fio without rate_iops"),
        ({"thinktime": "100"}, "thinktime: got '100'"),
        ({"bssplit": "4k/50:8k/50"}, "bssplit: got '4k/50:8k/50'; expected one size in each job; run fio with bs"),
        ({"bs": "4x"}, "job job0, bs: got '4x'; expected a finite number"),
        ({"iodepth": "2.5"}, "job job0, iodepth: got 2.5; expected a whole number"),
    ],
)
def test_jobs_that_say_nothing_of_a_disk_are_refused(written: Written, options: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        written("x.json", text(job(100.0, **options)))
    harmless = {"rw": "randread", "rate_iops": "0", "iodepth": "4"}
    assert written("x.json", text(job(100.0, **harmless))).disk[0].per_s == 100.0


def test_a_depth_that_was_never_there_is_refused(written: Written) -> None:
    """The engine psync keeps one request in flight whatever iodepth says."""
    alone = {**job(100.0, iodepth="32", ioengine="psync"), "iodepth_level": {"1": 100.0, "32": 0.0}}
    said = r"iodepth: got 32 with one request in flight for 100 % of the time \(ioengine psync\).*--ioengine=libaio"
    with pytest.raises(InputError, match=said):
        written("x.json", text(alone))
    deep = {**alone, "iodepth_level": {"1": 0.1, "32": 99.9}}
    assert written("x.json", text(deep)).disk[0].depth == 32


def test_jobs_that_ran_together_have_one_depth_and_one_size(written: Written) -> None:
    jobs = (job(100.0, iodepth="1"), job(200.0, iodepth="4"))
    said = r"got iodepth 4 and bs 4k at the same time as 1 and 4k of job job0; .*write 'stonewall' into each job"
    with pytest.raises(InputError, match=said):
        written("x.json", text(*jobs))
    apart = (job(100.0, iodepth="1"), job(200.0, group=1, iodepth="4"))
    assert [point.depth for point in written("x.json", text(*apart)).disk] == [1, 4]
    mixed = {**job(100.0, bs="8k,4k"), "write": job(50.0, "write")["write"]}
    with pytest.raises(InputError, match="expected one size for reads and writes in flight together"):
        written("x.json", text(mixed))


HEADER = "device,rw,bs,iodepth,numjobs,iops,lat_mean_ms,rwmixread,colour\n"


def test_a_table_is_read_by_its_columns(written: Written) -> None:
    rows = "a,randread,4k,8,2,1000,2.5,,red\na,randrw,16k,4,1,800,1,75,\n"
    one, two, three = written("t.csv", f"# source: here\n{HEADER}\n{rows}").disk
    assert (one.file, one.device, one.operation, one.depth, one.block_kib) == ("t.csv, line 4", "a", "read", 16, 4.0)
    assert (one.per_s, one.mean_us) == (1000.0, 2500.0)
    assert [(point.operation, point.per_s, point.file) for point in (two, three)] == [
        ("read", 600.0, "t.csv, line 5"),
        ("write", 200.0, "t.csv, line 5"),
    ]
    (write,) = written("t.csv", "rw,block_kib,iodepth,write_iops,read_iops\nrandwrite,4,1,90,\n").disk
    assert (write.operation, write.per_s, write.depth) == ("write", 90.0, 1)


def test_measured_points_come_out_of_their_file() -> None:
    points = reading_of(PLOT).disk
    assert len(points) == 804
    assert len({point.device for point in points}) == 9
    first = points[0]
    assert (first.operation, first.depth, first.block_kib, first.per_s) == ("read", 1, 4.0, 6575.46)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("a,read,4k,8,2,1000,2.5,,x", r"t\.csv, line 2, rw: got 'read'; expected random requests"),
        ("a,randread,4q,8,2,1000,2.5,,x", r"t\.csv, line 2, bs: got '4q'; expected a finite number"),
        ("a,randread,4,8,2,1000,2.5,,x", r"line 2, bs: got 4; expected 512 bytes to 64 MiB; .*such as 4k"),
        ("a,randread,4k,0,2,1000,2.5,,x", r"line 2, iodepth: got 0; expected a number above 0"),
        ("a,randread,4k,1.5,2,1000,2.5,,x", r"line 2, iodepth: got 1\.5; expected a whole number"),
        ("a,randread,4k,8,2,,2.5,,x", r"line 2, read_iops: got nothing; expected a number"),
        ("a,randread,4k,8,2,-5,2.5,,x", r"line 2, iops: got -5; expected a number above 0"),
        ("a,randread,4k,8,2,10k,2.5,,x", r"line 2, iops: got '10k'; expected a finite number"),
        ("a,randread,4k,8,2,1000,0,,x", r"line 2, lat_mean_ms: got 0; expected a number above 0; .*unit"),
        ("a,randrw,4k,8,2,1000,2.5,,x", r"line 2, rw: got randrw without rates of reads and of writes; expected read_"),
        ("a,randrw,4k,8,2,1000,2.5,170,x", r"line 2, rwmixread: got 170; expected a number above 0, at most 99"),
        ("a,randread,4k,8,2,1000", r"line 2: got 6 columns; expected 9 as in the header"),
    ],
)
def test_a_bad_row_is_refused_where_it_stands(written: Written, row: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        written("t.csv", f"{HEADER}{row}\n")
    good = "a,randread,4k,8,2,1000,2.5,,x\n"
    assert written("t.csv", HEADER + good).disk[0].per_s == 1000.0


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("rw,bs,io_depth,iops", r"line 1: got the columns rw, bs, io_depth, iops; expected iodepth too; name"),
        ("rw,bs,iodepth,kiops", r"expected iops or read_iops too; name a column so \(did you mean 'kiops'"),
        ("rw,size,iodepth,iops", r"expected bs or block_kib too"),
        ("rw,bs,iodepth,iops,iops", r"line 1, iops: got the column twice"),
        ("rw,bs,iodepth,iops,lat_mean", r"without its unit; expected lat_mean_ns or lat_mean_us or lat_mean_ms"),
        ("rw,bs,iodepth,iops,clat_p99_s", r"clat_p99_s: got a time without its unit"),
    ],
)  # fmt: skip
def test_a_bad_header_is_refused(written: Written, header: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        written("t.csv", f"{header}\nrandread,4k,1,100,1\n")


def test_a_header_alone_is_refused_and_another_table_is_left_to_others(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(HEADER)
    with pytest.raises(InputError, match="got a header without rows"):
        reading_of(path)
    path.write_text("time,tps,rw\n1,2,3\n")
    with pytest.raises(AssertionError, match="is not recognised"):
        reading_of(path)
    assert reading_of(SAMPLES / "fio" / "fifo200.qd1.json").disk
