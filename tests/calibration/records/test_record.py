"""The record: what it must have, that it survives being written and read, and that its laws can be broken."""

import copy
from pathlib import Path
from typing import Any

import pytest

from oltpsim.calibration.importers import find_runs
from oltpsim.calibration.records import (
    RunRecord,
    check_record,
    load_record,
    merge_readings,
    missing_keys,
    records_in,
    save_records,
    shipped_records,
)
from oltpsim.calibration.records.checks import littles_law
from oltpsim.calibration.records.files import record_text
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.simulator.errors import InputError
from tests.calibration.conftest import RUNS


def figure(value: float) -> dict[str, Any]:
    return {"value": value, "unit": "1", "source": "by hand", "definition": "assumption: a test"}


def series(*values: float) -> dict[str, Any]:
    return {
        "interval_s": 1,
        "values": list(values),
        "unit": "1",
        "source": "by hand",
        "definition": "assumption: a test",
    }


LEAST: dict[str, Any] = {
    "name": "least",
    "source": "a test",
    "window": {"kind": "whole", "duration_s": figure(60), "rate_definition": "all over all"},
    "outcome": {"transactions_per_s": figure(100)},
}


def with_(**keys: Any) -> dict[str, Any]:
    """The least record with keys set; __ stands for a step down."""
    data = copy.deepcopy(LEAST)
    for path, value in keys.items():
        place = data
        *above, last = path.split("__")
        for key in above:
            place = place.setdefault(key, {})
        place[last] = value
    return data


def whole_run(name: str = "postgres15_go-tpc_one_disk_400_iops") -> RunRecord:
    (found,) = find_runs([RUNS / name])
    return merge_readings(found.name, found.readings).record


def test_all_is_optional_but_a_rate_and_the_window() -> None:
    RunRecord.model_validate(LEAST)
    RunRecord.model_validate(with_(outcome={"new_orders_per_minute": figure(4000)}))
    for key in ("name", "source", "window", "outcome"):
        with pytest.raises(ValueError, match=key):
            RunRecord.model_validate({each: value for each, value in LEAST.items() if each != key})
    with pytest.raises(ValueError, match="a run needs new_orders_per_minute, transactions_per_s or job_figure"):
        RunRecord.model_validate(with_(outcome={"mean_ms": figure(5)}))


@pytest.mark.parametrize("lacking", ["value", "unit", "source", "definition"])
def test_every_figure_says_where_it_is_from(lacking: str) -> None:
    rate = {key: value for key, value in figure(100).items() if key != lacking}
    with pytest.raises(ValueError, match=lacking):
        RunRecord.model_validate(with_(outcome__transactions_per_s=rate))


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
def test_a_record_survives_being_written_and_read(tmp_path: Path, suffix: str) -> None:
    record = whole_run()
    (path,) = save_records([record], tmp_path / f"run{suffix}")
    assert load_record(path) == record
    assert record_text(load_record(path), suffix) == path.read_text(encoding="utf-8")


def test_several_records_go_into_a_folder(tmp_path: Path) -> None:
    records = [RunRecord.model_validate(with_(name=name)) for name in ("a/b run", "../c")]
    paths = save_records(records, tmp_path / "records")
    assert [path.name for path in paths] == ["a_b_run.yaml", "_c.yaml"]
    assert [load_record(path) for path in records_in(tmp_path / "records")] == [records[1], records[0]]
    with pytest.raises(InputError, match="got two runs of one name"):
        save_records([records[0], RunRecord.model_validate(with_(name="a b run"))], tmp_path / "records")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            with_(outcome__transactions_per_s=figure(-1)),
            "outcome.transactions_per_s.value: got -1; must be greater than 0",
        ),
        (with_(outcome__transaction_per_s=figure(1)), "unknown key (did you mean 'transactions_per_s'"),
        (with_(outcome__percentiles_ms={"p95": figure(1)}), "outcome.percentiles_ms"),
        (with_(outcome__classes={"payment": {"meen_ms": figure(1)}}), "unknown key (did you mean 'mean_ms'"),
        (with_(resources__devices={"sda": {"reads": figure(1)}}), "allowed: await_ms"),
        (with_(resources__cpu_user_fraction=figure(88)), "must be less than or equal to 1.05"),
        (with_(window__kind="steadi"), "window.kind: got 'steadi'"),
        (with_(window__duration_s={"value": 60}), "missing; add 'unit: ...', the unit as read"),
        (with_(format="oltpsim-run-9"), "format: got 'oltpsim-run-9'"),
    ],
)
def test_a_faulty_record_is_one_line_for_each_fault(tmp_path: Path, data: dict[str, Any], said: str) -> None:
    import yaml

    path = tmp_path / "run.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_record(path)
    assert all(line.startswith("run.yaml: ") for line in str(caught.value).splitlines())
    assert any(part in str(caught.value) for part in said.split("|"))


def test_the_records_that_are_shipped_are_those_of_the_sample_runs() -> None:
    assert {name: load_record(path) for name, path in shipped_records().items() if not name.startswith("v20z-")} == {
        path.name: whole_run(path.name) for path in sorted(RUNS.iterdir())
    }, "import the sample runs into calibration/runs again"


def test_the_records_of_the_v20z_are_what_its_scenarios_have_measured() -> None:
    names = {"v20z-120000-buffers": "v20z"}
    for name, path in shipped_records().items():
        if name.startswith("v20z-"):
            measured = load_scenario_file(library_files()[names.get(name, name.replace("_", "-"))]).measured
            rate = load_record(path).outcome.new_orders_per_minute
            assert measured is not None
            assert rate is not None
            assert rate.value == measured.new_orders_per_minute


