"""What `explain` answers beside the bars: laws, closed forms, and what it refuses."""

import datetime as dt
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from oltpsim.models.catalogue import Prices, price_list
from oltpsim.scenarios.commands.cli import main
from oltpsim.scenarios.questions.explain import CORE_STEP, DISK_STEP, MEMORY_STEP, Explanation, unit_prices
from oltpsim.scenarios.questions.explain.upgrades import UnitPrice
from oltpsim.scenarios.show.explain import explanation_charts, explanation_text
from oltpsim.simulator.errors import InputError
from tests.scenarios.explained import TINY, explained_v20z, scenario

Capture = pytest.CaptureFixture[str]
SOLVED = 2e-3
"""relative error that two solutions of nearly the same machine may differ by"""


@pytest.fixture
def v20z() -> Explanation:
    return explained_v20z()


# Prices


def test_prices_are_of_lists_unless_they_are_said(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(
        "name: shop\ndate: 2006-06-01\ncurrency: EUR\nterm: purchase\nsource: test\nrows:\n"
        "  - {part: memory/ddr-1gib, amount: 120}\n  - {part: memory/ddr-4gib, amount: 400}\n"
        "  - {part: disks/scsi-10k-73, amount: 270}\n  - {part: disks/sata-7200, amount: 90}\n"
    )
    lists = Prices((price_list(str(file)),))
    found = unit_prices(scenario("v20z"), lists, {MEMORY_STEP: None, DISK_STEP: None, CORE_STEP: None})
    assert {unit: (price.amount, price.currency) for unit, price in found.items()} == {
        MEMORY_STEP: (100.0, "EUR"), DISK_STEP: (270.0, "EUR")
    }  # fmt: skip
    assert unit_prices(scenario("v20z"), lists, {DISK_STEP: 5.0})[DISK_STEP] == UnitPrice(5.0, "EUR", "command line")
    # the Opteron's board takes ECC modules
    of_2006 = unit_prices(scenario("v20z"), Prices((price_list("us-2006"),)), {})
    assert {unit: price.amount for unit, price in of_2006.items()} == {
        MEMORY_STEP: 170.0,
        DISK_STEP: 270.0,
        CORE_STEP: 350.0,
    }  # the Opteron's board takes ECC modules
    file.write_text("name: shop\n")
    with pytest.raises(InputError, match=r"prices\.yaml: date: missing"):
        price_list(str(file))


def test_old_prices_are_flagged(v20z: Explanation) -> None:
    old = replace(v20z, steps=(replace(v20z.steps[0], price=UnitPrice(1.0, "USD", "list", "2024-06-30")),))
    said = {day: "prices of 2024-06-30: more than a year old" in explanation_text(old, 100, dt.date.fromisoformat(day))
            for day in ("2025-06-30", "2025-07-01")}  # fmt: skip
    assert said == {"2025-06-30": False, "2025-07-01": True}


# The command


def test_answers_stand_below_the_bars_in_80_columns(v20z: Explanation, capsys: Capture) -> None:
    text = explanation_text(v20z, 80, dt.date(2026, 1, 1))
    assert max(map(len, text.splitlines())) <= 80
    for label in ("limited by", "next", "one more of each", "for the money", "best buffers", "cliff", "holds data",
                  "holds users", "from cold", "growth"):  # fmt: skip
        assert re.search(rf"^  {label} ", text, re.MULTILINE), label
    assert main(["explain", "v20z", "--quiet"]) == 0
    out = capsys.readouterr().out
    assert "for the money" not in out
    assert out.index("▇") < out.index("the machine once it is warm, calculated: ")


def test_json_and_csv_have_every_answer(capsys: Capture) -> None:
    assert main(["explain", TINY, "--output", "json", "--p99", "2 s", "--disk-price", "90"]) == 0
    data = json.loads(capsys.readouterr().out)
    answers = data["answers"]
    assert data["format"] == "oltpsim-explanation-1"
    assert answers["room"]["objective"] == {"percentile": "p99", "within_s": 2.0}
    assert answers["steps"][1]["price"]["amount"] == 90
    assert main(["explain", TINY, "--output", "csv"]) == 0
    rows = dict(line.rsplit(",", 1) for line in capsys.readouterr().out.splitlines()[1:] if '"' not in line)
    assert float(rows["buffers.best.buffers"]) == answers["buffers"]["best"]["buffers"]
    assert float(rows["steps.1 disk.gain_per_min"]) == pytest.approx(answers["steps"][1]["gain_per_min"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--p95", "50"], "--p95 50: text needs a unit"),
        (["--p95", "50 ms", "--p99", "1 s"], "--p95 and --p99: give one objective"),
        (["--p95", "0 ms"], "--p95 0 ms: must be above 0"),
        (["--growth", "20"], "--growth 20: expected a share and its time"),
        (["--growth", "0 %/year"], "must be above 0"),
        (["--picture", "x.gif"], "the name must end in .svg, .png, .pdf or .html"),
        (["--prices", "nowhere.yaml"], "nowhere.yaml"),
        (["--disk-price", "-1"], "must be a number above 0"),
    ],
)
def test_what_makes_no_question_is_refused(words: list[str], said: str, capsys: Capture) -> None:
    assert main(["explain", TINY, *words]) == 2
    assert said in capsys.readouterr().err


def test_open_arrivals_are_explained_with_all_connections_busy(capsys: Capture) -> None:
    arrivals = ["--set", "workload.arrivals={kind: open, transactions_per_s: 2, connections: 4}"]
    assert main(["explain", TINY, "--output", "json", *arrivals]) == 0
    opened = json.loads(capsys.readouterr().out)["answers"]
    assert main(["explain", TINY, "--output", "json", "--set", "workload.arrivals.clients=4"]) == 0
    closed = json.loads(capsys.readouterr().out)["answers"]
    assert opened["rate_per_min"] == pytest.approx(closed["rate_per_min"], rel=1e-6)


# The picture


def test_the_picture_shows_best_and_cliff(v20z: Explanation, tmp_path: Path, capsys: Capture) -> None:
    charts = explanation_charts(v20z)
    labels = [entry.label for chart in charts for entry in chart.legend]
    drawn = json.dumps([labels, [chart.figure for chart in charts]])
    assert f"best {v20z.buffers.best.buffers:,}" in drawn
    assert v20z.buffers.cliff is not None
    assert f"10 % lost from {v20z.buffers.cliff.buffers:,} on" in drawn
    assert "1 GiB of RAM, as buffers" in drawn
    place = tmp_path / "deep" / "picture.html"
    assert main(["explain", TINY, "--picture", str(place), "--quiet"]) == 0
    assert place.read_text().startswith("<!doctype html>")
    assert 'data-figure="steps"' in place.read_text()
    assert f"picture: {place}" in capsys.readouterr().err
