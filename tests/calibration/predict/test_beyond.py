"""How far a scenario is from a model's runs: sizes and rates are compared where they are of the same transactions."""

from __future__ import annotations

from pathlib import Path

from oltpsim.calibration.fit import calibration_path, read_calibration
from oltpsim.calibration.predict.beyond import beyond_in_kind, beyond_in_numbers
from oltpsim.scenarios.library import load_scenario_file, scenario_path

FAR = {"clients": 1e6, "warehouses": 1e6, "new orders/min": 1e9}


def distances(model: str, scenario: str) -> tuple[list[str], list[str]]:
    calibration = read_calibration(calibration_path(Path(model)))
    loaded = load_scenario_file(scenario_path(scenario))
    return list(beyond_in_kind(calibration, loaded)), list(beyond_in_numbers(calibration, loaded, FAR))


def test_rows_are_no_warehouses() -> None:
    kinds, numbers = distances("postgresql", "pgbench/simple-update-250")
    assert "a workload that no run of the model had: pgbench, simple update" in kinds
    assert [each.partition(" the ")[2] for each in numbers] == ["clients of any run you gave"]


def test_other_warehouses_are_compared() -> None:
    kinds, numbers = distances("postgresql", "postgresql-15")
    assert not any("workload" in each for each in kinds)
    assert {each.partition(" the ")[2] for each in numbers} == {f"{each} of any run you gave" for each in FAR}


def test_the_same_rows_have_their_own_names() -> None:
    kinds, numbers = distances("pgbench-updates", "pgbench/simple-update-250")
    assert not any("workload" in each for each in kinds)
    assert {each.partition(" the ")[2] for each in numbers} == {
        f"{each} of any run you gave" for each in ("clients", "units of scale", "transactions/min")
    }
