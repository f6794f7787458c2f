"""Programs that are written to disk and read back are the same; listings name everything."""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from models.build import build
from models.reading import load_scenario
from simulator.errors import InputError
from simulator.form import OPERATIONS, Model, Program, listing
from simulator.form.printing import time_text
from simulator.form.program import load, save
from simulator.reference import simulate
from simulator.results import result_json
from tests.simulator.tpcc_systems import TINY

ModelOf = Callable[..., Model]


@pytest.fixture(scope="module")
def tpcc() -> Program:
    return build(load_scenario(TINY)).program


def stored(program: Program) -> bytes:
    file = io.BytesIO()
    save(program, file)
    return file.getvalue()


def differing(a: Program, b: Program) -> list[str]:
    """Names of the parts in which two programs differ, types of arrays included."""
    names = [field.name for field in dataclasses.fields(Program)]
    return [name for name in names if not same(getattr(a, name), getattr(b, name))]


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return bool(a.dtype == b.dtype and a.shape == b.shape and (a == b).all())
    return type(a) is type(b) and a == b


def test_a_program_read_back_is_the_same(tpcc: Program) -> None:
    again = load(io.BytesIO(stored(tpcc)))
    assert differing(tpcc, again) == []
    assert again.pages == tpcc.pages
    changed = dataclasses.replace(again, operations=again.operations + 1, main_class=3)
    assert differing(tpcc, changed) == ["main_class", "operations"]


def test_a_program_read_back_gives_the_same_trajectory(busy: ModelOf) -> None:
    model = busy(duration_s=1)
    again = dataclasses.replace(model, program=load(io.BytesIO(stored(model.program))))
    assert again.digest() == model.digest()
    assert result_json(simulate(again, 3)) == result_json(simulate(model, 3))
    longer = dataclasses.replace(model.program, operations=model.program.operations * 2)
    assert dataclasses.replace(model, program=longer).digest() != model.digest()


def npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def npy(value: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, value)
    return file.getvalue()


def with_head(program: Program, change: Callable[[dict[str, Any]], Any]) -> bytes:
    with np.load(io.BytesIO(stored(program))) as parts:
        arrays = dict(parts)
    head = change(json.loads(bytes(arrays.pop("head"))))
    return npz(head=np.frombuffer(json.dumps(head).encode(), dtype=np.uint8), **arrays)


def test_files_that_are_no_programs_are_refused(tpcc: Program) -> None:
    """Empty, text, cut off, another array file, another format, a key too many: one sentence, no stack trace."""
    whole = stored(tpcc)
    wrong = [
        b"", b"no program", whole[: len(whole) // 2], npy(np.zeros(3)), npz(other=np.zeros(3)),
        with_head(tpcc, lambda head: head | {"format": "oltpsim-program-0"}),
        with_head(tpcc, lambda head: head | {"colour": 1}),
        with_head(tpcc, list),
    ]  # fmt: skip
    for content in wrong:
        with pytest.raises(InputError, match=r"^a\.npz: "):
            load(io.BytesIO(content), "a.npz")
    assert differing(tpcc, load(io.BytesIO(with_head(tpcc, lambda head: head)))) == []


def test_listing_names_every_operation_and_part(tpcc: Program) -> None:
    """Each operation stands on a line with its number and its name; each table, region and reference has its own."""
    text = listing(tpcc)
    lines = {
        line.split()[0]: line.split()[1] for line in text.splitlines() if line.strip() and line.strip()[0].isdigit()
    }
    names = list(OPERATIONS)
    codes = [names[code] for code in tpcc.operations[:, 0].tolist()]
    assert [lines[str(number)] for number in range(len(codes))] == codes
    assert len(set(codes)) > 15
    for kind, parts in (
        ("region", tpcc.region_names), ("reference", tpcc.reference_names), ("sampler", tpcc.table_names),
        ("counter", tpcc.counter_names), ("lock", tpcc.lock_names), ("critical section", tpcc.sections),
    ):  # fmt: skip
        assert all(f"  {kind} {name}" in text for name in parts)
    assert all(f"\n{name}:\n" in text for name in tpcc.classes)
    changed = dataclasses.replace(tpcc, operations=np.roll(tpcc.operations, 1, axis=0))
    assert listing(changed) != text


def test_times_are_listed_in_their_largest_unit() -> None:
    assert [time_text(ns) for ns in (0, 999, 1500, 2_500_000, 3_000_000_000)] == [
        "0 ns", "999 ns", "1.5 us", "2.5 ms", "3 s",
    ]  # fmt: skip
