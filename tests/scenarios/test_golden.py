"""Rates of the scenarios that come with the program: what certificates are of this version by.

After a change of rates that is meant, .venv/bin/python tests/scenarios/test_golden.py writes them anew; models that
come with the program are then to be fitted or judged again (docs/build_published.py), or say so.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from calibration.fit import ANSWERS, answers_version, calibration_path, read_calibration, shipped_calibrations
from calibration.fit.answers import ANSWERS_FILE
from models.scenario import ScenarioSpec
from scenarios.library import library_files, load_scenario_file
from scenarios.run import SimulationTask, simulate
from scenarios.show.prediction import certificate_line
from simulator.errors import InputError

SHORT = ("interval.warm_up_s=1", "interval.duration_s=4")
"""for the kernel: what it draws, counts and times is in a few seconds too"""
SIMULATED = ("v20z-43000-buffers", "published/box-v20z", "postgresql-15", "innodb/tpcc-mysql-sm863")
DIGITS = 9
REMEDY = "if the change is meant, run: .venv/bin/python tests/scenarios/test_golden.py"
Answers = dict[str, dict[str, float]]


def answers() -> Answers:
    """Rates by database, and by scenario and engine, of those that the engine takes."""
    found: Answers = defaultdict(dict)
    for name, path in library_files().items():
        scenario = load_scenario_file(path, jobs=True)
        if scenario.job is None:
            found[scenario.database.name] |= calculated(name, scenario)
    for name in SIMULATED:
        scenario = load_scenario_file(library_files()[name], SHORT)
        rate = simulate(SimulationTask(scenario, 1)).rate_per_min.mean
        found[scenario.database.name][f"{name}, kernel"] = rounded(rate)
    return dict(found)


def calculated(name: str, scenario: ScenarioSpec) -> dict[str, float]:
    """The analytic engine's rate; none of a scenario for which it has no formulas."""
    try:
        result = simulate(SimulationTask(scenario.model_copy(update={"engine": "analytic"}), 1))
    except InputError:
        return {}
    return {f"{name}, analytic": rounded(result.rate_per_min.mean)}


def rounded(rate: float) -> float:
    """To digits that are the same on every processor."""
    return float(f"{rate:.{DIGITS}g}")


def test_rates_are_those_that_are_written_down() -> None:
    kept = json.loads(ANSWERS_FILE.read_text(encoding="utf-8"))
    found = answers()
    assert {name: sorted(rates) for name, rates in found.items()} == {
        name: sorted(rates) for name, rates in kept.items()
    }, REMEDY
    for name, rates in found.items():
        assert rates == pytest.approx(kept[name], rel=1e-7), REMEDY


def test_models_are_named_after_what_they_are_of() -> None:
    assert sorted(shipped_calibrations()) == ["postgresql", "published"]
    postgresql = read_calibration(calibration_path(Path("postgresql")))
    assert "PostgreSQL 15" in postgresql.base.database.name
    assert {run.name for run in postgresql.runs} >= {"io-base-r2", "im-c16-k1-r2", "wal100-c16-r1", "thr-base-r1"}


def test_engines_and_databases_are_among_them() -> None:
    kept = json.loads(ANSWERS_FILE.read_text(encoding="utf-8"))
    assert len(kept) >= 5
    assert sum(name.endswith(", kernel") for rates in kept.values() for name in rates) == len(SIMULATED)
    assert sum(name.endswith(", analytic") for rates in kept.values() for name in rates) >= 30


@pytest.mark.parametrize("name", sorted(shipped_calibrations()))
def test_a_certificate_says_whether_rates_are_others_now(name: str) -> None:
    model = calibration_path(Path(name))
    calibration = read_calibration(model)
    certificate = calibration.certificate
    assert certificate is not None
    assert certificate.versions[ANSWERS] == answers_version(calibration)
    assert "gave other rates" not in certificate_line(calibration, model)
    changed = certificate.model_copy(update={"versions": certificate.versions | {ANSWERS: "others"}})
    assert "gave other rates" in certificate_line(calibration.model_copy(update={"certificate": changed}), model)


if __name__ == "__main__":
    ANSWERS_FILE.write_text(json.dumps(answers(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
