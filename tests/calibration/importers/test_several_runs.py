"""Several runs in one file or folder: each is read alone, a stopped one is told, and one of them can be chosen."""

from pathlib import Path

import pytest

from oltpsim.calibration.importers import find_runs
from oltpsim.calibration.importers.registry import read_file, read_runs
from oltpsim.calibration.records import merge_readings
from oltpsim.models.input import SourceFile
from oltpsim.simulator.errors import InputError
from tests.calibration.conftest import value_of

RATE, CLIENTS = "outcome.transactions_per_s", "workload.clients"


def sysbench(per_s: int, threads: int, seconds: int = 10, result: bool = True) -> str:
    """A run of sysbench as it prints it, with latencies that keep its threads busy."""
    count, mean_ms = per_s * seconds, 1000.0 * threads / per_s
    head = f"""sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: {threads}

Threads started!

[ 5s ] thds: {threads} tps: {per_s}.00 qps: 2.00 (r/w/o: 1.40/0.40/0.20) lat (ms,95%): 22.00 err/s: 0.00 reconn/s: 0.00
"""
    totals = f"""SQL statistics:
    queries performed:
        read:                            {14 * count}
        write:                           {4 * count}
        other:                           {2 * count}
        total:                           {20 * count}
    transactions:                        {count}   ({per_s}.00 per sec.)
    queries:                             {20 * count}  ({20 * per_s}.00 per sec.)
    ignored errors:                      0      (0.00 per sec.)

General statistics:
    total time:                          {seconds}.0000s
    total number of events:              {count}

Latency (ms):
         min:                                    1.00
         avg:                            {mean_ms:.2f}
         max:                                 9000.00
         95th percentile:                     4000.00
         sum:                            {mean_ms * count:.2f}

"""
    return head + totals * result


def hammerdb(users: int, nopm: int) -> str:
    return f"""Hammerdb Log @ Mon Jan 01 10:00:00 UTC 2024
Vuser 1:Beginning rampup time of 1 minutes
Vuser 1:Rampup complete, Taking start Transaction Count.
Vuser 1:Timing test period of 2 in minutes
Vuser 1:2 ...,
Vuser 1:Test complete, Taking end Transaction Count.
Vuser 1:{users} Active Virtual Users configured
Vuser 1:TEST RESULT : System achieved {nopm} NOPM from {23 * nopm // 10} PostgreSQL TPM
"""


def pgbench(clients: int, count: int) -> str:
    return f"""starting vacuum...end.
progress: 5.0 s, {count / 10:.1f} tps, lat 1.000 ms stddev 0.1
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 10
number of clients: {clients}
duration: 10 s
number of transactions actually processed: {count}
latency average = {clients * 10_000 / count:.3f} ms
tps = {count / 10:.6f} (without initial connection time)
"""


def go_tpc_log(new_orders: int) -> str:
    return "".join(
        f"[Summary] {name} - Takes(s): 60.0, Count: {new_orders}, TPM: {new_orders}.0, Sum(ms): {10 * new_orders}, "
        "Avg(ms): 10, 90th(ms): 12, 99th(ms): 16, 99.9th(ms): 16\n"
        for name in ("DELIVERY", "NEW_ORDER", "ORDER_STATUS", "PAYMENT", "STOCK_LEVEL")
    )


def stored(tmp_path: Path, text: str, name: str = "run.log") -> SourceFile:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return SourceFile(tmp_path / name, name)


@pytest.mark.parametrize(
    ("text", "key", "values"),
    [
        (sysbench(100, 2) + sysbench(400, 32), RATE, [100, 400]),
        (sysbench(100, 2) + sysbench(400, 32), CLIENTS, [2, 32]),
        (hammerdb(1, 1000) + hammerdb(8, 5000), CLIENTS, [1, 8]),
        (hammerdb(1, 1000) + hammerdb(8, 5000), "outcome.new_orders_per_minute", [1000, 5000]),
        ("# notes\n\n" + pgbench(4, 4000) + "\nmore\n" + pgbench(16, 9000), RATE, [400, 900]),
        (pgbench(4, 4000) + pgbench(16, 9000) + pgbench(64, 9500), CLIENTS, [4, 16, 64]),
        (go_tpc_log(400) + go_tpc_log(700), "outcome.new_orders_per_minute", [400, 700]),
    ],
)
def test_each_run_of_a_file_has_its_own_figures(tmp_path: Path, text: str, key: str, values: list[float]) -> None:
    readings = read_runs(stored(tmp_path, text))
    assert [value_of(reading, key) for reading in readings] == pytest.approx(values)
    assert [reading.file for reading in readings] == [f"run.log#{number + 1}" for number in range(len(values))]


def test_lines_keep_the_numbers_of_the_whole_file(tmp_path: Path) -> None:
    text = sysbench(100, 2)
    second = read_runs(stored(tmp_path, text + sysbench(400, 32)))[1].values["workload", "clients"]
    assert isinstance(second, dict)
    assert second["source"] == f"run.log#2, line {text.count(chr(10)) + 4}"


def test_one_run_stays_one(tmp_path: Path) -> None:
    (reading,) = read_runs(stored(tmp_path, sysbench(100, 2)))
    assert reading.file == "run.log"
    (found,) = find_runs([tmp_path / "run.log"])
    assert found.name == "run"


