r"""C++ structs and enums of the records that the kernel takes and gives back, from the dataclasses of simulator/.

| declared in Python | in C++, in words of eight bytes |
|---|---|
| `int`, `float`, `bool`, `int \| None` | `i64`, `double`, `Flag`, `i64` that is -1 for None |
| `Direction = Annotated[str, DIRECTIONS]` (names, or keys of a dict) | `enum class Direction`; of numbers likewise |
| a dataclass or NamedTuple; `Record \| None` | a struct; a pointer to one, or null |
| `tuple[Record, ...]`, `Annotated[IntArray, Record]` | `Rows<Record>` |
| `IntArray`, `FloatArray` | `Matrix<i64>`, `Matrix<double>` |
| `Annotated[dict[str, int], NAMES]`, `Annotated[IntArray, COUNT]` | `i64 name[...]` |
| a base class, with its `KINDS: tuple[type[Base], ...]` | a pointer to a record, which begins with a `BaseKind` |
| `range`; `str`, `tuple[str, ...]` | `Range`; nothing |

Properties of dataclasses that the kernel takes are members too, wherever their type has a form. A constant, and a
member that the kernel takes, is left out if no word of the C++ is its name. Everything is read from the source text:
this runs before there is an environment. Standard library only, and readable by an older Python.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import textwrap
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from declared import assigned, comment, declared_fields, write_header

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SIMPLE = {"int": "i64", "float": "f64", "bool": "flag", "range": "range", "str": "none"}
ARRAYS = {"IntArray": "i64", "FloatArray": "f64"}
CPP = {"i64": "i64", "maybe": "i64", "f64": "double", "flag": "Flag", "range": "Range"}
WORDS = {"none": 0, "rows": 2, "range": 2, "matrix": 3}
"""words of a member, where it isn't one"""

ROOT = Path(__file__).resolve().parent.parent
SIMULATOR = ROOT / "simulator"
HEADER = SIMULATOR / "kernel" / "records.hpp"
READERS = ("simulator/kernel/*.[ch]pp", "calibration/lab/disk/*.[ch]pp")
GIVEN = ("results/snapshot.py", "results/recorder.py", "kernel/figures.py")
ROOTS = ("SeededRun", "StartState", "KernelFigures", "Values", "State")


def write() -> None:
    """Write the kernel's header if it isn't up to date."""
    sources = [path.read_text(encoding="utf-8") for name in READERS for path in ROOT.glob(name) if path != HEADER]
    write_header(HEADER, Schema(sorted(SIMULATOR.glob("form/*.py")), GIVEN, "".join(sources)).header(ROOTS))


class Kind(NamedTuple):
    """Kind of a member: a form, the record, enumeration or kind of item that it is of, and the number of items."""

    form: str
    of: Any = None
    size: Any = 0

    def type(self) -> str:
        """C++ type of one item."""
        if self.form in ("rows", "matrix"):
            return f"{self.form.capitalize()}<{self.of.type()}>"
        if self.form in ("optional", "pointer"):
            return f"const {self.of}*"
        if self.form == "kind":
            return f"{self.of}Kind"
        if self.form == "array":
            return str(self.of.type())
        return CPP.get(self.form, str(self.of))


class Member(NamedTuple):
    """Member of a record: its name, kind and docstring."""

    name: str
    kind: Kind
    text: str


