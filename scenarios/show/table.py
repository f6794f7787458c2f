"""Tables and labelled lines as plain text, without colour, and the same rows as CSV or JSON."""

import csv
import io
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from oltpsim.models.input import document_text

WIDTH = 80
LABEL = 24
NATURAL = 100_000
"""columns: nothing is wrapped"""
FULL, EMPTY = "▇", "▁"


def aligned(rows: Sequence[Sequence[str]], align: str = "<", *, indent: int = 0) -> list[str]:
    """Rows in columns two spaces apart, never wrapped; `align`: `<` or `>` for each column, the last for all others."""
    if not rows:
        return []
    table = Table.grid(padding=(0, 2, 0, 0))
    for at in range(max(map(len, rows))):
        right = align[min(at, len(align) - 1)] == ">"
        table.add_column(justify="right" if right else "left", no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, row))
    written = io.StringIO()
    Console(file=written, width=NATURAL, color_system=None, legacy_windows=False).print(table)
    return [f"{' ' * indent}{line}".rstrip() for line in written.getvalue().split("\n")[:-1]]


def flow(label: str | None, parts: Iterable[str], width: int, separator: str = "   ", indent: int = 2) -> list[str]:
    """Parts behind a label, as many to a line as fit; a part too long for a line is broken at its words."""
    gap = " " * indent if label is None else (" " * indent + label).ljust(LABEL + indent if label else 0)
    if label and not gap.endswith(" "):
        gap += "  "
    lines, line, empty = [], gap, True
    pieces = (
        piece
        for part in parts
        for piece in textwrap.wrap(part, max(width - len(gap), 10), break_long_words=False) or [""]
    )
    for piece in pieces:
        joined = line + ("" if empty else separator) + piece
        if len(joined) > width and not empty:
            lines.append(line.rstrip())
            line, joined = " " * len(gap), " " * len(gap) + piece
        line, empty = joined, False
    return [*lines, line.rstrip()]


def sentence_flow(label: str | None, text: str, width: int, indent: int = 2) -> list[str]:
    """A sentence behind a label, broken at its words."""
    return flow(label, text.split(), width, separator=" ", indent=indent)


def blocks(part: float, length: int) -> str:
    """A share as a bar of blocks: at least one of them full if there is anything."""
    filled = min(length, max(round(part * length), 1 if part > 0 else 0))
    return FULL * filled + EMPTY * (length - filled)


def rows_text(form: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]], as_json: bool) -> str:
    """Rows of named values as a document of a format, or as CSV; what a row lacks is null or empty."""
    if not as_json:
        return csv_text(columns, rows)
    return document_text(form, {"rows": [{name: row.get(name) for name in columns} for row in rows]})


def csv_text(header: Iterable[str], rows: Iterable[Sequence[object] | Mapping[str, object]]) -> str:
    """Rows as CSV with a header line; rows with names may lack some."""
    names = list(header)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([row.get(name, "") for name in names] if isinstance(row, Mapping) else row for row in rows)
    return out.getvalue()