@pytest.mark.parametrize("stopped_first", [True, False])
def test_a_run_that_was_stopped_is_told_and_lends_no_figure(tmp_path: Path, stopped_first: bool) -> None:
    runs = [sysbench(400, 32, result=False), sysbench(100, 2)]
    (reading,) = read_runs(stored(tmp_path, "".join(runs if stopped_first else reversed(runs))))
    assert (value_of(reading, RATE), value_of(reading, CLIENTS)) == (100, 2)
    assert any("a run without its result, left out" in note for note in reading.notes)


def test_a_ramp_belongs_to_the_run_that_it_leads_to(tmp_path: Path) -> None:
    first, second = (hammerdb(users, 1000).replace("time of 1", f"time of {users}") for users in (2, 7))
    logs = [text.partition("\n")[2].replace("Beginning rampup time of", "Rampup") for text in (first, second)]
    text = "".join(logs).replace(" minutes\n", " minutes complete ...\n")
    assert [value_of(each, "window.ramp_s") for each in read_runs(stored(tmp_path, text))] == [120, 420]


def test_a_builds_log_is_no_run(tmp_path: Path) -> None:
    build = "Hammerdb Log @ Mon Jan 01 09:00:00 UTC 2024\nVuser 1:CREATING SCHEMA\nVuser 1:SCHEMA COMPLETE\n"
    (reading,) = read_runs(stored(tmp_path, build + hammerdb(8, 5000)))
    assert not reading.notes
    assert value_of(reading, CLIENTS) == 8


def test_one_run_is_wanted_where_several_are(tmp_path: Path) -> None:
    file = stored(tmp_path, sysbench(100, 2) + sysbench(400, 32))
    with pytest.raises(InputError, match=r"run.log: got 2 runs in one file; expected one; choose one: run.log#1"):
        read_file(file)


def test_a_run_is_chosen_by_its_number(tmp_path: Path) -> None:
    stored(tmp_path, sysbench(100, 2) + sysbench(400, 32))
    (found,) = find_runs([tmp_path / "run.log#2"])
    record = merge_readings(found.name, found.readings).record
    assert (record.name, record.workload.clients and record.workload.clients.value) == ("run#2", 32)
    with pytest.raises(InputError, match="got run 3; expected 1 to 2"):
        find_runs([tmp_path / "run.log#3"])


def test_repeats_in_a_folder_are_runs_with_one_configuration(tmp_path: Path) -> None:
    for number, per_s in enumerate((100, 104, 98), 1):
        stored(tmp_path, sysbench(per_s, 2), f"repeat{number}.log")
    stored(tmp_path, "[mysqld]\ninnodb_buffer_pool_size = 1G\n", "my.cnf")
    records = [merge_readings(found.name, found.readings).record for found in find_runs([tmp_path])]
    rates = [record.outcome.transactions_per_s for record in records]
    assert [rate.value for rate in rates if rate] == pytest.approx([100, 104, 98])
    assert len({record.name for record in records}) == 3
    assert all(record.engine.buffer_pool_gib and record.engine.buffer_pool_gib.value == 1 for record in records)


def test_one_result_under_two_names_is_one_run(tmp_path: Path) -> None:
    for name in ("run.log", "copy.log"):
        stored(tmp_path, sysbench(100, 2), name)
    assert len(find_runs([tmp_path])) == 1


VMSTAT = (
    """ r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
"""
    + " 1  0      0 100000   1000 200000    0    0     1     1    1    1 50 20 20 10  0\n" * 3
)


def test_monitors_without_a_clock_belong_to_no_run_of_several(tmp_path: Path) -> None:
    stored(tmp_path, sysbench(100, 2) + sysbench(400, 32))
    stored(tmp_path, VMSTAT, "vmstat.txt")
    for found in find_runs([tmp_path]):
        assert [reading.kind for reading in found.readings] == ["sysbench result"]
        assert any("vmstat.txt may be of any; give each run a folder" in note for note in found.readings[0].notes)


def test_monitors_without_a_clock_belong_to_no_run_whose_time_is_known(tmp_path: Path) -> None:
    for minute, new_orders in ((10, 400), (30, 700)):
        stopped = f"[2026-11-21 00:{minute}:47] run worker 0 stopped due to timeout: context deadline exceeded\n"
        stored(tmp_path, go_tpc_log(new_orders) + stopped, f"repeat{minute}.log")
    stored(tmp_path, VMSTAT, "vmstat.txt")
    runs = find_runs([tmp_path])
    assert all(found.readings[0].window for found in runs)
    assert [[reading.kind for reading in found.readings] for found in runs] == [["go-tpc result"]] * 2


def test_a_file_like_a_result_in_a_subfolder_is_told(tmp_path: Path) -> None:
    stored(tmp_path, sysbench(100, 2))
    (tmp_path / "more").mkdir()
    stored(tmp_path / "more", "my tool: 100 tps, p95 20 ms\n", "other.txt")
    stored(tmp_path / "more", "[mysqld]\ninnodb_buffer_pool_size = 1G\n", "my.cnf")
    (found,) = find_runs([tmp_path])
    assert [line.partition(" ")[0] for line in found.unread_results] == ["more/other.txt"]
