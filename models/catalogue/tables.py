"""Tables of entries: a CSV with an entry a row, its name first, below lines of YAML (`# source: ...`) for all rows."""

import csv
import re
from typing import Any

from oltpsim.models.input import as_mapping, parse_yaml
from oltpsim.simulator.errors import InputError

COLUMN = re.compile(r"([a-z_.]+)(?: \[(.+)\])?")
"""a key, dotted where it is below another one, and the unit of its cells"""
NUMBER = re.compile(r"-?\d+(\.\d+)?")


def read_table(text: str, where: str) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Keys that all rows share, and the rows by their names; an empty cell is no key. Raises InputError."""
    lines = text.splitlines()
    above = next((number for number, line in enumerate(lines) if not line.startswith("#")), len(lines))
    head = "\n".join(line[2:] for line in lines[:above])
    shared = as_mapping(parse_yaml(head, where), where) if head else {}
    header, *rows = csv.reader(lines[above:]) or [[]]
    columns = [(match[1], match[2]) for name in header[1:] if (match := COLUMN.fullmatch(name))]
    if len(columns) != len(header) - 1 or not columns:
        raise InputError(f"{where}: the header: expected a name and keys with their units, such as 'cpu.cores'")
    entries: dict[str, dict[str, Any]] = {}
    for line, row in enumerate(rows, above + 2):
        if len(row) != len(header) or row[0] in entries:
            problem = "is there twice" if row[0] in entries else f"has {len(row)} cells of {len(header)}"
            raise InputError(f"{where}: line {line}: {row[0]} {problem}")
        entries[row[0]] = _keys(columns, row[1:])
    return shared, entries


def _keys(columns: list[tuple[str, str | None]], cells: list[str]) -> dict[str, Any]:
    keys: dict[str, Any] = {}
    for (path, unit), cell in zip(columns, cells, strict=True):
        if cell:
            *above, last = path.split(".")
            node = keys
            for word in above:
                node = node.setdefault(word, {})
            node[last] = f"{cell} {unit}" if unit else _value(cell)
    return keys


def _value(cell: str) -> Any:
    if not NUMBER.fullmatch(cell):
        return cell
    return float(cell) if "." in cell else int(cell)
