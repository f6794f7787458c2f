"""Where a system is beyond the model error's data, every question that stands on it says so, or the kernel answered.

The machine in doubt has a disk scheduler that no system of the fit has; its twin, the same without one, is silent.
"""

import json
import re
from pathlib import Path

import pytest

from oltpsim.calibration.fit import Calibration, engine_doubts, rate_sds, read_calibration
from oltpsim.calibration.predict import predict_scenario
from oltpsim.models.reading import load_scenario, read_description
from oltpsim.scenarios.commands.cli import main
from oltpsim.scenarios.questions.explain import ExplainOptions, PercentileObjective, explain_scenario
from oltpsim.scenarios.show.calibration import calibration_lines
from oltpsim.scenarios.show.prediction import prediction_answer
from oltpsim.scenarios.show.sections import sections_text
from oltpsim.scenarios.show.validation import validation_lines
from oltpsim.simulator.analytic import DECIDED_FACTOR
from oltpsim.simulator.kernel import simulate
from tests.calibration.synthetic import FLASH, TINY
from tests.scenarios.commands.test_calibrate import save_runs, words

SCHEDULER = "operating_system.io_scheduler={kind: cfq}"
DOUBT = "an I/O scheduler that serves one process at a time"
IN_DOUBT, TWIN = [FLASH, SCHEDULER], [FLASH, SCHEDULER.replace("cfq", "noop")]
EITHER = pytest.mark.parametrize(("settings", "doubted"), [(IN_DOUBT, True), (TWIN, False)])


