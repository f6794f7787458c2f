"""Tables of entries: a CSV with an entry a row, its name first, below lines of YAML (`# source: ...`) for all rows."""

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from oltpsim.models.input import as_mapping, leaves, parse_yaml, yaml_text
from oltpsim.simulator.errors import InputError

COLUMN = re.compile(r"([a-z_.]+)(?: \[(.+)\])?")
"""a key, dotted where it is below another one, and the unit of its cells"""
NUMBER = re.compile(r"-?\d+(\.\d+)?")


@dataclass(frozen=True)
class TableRows:
    """Rows of a table by their names: a row becomes keys when it is asked for, since a table has a thousand."""

    columns: list[tuple[str, str | None]]
    cells: dict[str, list[str]]

    def __getitem__(self, name: str) -> dict[str, Any]:
        """The keys of a row; an empty cell is none."""
        keys: dict[str, Any] = {}
        for (path, unit), cell in zip(self.columns, self.cells[name], strict=True):
            if cell:
                *above, last = path.split(".")
                node = keys
                for word in above:
                    node = node.setdefault(word, {})
                node[last] = f"{cell} {unit}" if unit else _value(cell)
        return keys


def read_table(text: str, where: str) -> tuple[dict[str, Any], TableRows]:
    """Keys that all rows share, and the rows. Raises InputError."""
    lines = text.splitlines()
    above = next((number for number, line in enumerate(lines) if not line.startswith("#")), len(lines))
    head = "\n".join(line[2:] for line in lines[:above])
    shared = as_mapping(parse_yaml(head, where), where) if head else {}
    reader = csv.reader(lines[above:])
    (_, header), *rows = [(above + reader.line_num, row) for row in reader if row] or [(0, [""])]
    columns = [(match[1], match[2]) for name in header[1:] if (match := COLUMN.fullmatch(name))]
    if len(columns) != len(header) - 1 or not columns:
        raise InputError(f"{where}: the header: expected a name and keys with their units, such as 'cpu.cores'")
    cells: dict[str, list[str]] = {}
    for line, row in rows:
        if len(row) != len(header) or row[0] in cells:
            problem = "is there twice" if row[0] in cells else f"has {len(row)} cells of {len(header)}"
            raise InputError(f"{where}: line {line}: {row[0]} {problem}")
        cells[row[0]] = row[1:]
    return shared, TableRows(columns, cells)


def _value(cell: str) -> Any:
    if not NUMBER.fullmatch(cell):
        return cell
    return float(cell) if "." in cell else int(cell)


def table_text(shared: dict[str, Any], rows: Mapping[str, dict[str, Any]]) -> str:
    """A table that reads back as the same; keys that some rows lack are empty cells there."""
    cells = {name: dict(leaves(keys)) for name, keys in rows.items()}
    columns = list(dict.fromkeys(key for row in cells.values() for key in row))
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerows(
        [["name", *columns], *([name, *(row.get(key, "") for key in columns)] for name, row in cells.items())]
    )
    return "".join(f"# {line}\n" for line in yaml_text(shared).splitlines()) + written.getvalue()
