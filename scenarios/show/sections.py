"""Sections of an answer on a terminal, as a JSON document and as CSV: one form, one schema for every question."""

from collections.abc import Mapping, Sequence
from typing import Any

from oltpsim.calibration.predict import UncertainValue
from oltpsim.models.input import document_text
from oltpsim.scenarios.questions.sections import AnswerTable, Sections
from oltpsim.scenarios.show.table import FULL, aligned, csv_text, sentence_flow

FORMAT = "oltpsim-sections-1"
"""documents of this format follow docs/reference/answer.schema.json"""
MOST_BAR = 20
"""columns of the longest bar behind a row"""


def sections_form(answer: Sections, form: str, width: int) -> str:
    """The answer as a `table`, as `json` or as `csv`."""
    if form == "table":
        return sections_text(answer, width)
    return sections_json(answer) if form == "json" else sections_csv(answer)


def sections_text(answer: Sections, width: int) -> str:
    """The answer for people: headline, tables, remarks, what to do."""
    blocks = [
        list(answer.headline),
        *(_table(each, width) for each in answer.tables if len(each.cells()[0]) and each.rows),
    ]
    remarks = [line for term, words in answer.remarks for line in sentence_flow(term or None, words, width)]
    blocks += [remarks, [answer.next_step] if answer.next_step else []]
    return "\n\n".join("\n".join(lines) for lines in blocks if lines) + "\n"


def sections_json(answer: Sections) -> str:
    """The answer as a document; a number that is uncertain is an object with its ends and parts."""
    content = {
        "question": answer.question,
        "headline": list(answer.headline),
        "facts": {name: _plain(value) for name, value in answer.facts.items()},
        "tables": {each.name: [_plain(row) for row in each.records()] for each in answer.tables if _is_open(each)},
        "remarks": [{"about": term, "text": words} for term, words in answer.remarks],
        "next_step": answer.next_step or None,
    }
    return document_text(FORMAT, content)


def sections_csv(answer: Sections) -> str:
    """Rows of all tables; an uncertain number has three columns, a list is joined by semicolons."""
    rows = [_flat(row) for table in answer.tables if _is_open(table) for row in table.records()]
    return csv_text(dict.fromkeys(name for row in rows for name in row), rows)


def _table(table: AnswerTable, width: int) -> list[str]:
    head, *rows = aligned(table.cells(), table.align, indent=2)
    room = max(min(MOST_BAR, width - 2 - max(map(len, (head, *rows)))), 0)
    if table.bars:
        longest = max(map(len, rows))
        drawn = zip(rows, table.bars, strict=True)
        rows = [f"{row.ljust(longest)}  {FULL * round(room * share)}".rstrip() for row, share in drawn]
    return [*([table.caption] if table.caption else []), head, *rows]


def _is_open(table: AnswerTable) -> bool:
    """Whether programs get the table."""
    return any(column.name for column in table.columns)


def _plain(value: Any) -> Any:
    """A value as plain JSON."""
    if isinstance(value, UncertainValue):
        return value.to_json()
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, Sequence) and not isinstance(value, str) else value


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with a plain value in each column."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, UncertainValue):
            found |= {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}
        elif isinstance(value, Mapping) and any(isinstance(each, UncertainValue) for each in value.values()):
            found |= _flat(value)
        else:
            found[name] = _joined(value)
    return found


def _joined(value: Any) -> Any:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={each}" for name, each in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "; ".join(" ".join(each) if isinstance(each, tuple | list) else str(each) for each in value)
    return value
