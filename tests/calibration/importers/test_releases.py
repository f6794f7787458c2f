"""Outputs of other releases and tools, in the form that each writes; and what is none of them is refused."""

import json
from collections.abc import Callable

import pytest

from oltpsim.calibration.records import FileReading, merge_readings
from oltpsim.simulator.errors import InputError
from tests.calibration.conftest import SAMPLES, reading_of, value_of

Written = Callable[[str, str], FileReading]

SYSBENCH_04 = """sysbench 0.4.12:  multi-threaded system evaluation benchmark

Running the test with following options:
Number of threads: 16

Doing OLTP test.
Threads started!
Done.

OLTP test statistics:
    queries performed:
        read:                            140000
        write:                           50000
        other:                           20000
        total:                           210000
    transactions:                        10000  (125.00 per sec.)
    deadlocks:                           8      (0.10 per sec.)
    read/write requests:                 190000 (2375.00 per sec.)
    other operations:                    20000  (250.00 per sec.)

Test execution summary:
    total time:                          80.0000s
    total number of events:              10000
    total time taken by event execution: 1279.5000
    per-request statistics:
         min:                                  1.23ms
         avg:                                127.95ms
         max:                                423.45ms
         approx.  95 percentile:             220.00ms

Threads fairness:
    events (avg/stddev):           625.0000/5.00
    execution time (avg/stddev):   79.9688/0.01
"""
SYSBENCH_05 = (
    SYSBENCH_04.replace("0.4.12", "0.5")
    .replace("deadlocks:     ", "ignored errors:")
    .replace("Doing OLTP test.\n", "")
    .replace("Threads started!\n", "Threads started!\n\n" + "".join(
        f"[ {end:>3}s] threads: 16, tps: 125.00, reads: 1750.00, writes: 625.00, response time: 220.11ms (95%), "
        "errors: 0.10, reconnects:  0.00\n" for end in (20, 40, 60, 80)
    ))
)  # fmt: skip
SYSBENCH_11 = """sysbench 1.1.0 (using bundled LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 4
Warmup time: 30s

SQL statistics:
    queries performed:
        read:                            14000
        write:                           4000
        other:                           2000
        total:                           20000
    transactions:                        1000   (100.00 per sec.)
    queries:                             20000  (2000.00 per sec.)
    ignored errors:                      0      (0.00 per sec.)
    reconnects:                          0      (0.00 per sec.)

Throughput:
    events/s (eps):                      100.0000
    time elapsed:                        10.0000s
    total number of events:              1000

Latency (ms):
         min:                                   15.00
         avg:                                   40.00
         max:                                   90.00
         95th percentile:                       52.00
         sum:                                40000.00
"""
PGBENCH_90 = """starting vacuum...end.
transaction type: TPC-B (sort of)
scaling factor: 10
query mode: simple
number of clients: 4
number of threads: 1
duration: 60 s
number of transactions actually processed: 24000
tps = 399.000000 (including connections establishing)
tps = 400.000000 (excluding connections establishing)
"""
PGBENCH_95 = PGBENCH_90.replace("tps = 399", "latency average: 10.000 ms\ntps = 399")
PGBENCH_10 = PGBENCH_95.replace("average:", "average =").replace("TPC-B (sort of)", "<builtin: TPC-B (sort of)>")
PGBENCH_17 = """pgbench (17.2)
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 10
query mode: simple
number of clients: 4
number of threads: 1
maximum number of tries: 10
duration: 60 s
number of transactions actually processed: 23940
number of failed transactions: 60 (0.250%)
number of transactions retried: 30 (0.125%)
total number of retries: 40
latency average = 10.000 ms (including failures)
initial connection time = 12.000 ms
tps = 399.100000 (without initial connection time)
"""
HAMMERDB_3 = """Hammerdb Log @ Mon Jan 01 10:00:00 UTC 2018
Vuser 1:Rampup 3 minutes complete ...
Vuser 1:Timing test period of 5 in minutes
Vuser 1:5  ...,
Vuser 1:4 Active Virtual Users configured
Vuser 1:TEST RESULT : System achieved 30000 Oracle TPM at 10000 NOPM
"""
JOB_LINES = [
    "Beginning rampup time of 1 minutes",
    "Timing test period of 2 in minutes",
    "2 ...,",
    "5 Active Virtual Users configured",
    "TEST RESULT : System achieved 10000 NOPM from 23200 PostgreSQL TPM",
]
JOB = json.dumps([word for line in JOB_LINES for word in ("1", line)])
PROFILE = """MySQL Hammerdb Time Profile Report @ Mon Jan 01 10:00:00 UTC 2024
+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-
>>>>> VIRTUAL USER 2 : ELAPSED TIME : 120000ms
>>>>> PROC: NEWORD
CALLS: 1000\tMIN: 1.000ms\tAVG: 10.000ms\tMAX: 50.000ms\tTOTAL: 10000.000ms
P99: 40.000ms\tP95: 30.000ms\tP50: 9.000ms\tSD: 1000.000\tRATIO: 50.000%
"""
SECOND_USER = """>>>>> VIRTUAL USER 3 : ELAPSED TIME : 120000ms
>>>>> PROC: NEWORD
CALLS: 3000\tMIN: 1.000ms\tAVG: 20.000ms\tMAX: 70.000ms\tTOTAL: 60000.000ms
P99: 60.000ms\tP95: 50.000ms\tP50: 9.000ms\tSD: 1000.000\tRATIO: 50.000%
"""
SUMMARY = """>>>>> SUMMARY OF 2 ACTIVE VIRTUAL USERS : MEDIAN ELAPSED TIME : 120000ms
>>>>> PROC: NEWORD
CALLS: 4000\tMIN: 1.000ms\tAVG: 17.500ms\tMAX: 70.000ms\tTOTAL: 70000.000ms
P99: 55.000ms\tP95: 45.000ms\tP50: 9.000ms\tSD: 1000.000\tRATIO: 50.000%
"""
BENCHMARKSQL = """10:00:00,001 [main] INFO   jTPCC : Term-00,      BenchmarkSQL v5.0
10:00:00,002 [main] INFO   jTPCC : Term-00, db=postgres
10:00:00,003 [main] INFO   jTPCC : Term-00, warehouses=10
10:00:00,003 [main] INFO   jTPCC : Term-00, terminals=8
10:00:00,003 [main] INFO   jTPCC : Term-00, runMins=2
10:00:00,003 [main] INFO   jTPCC : Term-00, limitTxnsPerMin=0
10:02:00,100 [Thread-1] INFO   jTPCC : Term-00, Measured tpmC (NewOrders) = 4500.0
10:02:00,100 [Thread-1] INFO   jTPCC : Term-00, Measured tpmTOTAL = 10000.0
10:02:00,100 [Thread-1] INFO   jTPCC : Term-00, Session Start     = 2024-01-01 10:00:00
10:02:00,100 [Thread-1] INFO   jTPCC : Term-00, Session End       = 2024-01-01 10:02:00
10:02:00,100 [Thread-1] INFO   jTPCC : Term-00, Transaction Count = 20000
"""
YCSB = """Command line: -db site.ycsb.db.JdbcClient -P workloads/workloada -threads 8 -t
[OVERALL], RunTime(ms), 10000
[OVERALL], Throughput(ops/sec), 1000.0
[CLEANUP], Operations, 8
[READ], Operations, 5000
[READ], AverageLatency(us), 900.0
[READ], MinLatency(us), 100
[READ], MaxLatency(us), 90000
[READ], 95thPercentileLatency(us), 1800
[READ], Return=OK, 5000
[UPDATE], Operations, 5000
[UPDATE], AverageLatency(us), 1100.0
[READ-FAILED], Operations, 10
[READ-FAILED], AverageLatency(us), 5000.0
"""
GO_TPC = "".join(
    f"[Summary] {name} - Takes(s): 60.0, Count: {count}, TPM: {count}.0, Sum(ms): {10 * count}, Avg(ms): 10, "
    "90th(ms): 12, 99th(ms): 16, 99.9th(ms): 16\n"
    for name, count in
    (("DELIVERY", 40), ("NEW_ORDER", 400), ("ORDER_STATUS", 40), ("PAYMENT", 390), ("STOCK_LEVEL", 40))
)  # fmt: skip
VALUES: dict[str, tuple[str, dict[str, float | str]]] = {
    "sysbench 0.4": (SYSBENCH_04, {
        "outcome.transactions_per_s": 125, "outcome.mean_ms": 127.95, "outcome.percentiles_ms.95": 220,
        "outcome.errors_per_s": 0.1, "workload.clients": 16,
    }),
    "sysbench 0.5": (SYSBENCH_05, {"outcome.transactions_per_s": 125, "outcome.errors_per_s": 0.1}),
    "sysbench 1.1": (SYSBENCH_11, {
        "outcome.transactions_per_s": 100, "window.ramp_s": 30, "window.duration_s": 10,
        "workload.driver": "sysbench oltp_read_write, 20 queries per transaction",
    }),
    "pgbench 9.0": (PGBENCH_90, {"outcome.transactions_per_s": 400, "window.duration_s": 60}),
    "pgbench 9.5": (PGBENCH_95, {"outcome.transactions_per_s": 400, "outcome.mean_ms": 10}),
    "pgbench 10": (PGBENCH_10, {"outcome.transactions_per_s": 400, "outcome.mean_ms": 10, "workload.clients": 4}),
    "pgbench 17": (PGBENCH_17, {"outcome.transactions_per_s": 399.1, "outcome.errors_per_s": 1.0}),
    "HammerDB 3": (HAMMERDB_3, {
        "outcome.new_orders_per_minute": 10000, "outcome.reported.TPM": 30000, "engine.name": "Oracle",
        "window.duration_s": 300, "window.ramp_s": 180,
    }),
    "HammerDB job": (JOB, {
        "outcome.new_orders_per_minute": 10000, "workload.clients": 5, "window.duration_s": 120, "window.ramp_s": 60,
    }),
    "HammerDB profile": (PROFILE, {
        "outcome.classes.new_order.mean_ms": 10, "outcome.classes.new_order.percentiles_ms.95": 30,
    }),
    "HammerDB profile of two users": (PROFILE + SECOND_USER, {
        "outcome.classes.new_order.mean_ms": 17.5, "outcome.classes.new_order.count": 4000,
        "outcome.classes.new_order.max_ms": 70,
    }),
    "HammerDB profile with its summary": (PROFILE + SECOND_USER + SUMMARY, {
        "outcome.classes.new_order.percentiles_ms.95": 45, "workload.clients": 2,
    }),
    "BenchmarkSQL": (BENCHMARKSQL, {
        "outcome.new_orders_per_minute": 4500, "outcome.transactions_per_s": 10000 / 60, "workload.clients": 8,
        "workload.warehouses": 10, "window.duration_s": 120, "engine.name": "PostgreSQL",
    }),
    "YCSB": (YCSB, {
        "outcome.transactions_per_s": 1000, "outcome.mean_ms": 1, "outcome.classes.read.percentiles_ms.95": 1.8,
        "outcome.errors_per_s": 1, "workload.clients": 8,
    }),
    "go-tpc of 2019": (GO_TPC, {"outcome.new_orders_per_minute": 400, "outcome.classes.payment.percentiles_ms.90": 12}),
}  # fmt: skip


