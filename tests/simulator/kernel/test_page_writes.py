"""Direct writes of the background writer: dirty neighbours go along in one request, up to a number of pages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator import kernel, reference
from simulator.form import Assembler, FlashDevice, System, Writing, from_s
from simulator.results import Result
from tests.simulator.conftest import make_model
from tests.simulator.daemons import writer

MS = 1_000_000
DISK = FlashDevice("disk", read_ns=MS, write_ns=MS, parallel=1)
PAGES, TRANSACTIONS = 10, 20


def writing_model(coalesced: int, batch: int = 32, disks: int = 1, step: int = 1) -> System:
    """A client that dirties pages 0, step, 2 step, ... each second; the writer then writes all that is dirty."""
    asm = Assembler()
    row, group = asm.register("row"), asm.register("group")
    region = asm.region("table", 1, PAGES * step, 1)
    page = asm.reference("page", "row", region, group, row=row)
    asm.emit("think", asm.distribution("constant", from_s(1.0)), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("write")
    asm.emit("cpu", MS, 0, 0)
    for number in range(PAGES):
        asm.emit("set", row, number * step)
        asm.emit("touch", page, 1, 0)
    asm.emit("commit")
    asm.emit("end")
    devices = tuple(replace(DISK, name=f"disk {number}") for number in range(disks))
    model = make_model(asm, devices=devices, direct_io=True, duration_s=TRANSACTIONS + 0.5)
    return replace(model, daemons=(writer(0, 0),), writing=Writing(batch, coalesced))


def writes(result: Result, purpose: str = "writer") -> list[int]:
    """Requests of the writer at each disk, for one transaction."""
    return [round(each.by_purpose_per_s.get(purpose, 0) * result.duration_s / TRANSACTIONS) for each in result.devices]


@pytest.mark.parametrize(("coalesced", "requests"), [(1, 10), (4, 3), (16, 1)])
def test_neighbours_go_along(coalesced: int, requests: int) -> None:
    """10 dirty pages side by side: 10 requests, or 4 + 4 + 2, or one."""
    model = writing_model(coalesced)
    result = kernel.simulate(model, 1)
    assert writes(result) == [requests]
    assert result.caches[0].dirty_fraction < 0.01, "all of them are clean afterwards"
    assert writes(reference.simulate(model, 1)) == [requests]


def test_pages_apart_do_not() -> None:
    """The negative twin: every other page is dirty, and nobody lies beside another."""
    assert writes(kernel.simulate(writing_model(16, step=2), 1)) == [10]


def test_neighbours_are_those_on_the_same_disk() -> None:
    """Striped over two disks page by page, every other page is the next one of its disk."""
    assert writes(kernel.simulate(writing_model(16, disks=2), 1)) == [1, 1]
    assert writes(kernel.simulate(writing_model(16, disks=2, step=2), 1)) == [1, 0]


def test_a_batch_is_waited_for() -> None:
    """Requests of 1 ms at a disk that serves one at a time: one after the other, whatever the batch; none is lost."""
    assert writes(kernel.simulate(writing_model(1, batch=3), 1)) == [10]
