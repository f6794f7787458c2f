"""Sections of an answer: people, JSON and CSV get the same values, and every document follows the schema."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from oltpsim.calibration.fit import calibration_path, read_calibration
from oltpsim.calibration.predict import Component, UncertainValue, predict_scenario
from oltpsim.scenarios.library import load_scenario_file, scenario_path
from oltpsim.scenarios.questions.sections import AnswerColumn, AnswerTable, Sections
from oltpsim.scenarios.show.prediction import prediction_answer
from oltpsim.scenarios.show.sections import sections_csv, sections_form, sections_json, sections_text
from oltpsim.simulator.analytic import simulate

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "reference" / "answer.schema.json").read_text("utf-8"))
RATE = UncertainValue(1_000.0, (Component("chance", 0.1),))
COLUMNS = (
    AnswerColumn("name", "machine"),
    AnswerColumn("rate_per_min", "rate", lambda rate: f"about {rate.value:,.0f}"),
    AnswerColumn("", "in words"),
    AnswerColumn("settings"),
)
TABLE = AnswerTable("machines", COLUMNS, [("one", RATE, "fast", {"a": "1", "b": "2"})], "machines of today", bars=[1.0])
REASONS = AnswerTable("impossible", [AnswerColumn("name"), AnswerColumn("reason")], [("two", "too little memory")])
ANSWER = Sections(
    "a question", ["the answer"], {"best": "one"}, [TABLE, REASONS], [("warning", "prices are old")], "measure it"
)


def valid(text: str) -> dict[str, object]:
    document = json.loads(text)
    jsonschema.validate(document, SCHEMA)
    return dict(document)


def test_people_read_the_answer_first_and_what_to_do_last() -> None:
    lines = sections_text(ANSWER, 80).splitlines()
    assert (lines[0], lines[-1]) == ("the answer", "measure it")
    assert lines[2:5] == [
        "machines of today",
        "  machine  rate         in words",
        f"  one      about 1,000  fast  {'▇' * 20}",
    ]
    assert lines[6] == "  warning                 prices are old"
    assert "impossible" not in sections_text(ANSWER, 80), "a table without titles is for programs"
    assert "▇" not in sections_text(ANSWER, 34), "no room"


def test_a_document_has_every_named_value_and_follows_the_schema() -> None:
    document = valid(sections_json(ANSWER))
    assert document["tables"] == {
        "machines": [{"name": "one", "rate_per_min": RATE.to_json(), "settings": {"a": "1", "b": "2"}}],
        "impossible": [{"name": "two", "reason": "too little memory"}],
    }
    assert document["next_step"] == "measure it"
    assert valid(sections_json(replace(ANSWER, next_step="")))["next_step"] is None


@pytest.mark.parametrize("key", ["headline", "facts", "tables", "remarks"])
def test_the_schema_refuses_another_form(key: str) -> None:
    document = valid(sections_json(ANSWER))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document | {key: "words"}, SCHEMA)
    half = {"value": 1.0, "sd": 0.1}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document | {"facts": {"rate_per_min": half}}, SCHEMA)


def test_csv_has_the_rows_of_all_tables_and_three_columns_of_an_uncertain_number() -> None:
    rows = list(csv.DictReader(io.StringIO(sections_csv(ANSWER))))
    assert [row["name"] for row in rows] == ["one", "two"]
    assert (float(rows[0]["rate_per_min_low"]), rows[0]["settings"]) == (RATE.low, "a=1, b=2")
    assert (rows[0]["reason"], rows[1]["reason"], rows[1]["rate_per_min"]) == ("", "too little memory", "")


def test_a_form_is_chosen_by_its_name() -> None:
    forms = {"table": sections_text(ANSWER, 80), "json": sections_json(ANSWER), "csv": sections_csv(ANSWER)}
    assert {name: sections_form(ANSWER, name, 80) for name in forms} == forms


def test_a_prediction_says_rate_model_and_figures() -> None:
    model = read_calibration(calibration_path(Path("published")))
    found = predict_scenario(model, load_scenario_file(scenario_path("v20z")), simulate)
    answer = prediction_answer(model, [found], "not validated")
    document = valid(sections_json(answer))
    assert isinstance(document["tables"], dict)
    [row] = document["tables"]["predictions"]
    assert row["rate_per_min"]["low"] == found.rate.low
    assert set(row["figures"]) >= {"new_order_mean_s", "cpu_utilisation_fraction"}
    [flat] = csv.DictReader(io.StringIO(sections_csv(answer)))
    assert float(flat["rate_per_min_high"]) == found.rate.high
    assert float(flat["cpu_utilisation_fraction_low"]) == row["figures"]["cpu_utilisation_fraction"]["low"]
    lines = sections_text(answer, 100).splitlines()
    assert "90% interval, " in lines[0]
    remarks = " ".join(" ".join(lines[2:]).split())
    assert f"model {model.base.name}, fitted to " in remarks
    assert f"fit {model.task_hash}" in remarks
    assert "certificate not validated" in remarks
