"""Systems that are written to disk and read back are the same; listings name everything."""

import dataclasses
import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import CODES, OPERATIONS, Daemon, DaemonStep, System, listing, load, save
from oltpsim.simulator.form.placement import Extent
from oltpsim.simulator.form.printing import time_text
from oltpsim.simulator.kernel import simulate
from oltpsim.simulator.results import result_json
from tests.simulator.system_models import model_of_system
from tests.simulator.systems import DrawnSystem, any_systems
from tests.simulator.tpcc_systems import TINY

ModelOf = Callable[..., System]
MS = 1_000_000


@pytest.fixture(scope="module")
def tpcc() -> System:
    return build(load_scenario(TINY))


def stored(system: System) -> bytes:
    file = io.BytesIO()
    save(system, file)
    return file.getvalue()


def differing(a: Any, b: Any, name: str = "system") -> Iterator[str]:
    """Paths of the fields in which two records differ, types of arrays included."""
    if type(a) is not type(b):
        yield name
    elif dataclasses.is_dataclass(a):
        for field in dataclasses.fields(a):
            yield from differing(getattr(a, field.name), getattr(b, field.name), f"{name}.{field.name}")
    elif isinstance(a, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape or (a != b).any():
            yield name
    elif a != b:
        yield name


def test_a_system_read_back_is_the_same(tpcc: System) -> None:
    again = load(io.BytesIO(stored(tpcc)))
    assert list(differing(tpcc, again)) == []
    assert (again.program.pages, again.digest()) == (tpcc.program.pages, tpcc.digest())
    program = dataclasses.replace(again.program, operations=again.program.operations + 1, main_class=3)
    changed = dataclasses.replace(again, program=program, daemons=again.daemons[1:])
    assert list(differing(tpcc, changed)) == [
        "system.program.main_class", "system.program.operations", "system.daemons",
    ]  # fmt: skip
    assert changed.digest() != tpcc.digest()


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(any_systems())
def test_every_kind_of_part_is_read_back(system: DrawnSystem) -> None:
    """Nothing is a fault in them, either."""
    model = model_of_system(system)
    assert list(differing(model, load(io.BytesIO(stored(model))))) == []


def test_a_system_read_back_gives_the_same_trajectory(busy: ModelOf) -> None:
    model = busy(duration_s=1)
    again = load(io.BytesIO(stored(model)))
    assert result_json(simulate(again, 3)) == result_json(simulate(model, 3))
    slower = dataclasses.replace(model, costs=dataclasses.replace(model.costs, miss_ns=model.costs.miss_ns + 1))
    assert slower.digest() != model.digest()


def npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def npy(value: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, value)
    return file.getvalue()


def with_head(system: System, change: Callable[[dict[str, Any]], Any]) -> bytes:
    with np.load(io.BytesIO(stored(system))) as parts:
        arrays = dict(parts)
    head = change(json.loads(bytes(arrays.pop("head"))))
    return npz(head=np.frombuffer(json.dumps(head).encode(), dtype=np.uint8), **arrays)


def with_part(name: str, **more: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A change of the head: other fields of one part."""
    return lambda head: head | {"system": head["system"] | {name: head["system"][name] | more}}


def test_files_that_are_no_systems_are_refused(tpcc: System) -> None:
    """Empty, text, cut off, other arrays, another format, fields too many: one sentence, no stack trace."""
    whole = stored(tpcc)
    wrong = [
        b"", b"no system", whole[: len(whole) // 2], npy(np.zeros(3)), npz(other=np.zeros(3)),
        with_head(tpcc, lambda head: head | {"format": "oltpsim-system-0"}),
        with_head(tpcc, with_part("pool", colour=1)),
        with_head(tpcc, with_part("pool", record="Colour")),
        with_head(tpcc, with_part("program", operations={"array": "nowhere"})),
        with_head(tpcc, lambda head: head | {"system": head["system"]["pool"]}),
        with_head(tpcc, list),
    ]  # fmt: skip
    for content in wrong:
        with pytest.raises(InputError, match=r"^a\.npz: "):
            load(io.BytesIO(content), "a.npz")
    assert list(differing(tpcc, load(io.BytesIO(with_head(tpcc, lambda head: head))))) == []


def test_damaged_files_are_refused(tpcc: System) -> None:
    """A byte anywhere is another: refused in a sentence, or nothing that is read has changed."""
    whole = stored(tpcc)
    refused = 0
    for place in range(0, len(whole), max(len(whole) // 300, 1)):
        content = bytearray(whole)
        content[place] ^= 0x55
        try:
            load(io.BytesIO(bytes(content)), "a.npz")
        except InputError:
            refused += 1
    assert refused > 200


def with_operation(system: System, name: str, operand: str, value: int) -> System:
    """A system in which the first operation of a name has another operand."""
    operations = system.program.operations.copy()
    row = int(np.flatnonzero(operations[:, 0] == CODES[name])[0])
    operations[row, 1 + OPERATIONS[name].index(operand)] = value
    return dataclasses.replace(system, program=dataclasses.replace(system.program, operations=operations))


def with_array(system: System, name: str, change: Callable[[Any], Any]) -> System:
    """A system of whose program one array is another."""
    changed = change(getattr(system.program, name).copy())
    return dataclasses.replace(system, program=dataclasses.replace(system.program, **{name: changed}))


def test_numbers_that_point_to_nothing_are_refused(tpcc: System) -> None:
    """An engine would read what lies behind its tables."""
    many = 1 << 40
    wrong = {
        "touch: reference is 1099511627776; there are": with_operation(tpcc, "touch", "reference", many),
        "touch: write is 3; there are": with_operation(tpcc, "touch", "write", 3),
        "choose: table is -1": with_operation(tpcc, "choose", "table", -1),
        "uniform: r is 77": with_operation(tpcc, "uniform", "r", 77),
        "maybe: target is": with_operation(tpcc, "maybe", "target", len(tpcc.program.operations)),
        "there is no code 99": with_array(tpcc, "operations", lambda rows: np.full_like(rows, 99)),
        "entries: operation is": with_array(tpcc, "entries", lambda rows: rows + many),
        "tables: end is": with_array(tpcc, "tables", lambda rows: rows + many),
        "references: kind is 50 to 53": with_array(tpcc, "references", lambda rows: rows + 50),
        "operations has shape": with_array(tpcc, "operations", lambda rows: rows[:, :3]),
        "of float64": with_array(tpcc, "counters", lambda values: values + 0.5),
        "storage.log_device is 9": dataclasses.replace(tpcc, storage=dataclasses.replace(tpcc.storage, log_device=9)),
        "sections is 0": dataclasses.replace(tpcc, sections=()),
        "program.main_class is 77": dataclasses.replace(tpcc, program=dataclasses.replace(tpcc.program, main_class=77)),
        "extents.0.devices is 1": dataclasses.replace(tpcc, extents=(Extent(0, 1 << 62, 5, 1),)),
        "page_cache.pages_a_pause is 256; allowed: 0 to 255": dataclasses.replace(
            tpcc, page_cache=dataclasses.replace(tpcc.page_cache, pages_a_pause=256)
        ),
        "alias: the table at 0": with_array(tpcc, "alias", lambda rows: rows + 10**9),
        "pool.replacement is 'fifo'": dataclasses.replace(
            tpcc, pool=dataclasses.replace(tpcc.pool, replacement="fifo")
        ),
    }
    for sentence, system in wrong.items():
        with pytest.raises(InputError, match=sentence):
            load(io.BytesIO(stored(system)), "a.npz")


SLEEP = DaemonStep("sleep", (MS,))
WRONG_STEPS: dict[str, tuple[DaemonStep, ...]] = {
    "there is no operation nap": (SLEEP, DaemonStep("nap", (MS,))),
    "write_dirty: operands are \\(5,\\); needed: keep_pages, over_ns": (SLEEP, DaemonStep("write_dirty", (5,))),
    "sync: operands are \\(5,\\); needed: none": (SLEEP, DaemonStep("sync", (5,))),
    "sleep: operands are \\(-1,\\)": (DaemonStep("sleep", (-1,)),),
    "daemon wrong: nothing in it waits, so that no time would pass": (),
    "daemon wrong, every_or_evicted: got 0 pages": (SLEEP, DaemonStep("every_or_evicted", (MS, 0))),
    "nothing in it waits, .* needed: sleep or every": (DaemonStep("every", (0,)), DaemonStep("write_log")),
    "nothing in it waits, .* or await_dirty": (DaemonStep("await_dirty", (5,)), DaemonStep("write_dirty", (6, MS))),
}


@pytest.mark.parametrize(("sentence", "steps"), WRONG_STEPS.items())
def test_daemons_that_no_engine_can_run_are_refused(tpcc: System, sentence: str, steps: tuple[DaemonStep, ...]) -> None:
    """Unknown operations, operands too few or below zero, and a life at one instant."""
    system = dataclasses.replace(tpcc, daemons=(*tpcc.daemons, Daemon("wrong", steps)))
    with pytest.raises(InputError, match=sentence):
        load(io.BytesIO(stored(system)), "a.npz")


def test_listing_names_every_operation_and_part(tpcc: System) -> None:
    """Each operation stands on a line with its number and its name; each table, region and reference has its own."""
    text, program = listing(tpcc), tpcc.program
    lines = {
        line.split()[0]: line.split()[1] for line in text.splitlines() if line.strip() and line.strip()[0].isdigit()
    }
    names = list(OPERATIONS)
    codes = [names[code] for code in program.operations[:, 0].tolist()]
    assert [lines[str(number)] for number in range(len(codes))] == codes
    assert len(set(codes)) > 15
    for kind, parts in (
        ("region", program.region_names), ("reference", program.reference_names), ("sampler", program.table_names),
        ("counter", program.counter_names), ("lock", program.lock_names), ("critical section", program.sections),
    ):  # fmt: skip
        assert all(f"  {kind} {name}" in text for name in parts)
    assert all(f"\n{name}:\n" in text for name in program.classes)
    assert listing(with_array(tpcc, "operations", lambda rows: np.roll(rows, 1, axis=0))) != text
    assert "  pool: pages " in text
    assert "  device disk 1: " in text
    assert "  daemon write-back: sleep interval 5 s, then write_expired age 30 s\n" in text
    assert "  daemon checkpointer: every interval 3600 s, then write_dirty keep_pages 0, over 0 ns, then sync" in text


def test_times_are_listed_in_their_largest_unit() -> None:
    assert [time_text(ns) for ns in (0, 999, 1500, 2_500_000, 3_000_000_000)] == [
        "0 ns", "999 ns", "1.5 us", "2.5 ms", "3 s",
    ]  # fmt: skip
