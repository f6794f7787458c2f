"""Sections of an answer: the one form that a question's answer has, for people and for programs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AnswerColumn:
    """Column of a table: programs know it by its name, with the unit in it, people by its title.

    Without a name it is for people alone, without a title for programs alone; `write` makes a value's text.
    """

    name: str
    title: str | None = None
    write: Callable[[Any], str] = str


@dataclass(frozen=True)
class AnswerTable:
    """Rows of an answer, each with a value for every column; `align` is that of the columns with a title."""

    name: str
    columns: Sequence[AnswerColumn]
    rows: Sequence[Sequence[Any]]
    caption: str = ""
    align: str = "<"
    bars: Sequence[float] = ()
    """share of the longest bar for each row, drawn behind the rows where there is room"""

    def records(self) -> list[dict[str, Any]]:
        """Rows for programs, by the columns' names."""
        return [
            {column.name: value for column, value in zip(self.columns, row, strict=True) if column.name}
            for row in self.rows
        ]

    def cells(self) -> list[list[str]]:
        """Head and rows for people."""
        shown = [(at, column) for at, column in enumerate(self.columns) if column.title is not None]
        head = [column.title or "" for _, column in shown]
        return [head, *([column.write(row[at]) for at, column in shown] for row in self.rows)]


@dataclass(frozen=True)
class Sections:
    """Answer of a question. CSV has the rows of all tables.

    `headline`: the answer in a line, or a few; `facts`: single values by name; `remarks`: a term and a sentence each;
    `next_step`: what to do now, if there is anything.
    """

    question: str
    headline: Sequence[str]
    facts: Mapping[str, Any]
    tables: Sequence[AnswerTable] = ()
    remarks: Sequence[tuple[str, str]] = ()
    next_step: str = ""
