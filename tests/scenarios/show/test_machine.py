"""Prediction of a described machine as table, JSON and a commented scenario file."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from oltpsim.calibration.fit import FigureKind
from oltpsim.calibration.predict import Component, DescribedPrediction, ModelUsed, UncertainValue, predict_described
from oltpsim.models.reading import load_scenario, read_description
from oltpsim.scenarios.show.machine import description_text, machine_json, machine_table, machine_yaml

LOAD = "SunFire V20z, load of 2 warehouses"
LINES = (
    LOAD,
    "Mac mini, Core Duo 1.66 GHz, 2 GB, 1 SATA 5400 rpm, Mac OS X",
    "2 x Xeon 5140 2.33 GHz, 8 GB, RAID 5 of 4 SCSI 10k, log on SSD, hyper-threading, under Xen, 10 min",
    "512 MB, 2 Pentium III 0.6 GHz, Solaris 7, 43,000 buffers, 4 SCSI",
    'name it\'s a "box": yes #1, Xeon 5130, 8 GB, in memory, 1,000 new orders each',
)
DESCRIPTION = read_description(LOAD)
MODEL = ModelUsed("base", 3, "abc", "predicted", (), ())


@pytest.fixture(scope="module")
def prediction() -> DescribedPrediction:
    """By the catalogue's values, with parts of its interval whose sizes are known."""
    found = predict_described(DESCRIPTION, None)
    parts = tuple(Component(name, sd) for name, sd in (("a", 0.3), ("b", 0.2), ("c", 0.1), ("d", 0.05)))
    return replace(found, rate=UncertainValue(1_000.0, parts))


def test_the_table_has_every_value_and_what_is_assumed(prediction: DescribedPrediction) -> None:
    text = machine_table(DESCRIPTION, prediction, None, 100)
    lines = {row.what: line for row in DESCRIPTION.rows for line in text.splitlines() if f"  {row.what}  " in line}
    assert all(row.value[:30] in lines[row.what] for row in DESCRIPTION.rows)
    assert all(("assumed" in lines[row.what]) == (row.piece is None) for row in DESCRIPTION.rows)
    assert "seconds of the load" in text


def test_a_guess_shows_what_it_does_to_the_rate_and_nothing_shows_nothing() -> None:
    key = next(row.key for row in DESCRIPTION.rows if row.uncertain)
    assert "±22 %" in description_text(DESCRIPTION, {key: {FigureKind.RATE: 0.2}})
    assert "±" not in description_text(DESCRIPTION, {key: {FigureKind.RATE: 0.001}})


def test_without_a_model_there_is_no_interval(prediction: DescribedPrediction) -> None:
    text = machine_table(DESCRIPTION, prediction, None, 100)
    assert "no interval: no calibrated model" in text
    assert "% interval" not in text
    bounded = machine_table(DESCRIPTION, replace(prediction, model=MODEL), None, 200)
    assert "[537.5 .. 1,861]  90% interval, predicted" in bounded
    assert "no interval" not in bounded


def test_the_largest_uncertainties_are_named_and_all_are_summed(prediction: DescribedPrediction) -> None:
    text = machine_table(DESCRIPTION, prediction, None, 200)
    whole = 100 * math.expm1(math.sqrt(0.3**2 + 0.2**2 + 0.1**2 + 0.05**2))
    assert f"a ±35 %   b ±22 %   c ±11 %   in all ±{whole:.0f} %, one standard deviation each" in text
    assert "nothing that the line leaves open" in machine_table(
        DESCRIPTION, replace(prediction, rate=UncertainValue(1_000.0)), None, 200
    )


@pytest.mark.parametrize("name", ["outside", "not_applied"])
def test_what_a_model_does_not_hold_for_is_said_and_only_then(prediction: DescribedPrediction, name: str) -> None:
    words = {"outside": "beyond the runs", "not_applied": "not calibrated"}[name]
    assert words not in machine_table(DESCRIPTION, prediction, None, 100)
    doubted = replace(prediction, model=replace(MODEL, **{name: ("four times the cores",)}))
    assert any(
        words in line and "four times the cores" in line
        for line in machine_table(DESCRIPTION, doubted, None, 100).splitlines()
    )


def test_json_has_the_table_and_no_confidence_without_an_interval(prediction: DescribedPrediction) -> None:
    data = json.loads(machine_json(DESCRIPTION, prediction, None))
    assert (data["format"], data["line"], data["value"]) == ("oltpsim-machine-1", LOAD, prediction.rate.value)
    assert (data["low"], data["confidence"], data["model"]) == (None, None, None)
    assert [row["key"] for row in data["understood"]] == [row.key for row in DESCRIPTION.rows]
    assert [part["sd"] for part in data["parts_sd"]] == [0.3, 0.2, 0.1, 0.05]
    bounded = json.loads(machine_json(DESCRIPTION, replace(prediction, model=MODEL), None))
    assert (bounded["low"], bounded["confidence"]) == (pytest.approx(537.5, rel=1e-3), 0.9)


@pytest.mark.parametrize("line", LINES)
def test_a_saved_scenario_loads_to_the_same(line: str, tmp_path: Path) -> None:
    description = read_description(line)
    path = tmp_path / "machine.yaml"
    path.write_text(machine_yaml(description), encoding="utf-8")
    assert load_scenario(path) == description.scenario
    comments = [text for text in path.read_text(encoding="utf-8").splitlines() if text.lstrip().startswith("#")]
    assert comments[0] == f"# {line}"
    assert len(comments) >= sum(row.piece is None for row in description.rows) // 2


def test_comments_stand_at_what_they_are_about() -> None:
    text = machine_yaml(read_description("Xeon 5140 2.33 GHz, 8 GB")).splitlines()
    at = text.index("    buffers: 480000")
    assert text[at - 1] == (
        "    # buffers: 480,000, assumed: the published V20z's share of the memory, 57 %; times or divided by 1.2"
    )
    assert text[text.index("  memory_gib: 8.0") - 1] == "  # memory: 8 GiB, '8 GB'"