@pytest.mark.parametrize("release", VALUES)
def test_a_release_reads_as_a_person_does(written: Written, release: str) -> None:
    text, values = VALUES[release]
    reading = written("run.json" if text.startswith("[") and '"' in text[:3] else "run.txt", text)
    assert {key: value_of(reading, key) for key in values} == pytest.approx(values)


@pytest.mark.parametrize("release", VALUES)
def test_a_release_that_is_cut_off_is_refused(written: Written, release: str) -> None:
    text, _ = VALUES[release]
    try:
        reading = written("run.txt", text[: int(len(text) * 0.6)])
    except (InputError, AssertionError):
        return
    known = {".".join(key): leaf for key, leaf in reading.values.items()}
    assert release.startswith("HammerDB profile") or not known.keys() & {"outcome.transactions_per_s"}


ABSENT = {
    "pgbench 9.0": "outcome.mean_ms", "go-tpc of 2019": "workload.warehouses", "HammerDB 3": "outcome.mean_ms",
    "HammerDB profile": "outcome.transactions_per_s", "sysbench 0.4": "outcome.new_orders_per_minute",
    "HammerDB profile of two users": "outcome.classes.new_order.percentiles_ms.95", "BenchmarkSQL": "outcome.mean_ms",
}  # fmt: skip


