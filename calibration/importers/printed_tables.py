r"""Rows of a table as databases' clients print it: CSV, tabs, JSON, frames, psql's columns and expanded records, `\G`.

Traps: psql counts its rows below the table, so that a cut shows; a value may go on in the next line (`+` at its end);
psql's expanded records and mysql's `\G` have a line for each column.
"""

import csv
import re
from collections.abc import Sequence

from oltpsim.models.input import CUT_OFF, SourceFile

TableRow = dict[str, str]
RECORD = re.compile(r"^(?:-\[ RECORD \d+ \]|\*+ \d+\. row \*+)")
RULE = re.compile(r"^[\s|]*-+(?:\+-+)*[\s|]*$|^\+[-+]+\+$")
COUNTED = re.compile(r"^\((\d+) rows?\)$|^(\d+) rows? in set")
EXPANDED = re.compile(r"^ *([\w ]+?) *(?: \||:)(?: (.*))?$")


def printed_columns(file: SourceFile) -> set[str]:
    """Names of the columns, from the file's beginning; none if it is no table."""
    head = file.head.lstrip("\ufeff \n")
    if head.startswith("[") and head[1:].lstrip()[:1] == "{":
        return {part.split('"')[-1].lower() for part in head.partition("}")[0].split('":')[:-1]}
    lines = [line for line in head.splitlines()[:400] if line.strip()]
    if any(RECORD.match(line) for line in lines[:2]):
        ends = [at for at, line in enumerate(lines) if RECORD.match(line)] + [len(lines)]
        return {match[1].lower() for line in lines[ends[0] + 1 : ends[1]] if (match := EXPANDED.match(line))}
    first = next((line for line in lines if not RULE.match(line)), "")
    return {word.lower() for word in _cells(first)} if "{" not in first else set()


def _cells(line: str) -> list[str]:
    """Words of a line by its own separator."""
    if "|" in line:
        return [word.strip() for word in line.strip().removeprefix("|").removesuffix("|").split("|")]
    if "\t" in line:
        return [word.strip() for word in line.split("\t")]
    return [word.strip().removeprefix("# ") for word in next(csv.reader([line]), [])]


def printed_rows(file: SourceFile) -> list[tuple[str, TableRow]]:
    """Place and cells of each row by the columns' names, in small letters. Raises InputError for a row that is cut."""
    if file.text.lstrip().startswith("["):
        return _json_rows(file)
    lines = list(enumerate(file.whole_lines, 1))
    if any(RECORD.match(line) for _, line in lines[:4]):
        return _expanded_rows(file, lines)
    filled = [(at, line) for at, line in lines if line.strip() and not RULE.match(line)]
    if not filled:
        file.refuse("", "an empty file", "a table with a header", "export it again")
    if not {"|", "\t"} & set(filled[0][1]):
        rows_by_name = ({name.lower(): word for name, word in row.items()} for row in file.rows())
        return [(f"line {at}", row) for at, row in enumerate(rows_by_name, 2)]
    header = [name.lower() for name in _cells(filled[0][1])]
    rows: list[tuple[str, TableRow]] = []
    for at, line in filled[1:]:
        if match := COUNTED.match(line):
            _check_count(file, at, match, rows)
            break
        words = _cells(line)
        if len(words) != len(header):
            file.refuse(f"line {at}", f"{len(words)} columns", f"{len(header)} as in the header", CUT_OFF)
        rows.append((f"line {at}", dict(zip(header, words, strict=True))))
    return rows


def _check_count(file: SourceFile, at: int, match: re.Match[str], rows: Sequence[object]) -> None:
    if int(match[1] or match[2]) != len(rows):
        file.refuse(f"line {at}", f"{len(rows)} rows", f"{match[1] or match[2]} as is counted below them", CUT_OFF)


def _expanded_rows(file: SourceFile, lines: Sequence[tuple[int, str]]) -> list[tuple[str, TableRow]]:
    rows: list[tuple[str, TableRow]] = []
    for at, line in lines:
        if RECORD.match(line):
            rows.append((f"line {at}", {}))
        elif match := COUNTED.match(line):
            _check_count(file, at, match, rows)
        elif rows and (match := EXPANDED.match(line)):
            rows[-1][1][match[1].lower()] = (match[2] or "").strip()
    names = set(rows[0][1])
    for place, row in rows:
        if set(row) != names:
            file.refuse(place, f"a record of {len(row)} columns", f"the {len(names)} of the first record", CUT_OFF)
    return rows


def _json_rows(file: SourceFile) -> list[tuple[str, TableRow]]:
    data = file.data
    if not isinstance(data, list) or not all(isinstance(row, dict) for row in data):
        file.refuse("", "JSON of another shape", "a list of rows", "write it with json_agg")
    return [
        (f"row {at}", {name.lower(): "" if value is None else _text(value) for name, value in row.items()})
        for at, row in enumerate(data, 1)
    ]


def _text(value: object) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
