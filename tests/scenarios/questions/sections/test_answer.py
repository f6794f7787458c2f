"""Tables of an answer: the same rows for programs by name, and for people by title."""

from __future__ import annotations

from oltpsim.scenarios.questions.sections import AnswerColumn, AnswerTable

TABLE = AnswerTable(
    "runs",
    [AnswerColumn("rate_per_min", "rate", lambda rate: f"{rate:,}"), AnswerColumn("seed"), AnswerColumn("", "bar")],
    [(12000, 1, "**"), (9000, 2, "*")],
)


def test_programs_see_named_columns_and_people_titled_ones() -> None:
    assert TABLE.records() == [{"rate_per_min": 12000, "seed": 1}, {"rate_per_min": 9000, "seed": 2}]
    assert TABLE.cells() == [["rate", "bar"], ["12,000", "**"], ["9,000", "*"]]