@pytest.mark.parametrize("release", ABSENT)
def test_absent_stays_absent(written: Written, release: str) -> None:
    reading = written("run.txt", VALUES[release][0])
    assert ABSENT[release] not in {".".join(key) for key in reading.values}


@pytest.mark.parametrize(
    ("release", "old", "new", "said"),
    [
        ("sysbench 0.4", "10000  (125", "12000  (125", "transactions"),
        ("sysbench 0.5", "[  40s] threads: 16", "[  40s] threads: 32", "threads"),
        ("sysbench 0.5", "[  40s] threads: 16, tps", "[  40s] threads: 16; tps", "a report of sysbench"),
        ("sysbench 1.1", "time elapsed:                        10", "time elapsed:                        20", "per s"),
        ("pgbench 9.0", "processed: 24000", "processed: 34000", "tps with connecting"),
        ("pgbench 17", "tps = 399.1", "tps = 299.1", "tps"),
        ("HammerDB 3", "period of 5 in", "period of 50 in", "timed minutes"),
        ("HammerDB profile", "AVG: 10.000ms", "AVG: 15.000ms", "avg of NEWORD"),
        ("BenchmarkSQL", "Transaction Count = 20000", "Transaction Count = 30000", "tpmTOTAL"),
        ("BenchmarkSQL", "tpmC (NewOrders) = 4500", "tpmC (NewOrders) = 45000", "at most tpmTOTAL"),
        ("BenchmarkSQL", "runMins=2", "runMins=5", "runMins"),
        ("YCSB", "[READ], Operations, 5000", "[READ], Operations, 9000", "throughput"),
        ("YCSB", "[READ], MaxLatency(us), 90000", "[READ], MaxLatency(us), 90", "100 to 90 us"),
        ("go-tpc of 2019", "Count: 400, TPM: 400.0", "Count: 400, TPM: 700.0", "TPM of new_order"),
    ],
)
def test_a_release_that_contradicts_itself_is_refused(
    written: Written, release: str, old: str, new: str, said: str
) -> None:
    text = VALUES[release][0]
    assert old in text
    with pytest.raises(InputError) as raised:
        written("run.txt", text.replace(old, new, 1))
    assert said in str(raised.value)


