"""Index pages above a table: read before a row, and changed with it where the row moves or is new."""

from dataclasses import replace
from types import ModuleType

import pytest

from oltpsim.simulator import kernel, reference
from oltpsim.simulator.analytic import simulate as calculate
from oltpsim.simulator.form import WITH_INDEX_PAGE, Assembler, Daemon, DaemonStep, Log, System
from oltpsim.simulator.results import Result
from tests.simulator.conftest import make_model

MS = 1_000_000
PAGES, FANOUT = 40, 4
ENGINES = pytest.mark.parametrize("engine", [kernel, reference], ids=["kernel", "reference"])


def touching_model(write: int, checkpoint_ms: int = 0, **parts: int) -> System:
    """A client that refers to one page after the other, each 10 ms; ten index pages above forty."""
    asm = Assembler()
    row, group, count = asm.register("row"), asm.register("group"), asm.counter("touches", 1, 0)
    page = asm.reference("page", "row", asm.region("table", 1, PAGES, 1, FANOUT), group, row=row)
    asm.emit("think", asm.distribution("constant", 10 * MS), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("touch")
    asm.emit("take", row, count, group, 1)
    asm.emit("touch", page, write, 0)
    asm.emit("commit")
    asm.emit("end")
    model = make_model(asm, direct_io=True, pool_pages=100, duration_s=10, **parts)
    if not checkpoint_ms:
        return replace(model, daemons=())
    steps = DaemonStep("every", (checkpoint_ms * MS,)), DaemonStep("write_dirty", (0, 0))
    return replace(model, daemons=(Daemon("checkpointer", steps),))


def dirty_pages(result: Result) -> float:
    """Mean number of dirty buffers."""
    return result.caches[0].dirty_fraction * result.caches[0].capacity_pages


@ENGINES
def test_index_pages_change_only_where_they_are_written(engine: ModuleType) -> None:
    """After 0.4 s all forty pages are dirty, or all fifty, or none."""
    for write, pages in ((0, 0), (1, PAGES), (WITH_INDEX_PAGE, PAGES + PAGES // FANOUT)):
        assert dirty_pages(engine.simulate(touching_model(write, warm_up_s=1), 1)) == pages


@ENGINES
def test_an_index_page_is_written_once_for_its_rows(engine: ModuleType) -> None:
    """A checkpoint each 0.4 s finds forty rows' pages and, above them, ten."""
    for write, pages in ((1, 1.0), (WITH_INDEX_PAGE, 1.25)):
        result = engine.simulate(touching_model(write, checkpoint_ms=400, warm_up_s=2), 1)
        assert result.devices[0].writes_per_s / result.transactions_per_s == pytest.approx(pages, rel=0.07)


@ENGINES
def test_its_first_change_logs_it_whole(engine: ModuleType) -> None:
    """With images in the log ten pages more, and none without."""
    for image_bytes in (0, 1000):
        logged = []
        for write in (1, WITH_INDEX_PAGE):
            model = replace(touching_model(write), log=Log(True, 0, full_page_bytes=image_bytes))
            logged.append(engine.simulate(model, 1).log.bytes_per_s * 10)
        assert logged[1] - logged[0] == pytest.approx(image_bytes * PAGES / FANOUT, abs=1)


def test_the_formulas_have_them_dirty_too() -> None:
    """Dirty leaves above a table that is changed at random, as the kernel has them; the twin's are clean."""
    for write, pages in ((1, PAGES), (WITH_INDEX_PAGE, PAGES + PAGES // FANOUT)):
        assert dirty_pages(calculate(random_model(write), 1)) == pytest.approx(pages, rel=0.05)
        assert dirty_pages(kernel.simulate(random_model(write), 1)) == pytest.approx(pages, rel=0.05)


def random_model(write: int) -> System:
    """The same with rows drawn evenly, whose pages never leave the pool."""
    asm = Assembler()
    row, group, rows = asm.register("row"), asm.register("group"), asm.stream("rows")
    page = asm.reference("page", "row", asm.region("table", 1, PAGES, 1, FANOUT), group, row=row)
    asm.emit("think", asm.distribution("constant", MS), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("touch")
    asm.emit("uniform", row, PAGES, 0, rows)
    asm.emit("touch", page, write, 0)
    asm.emit("commit")
    asm.emit("end")
    return replace(make_model(asm, direct_io=True, pool_pages=100, warm_up_s=2, duration_s=10), daemons=())
