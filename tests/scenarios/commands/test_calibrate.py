"""oltpsim calibrate, and what its file says of other scenarios."""

import json
from pathlib import Path

import pytest

from oltpsim.calibration.fit import Calibration, FigureKind, apply_calibration, calibration_path, read_calibration
from oltpsim.calibration.predict import CALIBRATED, MISSED, ONE_RUN, predict_scenario
from oltpsim.calibration.records import load_record, save_records
from oltpsim.calibration.records.record import Counted, Positive
from oltpsim.models.reading import load_scenario, with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.commands.cli import main
from oltpsim.scenarios.show.calibration import calibration_lines
from oltpsim.simulator.errors import InputError
from tests.calibration.synthetic import FLASH, TINY, record, said_by

Output = pytest.CaptureFixture[str]
SETTINGS = (FLASH, "database.io=direct", "machine.cpu.cores=2", "workload.warehouses=2", "interval.duration_s=60")
ROWS = "database.path.row_operation_us"
TRUTH = {ROWS: 30.0, "workload.arrivals.clients": 8}
BUFFERS = (500, 4000)


def scenario(*more: str) -> ScenarioSpec:
    return load_scenario(TINY, [*SETTINGS, *more])


def save_runs(folder: Path) -> Path:
    """Records of the true machine with small and large pools."""
    some = []
    for buffers in BUFFERS:
        machine = with_values(scenario(), {**TRUTH, "database.pool.buffers": buffers})
        figures = {
            kind: value
            for kind, value in said_by(machine).items()
            if kind in {FigureKind.RATE, FigureKind.CPU, FigureKind.READS}
        }
        some.append(record(f"{buffers} buffers", figures, machine, 8, buffers * 8 / (1 << 20)))
    save_records(some, folder)
    return folder


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_runs(tmp_path_factory.mktemp("records"))


def words(records: Path, *more: str) -> list[str]:
    sets = [word for setting in SETTINGS for word in ("--set", setting)]
    vary = [] if "--parameters" in more else ["--vary", f"{ROWS}=10..160"]
    confirm = [] if "--confirm" in more else ["--confirm", "0"]
    return ["calibrate", str(records), "--base", str(TINY), *sets, *vary, *confirm, "--quiet", *more]


@pytest.fixture(scope="module")
def calibration(records: Path) -> Calibration:
    path = records.parent / "calibration.json"
    assert main(words(records, "--save", str(path), "--workers", "1")) == 0
    return read_calibration(path)


def test_the_table_says_value_interval_and_runs(records: Path, capsys: Output) -> None:
    assert main(words(records, "--workers", "1")) == 0
    out = capsys.readouterr().out
    line = next(line for line in out.splitlines() if line.startswith(ROWS))
    value, low, high = (float(line.split()[place]) for place in (1, 2, 4))
    assert low < 30.0 < high
    assert value == pytest.approx(30.0, rel=0.05)
    assert "500 buffers" in out
    assert "runs, all fitted" in out


def test_same_bytes_with_one_and_two_workers(records: Path, capsys: Output) -> None:
    assert main(words(records, "--output", "json", "--workers", "1")) == 0
    alone = capsys.readouterr().out
    assert main(words(records, "--output", "json", "--workers", "2")) == 0
    assert capsys.readouterr().out == alone
    assert json.loads(alone)["format"] == "oltpsim-calibration-1"


def test_a_finished_fit_leaves_no_state(calibration: Calibration, records: Path) -> None:
    assert calibration.runs
    assert not list(records.parent.glob(".*state*"))


def test_a_calibrated_scenario_has_the_fitted_value(calibration: Calibration) -> None:
    assert apply_calibration(calibration, scenario()).database.path.row_operation_us == pytest.approx(30.0, rel=0.05)


def test_a_scenario_between_the_runs_is_predicted(calibration: Calibration) -> None:
    asked = scenario("workload.arrivals.clients=8", "database.pool.buffers=1500")
    found = predict_scenario(calibration, asked)
    truth = said_by(with_values(asked, TRUTH))[FigureKind.RATE]
    assert found.model.role == "predicted"
    assert found.rate.low < truth < found.rate.high
    assert found.rate.value == pytest.approx(truth, rel=0.03)
    assert not found.model.outside
    sds = [found.rate.sd_of(what) for what in (CALIBRATED, ONE_RUN, MISSED)]
    assert min(sds) > 0
    assert found.rate.high / found.rate.low > 1 + 3 * sum(sd**2 for sd in sds) ** 0.5