TRIED_AGAIN = """sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Number of threads: 64
SQL statistics:
    queries performed:
        read:                            28000
        write:                           8000
        other:                           4000
        total:                           40000
    transactions:                        1000   (100.00 per sec.)
    queries:                             40000  (4000.00 per sec.)
    ignored errors:                      1000   (100.00 per sec.)
General statistics:
    total time:                          10.0000s
    total number of events:              1000
Latency (ms):
         min:                                   15.00
         avg:                                  640.00
         max:                                  900.00
         95th percentile:                      800.00
         sum:                               640000.00
"""


@pytest.mark.parametrize(
    ("name", "text", "driver"),
    [
        ("run.txt", TRIED_AGAIN, "sysbench oltp_read_write, 20 queries per transaction"),
        ("tpcc_64.txt", TRIED_AGAIN, "sysbench-tpcc"),
        ("run.txt", "./tpcc.lua --threads=64 run\n" + TRIED_AGAIN, "sysbench-tpcc"),
    ],
)
def test_a_workload_is_tpcc_only_if_it_is_named(written: Written, name: str, text: str, driver: str) -> None:
    reading = written(name, text)
    assert value_of(reading, "workload.driver") == driver
    assert (("outcome", "new_orders_per_minute") in reading.values) is (driver == "sysbench-tpcc")
    assert value_of(reading, "outcome.errors_per_s") == 100


def test_a_sysbench_test_of_something_else_is_named(written: Written) -> None:
    text = "sysbench 1.0.20\n\nCPU speed:\n    events per second:  1000.00\n\n    total time:   10.0s\n"
    with pytest.raises(InputError, match="got a sysbench test without transactions; expected one of a database"):
        written("cpu.txt", text)


FIO_3 = """t: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=8
...
fio-3.33
Starting 4 processes

t: (groupid=0, jobs=4): err= 0: pid=1: Mon Jan  1 10:00:00 2024
  read: IOPS=10.0k, BW=39.1MiB/s (41.0MB/s)(1172MiB/30001msec)
    slat (nsec): min=50, max=900, avg=99.00, stdev=10.00
    clat (usec): min=50, max=9000, avg=3199.00, stdev=10.00
     lat (usec): min=50, max=9000, avg=3200.00, stdev=10.00
"""
FIO_2 = """t: (g=0): rw=randread, bs=4K-4K/4K-4K/4K-4K, ioengine=libaio, iodepth=32
fio-2.1.3
Starting 1 process

t: (groupid=0, jobs=1): err= 0: pid=1: Mon Jan  1 10:00:00 2014
  read : io=1172.0MB, bw=40001KB/s, iops=10000, runt= 30001msec
    clat (msec): min=1, max=9, avg= 3.19, stdev= 0.10
"""


