"""Idle processors that wait for I/O: in systems in step, where shares are known; and engines' accounts alike."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator import analytic, kernel, reference
from oltpsim.simulator.form import IO_WAIT_SHARE_BITS, Assembler, FlashDevice, System, io_wait_shares
from tests.simulator.tpcc_systems import TINY
from tests.simulator.twins import differences

MS = 1_000_000
DIRECT = ("database.pool.buffers=300", "database.io=direct")
ModelOf = Callable[..., System]
ONE_SHARE = 2.0**-IO_WAIT_SHARE_BITS


def readers(model_of: ModelOf, clients: int, cores: int, *, log: bool = False, **parts: Any) -> System:
    """Clients in step: 1 ms of CPU, then 2 ms for a page that is new to the pool, or 3 ms for a commit."""
    asm = Assembler()
    asm.emit("think", asm.distribution("constant", 0), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    rows, row, group = asm.counter("rows", 1, 0), asm.register("row"), asm.register("zero")
    table = asm.reference("row", "row", asm.region("table", 1, 30_000, 1), group, row=row)
    asm.begin_class("read")
    asm.emit("cpu", MS, 0, 0)
    if log:
        asm.emit("log", 500)
        asm.emit("commit")
    else:
        asm.emit("take", row, rows, group, 1)
        asm.emit("touch", table, 0, 0)
    asm.emit("end")
    disk = FlashDevice("disk 1", read_ns=2 * MS, write_ns=3 * MS, parallel=clients)
    return model_of(
        asm, clients=clients, cores=cores, devices=(disk,), pool_pages=100, direct_io=True, durable=log, duration_s=3,
        requests_per_device=clients, **parts,
    )  # fmt: skip


def waiting(model: System) -> float:
    """The share of CPU capacity that waits for I/O, as the kernel says."""
    return kernel.simulate(model, 1).cpu.iowait


@pytest.mark.parametrize(("clients", "cores"), [(1, 1), (1, 4), (3, 4), (8, 8)])
def test_an_idle_processor_waits_if_a_task_that_ran_on_it_sleeps(model_of: ModelOf, clients: int, cores: int) -> None:
    """2 of 3 ms all clients read and all processors idle; what counts is the chance of having had one of them."""
    found = waiting(readers(model_of, clients, cores))
    assert found == pytest.approx(2 / 3 * (1 - (1 - 1 / cores) ** clients), abs=2 * ONE_SHARE)
    if cores > 1:
        assert found < 2 / 3 - 0.1  # all idle time while anything is pending would be this


def test_the_logs_writer_is_a_task_too(model_of: ModelOf) -> None:
    assert waiting(readers(model_of, 1, 4, log=True)) == pytest.approx(3 / 4 / 4, abs=2 * ONE_SHARE)


def test_four_shares_sum_to_one(model_of: ModelOf) -> None:
    cpu = kernel.simulate(readers(model_of, 3, 4), 1).cpu
    assert cpu.user + cpu.system + cpu.iowait + cpu.idle == pytest.approx(1.0, abs=1e-12)
    assert min(cpu.user, cpu.iowait, cpu.idle) > 0.1


@pytest.mark.parametrize("cores", [1, 4])
def test_the_analytic_engine_agrees(cores: int) -> None:
    model = build(load_scenario(TINY, [f"machine.cpu.cores={cores}", "interval.duration_s=30", *DIRECT]))
    found = kernel.simulate(model, 1).cpu
    assert analytic.simulate(model, 1).cpu.iowait == pytest.approx(found.iowait, abs=0.06)
    assert found.iowait > 0.05


@pytest.mark.parametrize("parts", [{}, {"resident_pages": 40}, {"direct_io": True}, {"durable": True}])
def test_engines_agree_on_every_kind_of_sleep(busy: ModelOf, parts: dict[str, Any]) -> None:
    model = busy(**parts)
    assert not differences(model, 1)
    assert 0 < reference.simulate(model, 1).cpu.iowait < 1


def test_shares_by_hand() -> None:
    assert io_wait_shares(1).tolist() == [0, 4096]
    assert io_wait_shares(2)[:4].tolist() == [0, 2048, 3072, 3584]
    many = io_wait_shares(40)
    assert many[47] == round(4096 * (1 - math.exp(47 * math.log(39 / 40))))
    assert many[-1] == 4096 > many[100]
    assert (np.diff(many) >= 0).all()
