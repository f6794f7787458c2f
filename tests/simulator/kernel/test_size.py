"""Large systems: a million pages, a thousand devices, a hundred thousand clients; and what is too large is refused."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import (
    Assembler,
    FlashDevice,
    RaidSet,
    RotatingDevice,
    SeededRun,
    StartState,
    System,
    Terminals,
)
from oltpsim.simulator.kernel import KernelEngine, compiled, simulate
from oltpsim.simulator.results import result_json

MS = 1_000_000
ModelOf = Callable[..., System]
FLASH = FlashDevice("flash", MS // 10, MS // 10, 4)
ARM = RotatingDevice("arm", 1 << 40, 8 * MS, 1 << 20, MS, 8 * MS, 16 * MS, MS // 5, 32, "look")


def readers(model_of: ModelOf, pages: int, **parts: Any) -> System:
    """Clients that think for 50 ms, refer to a page that they draw evenly, and write every second one."""
    asm = Assembler()
    asm.emit("think", asm.distribution("exponential", 50 * MS), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    row, zero, rows = asm.register("row"), asm.register("zero"), asm.stream("rows")
    region = asm.region("pages", 1, pages, 1)
    reference = asm.reference("a page", "row", region, zero, row=row)
    asm.begin_class("read")
    asm.emit("uniform", row, pages, 0, rows)
    read, end = asm.label(), asm.label()
    asm.emit("maybe", 1 << 31, rows, read)
    asm.emit("touch", reference, 1, MS // 1000)
    asm.emit("jump", end)
    asm.place(read)
    asm.emit("touch", reference, 0, MS // 1000)
    asm.place(end)
    asm.emit("commit")
    asm.emit("end")
    return model_of(asm, **{"cores": 64, "duration_s": 1, "cache_pages": 20_000, "dirty_limit_pages": 20_000} | parts)


@pytest.mark.parametrize("replacement", ["lru", "clock", "midpoint"])
def test_a_million_pages(model_of: ModelOf, replacement: str) -> None:
    model = readers(model_of, 1_000_000, clients=200, pool_pages=200_000, replacement=replacement, devices=(FLASH,) * 8)
    result = simulate(model, 1)
    assert result.transactions_per_s > 3000
    assert sum(device.reads_per_s for device in result.devices) > 2500


@pytest.mark.parametrize("device", [FLASH, ARM, RaidSet("set", (FLASH,) * 4, 1 << 16, 1, 1)])
def test_a_thousand_devices(model_of: ModelOf, device: Any) -> None:
    """All of them at work, and their requests and those of their disks apart."""
    model = readers(model_of, 1_000_000, clients=5000, pool_pages=1000, devices=(device,) * 1000)
    result = simulate(model, 1)
    assert len(result.devices) == (5000 if isinstance(device, RaidSet) else 1000)
    assert min(each.reads_per_s for each in result.devices[:1000]) > 0
    assert result.transactions_per_s > 20_000


def test_a_hundred_thousand_clients(model_of: ModelOf) -> None:
    """As many transactions in a second as clients that think for 50 ms can end."""
    devices = (FLASH,) * 8
    result = simulate(readers(model_of, 1000, clients=100_000, pool_pages=2000, devices=devices, warm_up_s=1), 1)
    assert result.transactions_per_s == pytest.approx(100_000 / 0.05, rel=0.02)


def test_what_memory_has_no_room_for_is_refused_with_the_estimate(
    model_of: ModelOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twelve bytes a page, in both caches, and 6.7 for each of half a million buffers; with room it runs."""
    model = readers(model_of, 1_000_000, pool_pages=500_000)
    monkeypatch.setattr(compiled, "available_bytes", lambda: 14 << 20)
    with pytest.raises(
        InputError, match=r"at least 0\.014\d+ GiB of memory and 0\.0137 GiB are free: simulate a smaller system"
    ):
        KernelEngine(model, 1)
    monkeypatch.setattr(compiled, "available_bytes", lambda: 100 << 20)
    KernelEngine(model, 1)
    monkeypatch.setattr(compiled, "available_bytes", lambda: None)
    KernelEngine(model, 1)


def test_a_large_warm_system_is_refused_before_its_start_is_drawn(
    model_of: ModelOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = readers(model_of, 5_000_000, pool_pages=1000)
    warm = replace(model, interval=replace(model.interval, start="warm"))
    monkeypatch.setattr(compiled, "available_bytes", lambda: 500 << 20)
    monkeypatch.setattr("oltpsim.simulator.expectation.start.warm_state", lambda *_: pytest.fail("drawn"))
    with pytest.raises(InputError, match="are free"):
        KernelEngine(warm, 1)
    KernelEngine(model, 1)


def test_more_pages_than_there_are_numbers_for_are_refused(model_of: ModelOf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "available_bytes", lambda: 1 << 60)
    with pytest.raises(InputError, match="5000000000 in all, is more than the kernel can number"):
        KernelEngine(readers(model_of, 5_000_000_000), 1)


def test_more_clients_than_there_are_numbers_for_are_refused(
    model_of: ModelOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events name them by 25 bits. The record says so many terminals; none of them has to be made."""
    monkeypatch.setattr(compiled, "available_bytes", lambda: 1 << 60)

    class Crowded(KernelEngine):
        def passed(self, seed: int, traced: int) -> tuple[SeededRun, StartState]:
            run, start = super().passed(seed, traced)
            crowded = replace(run.system, terminals=Terminals(1 << 25, 1, (), 0, (0,), (0,)))
            return replace(run, system=crowded, terminal_streams=np.zeros(1 << 25, dtype=np.int64)), start

    with pytest.raises(InputError, match="33554432 terminals are more than the kernel can tell apart"):
        Crowded(readers(model_of, 100), 1)


def test_engines_run_in_threads_beside_each_other(model_of: ModelOf) -> None:
    """The interpreter's lock is released while time passes; results are those of runs in turn."""
    models = [readers(model_of, 100_000, clients=50 + number, pool_pages=5000) for number in range(4)]
    in_turn = [result_json(simulate(model, 1)) for model in models]
    with ThreadPoolExecutor(4) as threads:
        assert [result_json(result) for result in threads.map(lambda model: simulate(model, 1), models)] == in_turn


def test_this_machine_says_how_much_memory_is_free() -> None:
    available = compiled.available_bytes()
    assert available is not None
    assert available > 1 << 27
