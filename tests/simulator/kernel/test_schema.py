"""C++ made from dataclasses: a struct of each kind of member, and the words that Python fills and reads them by."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oltpsim.simulator.errors import InstallationError, InternalError
from oltpsim.simulator.form import FloatArray, IntArray, run_of
from oltpsim.simulator.kernel import KernelEngine
from oltpsim.simulator.kernel.figures import KernelFigures
from oltpsim.simulator.kernel.library import kernel_library, layout_of
from oltpsim.simulator.kernel.words import Packed, WordLayout, unpacked
from tests.simulator.builds import ROOT
from tests.simulator.kernel.test_engine import TIED
from tests.simulator.system_models import model_of_system

sys.path.insert(0, str(ROOT / ".ci"))
from schema import Schema  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]

MODULE = '''
"""A machine of the test's own."""
POINTS = 1 << 2
REPLACEMENTS = ("lru", "c-look")
CODES = {"think": (), "end": ("a",)}
Replacement = Annotated[str, REPLACEMENTS]
Code = Annotated[int, CODES]


class Row(NamedTuple):
    code: Code
    a: int


@dataclass(frozen=True)
class Base:
    name: str


@dataclass(frozen=True)
class Disk(Base):
    seek_ns: int
    kind: ClassVar[str] = "disk"


@dataclass(frozen=True)
class Cached(Disk):
    cache_ns: int = 0


BASES: tuple[type[Base], ...] = (Disk, Cached)


@dataclass(frozen=True)
class Pool:
    """The pool.

    In pages.
    """

    pages: int
    """Size in pages."""
    replacement: Replacement
    share: float
    is_doubled: bool = False


@dataclass(frozen=True)
class Machine:
    pool: Pool
    spare: Pool | None
    disks: tuple[Base, ...]
    rows: Annotated[IntArray, Row]
    matrix: IntArray
    edges: FloatArray
    curve: Annotated[IntArray, POINTS]
    by_code: Annotated[dict[str, int], CODES]
    limits: tuple[range, ...]
    step_ns: int | None = None
    names: tuple[str, ...] = ()

    @property
    def twice(self) -> int:
        return 2

    @property
    def label(self) -> complex:
        return 2j
