"""A flush: the log is waited for as at a commit, and the locks stay."""

import pytest

from oltpsim.simulator.form import Assembler, System
from tests.simulator.conftest import make_model
from tests.simulator.twins import differences, run_reference

MS = 1_000_000


def two_phases(first: str, clients: int = 2, durable: bool = True) -> System:
    """Clients that lock one row, log, wait 3 ms for it, go 5 ms on the network, and commit."""
    asm = Assembler()
    row = asm.register("row")
    asm.emit("think", asm.distribution("constant", 0), asm.stream("times"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("change")
    asm.emit("lock", asm.lock("row", 1), row)
    asm.emit("log", 100)
    asm.emit(first)
    asm.emit("network", 5 * MS)
    asm.emit("commit")
    asm.emit("end")
    return make_model(asm, clients=clients, durable=durable, duration_s=1)


@pytest.mark.parametrize(("first", "ends"), [("flush", [8, 16, 24]), ("commit", [8, 11, 16])])
def test_a_flush_keeps_the_lock_and_a_commit_does_not(first: str, ends: list[int]) -> None:
    model = two_phases(first)
    assert [end[0] // MS for end in run_reference(model, 1).ends[:3]] == ends
    assert differences(model, 1) == []


@pytest.mark.parametrize("durable", [True, False])
def test_many_who_flush_give_one_trajectory(durable: bool) -> None:
    assert differences(two_phases("flush", 7, durable), 1) == []


def test_nobody_waits_for_a_log_that_the_system_writes_later() -> None:
    assert [end[0] // MS for end in run_reference(two_phases("flush", durable=False), 1).ends[:3]] == [5, 10, 15]
