"""`--model`: a calibrated model answers runs, jobs, sweeps, comparisons and explanations, with its own interval."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from oltpsim.calibration.fit import apply_calibration, calibration_path, read_calibration
from oltpsim.calibration.predict import ONE_RUN, measurement_interval, predict_scenario
from oltpsim.calibration.predict.beyond import beyond_in_kind
from oltpsim.models.catalogue import catalogue_entry
from oltpsim.models.machine import DiskSpec
from oltpsim.models.reading import numeric_value
from oltpsim.scenarios.commands.cli import main
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.scenarios.run import simulate_by_kernel
from oltpsim.simulator.results import Estimate

PUBLISHED = read_calibration(calibration_path(Path("published")))
DISK = TypeAdapter[DiskSpec](DiskSpec)
V20Z = library_files()["v20z"]
FAST = ["--engine", "analytic", "-q"]
Output = pytest.CaptureFixture[str]
Answered = Callable[..., Any]


@pytest.fixture
def answered(capsys: Output) -> Answered:
    """`answered(word, ...)`: the JSON document that a command prints."""

    def call(*words: str) -> Any:
        assert main([*words, "-o", "json"]) == 0
        return json.loads(capsys.readouterr().out)

    return call


def test_a_job_has_the_calibrated_values_and_an_interval(answered: Answered) -> None:
    """The mutex of the published Mac: 70 measured; with the catalogue's values it is 2,002."""
    by_model, alone = (answered("run", "published/mutex-mac", *more) for more in (["--model", "published"], []))
    assert by_model["value"] == pytest.approx(70, rel=0.1)
    assert alone["value"] > 1_000
    interval = by_model["measurement"]
    assert interval["low_per_min"] < 70 < interval["high_per_min"]
    assert (interval["model"]["role"], interval["model"]["runs"]) == ("fitted", 42)
    assert "measurement" not in alone


def test_a_run_by_a_model_is_its_prediction(answered: Answered) -> None:
    run = answered("run", "v20z", "--model", "published", "-q")
    scenario = load_scenario_file(V20Z)
    predicted = predict_scenario(PUBLISHED, scenario, simulate_by_kernel)
    assert run["rate_per_min"]["mean"] == pytest.approx(predicted.rate.value, rel=1e-9)
    assert run["measurement"]["low_per_min"] == pytest.approx(predicted.rate.low, rel=0.03)
    assert run["measurement"]["high_per_min"] == pytest.approx(predicted.rate.high, rel=0.03)


def test_without_a_model_the_document_has_none(answered: Answered) -> None:
    assert "model" not in answered("run", "v20z", *FAST)["measurement"]
    assert answered("run", "v20z", "--model", "published", *FAST)["measurement"]["model"]["runs"] == 42


def test_sweep_compare_and_explain_answer_by_the_model(answered: Answered) -> None:
    [run, alone] = (answered("run", "v20z", *more, *FAST) for more in (["--model", "published"], []))
    rate = run["rate_per_min"]["mean"]
    assert rate != alone["rate_per_min"]["mean"]
    [row, _] = answered("sweep", "v20z", "--vary", "machine.disks.count=1,2", "--model", "published", *FAST)["rows"]
    assert row["rate_per_min"] == rate
    ends = run["measurement"]["low_per_min"], run["measurement"]["high_per_min"]
    assert (row["measurement_low_per_min"], row["measurement_high_per_min"]) == pytest.approx(ends, rel=1e-3)
    words = ["v20z", "v20z", "--set", "B:machine.disks.count=2", "--model", "published"]
    compared = answered("compare", *words, *FAST)["sides"]
    assert compared[0]["rate_per_min"]["mean"] == rate
    explained = answered("explain", "v20z", "--model", "published", "-q")
    assert explained["result"]["rate_per_min"]["mean"] == rate
    assert explained["measurement"]["model"]["task_hash"] == PUBLISHED.task_hash


def test_a_model_in_the_place_of_a_scenario_is_its_base(answered: Answered, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(calibration_path(Path("published")).read_text(encoding="utf-8"), encoding="utf-8")
    by_name, by_file = (answered("run", name, *FAST) for name in ("published", str(file)))
    assert by_name == by_file
    assert by_name["scenario"] == PUBLISHED.base.name
    assert by_name["measurement"]["model"]["runs"] == 42


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["run", "published", "--model", "published"], "published is a model already; give one of them"),
        (["run", "v20z", "--model", "nowhere.json"], "nowhere.json: cannot be read"),
        (["explain", "{}", "--model", "published"], "a saved run is done already; --model goes with a scenario"),
        (
            ["report", "{}", "--model", "published", "--out", "x.html"],
            "is done already: --model, --set and --engine go with a scenario",
        ),
        (["run", "{}", "--model", "published"], "is done already; it goes with a scenario"),
    ],
)
def test_a_model_where_none_can_be_is_refused(words: list[str], sentence: str, tmp_path: Path, capsys: Output) -> None:
    saved = tmp_path / "saved.json"
    assert main(["run", "v20z", *FAST, "--save", str(saved)]) == 0
    capsys.readouterr()
    assert main([word.format(saved) for word in words]) == 2
    assert sentence in capsys.readouterr().err


