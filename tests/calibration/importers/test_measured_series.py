"""The series of `oltpsim measure`, written here line by line with known rates."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from oltpsim.calibration.importers import RunFiles, find_runs
from oltpsim.calibration.records import RunRecord, merge_readings
from oltpsim.simulator.errors import InputError

HEADER = {"format": "oltpsim-series-1", "warm_up_s": None, "ticks_per_s": 100, "database": "postgresql", "lacks": []}
T0 = 1_795_000_000.0
NOISE = (0, 4, -3, 2, -5, 1, 3, -2)
PGBENCH = """transaction type: <builtin: TPC-B (sort of)>
number of clients: 4
duration: 40 s
number of transactions actually processed: {count}
latency average = 4.0 ms
latency stddev = 3.0 ms
tps = {rate} (without initial connection time)
"""


def line(second: int, commits: float) -> dict[str, Any]:
    """A sample with 50 % user CPU of two cores, 30 reads/s of 8 KiB, 0.25 cores in the database's user mode."""
    return {
        "at_s": T0 + second,
        "cpu": [100 * second, 0, 0, 100 * second, 0, 0, 0, 0],
        "disks": {"sda": [30 * second, 0, 480 * second, 60 * second, 0, 0, 0, 0, 0, 100 * second, 60 * second]},
        "swap": [0, 0],
        "groups": {"database": [25 * second, 10 * second], "connection": [second, 0], "driver": [5 * second, 0]},
        "sampler_s": [0.002 * second, 0.001 * second],
        "database": {"commits": commits, "buffer_reads": 50.0 * second, "log_bytes": 1000.0 * second},
    }


def lines_of(rates: Sequence[float], status: int | None = 0) -> list[dict[str, Any]]:
    """A run with these commits per second, beside the sample's own."""
    total, found = 100.0, [{"at_s": T0, "event": "start"}, line(0, 100.0)]
    for second, rate in enumerate(rates, 1):
        total += rate + 1
        found.append(line(second, total))
    end_s = T0 + len(rates) + 0.5
    return [*found, {"at_s": end_s, "event": "end", "status": status}, line(len(rates) + 1, total + 1)]


Written = Callable[..., RunFiles]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    def write(lines: Sequence[dict[str, Any]], cut: str = "", log: str = "", **header: Any) -> RunFiles:
        text = "".join(json.dumps(each) + "\n" for each in [HEADER | header, *lines])
        (tmp_path / "series.jsonl").write_text(text + cut)
        if log:
            (tmp_path / "harness.log").write_text(log)
        (run,) = find_runs([tmp_path])
        return run

    return write


def record_of(run: RunFiles) -> RunRecord:
    return merge_readings(run.name, run.readings).record


WARMING = [100.0 * (second + 1) / 8 for second in range(8)] + [1000 + 8 * NOISE[at % 8] for at in range(32)]
STEADY = [1000.0 + 8 * NOISE[at % 8] for at in range(40)]


def test_the_warm_up_is_found_and_not_counted(written: Written) -> None:
    record = record_of(written(lines_of(WARMING)))
    assert record.window.kind == "steady"
    assert record.window.ramp_s
    assert 8 <= record.window.ramp_s.value <= 16
    assert record.outcome.transactions_per_s
    assert record.outcome.transactions_per_s.value == pytest.approx(1000, rel=0.005)


def test_a_steady_run_loses_nothing(written: Written) -> None:
    record = record_of(written(lines_of(STEADY)))
    assert (record.window.kind, record.window.duration_s and record.window.duration_s.value) == ("whole", 40)


def test_a_rate_that_rises_to_the_end_is_said(written: Written) -> None:
    record = record_of(written(lines_of([100.0 + 20 * second for second in range(40)])))
    assert any("commits per s aren't steady" in note for note in record.notes)


def test_a_warm_up_that_is_given_is_taken(written: Written) -> None:
    record = record_of(written(lines_of(STEADY), warm_up_s=20.0))
    assert (record.window.ramp_s and record.window.ramp_s.value) == 20
    with pytest.raises(InputError, match="more than the warm-up of 60 s"):
        written(lines_of(STEADY), warm_up_s=60.0)


