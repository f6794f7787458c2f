"""Rates by which certificates are of this version: the kernel's of some scenarios, and those of shipped models' runs.

After a change of rates that is meant, .venv/bin/python tests/scenarios/test_golden.py writes them anew; models that
come with the program are then to be fitted or judged again (docs/build_published.py), or say so.
"""

import json
from collections import defaultdict
from pathlib import Path

import pytest

from oltpsim.calibration.fit import (
    ANSWERS,
    NEW_ORDERS,
    Calibration,
    calibration_path,
    rate_changes,
    read_calibration,
    shipped_calibrations,
)
from oltpsim.calibration.fit.answers import ANSWERS_FILE
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.commands.cli import main
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.scenarios.run import SimulationTask, simulate
from oltpsim.scenarios.show.prediction import SAME_RATE, certificate_line

SHORT = ("interval.warm_up_s=1", "interval.duration_s=4")
"""for the kernel: what it draws, counts and times is in a few seconds too"""
SIMULATED = (
    "v20z-43000-buffers",
    "published/box-v20z",
    "postgresql-15",
    "innodb/tpcc-mysql-sm863",
    "innodb/hammerdb-80-users",
)
DIGITS = 9
REMEDY = "if the change is meant, run: .venv/bin/python tests/scenarios/test_golden.py"
MODELS_REMEDY = "if the change is meant, fit the model again: docs/build_models.py, docs/build_published.py"
MODEL = Path("postgresql")
Answers = dict[str, dict[str, float]]


def answers() -> Answers:
    """The kernel's rates by database and scenario."""
    found: Answers = defaultdict(dict)
    for name in SIMULATED:
        scenario = load_scenario_file(library_files()[name], SHORT)
        rate = simulate(SimulationTask(scenario, 1)).rate_per_min.mean
        found[scenario.database.name][name] = rounded(rate)
    return dict(found)


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
    assert sorted(shipped_calibrations()) == [
        "mysql",
        "percona",
        "percona-850-pro",
        "percona-sm863",
        "pgbench",
        "pgbench-updates",
        "postgresql",
        "published",
        "sysbench",
        "sysbench-tpcc",
    ]
    mysql = read_calibration(calibration_path(Path("mysql")))
    assert "MySQL 8.4" in mysql.base.database.name
    assert {run.name for run in mysql.runs} >= {"users-10", "users-80", "pool-10-gib", "pool-90-gib"}
    postgresql = read_calibration(calibration_path(Path("postgresql")))
    assert "PostgreSQL 15" in postgresql.base.database.name
    assert {run.name for run in postgresql.runs} >= {"io-base-r2", "im-c16-k1-r2", "wal100-c16-r1", "thr-base-r1"}


@pytest.mark.parametrize("name", sorted(shipped_calibrations()))
def test_shipped_models_give_the_rates_that_they_were_fitted_with(name: str) -> None:
    changes = rate_changes(read_calibration(calibration_path(Path(name))), bases(name))
    assert len(changes) >= 3
    assert changes == pytest.approx(dict.fromkeys(changes, 0.0), abs=SAME_RATE), MODELS_REMEDY


@pytest.mark.parametrize("name", sorted(shipped_calibrations()))
def test_a_shipped_certificate_says_nothing_of_versions(name: str) -> None:
    model = calibration_path(Path(name))
    calibration = read_calibration(model)
    assert calibration.certificate is not None
    assert certificate_line(calibration, model) == calibration.certificate.line


def test_a_certificate_says_which_rate_has_moved_and_how_far() -> None:
    calibration = postgresql()
    assert certificate_line(with_rate_changed(calibration, "io-base-r2", 1.0 + SAME_RATE / 2), MODEL).endswith(
        "baselines"
    )
    assert not certificate_line(with_rate_changed(calibration, "io-base-r2", 1.0 + 2 * SAME_RATE), MODEL).endswith(
        "baselines"
    )
    words = certificate_line(with_rate_changed(calibration, "io-base-r2", 0.8), MODEL)
    assert words.endswith("; since the fit the rates of 1 of 13 runs have moved, by up to 25 % (io-base-r2)")


def test_a_certificate_counts_runs_that_cannot_be_made_again() -> None:
    calibration = postgresql()
    runs = [run.model_copy(update={"scenario_hash": "another"}) for run in calibration.runs[:2]]
    changed = calibration.model_copy(update={"runs": (*runs, *calibration.runs[2:])})
    assert certificate_line(changed, MODEL).endswith("; whether rates have moved since isn't known of 2 of 13 runs")


def test_a_certificate_says_that_the_kernel_gave_other_rates() -> None:
    calibration = postgresql()
    assert calibration.certificate is not None
    for versions in ({ANSWERS: "others"}, {}):
        certificate = calibration.certificate.model_copy(update={"versions": versions})
        line = certificate_line(calibration.model_copy(update={"certificate": certificate}), MODEL)
        assert line.endswith("; by a version of this program whose kernel gave other rates")


@pytest.mark.parametrize(("name", "scenario"), [("postgresql", "postgresql-15-400-iops"), ("published", "v20z")])
def test_a_shipped_model_predicts_by_its_name(name: str, scenario: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", scenario, "--model", name, "-q"]) == 0
    out = capsys.readouterr().out
    assert "90% interval" in out
    assert "inside 90% intervals" in out
    assert "since" not in out
    assert "version" not in out


def test_no_model_of_another_name_predicts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "postgresql-15-400-iops", "--model", "innodb", "-q"]) == 2
    assert "innodb" in capsys.readouterr().err


def postgresql() -> Calibration:
    return read_calibration(calibration_path(MODEL))


def bases(name: str) -> dict[str, ScenarioSpec]:
    """Scenarios of the library that the model's runs are of."""
    files = library_files()
    runs = [run.name for run in read_calibration(calibration_path(Path(name))).runs]
    return {run: load_scenario_file(files[run], jobs=True) for run in runs if run in files}


def with_rate_changed(calibration: Calibration, name: str, factor: float) -> Calibration:
    """As if the fit had found another steady rate of the run."""
    runs = [
        run.model_copy(update={"conditions": run.conditions | {NEW_ORDERS: run.conditions[NEW_ORDERS] * factor}})
        if run.name == name
        else run
        for run in calibration.runs
    ]
    return calibration.model_copy(update={"runs": tuple(runs)})


if __name__ == "__main__":
    ANSWERS_FILE.write_text(json.dumps(answers(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
