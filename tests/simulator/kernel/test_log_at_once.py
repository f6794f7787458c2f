"""A log that is flushed as soon as something is logged, and the blocks of a journal behind a group's last write."""

from dataclasses import replace
from types import ModuleType

import pytest
from pydantic import ValidationError

from oltpsim.models.database.log import LogSpec, log_of
from oltpsim.simulator import analytic, kernel, reference
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.expectation import ProgramReader
from oltpsim.simulator.form import JOURNAL_BYTES, Assembler, FlashDevice, Log, System
from tests.simulator.conftest import make_model

MS = 1_000_000
ENGINES = pytest.mark.parametrize("engine", [kernel, reference], ids=["kernel", "reference"])
DURABLE = Log(True, 0)


def logging_model(log: Log, *, clients: int = 1, statements: int = 1, between_ms: int = 5) -> System:
    """Clients whose statements log 1000 bytes each, so long one after the other; the log has a device of its own."""
    asm = Assembler()
    asm.region("table", 1, 40, 1)
    asm.emit("think", asm.distribution("exponential", 20 * MS), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("write")
    for _ in range(statements):
        asm.emit("cpu", between_ms * MS, 0, 0)
        asm.emit("log", 1000)
    asm.emit("commit")
    asm.emit("end")
    devices = FlashDevice("disk", MS, MS, 1), FlashDevice("log", MS, MS, 1)
    model = make_model(asm, devices=devices, direct_io=True, clients=clients, cores=8, duration_s=20)
    return replace(model, storage=replace(model.storage, data_devices=1, log_device=1), log=log)


@ENGINES
@pytest.mark.parametrize(("journal_writes", "bytes_each"), [(0, 1000), (2, 1000 + 2 * JOURNAL_BYTES)])
def test_a_journals_blocks_come_behind_a_group(engine: ModuleType, journal_writes: int, bytes_each: int) -> None:
    found = engine.simulate(logging_model(replace(DURABLE, journal_writes=journal_writes)), 1)
    assert found.log.flushes_per_s / found.log.commits_per_s == pytest.approx(1 + journal_writes, rel=1e-2)
    assert found.log.bytes_per_s / found.log.commits_per_s == pytest.approx(bytes_each, rel=1e-2)
    assert found.classes[0].time_by_s["log"] == pytest.approx((1 + journal_writes) * 1e-3, rel=1e-2)


@ENGINES
@pytest.mark.parametrize(("at_once", "flushes"), [(True, 3), (False, 1)])
def test_each_statements_log_is_flushed_while_the_next_runs(engine: ModuleType, at_once: bool, flushes: int) -> None:
    """5 ms after a statement its log has long been flushed; the commit waits for the last one's only."""
    found = engine.simulate(logging_model(replace(DURABLE, at_once=at_once), statements=3), 1)
    assert found.log.flushes_per_s / found.log.commits_per_s == pytest.approx(flushes, rel=1e-2)
    assert found.classes[0].time_by_s["log"] == pytest.approx(1e-3, rel=1e-2)


@ENGINES
def test_a_binary_logs_writes_are_a_stage_behind_the_log(engine: ModuleType) -> None:
    """One client passes both; of many the next ones' log is flushed while the binary log of the last is synced."""
    both = replace(DURABLE, writes_per_group=2, journal_writes=2)
    for clients, at_least in ((1, 0.99), (16, 1.05)):
        model = logging_model(both, clients=clients, between_ms=0)
        slow = replace(model, storage=replace(model.storage, devices=(*model.storage.devices[:1], many_at_once())))
        one_by_one, staged = (
            engine.simulate(replace(slow, log=replace(both, at_once=at_once)), 1) for at_once in (False, True)
        )
        waits = one_by_one.classes[0].time_by_s["log"] / staged.classes[0].time_by_s["log"]
        assert waits > at_least
        assert clients > 1 or waits == pytest.approx(1.0, rel=1e-2)


def many_at_once() -> FlashDevice:
    return FlashDevice("log", MS, MS, 8)


@pytest.mark.parametrize("log", [replace(DURABLE, at_once=True, writes_per_group=2, journal_writes=2), DURABLE])
def test_both_engines_give_the_same(log: Log) -> None:
    model = logging_model(log, clients=7, statements=3, between_ms=1)
    ours, theirs = kernel.simulate(model, 1), reference.simulate(model, 1)
    assert (ours.classes, ours.devices, ours.log) == (theirs.classes, theirs.devices, theirs.log)


@pytest.mark.parametrize("log", [
    DURABLE,
    replace(DURABLE, writes_per_group=2),
    replace(DURABLE, writes_per_group=2, journal_writes=2),
    replace(DURABLE, writes_per_group=2, journal_writes=2, at_once=True),
])  # fmt: skip
def test_formulas_count_all_writes_of_a_group(log: Log) -> None:
    """They took a group for one write, whatever the system said."""
    model = logging_model(log, clients=2, statements=2)
    simulated, calculated = kernel.simulate(model, 1), analytic.simulate(model, 1)
    per_commit = [found.log.flushes_per_s / found.log.commits_per_s for found in (simulated, calculated)]
    assert per_commit[1] == pytest.approx(per_commit[0], rel=0.1)
    assert calculated.classes[0].time_by_s["log"] == pytest.approx(simulated.classes[0].time_by_s["log"], rel=0.2)
    if log != DURABLE:  # what they said before
        once = analytic.simulate(replace(model, log=DURABLE), 1)
        assert once.log.flushes_per_s / once.log.commits_per_s < 0.6 * per_commit[0]


@pytest.mark.parametrize(("rows_further", "same_page"), [(26, 1 - 26 / 73), (73, 0.0), (100, 0.0)])
def test_rows_further_on_may_lie_on_the_same_page(rows_further: int, same_page: float) -> None:
    asm = Assembler()
    row, group = asm.register("row"), asm.register("group")
    region = asm.region("table", 1, 7300, 73)
    page = asm.reference("page", "row", region, group, row=row)
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("read")
    asm.emit("uniform", row, 7300, 0, asm.stream("rows"))
    asm.emit("touch", page, 0, 0)
    asm.emit("affine", row, row, 1, rows_further, 7300)
    asm.emit("touch", page, 0, 0)
    asm.emit("commit")
    asm.emit("end")
    model = make_model(asm, devices=(FlashDevice("disk", MS, MS, 1),))
    reader = ProgramReader(model.program, model.homes, None)
    assert sum(each.repeats for each in reader.works[0].touches.values()) == pytest.approx(same_page)


def test_what_nobody_waits_for_is_not_flushed_at_once() -> None:
    for key in ("flushed_at_once", "journal_writes_per_group"):
        with pytest.raises(ValidationError, match=f"{key}: got .*; only with commit: durable"):
            LogSpec.model_validate({"commit": "buffered", key: 1})
    at_once = LogSpec.model_validate({"commit": "durable", "flushed_at_once": True})
    assert log_of(at_once, 0).at_once
    with pytest.raises(InputError, match="flushed_at_once"):
        log_of(at_once, 8192)


@ENGINES
def test_a_statement_that_logs_nothing_begins_no_flush(engine: ModuleType) -> None:
    """Else the commit 2 ms later would find a flusher that is about to begin, and wait 4 ms for 6."""
    asm = Assembler()
    asm.region("table", 1, 40, 1)
    asm.emit("think", asm.distribution("exponential", 20 * MS), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("write")
    asm.emit("log", 0)
    asm.emit("cpu", 2 * MS, 0, 0)
    asm.emit("log", 1000)
    asm.emit("commit")
    asm.emit("end")
    devices = FlashDevice("disk", MS, MS, 1), FlashDevice("log", MS, MS, 1)
    model = make_model(asm, devices=devices, direct_io=True, clients=1, cores=8, duration_s=20)
    log = replace(DURABLE, at_once=True, flush_overhead_ns=5 * MS)
    found = engine.simulate(replace(model, storage=replace(model.storage, data_devices=1, log_device=1), log=log), 1)
    assert found.log.flushes_per_s / found.log.commits_per_s == pytest.approx(1, rel=1e-2)
    assert found.classes[0].time_by_s["log"] == pytest.approx(6e-3, rel=1e-2)