'''
USE = """
#include "records.hpp"
using namespace oltpsim;
extern "C" i64 sum(const form::Machine& machine) {
    i64 found = machine.pool.pages + (machine.spare ? machine.spare->pages : 0) + form::POINTS + machine.twice;
    for (const form::Base* disk : machine.disks)
        if (disk->kind == form::BaseKind::cached) found += static_cast<const form::Cached*>(disk)->seek_ns;
    for (const form::Row& row : machine.rows) found += row.code == form::Code::end ? row.a : 0;
    found += machine.curve[form::POINTS - 1] + machine.by_code[form::CODE_COUNT - 1] + machine.limits[0].end;
    return machine.pool.is_doubled && machine.pool.replacement == form::Replacement::c_look ? found : machine.step_ns;
}
"""


def schema_of(folder: Path, module: str, code: str = MODULE + "CODE_COUNT") -> Any:
    path = folder / "machine.py"
    path.write_text(module)
    return Schema([path], [], code)


def test_every_kind_of_member_compiles(tmp_path: Path) -> None:
    header = schema_of(tmp_path, MODULE).header(["Machine"])
    (tmp_path / "records.hpp").write_text(header)
    (tmp_path / "use.cpp").write_text(USE)
    options = ("-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fsyntax-only")
    subprocess.run(["g++", *options, f"-I{ROOT / 'simulator' / 'kernel'}", tmp_path / "use.cpp"], check=True)
    pool = header[header.index("// The pool.") :].splitlines()
    assert pool[:9] == [
        "// The pool.",
        "// In pages.",
        "struct Pool {",
        "    // Size in pages.",
        "    i64 pages;",
        "    Replacement replacement;",
        "    double share;",
        "    Flag is_doubled;",
        "};",
    ]
    assert "label" not in header, "a property without a form in C++ is none of its members"


def test_the_layout_says_where_each_member_is(tmp_path: Path) -> None:
    text = schema_of(tmp_path, MODULE).header(["Machine"])
    layout = json.loads("".join(part.split(')"')[0] for part in text.split('R"(')[1:]))
    assert layout["enums"] == {"Replacement": ["lru", "c-look"], "Code": ["think", "end"]}
    assert layout["kinds"] == {"Base": ["Disk", "Cached"]}
    members = dict(layout["records"]["Machine"])
    assert members["pool"] == ["record", "Pool", 0]
    assert members["curve"] == ["array", ["i64", None, 0], 4]
    assert [name for name, _ in layout["records"]["Cached"]] == ["kind", "name", "seek_ns", "cache_ns"]


@pytest.mark.parametrize(
    ("annotation", "sentence"),
    [
        ("complex", r"Wrong.field: complex has no form in C\+\+"),
        ("dict[str, int]", r"Wrong.field: dict\[str, int\] has no form in C\+\+"),
        ("Annotated[FloatArray, MISSING]", "MISSING is no whole number that can be read"),
    ],
)
def test_a_field_without_a_form_is_an_error(tmp_path: Path, annotation: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        schema_of(tmp_path, f"class Wrong:\n    field: {annotation}\n").header(["Wrong"])


def test_a_field_that_the_library_lacks_is_an_error() -> None:
    layout = layout_of(kernel_library())
    run = run_of(model_of_system(TIED), 1)
    Packed(layout, run)
    older = WordLayout(kernel_library().oltpsim_layout())
    older.records["Log"] = [member for member in older.records["Log"] if member[0] != "flush_overhead_ns"]
    with pytest.raises(InstallationError, match=r"lacks Log\.flush_overhead_ns"):
        Packed(older, run)


def test_a_record_of_another_size_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python says how many words it has packed, and C++ how many it takes."""
    engine = KernelEngine(model_of_system(TIED), 1)
    assert engine.kernel.figures().now_ns == 0
    pack = Packed.__init__

    def longer(self: Packed, layout: WordLayout, record: object) -> None:
        pack(self, layout, record)
        self.words += 1

    monkeypatch.setattr(Packed, "__init__", longer)
    with pytest.raises(InternalError, match="words where"):
        KernelEngine(model_of_system(TIED), 1)


def test_text_for_another_process_has_places_in_place_of_pointers() -> None:
    packed = Packed(layout_of(kernel_library()), run_of(model_of_system(TIED), 1))
    digest, *lines = packed.text().splitlines()
    assert digest == packed.layout.digest
    size, words, pointers = (list(map(int, line.split())) for line in lines)
    assert size == [packed.words]
    moved = (ctypes.c_int64 * len(words))(*words)
    for pointer in pointers:
        assert 0 <= words[pointer] < len(words)
        moved[pointer] = ctypes.addressof(moved) + 8 * words[pointer]
    record = ctypes.addressof(moved) + 8 * (len(words) - packed.words)
    error = ctypes.create_string_buffer(512)
    bytes_needed = kernel_library().oltpsim_bytes_needed
    assert bytes_needed(record, packed.words, error, 512) == bytes_needed(packed.address, packed.words, error, 512) > 0


def test_figures_come_back_as_the_records_that_results_declare() -> None:
    engine = KernelEngine(model_of_system(TIED), 1)
    engine.run(None)
    figures = engine.kernel.figures()
    assert isinstance(figures, KernelFigures)
    assert figures.counters == engine.record.snapshots[-1].counters
    assert figures.levels.terminals is None
    assert sum(figures.counters.devices[0].by_purpose.values()) == figures.counters.devices[0].completed


def test_what_no_code_names_is_left_out(tmp_path: Path) -> None:
    """Python passes such a member no word; a row's columns all stay, since rows are handed on as they are."""
    header = schema_of(tmp_path, MODULE, "pool pages limits rows").header(["Machine"])
    fields = [
        line.split()[-1] for line in header.split("DIGEST")[0].splitlines() if line[:4] == "    " and line[-1] == ";"
    ]
    assert fields == ["pages;", "code;", "a;", "pool;", "rows;", "limits;"]
    assert "constexpr i64" not in header
    assert "_COUNT" not in header
    assert "Cached" not in header, "a record that none names a member of"


SHARED = {
    "digest": "d",
    "given": [],
    "words": {"Views": 6, "Forms": 7},
    "enums": {"Way": ["in", "out"]},
    "kinds": {},
    "records": {
        "Views": [["all", ["matrix", ["i64", None, 0], 0]], ["few", ["matrix", ["f64", None, 0], 0]]],
        "Forms": [
            ["share", ["f64", None, 0]],
            ["way", ["enum", "Way", 0]],
            ["span", ["range", None, 0]],
            ["is_on", ["flag", None, 0]],
            ["limit", ["maybe", None, 0]],
            ["count", ["i64", None, 0]],
        ],
    },
}


@dataclass(frozen=True)
class Views:
    all: IntArray
    few: FloatArray


@dataclass(frozen=True)
class Forms:
    share: float
    way: str
    span: range
    is_on: bool
    limit: int | None
    count: int


def test_views_of_one_array_are_blocks_of_their_own_in_a_text() -> None:
    """Both begin at one address."""
    values = np.arange(3, dtype=np.float64)
    packed = Packed(WordLayout(json.dumps(SHARED).encode()), Views(values.view(np.int64), values[:2]))
    words, pointers = (list(map(int, line.split())) for line in packed.text().splitlines()[2:])
    assert [words[pointer] for pointer in pointers] == [0, 3]
    assert words[3:5] == values.view(np.int64)[:2].tolist()


def test_a_change_of_an_array_behind_packing_changes_nothing() -> None:
    values = np.arange(3)
    packed = Packed(WordLayout(json.dumps(SHARED).encode()), Views(values, values.astype(np.float64)))
    before = packed.text()
    values[:] = 7
    assert packed.text() == before
    assert ctypes.string_at(packed.blocks[0].ctypes.data, 24) == np.arange(3).tobytes()


def test_every_form_comes_back_as_it_went() -> None:
    layout = WordLayout(json.dumps(SHARED).encode())
    forms = Forms(1.5, "out", range(3, 9), True, None, 7)
    assert unpacked(layout, Forms, Packed(layout, forms).address) == forms
    layout.records["Forms"][-1][1][0] = "other"
    with pytest.raises(InternalError, match="a member of the form other, which isn't read"):
        unpacked(layout, Forms, Packed(layout, forms).address)


def test_a_library_of_other_records_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A module of the records that it takes or gives has changed."""
    layout = layout_of(kernel_library())
    for name in (*(f"form/{path.name}" for path in (ROOT / "simulator" / "form").glob("*.py")), *layout.given):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / "simulator" / name).read_bytes())
    monkeypatch.setattr("oltpsim.simulator.kernel.library.SIMULATOR", tmp_path)
    assert layout_of.__wrapped__(kernel_library()).digest == layout.digest
    for name in ("form/system.py", layout.given[-1]):
        (tmp_path / name).write_text("")
        with pytest.raises(InstallationError, match="is that of other records"):
            layout_of.__wrapped__(kernel_library())
        (tmp_path / name).write_bytes((ROOT / "simulator" / name).read_bytes())