def test_the_scenario_of_a_run_is_called_fitted(calibration: Calibration) -> None:
    machine = {"workload.arrivals.clients": 8, "database.pool.buffers": 500, "interval.duration_s": 60.0}
    assert predict_scenario(calibration, with_values(scenario(), machine)).model.role == "fitted"
    machine["database.pool.buffers"] = 501
    assert predict_scenario(calibration, with_values(scenario(), machine)).model.role == "predicted"


def test_the_distance_from_the_runs_is_said(calibration: Calibration) -> None:
    asked = scenario("workload.arrivals.clients=32", "database.pool.buffers=2000")
    found = predict_scenario(calibration, asked)
    assert "four times the clients of any run you gave" in found.model.outside


def test_values_of_another_part_are_not_touched(calibration: Calibration) -> None:
    asked = scenario("workload.arrivals.clients=8", f"{ROWS}=55")
    found = predict_scenario(calibration, asked)
    assert found.model.not_applied == (ROWS,)
    assert found.scenario.database.path.row_operation_us == 55
    assert found.rate.sd_of(CALIBRATED) == 0.0


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"format": "oltpsim-calibration-1"}', "\x00"])
def test_what_is_no_calibration_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "calibration.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"calibration\.json"):
        read_calibration(path)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--output", "csv"), "give table or json"),
        (("--vary", "database.pols=1..2"), "the scenario has no such number"),
        (("--vary", "database.pool=1..2"), "--vary database.pool=1..2: "),
        (("--mapping", "absent.yaml"), "no such file"),
        (("--parameters", "absent.yaml"), "no such file"),
        (("--bootstrap", "2000"), "2000"),
    ],
)
def test_bad_words_are_refused(records: Path, capsys: Output, more: tuple[str, ...], said: str) -> None:
    assert main(words(records, *more)) == 2
    assert said in capsys.readouterr().err


def test_a_record_that_breaks_a_law_is_named(records: Path, tmp_path: Path, capsys: Output) -> None:
    for path in records.iterdir():
        broken = load_record(path)
        mean = Counted(value=9000.0, unit="us", source="synthetic", definition="a wrong unit")
        per_s = Positive(value=500.0, unit="1/s", source="synthetic", definition="synthetic")
        outcome = broken.outcome.model_copy(update={"mean_ms": mean, "transactions_per_s": per_s})
        save_records([broken.model_copy(update={"outcome": outcome})], tmp_path / path.name)
    assert main(words(tmp_path, "--workers", "1")) == 0
    err = capsys.readouterr().err
    assert err.startswith("warning: 4000 buffers: Little's law: ")
    assert "correct the record, or leave the run out" in err


def test_a_folder_without_records_is_refused(tmp_path: Path, capsys: Output) -> None:
    assert main(["calibrate", str(tmp_path), "--base", str(TINY)]) == 2
    assert f"{tmp_path}: got no file of a known format" in capsys.readouterr().err


def test_a_fit_that_could_confirm_nothing_says_so(
    records: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oltpsim.calibration.fit.evaluate.MOST_TRANSACTIONS", 1)
    assert main(words(records, "--confirm", "2", "--workers", "1")) == 0
    assert "warning: no run was simulated (--confirm 2)" in capsys.readouterr().err
    assert main(words(records, "--workers", "1")) == 0
    assert "no run was simulated" not in capsys.readouterr().err, "none was asked for"


@pytest.mark.parametrize(("model", "called"), [("pgbench", "transactions/min"), ("mysql", "new orders/min")])
def test_a_runs_rate_is_called_by_its_workloads_words(model: str, called: str) -> None:
    lines = calibration_lines(read_calibration(calibration_path(Path(model))))
    found = {words for line in lines for words in ("new orders/min", "transactions/min") if f"  {words} " in line}
    assert found == {called}
