"""The page of cloud volumes: its tables are its script's, its records are runs of its scenarios."""

import runpy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from oltpsim.calibration.fit import measured_runs, read_mapping_file
from oltpsim.calibration.records import load_record, records_in
from oltpsim.scenarios.library import load_scenario_file, scenario_path

DOCS = Path(__file__).resolve().parents[1] / "docs"
FOLDERS = "sysbench_tpcc_io1", "sysbench_tpcc_gp2", "sysbench_tpcc_mysql8"


@cache
def script() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "build_volumes.py"))


def test_the_page_is_what_its_script_makes() -> None:
    text = (DOCS / "volumes.md").read_text(encoding="utf-8")
    assert script()["page"](text) == text, "run docs/build_volumes.py --draw"


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_record_is_a_run_of_its_scenario(folder: str) -> None:
    of = next(each for each in script()["SETS"] if each.folder == folder)
    records = [load_record(path) for path in records_in(script()["RUNS"] / folder)]
    base = load_scenario_file(scenario_path(of.base))
    for run in measured_runs(records, base, {}, read_mapping_file(of.mapping, records)):
        record = next(each for each in records if each.name == run.name)
        assert run.scenario.interval.start == "cold"
        assert run.scenario.workload.loaded == record.workload.warehouses.value  # type: ignore[union-attr]
        assert record.outcome.new_orders_per_minute is not None
        assert record.outcome.transactions_per_s is not None
        by_mix = record.outcome.transactions_per_s.value * 600 / 23
        assert record.outcome.new_orders_per_minute.value == pytest.approx(by_mix, rel=1e-3)


def test_the_fitted_rows_are_records_and_called_so() -> None:
    seen, names = ({path.stem for path in records_in(script()["RUNS"] / folder)} for folder in FOLDERS[:2])
    fitted = set(script()["FITTED"])
    assert fitted <= names
    assert all(name.startswith(script()["IN_SIGHT"]) for name in seen)
    rows = [line.split(" | ") for line in (DOCS / "volumes.md").read_text(encoding="utf-8").splitlines()]
    roles = {row[0].removeprefix("| "): row[1] for row in rows if len(row) == 10}
    assert {name for name in names if roles[name] != "fitted"} == {f"warehouses-{count}00" for count in (1, 2, 3, 5)}
    assert {roles[name] for name in seen} == {"in sight"}
    for name in ("innodb/sysbench-tpcc-io1", "innodb/sysbench-tpcc-gp2"):
        measured = load_scenario_file(scenario_path(name)).measured
        assert measured is not None
        assert measured.role == "fitted"


def test_credits_end_where_the_rate_falls_for_good() -> None:
    series = [100.0] * 20 + [60.0] * 30
    assert script()["credits_end_s"](series) == 20 * 60
    assert script()["credits_end_s"]([100.0] * 50) == float("inf")
    assert script()["credits_end_s"]([50.0] * 20 + [100.0] * 30) == float("inf")


def test_warm_is_the_first_minute_near_the_last_third() -> None:
    series = [10.0, 50.0, 94.0, 96.0, *[100.0] * 20]
    assert script()["warm_up_s"](series) == 3 * 60 + 30
    assert script()["warm_up_s"]([100.0] * 30) == 30