def test_a_swept_number_that_the_model_would_replace_is_refused(answered: Answered, capsys: Output) -> None:
    """The base's own number would silently be the fitted one; others are as they were written."""
    base = load_scenario_file(V20Z)
    model = apply_calibration(PUBLISHED, base)
    keys = [each.key.partition("@")[0] for each in PUBLISHED.parameters]
    key = next(each for each in keys if numeric_value(base, each) not in {None, numeric_value(model, each)})
    usual = numeric_value(base, key)
    assert usual is not None
    words = ["sweep", "v20z", "--model", "published", *FAST, "--vary"]
    assert main([*words, f"{key}={usual * 1.5},{usual}"]) == 2
    assert f"--vary {key}: {usual:g} is the number of the model's base" in capsys.readouterr().err
    assert len(answered(*words, f"{key}={usual * 1.5},{usual * 1.6}")["rows"]) == 2


def test_an_answer_says_which_model_and_what_was_not_applied(capsys: Output) -> None:
    assert main(["run", "v20z", "--model", "published", *FAST, "--set", "operating_system=linux-2-6",
                 "--set", "operating_system.cpu.contended_handover_us=3"]) == 0  # fmt: skip
    out = " ".join(capsys.readouterr().out.split())
    assert f"fitted to 42 runs, fit {PUBLISHED.task_hash}" in out
    assert "operating_system.cpu.contended_handover_us@Linux 2.6, ext3: not the base's part or value" in out
    assert "predicted" in out


OTHERS = {
    "a database": ({"database.name": "PostgreSQL 15"}, {"database.name": "Virtuoso 6"}),
    "a page size": ({"database.page_kib": 16.0}, {"database.page_kib": 8.0}),
    "a kind of disk": ({"machine.disks.disk": "nvme"}, {"machine.disks.disk.name": "another of 15,000 rpm"}),
    "a processor": ({"machine.cpu.model": "Pentium 4"}, {"machine.cpu.model": "Pentium 3, 0.6 GHz"}),
}
"""what no run of the published model had, and its twin that one had or that is of the same kind"""


@pytest.mark.parametrize("kind", OTHERS)
def test_a_part_of_a_kind_that_no_run_had_is_said(kind: str) -> None:
    for values, told in zip(OTHERS[kind], (True, False), strict=True):
        scenario = load_scenario_file(V20Z, ("machine.name=another box",))
        for key, value in values.items():
            part = DISK.validate_python(catalogue_entry("disks", value)) if key.endswith(".disk") else value
            scenario = changed(scenario, key.split("."), part)
        found = [text for text in beyond_in_kind(PUBLISHED, scenario) if text.startswith(f"{kind} ")]
        assert bool(found) == told, (values, found)


def changed(spec: Any, keys: list[str], value: object) -> Any:
    """A spec with another value below it. Not checked."""
    below = value if len(keys) == 1 else changed(getattr(spec, keys[0]), keys[1:], value)
    return spec.model_copy(update={keys[0]: below})


def test_of_a_machine_that_was_fitted_nothing_is_new() -> None:
    assert beyond_in_kind(PUBLISHED, load_scenario_file(V20Z)) == ()


def test_what_two_machines_of_a_model_have_in_common_leaves_their_ratio() -> None:
    scenario = load_scenario_file(V20Z)
    rate = Estimate(8_000.0, 7_900.0, 8_100.0, 0.9, "a test")
    alone, by_model = (measurement_interval(scenario, rate, model).rate for model in (None, PUBLISHED))
    assert {part.what for part in by_model.parts} <= {
        "the calibrated parameters", "what the model misses", "one run from the next", "chance",
    }  # fmt: skip
    assert {part.what for part in alone.parts} - {part.what for part in by_model.parts}
    assert by_model.sd_of(ONE_RUN) == PUBLISHED.run_to_run_sd
    assert apply_calibration(PUBLISHED, scenario) != scenario


@pytest.mark.parametrize("is_on", [True, False])
def test_full_page_writes_are_beyond_runs_that_had_none(is_on: bool) -> None:
    postgresql = read_calibration(calibration_path(Path("postgresql")))
    scenario = changed(postgresql.base, ["database", "checkpoint", "full_page_writes"], is_on)
    found = beyond_in_kind(postgresql, scenario)
    assert ("full-page writes, which the model's base hasn't" in found) == is_on
