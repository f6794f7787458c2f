"""Every question's interval is the one in which a measurement would fall; chance alone is asked for by name."""

import csv
import io
import json
from pathlib import Path

import pytest

from oltpsim.scenarios.commands.cli import main

TINY = str(Path(__file__).parents[1] / "tiny.yaml")
Output = pytest.CaptureFixture[str]
QUESTIONS = {
    "run": ["run", TINY, "--replications", "3"],
    "calculated run": ["run", TINY, "--engine", "analytic"],
    "line": [
        "run",
        "2 GiB, 1 core, sas-15k, 2 clients, 1 warehouse, pool 64 MiB, warm-up 1 s, 2 s",
        "--engine",
        "analytic",
    ],
    "sweep": ["sweep", TINY, "--vary", "machine.disks.count=1,2"],
    "compare": ["compare", TINY, TINY, "--set", "B:machine.disks.count=2", "--replications", "2"],
    "explain": ["explain", TINY],
}


def answer_text(capsys: Output, *words: str) -> str:
    assert main([*words, "--quiet"]) == 0
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_says_where_a_measurement_would_fall(question: str, capsys: Output) -> None:
    text = answer_text(capsys, *QUESTIONS[question])
    assert "predicted" in text
    assert "chance alone" not in text


@pytest.mark.parametrize("question", QUESTIONS)
def test_chance_alone_is_called_so(question: str, capsys: Output) -> None:
    text = answer_text(capsys, *QUESTIONS[question], "--chance")
    assert "predicted" not in text
    assert any(f"{what} alone" in text for what in ("chance", "the formulas")), text


def test_the_interval_is_wider_than_that_of_chance(capsys: Output) -> None:
    words = [*QUESTIONS["run"], "--output"]
    data = json.loads(answer_text(capsys, *words, "json"))
    ends, rate = data["measurement"], data["rate_per_min"]
    assert ends["low_per_min"] < rate["low"] < rate["mean"] < rate["high"] < ends["high_per_min"]
    assert json.loads(answer_text(capsys, *words, "json", "--chance"))["measurement"] is None
    assert main([*words, "csv", "--quiet"]) == 0
    [row] = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert float(row["measurement_low_per_min"]) == pytest.approx(ends["low_per_min"])


def test_two_disks_are_known_better_beside_one_than_alone(capsys: Output) -> None:
    data = json.loads(answer_text(capsys, *QUESTIONS["compare"], "--output", "json"))
    low, high = data["differences"][0]["measured_ratio"]
    one = data["sides"][0]["measurement"]
    assert 1.0 < high / low < one["high_per_min"] / one["low_per_min"]
    assert low < data["differences"][0]["ratio"] < high


def test_a_sweep_of_too_many_points_says_whose_intervals_it_has(
    capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oltpsim.scenarios.commands.sweep.MOST_MEASURED", 1)
    assert main([*QUESTIONS["sweep"], "--engine", "analytic"]) == 0
    shown = capsys.readouterr()
    assert "of more than 1 points only chance's intervals are given" in shown.err
    assert "predicted" not in shown.out
