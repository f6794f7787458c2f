"""Exact event logs: constant times only, every completion to the nanosecond."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from oltpsim.simulator import kernel
from oltpsim.simulator.form import Assembler, Sharing, System
from oltpsim.simulator.reference import ReferenceEngine

MS = 1_000_000
ModelOf = Callable[..., System]


def completions(model: System) -> list[tuple[int, int]]:
    """(time, class) of every transaction that ends."""
    engine = ReferenceEngine(model, 1)
    log: list[tuple[int, int]] = []
    end = engine.record.end

    def note(transaction_class: int, *rest: Any) -> None:
        log.append((engine.env.now, transaction_class))
        end(transaction_class, *rest)

    engine.record.end = note  # type: ignore[method-assign]
    engine.run(None)
    return log


def loop(*operations: tuple[Any, ...], think_ms: int = 0) -> Assembler:
    """A program of one class that runs these operations; the caller has named what they refer to."""
    asm = Assembler()
    asm.emit("think", asm.distribution("constant", think_ms * MS), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("work")
    asm.register("zero")
    for operation in operations:
        asm.emit(*operation)
    asm.emit("end")
    return asm


def test_two_clients_share_one_core(model_of: ModelOf) -> None:
    """Bursts of 3 ms in turn; with two cores they run side by side."""
    asm = loop(("cpu", 3 * MS, 0, 0), think_ms=100)
    assert completions(model_of(asm, clients=2, duration_s=0.2)) == [(103 * MS, 0), (106 * MS, 0)]
    asm = loop(("cpu", 3 * MS, 0, 0), think_ms=100)
    assert completions(model_of(asm, clients=2, cores=2, duration_s=0.2)) == [(103 * MS, 0), (103 * MS, 0)]


def test_a_burst_is_longer_the_more_threads_are_busy_when_it_starts(model_of: ModelOf) -> None:
    """Three bursts of 3 ms on two threads of a core: alone 3 ms, as the second 5 ms, whatever the other does later."""
    asm = loop(("cpu", 3 * MS, 0, 0), think_ms=100)
    model = dataclasses.replace(model_of(asm, clients=3, duration_s=0.15), sharing=Sharing((1_000_000, 1_666_667)))
    assert [at for at, _ in completions(model)] == [103 * MS, 105_000_001, 108_000_001]
    assert [at for at, _ in completions(dataclasses.replace(model, sharing=Sharing((1_000_000, 1_000_000))))] == [
        103 * MS, 103 * MS, 106 * MS,
    ]  # fmt: skip


def test_a_slower_stay_in_a_section_is_time_on_the_processor(model_of: ModelOf) -> None:
    """Two clients, 2 ms outside and 2 ms inside each: what the second thread loses is time on the processor."""
    asm = loop(("cpu", 2 * MS, 0, 0), think_ms=1000)
    asm.operations.pop()
    asm.emit("section", asm.section("mutex"), 2 * MS)
    asm.emit("end")
    model = dataclasses.replace(
        model_of(asm, clients=2, cores=1, duration_s=1.1), sharing=Sharing((1_000_000, 1_500_000))
    )
    engine = ReferenceEngine(model, 1)
    engine.run(None)
    times = engine.record.result().classes[0].time_by_s
    # 1000: one bursts 2 ms, the other 3 ms; 1002: the first is inside as the second thread, 3 ms; 1003: the other waits
    # for it to leave at 1005, and is inside alone for 2 ms
    assert times["cpu"] == pytest.approx((2 + 3 + 3 + 2) / 2 / 1000)
    assert times["critical section"] == pytest.approx((1005 - 1003) / 2 / 1000)
    assert engine.record.result().broken_laws == []


def test_row_lock_is_handed_over_in_order(model_of: ModelOf) -> None:
    """Three clients, one row, 4 cores: 2 ms of work under the lock each, one after the other."""
    asm = loop(think_ms=100)
    asm.operations.pop()
    asm.emit("lock", asm.lock("row", 1), asm.register("zero"))
    asm.emit("cpu", 2 * MS, 0, 0)
    asm.emit("commit")
    asm.emit("end")
    log = completions(model_of(asm, clients=3, cores=4, duration_s=0.15))
    assert [at for at, _ in log] == [102 * MS, 104 * MS, 106 * MS]


def test_critical_section_costs_a_handover_only_when_contended(model_of: ModelOf) -> None:
    """Two clients meet at a section of 2 ms with a hand-over of 1 ms; alone there is no hand-over."""
    asm = loop(think_ms=100)
    asm.operations.pop()
    asm.emit("section", asm.section("mutex"), 2 * MS)
    asm.emit("end")
    model = model_of(asm, clients=2, cores=2, handover_ns=MS, duration_s=0.15)
    assert [at for at, _ in completions(model)] == [102 * MS, 105 * MS]


@pytest.mark.parametrize("clients", [1, 2])
def test_a_handover_is_system_time(model_of: ModelOf, clients: int) -> None:
    asm = loop(think_ms=1)
    asm.operations.pop()
    asm.emit("section", asm.section("mutex"), 2 * MS)
    asm.emit("end")
    result = kernel.simulate(model_of(asm, clients=clients, cores=2, handover_ns=MS, duration_s=10), 1)
    [waits] = [lock.waits for lock in result.locks if lock.name == "mutex"]
    assert (waits > 0) == (clients > 1)
    assert result.cpu.by_activity["hand-over"] == pytest.approx(waits * 1e-3 / (2 * 10))
    assert sum(result.cpu.by_activity.values()) == pytest.approx(result.cpu.utilisation)


def test_group_commit_waits_for_one_flush(model_of: ModelOf) -> None:
    """First of three commits flushes alone (3 ms write); the other two share the next; at one instant all share."""
    asm = loop(("cpu", MS, 0, 0), ("log", 100), ("commit",), think_ms=100)
    log = completions(model_of(asm, clients=3, cores=1, durable=True, duration_s=0.2))
    assert [at for at, _ in log][:3] == [104 * MS, 107 * MS, 107 * MS]
    asm = loop(("cpu", MS, 0, 0), ("log", 100), ("commit",), think_ms=100)
    log = completions(model_of(asm, clients=3, cores=4, durable=True, duration_s=0.2))
    assert [at for at, _ in log][:3] == [104 * MS] * 3
    asm = loop(("cpu", MS, 0, 0), ("log", 100), ("commit",), think_ms=100)
    buffered = completions(model_of(asm, clients=3, cores=4, durable=False, duration_s=0.2))
    assert [at for at, _ in buffered][:3] == [101 * MS] * 3


def paged(write: int, think_ms: int = 100) -> Assembler:
    """A program that touches the pages of a region of three rows, one a page, in turn."""
    asm = loop(think_ms=think_ms)
    asm.operations.pop()
    region = asm.region("table", 1, 3, 1)
    turn = asm.counter("turn", 1, 0)
    asm.emit("take", asm.register("row"), turn, asm.register("zero"), 1)
    page = asm.reference("page", "row", region, asm.register("zero"), row=asm.register("row"))
    asm.emit("touch", page, write, MS)
    asm.emit("end")
    return asm


def test_a_miss_reads_once_and_two_clients_wait_for_one_read(model_of: ModelOf) -> None:
    """Three pages are read at 2 ms each and then hit; a page in transit is waited for, not read again."""
    log = completions(model_of(paged(0), duration_s=0.5))
    assert [at // MS for at, _ in log] == [103, 206, 309, 410]
    asm = loop(think_ms=100)
    asm.operations.pop()
    region = asm.region("table", 1, 1, 1)
    page = asm.reference("page", "row", region, asm.register("zero"), row=asm.register("zero"))
    asm.emit("touch", page, 0, MS)
    asm.emit("end")
    model = model_of(asm, clients=2, cores=2, duration_s=0.15)
    engine = ReferenceEngine(model, 1)
    engine.run(None)
    assert engine.devices[0].reads == 1
    assert engine.record.ended == 2


def test_a_dirty_victim_goes_through_the_page_cache(model_of: ModelOf) -> None:
    """Two buffers, three pages written in turn: after three reads every page is found in the page cache."""
    engine = ReferenceEngine(model_of(paged(1), pool_pages=2, duration_s=2), 1)
    engine.run(None)
    assert engine.devices[0].reads == 3
    assert engine.devices[0].writes == 0
    direct = ReferenceEngine(model_of(paged(1), pool_pages=2, duration_s=2, direct_io=True), 1)
    direct.run(None)
    assert direct.devices[0].reads > 15
    assert direct.devices[0].by_purpose["eviction write"] > 15


def test_write_back_waits_for_its_age(model_of: ModelOf) -> None:
    """A page evicted dirty at about 0.3 s is on disk after expiry (1 s) at the next wake-up of the flusher."""
    model = model_of(paged(1), pool_pages=2, expire_s=1, flush_interval_s=0.5, duration_s=1.4)
    engine = ReferenceEngine(model, 1)
    engine.run(None)
    assert engine.devices[0].writes == 0
    model = model_of(paged(1), pool_pages=2, expire_s=1, flush_interval_s=0.5, duration_s=3)
    engine = ReferenceEngine(model, 1)
    engine.run(None)
    assert engine.devices[0].writes >= 3


def test_a_checkpoint_writes_every_dirty_page_once(model_of: ModelOf) -> None:
    """Three dirty pages in a pool that holds them: one checkpoint, three page writes, then clean."""
    model = model_of(paged(1), checkpoint_s=1, duration_s=1.05, merged_pages=1)
    engine = ReferenceEngine(model, 1)
    engine.run(None)
    assert engine.devices[0].by_purpose["write-back"] == 3
    assert len(engine.daemons.checkpoints_ns) == 1


def test_a_swapped_out_buffer_is_read_back(model_of: ModelOf) -> None:
    """Three buffers with memory for two: hits become page faults; with memory for three there is none."""
    engine = ReferenceEngine(model_of(paged(0), pool_pages=3, resident_pages=2, duration_s=3), 1)
    engine.run(None)
    assert engine.devices[0].by_purpose["swap in"] > 5
    engine = ReferenceEngine(model_of(paged(0), pool_pages=3, duration_s=3), 1)
    engine.run(None)
    assert "swap in" not in engine.devices[0].by_purpose