def closed(clients: float, rate: float, mean_ms: float, **more: Any) -> RunRecord:
    keys = {
        "workload__clients": figure(clients),
        "outcome__transactions_per_s": figure(rate),
        "outcome__mean_ms": figure(mean_ms),
    }
    return RunRecord.model_validate(with_(**keys, **more))


@pytest.mark.parametrize(
    ("record", "holds"),
    [
        (closed(16, 1000, 16), True),
        (closed(16, 1000, 15.3), True),
        (closed(16, 1000, 17), False),  # more at work than there are
        (closed(16, 1000, 16_000), False),  # microseconds taken for milliseconds
        (closed(16, 1000, 0.016), None),  # a think time of its own, if there is one
        (closed(16, 1000, 0.016, workload__think_time_s=figure(0)), False),
        (closed(16, 10, 600, workload__think_time_s=figure(1)), True),
        (RunRecord.model_validate(LEAST), None),
    ],
)
def test_littles_law(record: RunRecord, holds: bool | None) -> None:
    assert littles_law(record).holds is holds, littles_law(record).text


def test_what_littles_law_lacks_is_said() -> None:
    assert littles_law(RunRecord.model_validate(LEAST)).text == "can't be checked without clients, mean_ms"
    assert missing_keys(RunRecord.model_validate(LEAST))[0].startswith("workload.clients: ")


@pytest.mark.parametrize(
    ("keys", "law"),
    [
        ({"outcome__new_orders_per_minute": figure(6000)}, "mix"),
        (
            {"window__kind": "steady", "outcome__series": {"rate": series(50, 51, 49, 70, 71, 69, 99, 100, 101)}},
            "steady",
        ),
        (
            {"outcome__new_orders_per_minute": figure(2700), "outcome__reported": {"TPM": figure(2700)}},
            "commits per new order",
        ),
        ({"outcome__percentiles_ms": {"95": figure(10), "99": figure(9)}}, "percentiles rise"),
        (
            {f"resources__cpu_{share}_fraction": figure(0.5) for share in ("user", "system", "idle")},
            "CPU shares add up",
        ),
        (
            {
                "resources__devices": {
                    "sda": {
                        "reads_per_s": figure(300),
                        "writes_per_s": figure(0),
                        "read_await_ms": figure(5),
                        "queue_length": figure(16),
                    }
                }
            },
            "Little's law of the device",
        ),
        (
            {"resources__devices": {"sda": {"reads_per_s": figure(24_000), "read_kib_per_s": figure(8000)}}},
            "size of a read",  # rows taken for reads
        ),
        (
            {"resources__devices": {"sda": {"reads_per_s": figure(1000), "read_kib_per_s": figure(8_192_000)}}},
            "size of a read",  # bytes taken for KiB
        ),
        (
            {
                "resources__devices": {"sda": {"reads_per_s": figure(100), "read_kib_per_s": figure(420)}},
                "engine__page_kib": figure(16),
                "resources__buffer_hits_per_s": figure(10_000),
                "resources__buffer_reads_per_s": figure(100),
            },
            "size of a read",  # of a fourth of a page
        ),
        (
            {"resources__commits_per_s": figure(1000), "outcome__transactions_per_s": figure(100)},
            "commits per transaction",  # counted since the server's start
        ),
        (
            {"resources__buffer_hits_per_s": figure(100), "resources__buffer_reads_per_s": figure(4900)},
            "hit ratio",  # one taken for the other
        ),
    ],
)
def test_other_laws_can_be_broken(keys: dict[str, Any], law: str) -> None:
    assert [
        finding.law for finding in check_record(RunRecord.model_validate(with_(**keys))) if finding.holds is False
    ] == [law]


@pytest.mark.parametrize(
    ("keys", "law"),
    [
        (
            {"resources__devices": {"sda": {"reads_per_s": figure(1000), "read_kib_per_s": figure(8000)}}},
            "size of a read",
        ),
        (
            {
                "resources__devices": {"vda": {"reads_per_s": figure(23), "read_kib_per_s": figure(95)}},
                "engine__page_kib": figure(16),
                "resources__buffer_hits_per_s": figure(10_000),
                "resources__buffer_reads_per_s": figure(0.01),
            },
            "size of a read",  # of the system's disk: the pool asks for nothing
        ),
        (
            {"resources__commits_per_s": figure(205), "outcome__transactions_per_s": figure(100)},
            "commits per transaction",  # a driver that pings
        ),
    ],
)
def test_sound_counters_break_no_law(keys: dict[str, Any], law: str) -> None:
    findings = check_record(RunRecord.model_validate(with_(**keys)))
    assert [finding.holds for finding in findings if finding.law == law] == [True]


@pytest.mark.parametrize(("steal", "holds"), [(0.029, []), (0.031, [None])])
def test_it_is_said_where_a_hypervisor_took_cpu_time(steal: float, holds: list[bool | None]) -> None:
    record = RunRecord.model_validate(with_(resources__cpu_steal_fraction=figure(steal)))
    assert [each.holds for each in check_record(record) if each.law == "CPUs are the machine's own"] == holds


@pytest.mark.parametrize(
    ("kind", "values", "holds"),
    [
        ("steady", (50, 51, 49, 70, 71, 69, 99, 100, 101), False),
        ("whole", (50, 51, 49, 70, 71, 69, 99, 100, 101), None),  # it began slowly, and says so
        ("steady", (99, 101, 100, 98, 100, 103, 104, 100, 99), True),
        ("steady", (50, 150, 100, 60, 140, 100, 70, 180, 120), True),  # noise
    ],
)
def test_a_drift_is_told_from_noise(kind: str, values: tuple[float, ...], holds: bool | None) -> None:
    record = RunRecord.model_validate(with_(window__kind=kind, outcome__series={"rate": series(*values)}))
    assert [finding.holds for finding in check_record(record) if finding.law == "steady"] == [holds]