class Schema:
    """Records, enumerations and constants of Python modules.

    Raises ValueError for a field without a form in C++, and for a name that nothing declares.
    """

    def __init__(self, taken: Sequence[Path], given: Sequence[str], code: str) -> None:
        """`taken`: modules of what the kernel takes, whose properties are members; `given`: of what it gives.

        `code`: the C++ that reads them.
        """
        self.given, self.read = given, set(re.findall(r"\w+", code))
        modules = [*taken, *(SIMULATOR / name for name in given)]
        self.digest = hashlib.sha256(b"".join(path.read_bytes() for path in modules)).hexdigest()[:16]
        self.taken: set[str] = set()
        self.classes: dict[str, ast.ClassDef] = {}
        self.values: dict[str, ast.expr] = {}
        self.kinds: dict[str, list[str]] = {}
        for path in modules:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            self.values.update(assigned(tree))
            for node in tree.body:
                if isinstance(node, ast.ClassDef):
                    self.classes[node.name] = node
                    if path in taken and "NamedTuple" not in map(ast.unparse, node.bases):
                        self.taken.add(node.name)
                elif isinstance(node, ast.AnnAssign) and node.value:
                    declared = ast.unparse(node.annotation)
                    if declared.startswith("tuple[type["):
                        base = declared[len("tuple[type[") : declared.index("]")]
                        self.kinds[base] = ast.unparse(node.value).strip("()").split(", ")
        self.enums: dict[str, list[str]] = {}
        self.records: dict[str, list[Member]] = {}

    def header(self, roots: Sequence[str]) -> str:
        """Enumerations, each record behind those that it is made of, and the layout by which Python fills and reads."""
        for name in roots:
            self._add(name)
        used = {base: kinds for base, kinds in self.kinds.items() if base in self.records}
        enums = {**self.enums, **{f"{base}Kind": list(map(_snake, kinds)) for base, kinds in used.items()}}
        members = {name: [[m.name, m.kind] for m in record] for name, record in self.records.items()}
        words = {name: self._words(name) for name in self.records}
        lists = {"records": members, "words": words, "enums": self.enums, "kinds": used, "given": self.given}
        layout = json.dumps({"digest": self.digest, **lists})
        return "\n".join(
            [
                "// Made by .ci/schema.py from the records of simulator/: change those.",
                '#pragma once\n#include "rows.hpp"\n\nnamespace oltpsim::form {\n',
                *(f"constexpr i64 {name} = {value};" for name, value in self._constants()),
                "",
                *(self._enum(name, names) for name, names in enums.items()),
                *(f"struct {name};" for name in self.records),
                "",
                *(self._struct(name) for name in self.records),
                f'inline constexpr const char* DIGEST = "{self.digest}";  // of the modules of records',
                "inline constexpr const char* LAYOUT =",
                "\n".join(f'    R"({layout[at : at + 1000]})"' for at in range(0, len(layout), 1000)) + ";\n",
                "}  // namespace oltpsim::form\n",
            ]
        )

    def _constants(self) -> Iterable[tuple[str, int]]:
        """Whole numbers that modules give a name, which is read."""
        for name, value in self.values.items():
            with suppress(ValueError):
                if name in self.read:
                    yield name, self._number(value)

    def _add(self, name: str) -> None:
        """Note a record, behind all that it needs."""
        if name in self.records:
            return
        if name not in self.classes:
            raise ValueError(f"there is no record {name}")
        members = self._members(name)
        for member in members:
            kind = member.kind
            while isinstance(kind.of, Kind):
                kind = kind.of
            if kind.form in ("record", "optional", "pointer"):
                self._add(kind.of)
        self.records.setdefault(name, members)
        for one in self.kinds.get(name, ()):
            self._add(one)

    def _members(self, name: str) -> list[Member]:
        """Members of the base class first, then fields, then properties."""
        node = self.classes[name]
        bases = [ast.unparse(base) for base in node.bases]
        members = [member for base in bases if base in self.classes for member in self._members(base)]
        if name in self.kinds:
            members.insert(0, Member("kind", Kind("kind", name), ""))
        present = {member.name for member in members}
        found: list[Member] = []
        for field, annotation, text in declared_fields(node):
            kind = self._kind(annotation)
            if kind is None:
                raise ValueError(f"{name}.{field}: {ast.unparse(annotation)} has no form in C++")
            found.append(Member(field, kind, text))
        for line in node.body:
            if isinstance(line, ast.FunctionDef) and line.returns and name in self.taken:
                is_property = any("property" in ast.unparse(decorator) for decorator in line.decorator_list)
                kind = self._kind(line.returns) if is_property else None
                if kind is not None and kind.form != "none":
                    found.append(Member(line.name, kind, ast.get_docstring(line) or ""))
        if name in self.taken:
            found = [m if m.name in self.read else m._replace(kind=Kind("none")) for m in found]
        return [*members, *(member for member in found if member.name not in present)]

    def _kind(self, annotation: ast.expr) -> Kind | None:
        """Kind of a member with this annotation; None if it has no form in C++."""
        text = ast.unparse(annotation)
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            return self._kind(ast.parse(annotation.value, mode="eval").body)
        if isinstance(annotation, ast.Name):
            return self._named(text)
        if isinstance(annotation, ast.BinOp) and text.endswith(" | None"):
            kind = self._kind(annotation.left)
            if kind and kind.form in ("i64", "record"):
                return Kind("maybe") if kind.form == "i64" else Kind("optional", kind.of)
            return kind if kind and kind.form in ("rows", "none") else None
        if isinstance(annotation, ast.Subscript) and isinstance(annotation.slice, ast.Tuple):
            base, (first, last) = ast.unparse(annotation.value), annotation.slice.elts[:2]
            if base == "tuple" and ast.unparse(last) in ("...", "Ellipsis"):
                kind = self._kind(first)
                return kind and (kind if kind.form == "none" else Kind("rows", kind))
            if base == "Annotated":
                return self._annotated(ast.unparse(last))
        return None

    def _named(self, name: str) -> Kind | None:
        if name in SIMPLE:
            return Kind(SIMPLE[name])
        if name in ARRAYS:
            return Kind("matrix", Kind(ARRAYS[name]))
        if name in self.classes:
            return Kind("pointer" if name in self.kinds else "record", name)
        value = self.values.get(name)
        if isinstance(value, ast.Subscript) and ast.unparse(value.value) == "Annotated":
            self.enums[name] = self._names(ast.unparse(value.slice.elts[1]))  # type: ignore[attr-defined]
            return Kind("enum", name)
        return None

    def _annotated(self, name: str) -> Kind:
        """Rows of a record, or an array by the names of a list or with a number of items."""
        if name in self.classes and not self._is_enum(name):
            return Kind("rows", Kind("record", name))
        names = self._names(name)
        for alias, value in self.values.items():
            if isinstance(value, ast.Subscript) and ast.unparse(value).endswith(f", {name}]"):
                self._named(alias)
        return Kind("array", Kind("i64"), names) if names else Kind("array", Kind("i64"), self._number(ast.Name(name)))

    def _is_enum(self, name: str) -> bool:
        return any(ast.unparse(base) == "IntEnum" for base in self.classes[name].bases)

    def _names(self, name: str) -> list[str]:
        """Strings of a tuple, keys of a dict, or members of an IntEnum; none of anything else."""
        if name in self.classes:
            lines = [line for line in self.classes[name].body if isinstance(line, ast.Assign)]
            self.enums[name] = [ast.unparse(line.targets[0]).lower() for line in lines]
            return self.enums[name]
        value = self.values.get(name)
        items = value.keys if isinstance(value, ast.Dict) else value.elts if isinstance(value, ast.Tuple) else []
        return [str(ast.literal_eval(item)) for item in items if item is not None]

    def _number(self, value: ast.expr) -> int:
        """Value of a constant, by name, or of a product."""
        if isinstance(value, ast.Name) and value.id in self.values:
            return self._number(self.values[value.id])
        operations = {ast.Mult: int.__mul__, ast.LShift: int.__lshift__, ast.Pow: int.__pow__}
        if isinstance(value, ast.BinOp) and type(value.op) in operations:
            return int(operations[type(value.op)](self._number(value.left), self._number(value.right)))
        if isinstance(value, ast.Constant) and type(value.value) is int:
            return value.value
        raise ValueError(f"{ast.unparse(value)} is no whole number that can be read")

    def _struct(self, name: str) -> str:
        node = self.classes[name]
        bases = [ast.unparse(base) for base in node.bases if ast.unparse(base) in self.records]
        inherited = {member.name for base in bases for member in self.records[base]}
        lines = [*comment(ast.get_docstring(node) or ""), f"struct {name}{''.join(f' : {b}' for b in bases)} {{"]
        for member in self.records[name]:
            if member.kind.form == "none" or member.name in inherited:
                continue
            size = member.kind.size
            count = f"[{len(size) if isinstance(size, list) else size}]" if member.kind.form == "array" else ""
            kind = member.kind.type()
            lines += [*comment(member.text, "    "), f"    {kind} {member.name}{count};"]
        return "\n".join([*lines, "};", f"static_assert(sizeof({name}) == {8 * max(self._words(name), 0) or 1});\n"])

    def _words(self, name: str) -> int:
        return sum(self._words_of(member.kind) for member in self.records[name])

    def _words_of(self, kind: Kind) -> int:
        if kind.form == "record":
            return self._words(kind.of)
        if kind.form == "array":
            return len(kind.size) if isinstance(kind.size, list) else int(kind.size)
        return WORDS.get(kind.form, 1)

    def _enum(self, name: str, names: Sequence[str]) -> str:
        listed = textwrap.indent(textwrap.fill(", ".join(map(_identifier, names)), 110), "    ")
        count = f"{_snake(name).upper()}_COUNT"
        constant = f"constexpr int {count} = {len(names)};\n" if count in self.read else ""
        return f"enum class {name} : i64 {{\n{listed}\n}};\n{constant}"


def _identifier(name: str) -> str:
    """Enumerator of a name: write_back of write-back."""
    return "".join(letter if letter.isalnum() else "_" for letter in name)


def _snake(name: str) -> str:
    """Name of a class in lower case: rotating_device of RotatingDevice."""
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in name).lstrip("_")
