"""Make simulator/analytic/equations/records.hpp: C++ structs of the records of columns that Python declares.

A record is a dataclass in reading/ or equations/ whose fields are columns (reading/record_columns.py) or other such
records. A number's name and docstring stand there and nowhere else. Standard library only: this
runs before there is an environment.
"""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path
from typing import NamedTuple

from declared import assigned, comment, declared_fields, write_header

ROOM = Path(__file__).resolve().parent.parent / "simulator" / "analytic"
HEADER = ROOM / "equations" / "records.hpp"
ROW, FIGURES = "Parameters", "Solution"
BY = {"classes": "ByClass", "locks": "ByLock", "groups": "ByGroup"}


class Member(NamedTuple):
    """Field of a record: its type's name in Python, and its docstring."""

    name: str
    type: str
    text: str


def write() -> None:
    """Write the header if it isn't up to date."""
    write_header(HEADER, header())


def header() -> str:
    """Constants, structs in the order of their use, and the layout that Python holds against its own."""
    paths = [*sorted(ROOM.glob("reading/*.py")), ROOM / "equations" / "solution.py"]
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in paths]
    classes = {node.name: node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}
    widths = _widths(ast.parse((ROOM / "reading" / "record_columns.py").read_text(encoding="utf-8")))
    parts, layouts = [], []
    for name in (ROW, FIGURES):
        needed = [member.type for member in _members(classes[name]) if member.type in classes]
        parts += [_struct(classes[each], widths, is_row=name == ROW) for each in [*dict.fromkeys(needed), name]]
        layouts.append(" ".join(_layout(classes, widths, name, "")))
    constants = [f"constexpr i64 {key} = {value};" for key, value in widths.items() if key.isupper()]
    layout = "\n".join(f'    "{line} "' for line in textwrap.wrap(" ".join(layouts), 110, break_long_words=False))
    lines = [
        "// Made by .ci/records.py from the records in reading/ and equations/solution.py: change those.",
        "#pragma once",
        '#include "columns.hpp"',
        "",
        "namespace oltpsim {",
        "",
        *constants,
        "",
        *parts,
        f"constexpr const char* LAYOUT =\n{layout};",
        "",
        "}  // namespace oltpsim",
        "",
    ]
    return "\n".join(lines)


def _widths(tree: ast.Module) -> dict[str, str]:
    """Widths of the types, and the constants, of record_columns.py."""
    return {
        name: str(ast.literal_eval(value.slice.elts[1])) if isinstance(value, ast.Subscript) else ast.unparse(value)
        for name, value in assigned(tree)
        if isinstance(value, ast.Constant) or (isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Tuple))
    }


def _members(record: ast.ClassDef) -> list[Member]:
    return [Member(name, ast.unparse(kind), text) for name, kind, text in declared_fields(record)]


def _struct(record: ast.ClassDef, widths: dict[str, str], is_row: bool) -> str:
    lines = [*comment(ast.get_docstring(record) or ""), f"struct {record.name} {{"]
    for member in _members(record):
        width = widths.get(member.type, "")
        kind = "double" if width.isdigit() else member.type
        if width in BY and not is_row:
            kind = "Numbers"
        points = f"[{width}]" if width.isdigit() and width != "1" else ""
        start = "" if is_row or kind != "double" else " = 0"
        lines += [*comment(member.text, "    "), f"    {kind} {member.name}{points}{start};"]
    visits = " ".join(f"visit({member.name});" for member in _members(record))
    lines += ["", "    template <class Visitor>", f"    void each(Visitor&& visit) {{ {visits} }}", "};", ""]
    return "\n".join(lines)


def _layout(classes: dict[str, ast.ClassDef], widths: dict[str, str], name: str, prefix: str) -> list[str]:
    """As `layout` in reading/record_columns.py."""
    found: list[str] = []
    for member in _members(classes[name]):
        if member.type in classes:
            found += _layout(classes, widths, member.type, f"{prefix}{member.name}.")
        else:
            found.append(f"{prefix}{member.name}:{widths[member.type]}")
    return found
