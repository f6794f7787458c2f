"""Pages that the log has whole: at their first change after a checkpoint has begun; checkpoints by the log's volume."""

from dataclasses import replace
from types import ModuleType

import pytest

from oltpsim.simulator import kernel, reference
from oltpsim.simulator.form import Assembler, Log, System, Writing, from_s
from oltpsim.simulator.results import Result
from tests.simulator.conftest import make_model
from tests.simulator.daemons import checkpointer

ENGINES = pytest.mark.parametrize("engine", [kernel, reference], ids=["kernel", "reference"])
MS, SECOND = 1_000_000, 1_000_000_000
PAGES, CHANGE_BYTES, PAGE_BYTES, TRANSACTIONS = 10, 300, 8192, 20
NEVER_BYTES = 10**18


def changing_model(log_bytes: int | None, interval_s: float = 1e6, image_bytes: int = PAGE_BYTES) -> System:
    """A client that changes ten pages twice each second, the second half of them new at its first transaction."""
    asm = Assembler()
    row, group = asm.register("row"), asm.register("group")
    region = asm.region("table", 1, PAGES, 1)
    old = asm.reference("old", "row", region, group, row=row)
    new = asm.reference("new", "append", region, group, row=row, appended_pages=PAGES // 2)
    asm.emit("think", asm.distribution("constant", from_s(1.0)), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("write")
    asm.emit("cpu", MS, 0, 0)
    for number in range(2 * PAGES):
        asm.emit("set", row, number % PAGES)
        asm.emit("touch", old if number % PAGES < PAGES // 2 else new, 1, 0)
    asm.emit("log", CHANGE_BYTES)
    asm.emit("commit")
    asm.emit("end")
    model = make_model(asm, duration_s=TRANSACTIONS + 0.5, durable=True)
    daemons = (checkpointer(from_s(interval_s), 0, log_bytes=log_bytes),)
    return replace(model, daemons=daemons, log=Log(True, 0, full_page_bytes=image_bytes), writing=Writing(1, 1))


def images(result: Result) -> float:
    """Pages that the log has whole."""
    logged = result.log.bytes_per_s * result.duration_s
    return (logged - result.log.commits_per_s * result.duration_s * CHANGE_BYTES) / PAGE_BYTES


@ENGINES
def test_a_page_is_logged_whole_at_its_first_change_and_new_ones_never(engine: ModuleType) -> None:
    assert images(engine.simulate(changing_model(NEVER_BYTES), 1)) == pytest.approx(PAGES // 2)
    assert images(engine.simulate(changing_model(NEVER_BYTES, image_bytes=0), 1)) == pytest.approx(0)


@ENGINES
def test_and_again_after_each_checkpoint(engine: ModuleType) -> None:
    """A checkpoint each 4.2 s: the pages that were new are logged whole after the first one, too."""
    result = engine.simulate(changing_model(NEVER_BYTES, interval_s=4.2), 1)
    assert len(result.checkpoints_s) == 4
    assert images(result) == pytest.approx(PAGES // 2 + 4 * PAGES)
    by_time = engine.simulate(changing_model(None, interval_s=4.2), 1)
    assert len(by_time.checkpoints_s) == 4
    assert images(by_time) == pytest.approx(PAGES // 2), "no step that says that one has begun"


@ENGINES
def test_so_much_log_begins_a_checkpoint(engine: ModuleType) -> None:
    """After 30,000 bytes: half the pages and 300 bytes are in the first second, all pages in the first after that."""
    result = engine.simulate(changing_model(30_000), 1)
    begins = [begin for begin, _ in result.checkpoints_s]
    first = PAGES // 2 * PAGE_BYTES
    assert first > 30_000
    assert begins == pytest.approx([1.1 + number for number in range(TRANSACTIONS)], abs=0.11)
    rare = engine.simulate(changing_model(82_000), 1)
    # 41,260 bytes in the first second and 300 in each other: too few until the end
    assert rare.checkpoints_s == []


@ENGINES
def test_writes_are_spread_over_a_shorter_time_where_log_begins_the_checkpoint(engine: ModuleType) -> None:
    """Spread over half the interval of 100 s; at a checkpoint each second over half a second."""
    model = changing_model(30_000, interval_s=100.0)
    spread = replace(model, daemons=(checkpointer(100 * SECOND, 50 * SECOND, log_bytes=30_000),))
    lasted = [end - begin for begin, end in engine.simulate(spread, 1).checkpoints_s]
    assert len(lasted) >= 9
    assert max(lasted) < 1.2
    assert lasted[2] == pytest.approx(0.5, abs=0.15)
    alone = replace(model, daemons=(checkpointer(5 * SECOND, 4 * SECOND, log_bytes=NEVER_BYTES),))
    times = [end - begin for begin, end in engine.simulate(alone, 1).checkpoints_s]
    assert times[0] == pytest.approx(4.0, abs=0.5)
