"""The blind test: runs are chosen by their scenarios alone, and what is left is predicted."""

import shutil
from pathlib import Path

import pytest

from oltpsim.models.input import read_mapping, yaml_text
from tests.scenarios.commands.conftest import Call

ROOT = Path(__file__).resolve().parents[3]
RECORDS = ROOT / "calibration" / "runs" / "laboratory_postgresql"
MAPPING = ROOT / "calibration" / "runs" / "mappings" / "laboratory.yaml"
NAMES = ("postgresql.r1", "postgresql-in-memory-16.r1", "postgresql-half-pages.r1")
SHORT = {"interval.lead_in.transactions": 500, "interval.warm_up_s": 1, "interval.duration_s": 4}
PARAMETERS = ROOT / "calibration" / "laboratory" / "parameters.yaml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    for name in NAMES:
        shutil.copy(RECORDS / f"{name}.yaml", tmp_path / "runs")
    return tmp_path / "runs"


@pytest.fixture
def words(folder: Path) -> tuple[str | Path, ...]:
    """Options: all runs are simulated for seconds only, one parameter is fitted."""
    mapping, parameters = folder.parent / "mapping.yaml", folder.parent / "parameters.yaml"
    entries = read_mapping(MAPPING)
    entries["all"]["settings"] = entries["all"].get("settings", {}) | SHORT
    mapping.write_text(yaml_text(entries), encoding="utf-8")
    key, entry = next(iter(read_mapping(PARAMETERS)["parameters"].items()))
    parameters.write_text(yaml_text({"parameters": {key: entry}}), encoding="utf-8")
    return "--mapping", mapping, "--parameters", parameters, "--quiet"


def roles(text: str) -> dict[str, str]:
    """Whether each run was fitted or predicted, by the validation's first table."""
    lines = [line.split() for line in text.splitlines()]
    return {
        name: role
        for line in lines
        for name in NAMES
        for role in ("fitted", "predicted")
        if line[:1] == [name] and role in line
    }


@pytest.mark.slow
def test_a_blind_test_calibrates_on_some_and_predicts_the_others(
    call: Call, folder: Path, words: tuple[str | Path, ...]
) -> None:
    runs = [folder / f"{name}.yaml" for name in NAMES]
    status, out, err = call("validate", *runs, "--blind", "2", *words)
    assert status == 0, err
    # what the runs that weren't chosen measured changes no choice and no fit: only how they are judged
    fitted = {name for name, role in roles(out).items() if role == "fitted"}
    assert len(fitted) == 2
    assert "postgresql.r1" in fitted
    for name in set(NAMES) - fitted:
        path = folder / f"{name}.yaml"
        data = read_mapping(path)
        data["outcome"]["new_orders_per_minute"]["value"] *= 1.5
        data["outcome"]["transactions_per_s"]["value"] *= 1.5
        path.write_text(yaml_text(data), encoding="utf-8")
    _, again, _ = call("validate", *runs, "--blind", "2", *words)
    assert {name for name, role in roles(again).items() if role == "fitted"} == fitted
    assert again != out


def test_too_many_or_too_few_runs_are_refused(call: Call, folder: Path, words: tuple[str | Path, ...]) -> None:
    runs = [folder / f"{name}.yaml" for name in NAMES]
    for number in (1, 3):
        status, _, err = call("validate", *runs, "--blind", str(number), *words)
        assert status == 2
        assert f"validate --blind: got {number} of 3 runs; expected from 2 to one less than there are" in err


def test_parameters_are_of_a_blind_test_only(call: Call, folder: Path, words: tuple[str | Path, ...]) -> None:
    status, _, err = call("validate", "postgresql", folder, *words)
    assert status == 2
    assert "--parameters: is of --blind" in err
