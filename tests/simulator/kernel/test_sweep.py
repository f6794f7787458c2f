"""A sweep of a CLOCK's buffers: dirty ones that the hand has left no use are written before they are replaced."""

import io
from dataclasses import replace
from types import ModuleType

import pytest

from oltpsim.simulator import kernel, reference
from oltpsim.simulator.analytic import simulate as calculate
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import Assembler, Daemon, DaemonStep, FlashDevice, Pool, System, load, save
from oltpsim.simulator.results import Result
from tests.simulator.conftest import make_model

MS = 1_000_000
BUFFERS, PAGES = 20, 50
ENGINES = pytest.mark.parametrize("engine", [kernel, reference], ids=["kernel", "reference"])


def changing_model(*sweep: int, buffers: int = BUFFERS, replacement: str = "clock") -> System:
    """A client that changes one page after the other, each 10 ms; direct I/O."""
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
    model = make_model(asm, devices=(disk,), direct_io=True, pool_pages=buffers, duration_s=5)
    steps = DaemonStep("sleep", (20 * MS,)), DaemonStep("write_unused", sweep)
    return replace(model, pool=Pool(buffers, replacement, buffers), daemons=(Daemon("sweep", steps),) if sweep else ())


def writes_of(result: Result, purpose: str) -> float:
    """Of a transaction, on its only disk."""
    return result.devices[0].by_purpose_per_s.get(purpose, 0.0) / result.transactions_per_s


@ENGINES
def test_who_replaces_finds_them_clean(engine: ModuleType) -> None:
    """A round passes the whole pool: nearly every page has been written by the sweep when its buffer is needed."""
    alone = engine.simulate(changing_model(), 1)
    assert writes_of(alone, "eviction write") > 0.9
    swept = engine.simulate(changing_model(BUFFERS, BUFFERS), 1)
    assert writes_of(swept, "writer") > 0.8
    assert writes_of(swept, "eviction write") < 0.2


@ENGINES
def test_a_use_that_is_left_spares_a_page(engine: ModuleType) -> None:
    """Where all pages fit, nothing is replaced and no use is counted down: dirty pages stay, unlike above."""
    result = engine.simulate(changing_model(PAGES, PAGES, buffers=PAGES), 1)
    assert result.caches[0].dirty_fraction > 0.8
    assert writes_of(result, "writer") == 0.0


@ENGINES
def test_rounds_without_places_or_pages_write_nothing(engine: ModuleType) -> None:
    for model in (changing_model(0, 9), changing_model(9, 0)):
        assert writes_of(engine.simulate(model, 1), "writer") == 0.0


def test_a_pool_that_counts_no_uses_down_is_refused() -> None:
    files = [io.BytesIO(), io.BytesIO()]
    for file, replacement in zip(files, ("clock", "lru"), strict=True):
        save(changing_model(BUFFERS, BUFFERS, replacement=replacement), file)
        file.seek(0)
    assert load(files[0]).daemons
    with pytest.raises(InputError, match="daemon sweep: write_unused is of CLOCK; the pool's replacement is lru"):
        load(files[1])


def test_the_analytic_engine_says_that_it_leaves_it_out() -> None:
    def doubts_of(*sweep: int) -> list[str]:
        return [line for line in calculate(changing_model(*sweep), 1).warnings if "database.writer.sweep" in line]

    assert doubts_of(BUFFERS, BUFFERS)
    assert not doubts_of()


@ENGINES
def test_a_round_writes_at_most_so_many(engine: ModuleType) -> None:
    """One page each 20 ms is at most half of what two changes make dirty."""
    most = writes_of(engine.simulate(changing_model(BUFFERS, 1), 1), "writer")
    assert 0.3 < most <= 0.6


@pytest.mark.parametrize("sweep", [(1, 1), (3, 2), (7, 20), (BUFFERS, 3)])
def test_both_engines_write_the_same(sweep: tuple[int, int]) -> None:
    model = changing_model(*sweep)
    ours, theirs = kernel.simulate(model, 1), reference.simulate(model, 1)
    assert ours.devices[0].by_purpose_per_s == theirs.devices[0].by_purpose_per_s
    assert ours.caches[0] == theirs.caches[0]