@pytest.mark.parametrize(("text", "mean_us"), [(FIO_3, 3199), (FIO_2, 3190)])
def test_fios_text_is_read(written: Written, text: str, mean_us: float) -> None:
    (point,) = written("fio.txt", text).disk
    assert (point.operation, point.depth, point.block_kib, point.per_s) == ("read", 32, 4, 10000)
    assert point.mean_us == pytest.approx(mean_us)


def test_fios_terse_line_is_refused_with_its_reason(written: Written) -> None:
    line = "3;fio-3.33;t;0;0;" + ";".join(["100"] * 120) + "\n"
    with pytest.raises(
        InputError, match=r"which says neither pattern nor depth; .*; run fio with --output-format=json"
    ):
        written("fio.txt", line)


def test_notes_before_fios_json_do_no_harm(written: Written) -> None:
    text = (SAMPLES / "fio/fifo200.qd4.json").read_text(encoding="utf-8")
    note = "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1\n"
    assert written("fio.json", note + text).disk[0].per_s == written("plain.json", text).disk[0].per_s
    with pytest.raises(InputError):
        written("fio.json", note + text[: len(text) // 2])


@pytest.mark.parametrize(
    ("figures", "per_s"),
    [
        ("IOPS=10.0k, BW=39.1MiB/s (41.0MB/s)(1.50TiB/40265318msec)", 10000),
        ("IOPS=3, BW=12.3KiB/s (12.6kB/s)(123KiB/10001msec)", 3),
        ("IOPS=1, BW=409B/s (409B/s)(4096B/10001msec)", 1),
    ],
)
def test_fios_text_may_be_of_few_bytes_or_many(written: Written, figures: str, per_s: float) -> None:
    text = FIO_3.replace("IOPS=10.0k, BW=39.1MiB/s (41.0MB/s)(1172MiB/30001msec)", figures)
    assert written("fio.txt", text).disk[0].per_s == per_s


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("IOPS=10.0k", "IOPS=20.0k", "IOPS 20,000; expected 10,"),
        ("err= 0", "err= 5", "err=5"),
        ("rw=randread", "rw=read", "random requests"),
        ("...\n", "u: (g=1): rw=randwrite, bs=(R) 4096B-4096B, ioengine=libaio, iodepth=8\n", "2 kinds of jobs"),
        ("    clat (usec)", "    other (usec)", "0 lines clat"),
        ("(1172MiB/30001msec)", "(1172MiB)", "IOPS, bandwidth, bytes and time"),
    ],
)
def test_fios_text_that_is_no_answer_is_refused(written: Written, old: str, new: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        written("fio.txt", FIO_3.replace(old, new))
    assert said in str(raised.value)


def test_a_profile_beside_a_log_gives_its_times(written: Written) -> None:
    log = written("hammerdb.log", HAMMERDB_3)
    record = merge_readings("run", [log, written("hdbxtprofile.log", PROFILE)]).record
    assert record.window.duration_s is not None
    assert record.window.duration_s.value == 300
    assert record.outcome.classes["new_order"].percentiles_ms["95"].value == 30


def html_of(text: str) -> str:
    """A report of which each line of cells is a row of a table, as awrrpt.sql writes HTML."""
    rows = "".join(
        "<tr>"
        + "".join(f"<td class='awrc' align=\"right\">&#160;{cell.strip()}</td>" for cell in line.split("|"))
        + "</tr>\n"
        for line in text.splitlines()
    )
    return f'<html><body><h3>Load Profile</h3><table border="0">\n{rows}</table></body></html>\n'


def test_an_awr_report_as_html_is_that_as_text(written: Written) -> None:
    path = SAMPLES / "oracle/awr.txt"
    text = path.read_text(encoding="utf-8")
    plain, reading = reading_of(path), written("awr.html", html_of(text))
    figures = [
        {key: leaf["value"] for key, leaf in each.values.items() if isinstance(leaf, dict)} for each in (plain, reading)
    ]
    assert figures[0] == figures[1]
    with pytest.raises(InputError, match="expected </html>"):
        written("awr.html", html_of(text)[:-20])
    with pytest.raises(InputError, match="Elapsed"):
        written("awr.html", html_of(text.replace("60.00 (mins)", "90.00 (mins)")))