def test_rates_of_machine_and_database_are_those_of_the_counters(written: Written) -> None:
    resources = record_of(written(lines_of(STEADY))).resources
    assert resources.cpu_user_fraction
    assert resources.cpu_user_fraction.value == pytest.approx(0.5)
    disk = resources.devices["sda"]
    figures = (disk.reads_per_s, disk.read_kib_per_s, disk.read_await_ms, disk.queue_length, disk.utilisation_fraction)
    assert [figure and figure.value for figure in figures] == pytest.approx([30, 240, 2, 0.06, 0.1])
    groups = {
        name: [each.cpu_user_cores and each.cpu_user_cores.value, each.cpu_system_cores and each.cpu_system_cores.value]
        for name, each in resources.process_groups.items()
    }
    assert groups["database"] == pytest.approx([0.25, 0.1])
    assert groups["sampler"] == pytest.approx([0.012, 0.001])  # with the server's process of its connection
    assert resources.log_bytes_per_s
    assert resources.log_bytes_per_s.value == pytest.approx(1000)


def test_the_harness_s_rate_is_that_of_the_counted_time(written: Written) -> None:
    """What it did in all is 1.02 transactions per commit; its own rate holds the warm-up."""
    count = 1.02 * sum(WARMING)
    record = record_of(written(lines_of(WARMING), log=PGBENCH.format(count=round(count), rate=count / 40)))
    assert record.outcome.transactions_per_s
    assert record.outcome.transactions_per_s.value == pytest.approx(1020, rel=0.005)
    reported = record.outcome.reported["transactions_per_s, warm-up counted"]
    assert reported.value == pytest.approx(count / 40)
    assert record.outcome.mean_ms is None  # a mean of another time
    assert record.window.kind == "steady"


def test_the_harness_s_rate_stays_where_nothing_was_trimmed(written: Written) -> None:
    record = record_of(written(lines_of(STEADY), log=PGBENCH.format(count=40_800, rate=1020.0)))
    assert record.outcome.transactions_per_s
    assert record.outcome.transactions_per_s.value == 1020
    assert record.outcome.mean_ms


def test_a_measurement_that_was_killed_is_a_partial_run(written: Written) -> None:
    lines = lines_of(STEADY)[:-8]
    run = written(lines, cut='{"at_s": 17950')
    record = record_of(run)
    assert any("ended before its end" in note for note in record.notes)
    assert any("is cut off and left out" in note for note in record.notes)


def test_a_line_within_that_is_none_is_refused(written: Written, tmp_path: Path) -> None:
    written(lines_of(STEADY))
    lines = (tmp_path / "series.jsonl").read_text().splitlines()
    (tmp_path / "series.jsonl").write_text("\n".join([*lines[:9], lines[9][:30], *lines[10:]]) + "\n")
    with pytest.raises(InputError, match=r"series\.jsonl, line 10: got .*expected a JSON object"):
        find_runs([tmp_path])


@pytest.mark.parametrize("key", ["cpu", "disks", "swap", "at_s"])
def test_a_sample_that_lacks_something_is_refused(written: Written, key: str) -> None:
    lines = lines_of(STEADY)
    del lines[5][key]
    with pytest.raises(InputError, match="a sample of another shape"):
        written(lines)


def test_one_sample_is_no_series(written: Written) -> None:
    with pytest.raises(InputError, match="got 1 samples; expected at least two"):
        written(lines_of(STEADY)[:2])


def test_a_database_that_was_lost_is_said_and_the_machine_stays(written: Written) -> None:
    lines = lines_of(STEADY, status=1)
    for each in lines[20:]:
        each.pop("database", None)
    lines.insert(20, {"at_s": T0 + 18.5, "event": "lost", "reason": "server closed the connection"})
    run = written(lines)
    notes = [note for reading in run.readings for note in reading.notes]
    assert any("the database was lost: server closed" in note for note in notes)
    assert any("ended with status 1" in note for note in notes)
    assert not run.has_result
    with pytest.raises(InputError, match="expected the result of a load generator too"):
        record_of(run)


def test_counters_that_fall_are_left_out(written: Written) -> None:
    """Processes that have ended, and a server that was started again."""
    lines = lines_of(STEADY)
    lines[-3]["groups"]["driver"] = [0, 0]
    resources = record_of(written(lines)).resources
    cores = resources.process_groups["driver"].cpu_user_cores
    assert cores
    assert cores.value == pytest.approx(0.05)
