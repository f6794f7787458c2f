"""Public measurements of described machines: every line has its answer, and the page is made of the answers."""

from __future__ import annotations

import pytest

from docs.build_described import ANSWERS, PAGE, Answer, Spelling, measurements, read_answers, sources, summary, tables
from oltpsim.models.reading import read_description
from oltpsim.simulator.errors import InputError

REBUILD = "run docs/build_described.py"


@pytest.fixture(scope="module")
def answers() -> list[Answer]:
    return read_answers()


def test_each_measured_line_has_an_answer(answers: list[Answer]) -> None:
    measured = measurements()
    assert [(each.file, each.runs) for each in answers] == [(each.file, len(each.rates_per_min)) for each in measured]
    said = [each.measured for each in answers]
    assert said == pytest.approx([each.rate_per_min for each in measured], rel=1e-5), REBUILD


def test_the_page_has_the_answers(answers: list[Answer]) -> None:
    assert tables(answers) in PAGE.read_text(encoding="utf-8"), REBUILD


@pytest.mark.parametrize("file", sources())
def test_a_line_of_each_file_is_understood(file: str, answers: list[Answer]) -> None:
    first = next(each for each in answers if each.file == file and not each.refused)
    assert read_description(first.line, first.settings.split("; ") if first.settings else ()).scenario


def test_a_refused_piece_is_spelt_otherwise_and_said() -> None:
    spelling = Spelling([("8 cores",), ("SDDD", "SSD"), ("redoes", "--set database.log.flush_overhead_us=5")])
    assert spelling.described().scenario.database.log.flush_overhead_us == 5
    assert (spelling.line, list(spelling.refused)) == ("8 cores, SSD", ["SDDD", "redoes"])


def test_a_line_without_another_spelling_is_refused() -> None:
    with pytest.raises(InputError, match="'HamerDB': not understood"):
        Spelling([("8 cores",), ("HamerDB",), ("SSD", "NVMe")]).described()


def test_a_summary_counts_errors_bias_and_what_lies_inside() -> None:
    one = Answer("a.csv", "line", "", 2, 100.0, 0.0, 50.0, 25.0, 100.0)
    other = Answer("a.csv", "line", "", 1, 100.0, 0.0, 200.0, 150.0, 600.0)
    refused = Answer("a.csv", "line", "", 1, 100.0, 0.0, refused="no such disk")
    assert summary([one, other, refused]) == ("3", "4", "1", "75%", "75%", "1.00", "50%", "2.00")


def test_answers_are_data_of_the_folder() -> None:
    assert {path.name for path in ANSWERS.parent.glob("*.csv")} == {*sources(), ANSWERS.name}
