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
from oltpsim.scenarios.show.next_run import CSV_COLUMNS, next_run_csv, next_run_json, next_run_text

SCENARIO = load_scenario_file(Path(__file__).parents[1] / "tiny.yaml")
ROWS, SECTION = "database.cpu.row_operation_us", "database.critical_section.share_of_path"


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
    lines = next_run_text(ADVICE).splitlines()
    assert lines[0] == "what the runs leave open of the parameters: 1.50 standard deviations of their priors"
    assert [line.split("  ")[0] for line in lines[4:6]] == ["1 client", "96 clients"]
    assert lines[4].endswith("row_operation_us, share_of_path")
    assert lines[5].endswith("  -")
    assert "left out: 100 clients: too little memory" in lines
    assert lines[-1] == (
        "make a run like 16 clients with 1 client: it leaves 0.50 of 1.50 standard deviations open; "
        "it tells row_operation_us and share_of_path apart"
    )


def test_for_a_rate_the_interval_before_and_after_is_said() -> None:
    lines = next_run_text(FOR_RATE).splitlines()
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
    assert sentence not in next_run_text(advice)
    last = next_run_text(replace(advice, runs=advice.runs[1:])).splitlines()[-1]
    assert last.endswith(sentence)
    assert "make a run" not in last


def test_costs_have_a_column_only_where_they_are_given() -> None:
    assert "hours" not in next_run_text(ADVICE)
    runs = tuple(replace(run, candidate=replace(run.candidate, cost=2.5)) for run in ADVICE.runs)
    lines = next_run_text(replace(ADVICE, cost_unit="hours", runs=runs)).splitlines()
    assert lines[2].endswith("; best first, by what they give for their hours")
    assert lines[4].split()[2] == "2.5"


def test_json_holds_the_candidates_and_what_was_asked() -> None:
    data = json.loads(next_run_json(FOR_RATE))
    assert (data["format"], data["best"]) == ("oltpsim-next-run-1", "1 client")
    assert [each["name"] for each in data["candidates"]] == ["1 client", "96 clients"]
    assert data["candidates"][0]["tells"] == [[ROWS, SECTION]]
    assert data["asked"]["rate_per_min"] == 1000.0
    assert (data["asked"]["parameters_sd"], data["asked"]["low_per_min"]) == (0.12, ASKED.rate.low)
    assert data["impossible"] == {"100 clients": "too little memory"}
    nothing = json.loads(next_run_json(replace(ADVICE, runs=ADVICE.runs[1:])))
    assert (nothing["best"], nothing["asked"]) == (None, None)


def test_csv_has_a_line_for_each_candidate_and_reasons_last() -> None:
    rows = list(csv.DictReader(io.StringIO(next_run_csv(ADVICE))))
    assert tuple(rows[0]) == CSV_COLUMNS
    assert [row["name"] for row in rows] == ["1 client", "96 clients", "100 clients"]
    assert [row["reason"] for row in rows] == ["", "", "too little memory"]
    assert (rows[0]["narrower_fraction"], rows[0]["low_per_min"], rows[2]["left_sd"]) == ("0.6", "", "")
