"""Advice on the next run as text, JSON and CSV: ranked, with a sentence that says what to do, or that nothing helps."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from oltpsim.calibration.predict import (
    CALIBRATED,
    MISSED,
    ONE_RUN,
    Advice,
    Component,
    ModelUsed,
    Predicted,
    RunWorth,
    UncertainValue,
)
from oltpsim.calibration.predict.candidates import Impossible, RunCandidate
from oltpsim.scenarios.library import load_scenario_file
from oltpsim.scenarios.show.next_run import next_run_answer
from oltpsim.scenarios.show.sections import sections_csv, sections_json, sections_text

SCENARIO = load_scenario_file(Path(__file__).parents[1] / "tiny.yaml")
ROWS, SECTION = "database.cpu.row_operation_us", "database.critical_section.share_of_path"


def text_of(advice: Advice) -> str:
    return sections_text(next_run_answer(advice), 200)


def json_of(advice: Advice) -> str:
    return sections_json(next_run_answer(advice))


def worth(name: str, narrower: float, tells: tuple[tuple[str, ...], ...] = ()) -> RunWorth:
    candidate = RunCandidate(name, {"workload.arrivals.clients": name.split(maxsplit=1)[0]}, SCENARIO)
    return RunWorth(candidate, 0.5, narrower, tells)


ADVICE = Advice(
    asked=None,
    open_sd=1.5,
    like="16 clients",
    cost_unit=None,
    runs=(worth("1 client", 0.6, ((ROWS, SECTION),)), worth("96 clients", 0.01)),
    impossible=(Impossible("100 clients", "too little memory"),),
)


def rate_known_to(parameters_sd: float) -> UncertainValue:
    """1,000 new orders a minute by a calibrated model."""
    sds = {CALIBRATED: parameters_sd, ONE_RUN: 0.03, MISSED: 0.04}
    return UncertainValue(1000.0, tuple(Component(what, sd) for what, sd in sds.items()))


ASKED = Predicted(
    scenario=SCENARIO,
    rate=rate_known_to(0.12),
    model=ModelUsed("base", 3, "abc", "predicted", (), ()),
)


def with_ends(run: RunWorth) -> RunWorth:
    return replace(run, low_per_min=950.0, high_per_min=1050.0)


FOR_RATE = replace(ADVICE, asked=ASKED, runs=tuple(map(with_ends, ADVICE.runs)))


def test_the_text_ranks_names_the_impossible_and_says_what_to_do() -> None:
    lines = text_of(ADVICE).splitlines()
    assert lines[0] == "what the runs leave open of the parameters: 1.50 standard deviations of their priors"
    assert [line.strip().split("  ")[0] for line in lines[4:6]] == ["1 client", "96 clients"]
    assert lines[4].endswith("row_operation_us, share_of_path")
    assert lines[5].endswith("  -")
    assert "  left out                100 clients: too little memory" in lines
    assert lines[-1] == (
        "make a run like 16 clients with 1 client: it leaves 0.50 of 1.50 standard deviations open; "
        "it tells row_operation_us and share_of_path apart"
    )


def test_for_a_rate_the_interval_before_and_after_is_said() -> None:
    lines = text_of(FOR_RATE).splitlines()
    assert lines[0] == f"{SCENARIO.name}: 1,000 new orders/min, 90% interval 807 .. 1,238"
    assert lines[1] == (
        "its variance: parameters 85%, one run from the next 5%, what the model misses 9%; a run can only take of "
        "the first"
    )
    assert f"the interval of {SCENARIO.name} goes from 807 .. 1,238 to about 950 .. 1,050" in lines[-1]


@pytest.mark.parametrize(
    ("advice", "sentence"),
    [
        (ADVICE, "no run of these tells more of the parameters than your runs do"),
        (FOR_RATE, "nearly all of its interval is of what none of them shows"),
        (
            replace(FOR_RATE, asked=replace(ASKED, rate=rate_known_to(0.01))),
            "nearly all of its interval is of one run from the next and of what the model misses",
        ),
    ],
)
def test_where_no_run_is_worth_it_that_is_said(advice: Advice, sentence: str) -> None:
    assert sentence not in text_of(advice)
    last = text_of(replace(advice, runs=advice.runs[1:])).splitlines()[-1]
    assert last.endswith(sentence)
    assert "make a run" not in last


def test_costs_have_a_column_only_where_they_are_given() -> None:
    assert "hours" not in text_of(ADVICE)
    runs = tuple(replace(run, candidate=replace(run.candidate, cost=2.5)) for run in ADVICE.runs)
    lines = text_of(replace(ADVICE, cost_unit="hours", runs=runs)).splitlines()
    assert lines[2].endswith("; best first, by what they give for their hours")
    assert lines[4].split()[2] == "2.5"


def test_json_holds_the_candidates_and_what_was_asked() -> None:
    data = json.loads(json_of(FOR_RATE))
    facts, candidates = data["facts"], data["tables"]["candidates"]
    assert (data["format"], data["question"], facts["best"]) == ("oltpsim-sections-1", "next-run", "1 client")
    assert [each["name"] for each in candidates] == ["1 client", "96 clients"]
    assert candidates[0]["tells"] == [[ROWS, SECTION]]
    assert facts["rate_per_min"]["value"] == 1000.0
    assert (facts["rate_per_min"]["parts"][CALIBRATED], facts["rate_per_min"]["low"]) == (0.12, ASKED.rate.low)
    assert data["tables"]["impossible"] == [{"name": "100 clients", "reason": "too little memory"}]
    nothing = json.loads(json_of(replace(ADVICE, runs=ADVICE.runs[1:])))
    assert (nothing["facts"]["best"], nothing["facts"]["asked"]) == (None, None)


def test_csv_has_a_line_for_each_candidate_and_reasons_last() -> None:
    rows = list(csv.DictReader(io.StringIO(sections_csv(next_run_answer(ADVICE)))))
    assert tuple(rows[0]) == (
        "name", "cost", "narrower_fraction", "settings", "tells", "left_sd", "low_per_min", "high_per_min", "reason",
    )  # fmt: skip
    assert (rows[0]["settings"], rows[0]["tells"]) == ("workload.arrivals.clients=1", f"{ROWS} {SECTION}")
    assert [row["name"] for row in rows] == ["1 client", "96 clients", "100 clients"]
    assert [row["reason"] for row in rows] == ["", "", "too little memory"]
    assert (rows[0]["narrower_fraction"], rows[0]["low_per_min"], rows[2]["left_sd"]) == ("0.6", "", "")
