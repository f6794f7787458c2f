"""A sweep of a CLOCK's buffers: dirty ones that the hand has left no use are written before they are replaced."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import pytest

from simulator import kernel, reference
from simulator.form import Assembler, Daemon, DaemonStep, FlashDevice, Pool, System
from simulator.results import Result
from tests.simulator.conftest import make_model

MS = 1_000_000
BUFFERS, PAGES = 20, 50
ENGINES = pytest.mark.parametrize("engine", [kernel, reference], ids=["kernel", "reference"])


def changing_model(replacement: str, *sweep: int) -> System:
    """A client that changes one page after the other, of more than there are buffers, each 10 ms; direct I/O."""
    asm = Assembler()
    row, group, count = asm.register("row"), asm.register("group"), asm.counter("changes", 1, 0)
    page = asm.reference("page", "row", asm.region("table", 1, PAGES, 1), group, row=row)
    asm.emit("think", asm.distribution("constant", 10 * MS), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("change")
    asm.emit("take", row, count, group, 1)
    asm.emit("touch", page, 1, 0)
    asm.emit("commit")
    asm.emit("end")
    disk = FlashDevice("disk", MS // 10, MS // 10, 4)
    model = make_model(asm, devices=(disk,), direct_io=True, pool_pages=BUFFERS, duration_s=5)
    steps = DaemonStep("sleep", (20 * MS,)), DaemonStep("write_unused", sweep)
    return replace(model, pool=Pool(BUFFERS, replacement, BUFFERS), daemons=(Daemon("sweep", steps),) if sweep else ())


def writes_of(result: Result, purpose: str) -> float:
    """Of a transaction, on its only disk."""
    return result.devices[0].by_purpose_per_s.get(purpose, 0.0) / result.transactions_per_s


@ENGINES
def test_who_replaces_finds_them_clean(engine: ModuleType) -> None:
    """A round passes the whole pool: nearly every page has been written by the sweep when its buffer is needed."""
    alone = engine.simulate(changing_model("clock"), 1)
    assert writes_of(alone, "eviction write") > 0.9
    swept = engine.simulate(changing_model("clock", BUFFERS, BUFFERS), 1)
    assert writes_of(swept, "writer") > 0.8
    assert writes_of(swept, "eviction write") < 0.2


@ENGINES
def test_a_use_that_is_left_spares_a_page(engine: ModuleType) -> None:
    """LRU counts no uses down: nothing is written, as with no places or no pages in a round."""
    for model in (
        changing_model("lru", BUFFERS, BUFFERS), changing_model("clock", 0, 9), changing_model("clock", 9, 0),
    ):  # fmt: skip
        assert writes_of(engine.simulate(model, 1), "writer") == 0.0


@ENGINES
def test_a_round_writes_at_most_so_many(engine: ModuleType) -> None:
    """One page each 20 ms is at most half of what two changes make dirty."""
    most = writes_of(engine.simulate(changing_model("clock", BUFFERS, 1), 1), "writer")
    assert 0.3 < most <= 0.6


@pytest.mark.parametrize("sweep", [(1, 1), (3, 2), (7, 20), (BUFFERS, 3)])
def test_both_engines_write_the_same(sweep: tuple[int, int]) -> None:
    model = changing_model("clock", *sweep)
    ours, theirs = kernel.simulate(model, 1), reference.simulate(model, 1)
    assert ours.devices[0].by_purpose_per_s == theirs.devices[0].by_purpose_per_s
    assert ours.caches[0] == theirs.caches[0]