def sets(settings: list[str]) -> list[str]:
    return [word for setting in settings for word in ("--set", setting)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A calibration that no kernel has seen."""
    folder = tmp_path_factory.mktemp("model")
    records = save_runs(folder / "records")
    assert main(words(records, "--save", str(folder / "model.json"))) == 0
    return folder / "model.json"


def test_doubts_are_the_engines() -> None:
    found = engine_doubts([load_scenario(TINY, each) for each in (IN_DOUBT, TWIN, IN_DOUBT)])
    assert [any(DOUBT in sentence for sentence in each) for each in found] == [True, False, True]


@EITHER
def test_run_prints_the_doubt_and_percentiles_with_intervals(
    settings: list[str], doubted: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(TINY), *sets(settings), "--set", "engine=analytic", "--quiet"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert ("warning beyond-fit: model error not fitted to " in text) == doubted
    assert re.search(r"p95 [\d.]+ ms \[[\d.]+ ms \.\. [\d.]+ ms\]", text)
    assert "90% intervals of the formulas alone" in text


@EITHER
def test_explain_repeats_the_doubt_below_the_rate(
    settings: list[str], doubted: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", str(TINY), *sets(settings), "--quiet"]) == 0
    _, answers = capsys.readouterr().out.split("the machine once it is warm, calculated: ")
    assert (DOUBT in " ".join(answers.split())) == doubted


@pytest.mark.parametrize("factor", [1.01, DECIDED_FACTOR])
def test_explain_decides_no_objective_that_it_cannot(factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Percentiles known to a factor of about 1.2 decide, but not if they had to be known to 1 %."""
    monkeypatch.setattr("oltpsim.scenarios.questions.explain.machines.DECIDED_FACTOR", factor)
    objective = PercentileObjective("p95", 3600.0)
    found = explain_scenario(
        load_scenario(TINY, [FLASH, "engine=analytic"]), ExplainOptions(objective=objective), print
    )
    is_decided = factor == DECIDED_FACTOR
    assert ("model error of its percentiles is above a factor" in found.room.warehouses.undecided) != is_decided
    assert (found.room.warehouses.number > 0) == is_decided


@EITHER
def test_a_prediction_repeats_the_doubt_unless_it_is_simulated(model: Path, settings: list[str], doubted: bool) -> None:
    calibration = read_calibration(model)
    asked = load_scenario(TINY, ["interval.duration_s=20", *settings])
    found = predict_scenario(calibration, asked)
    assert (DOUBT in sections_text(prediction_answer(calibration, [found], ""), 200)) == doubted
    by_kernel = calibration.model_copy(update={"by_kernel": (calibration.runs[0].name,)})
    assert not predict_scenario(by_kernel, asked, simulate).doubts


@EITHER
def test_a_plan_repeats_the_doubt_of_what_was_not_simulated(
    settings: list[str], doubted: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["plan", "postgresql-15", *sets(settings[1:]), "--candidates", "epyc-server-1u", "--data-size", "40 GiB",
             "--target", "5000", "--p95", "60 s", "--prices", "us-2024", "--confirm", "0", "--quiet"]  # fmt: skip
    main(asked)
    assert (DOUBT in " ".join(capsys.readouterr().out.split())) == doubted
    main([*asked, "--output", "json"])
    listed = json.loads(capsys.readouterr().out)["listed"]
    assert listed
    assert all(any(DOUBT in each for each in one["doubts"]) == doubted for one in listed)


def in_doubt(calibration: Calibration, doubted: bool) -> Calibration:
    """The calibration as if its first run had been of such a machine."""
    first, *others = calibration.runs
    changed = first.model_copy(update={"doubts": (DOUBT,) if doubted else ()})
    return calibration.model_copy(update={"runs": (changed, *others)})


@pytest.mark.parametrize("doubted", [True, False])
def test_a_calibration_repeats_the_doubt_of_runs(model: Path, doubted: bool) -> None:
    text = "\n".join(calibration_lines(in_doubt(read_calibration(model), doubted)))
    assert (DOUBT in text) == doubted


def test_a_calibration_says_how_far_the_engines_are_on_its_own_runs(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The twin, whose runs the kernel hasn't simulated, says what random machines showed."""
    assert not [line for line in calibration_lines(read_calibration(model)) if line.startswith("engines: ")]
    records = save_runs(tmp_path / "records")
    assert main(words(records, "--confirm", "1", "--save", str(tmp_path / "model.json"))) == 0
    found = read_calibration(tmp_path / "model.json")
    assert len(found.by_kernel) == 1
    assert all(run.engines_ratio is not None and 0.5 < run.engines_ratio < 2.0 for run in found.runs)
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("engines: ")]
    assert "on 2 of 2 runs, those that were simulated" in line


@pytest.mark.parametrize("doubted", [True, False])
def test_a_validation_repeats_the_doubt_of_a_prediction(
    tmp_path: Path, model: Path, doubted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = tmp_path / "model.json"
    saved.write_bytes(model.read_bytes())
    monkeypatch.setattr(
        "oltpsim.calibration.predict.prediction.engine_doubts", lambda some: [((DOUBT,) if doubted else ())] * len(some)
    )
    assert (
        main(["validate", str(saved), str(model.parent / "records"), "--workers", "1", "--save", str(saved), "--quiet"])
        == 0
    )
    found = read_calibration(saved)
    assert found.certificate is not None
    assert (DOUBT in "\n".join(validation_lines(found, found.certificate))) == doubted


@pytest.mark.parametrize("factor", [1.01, DECIDED_FACTOR])
def test_a_plan_says_which_objective_it_could_not_decide(
    factor: float, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oltpsim.scenarios.questions.plan.loads.DECIDED_FACTOR", factor)
    asked = ["plan", "postgresql-15", "--candidates", "epyc-server-1u", "--data-size", "40 GiB", "--target", "5000",
             "--p95", "60 s", "--prices", "us-2024", "--confirm", "0", "--quiet"]  # fmt: skip
    main(asked)
    text = " ".join(capsys.readouterr().out.split()).replace("at the most that it holds p95", "")
    undecided = "p95 of new order can't be decided by the analytic engine: its model error is above a factor of 2"
    assert (undecided in text) == (factor < DECIDED_FACTOR)


def test_checkpoints_that_a_busy_disk_holds_up_widen_the_interval() -> None:
    """Of the first the formulas have two thirds of the kernel's whole pages in the log."""
    wide, *others = rate_sds(
        [
            read_description(line).scenario
            for line in (
                "8 cores, 32 GB, SSD",
                "8 cores, 32 GB, SSD, full page writes off",
                "8 cores, 32 GB, SSD, log on NVMe",
                "8 cores, 32 GB, NVMe, 20 warehouses",
            )
        ]
    ).tolist()
    assert wide > 1.2 * max(others)
