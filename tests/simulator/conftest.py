"""Small systems for the tests of the engine, assembled by hand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from oltpsim.simulator.form import (
    Assembler,
    Costs,
    Cpu,
    FlashDevice,
    Interval,
    Log,
    PageCache,
    Pool,
    Section,
    Station,
    Storage,
    System,
    from_s,
)
from tests.simulator.daemons import checkpointer, write_back, writer

MS = 1_000_000
FLASH = FlashDevice("disk 1", read_ns=2 * MS, write_ns=3 * MS, parallel=1)


def make_model(asm: Assembler, **parts: Any) -> System:
    """A model around an assembled program; everything not named is small, fast and out of the way."""
    program = asm.finish(parts.get("main_class", asm.classes[0]))
    clients = parts.get("clients", 1)
    devices = parts.get("devices", (FLASH,))
    pages, direct_io = parts.get("pool_pages", 1000), parts.get("direct_io", False)
    daemons = (
        write_back(from_s(parts.get("flush_interval_s", 3600)), from_s(parts.get("expire_s", 3600))),
        writer(pages, pages),
        checkpointer(from_s(parts.get("checkpoint_s", 1e6)), 0, direct_io),
    )
    return System(
        name="test",
        program=program,
        client_registers=np.zeros((clients, max(len(program.registers), 1)), dtype=np.int64),
        arrivals_per_s=parts.get("arrivals_per_s", 0.0),
        cpu=Cpu(parts.get("cores", 1)),
        sections=tuple(Section(name, parts.get("handover_ns", 0)) for name in program.sections),
        stations=tuple(Station(name, parts.get("servers", {}).get(name, 1)) for name in program.stations),
        pool=Pool(pages, parts.get("replacement", "lru"), parts.get("resident_pages", pages)),
        page_cache=PageCache(
            pages=parts.get("cache_pages", 1000),
            dirty_limit_pages=parts.get("dirty_limit_pages", 1000),
            in_flight_pages=64,
            free_behind=parts.get("free_behind", False),
        ),
        storage=Storage(
            devices=devices,
            data_devices=len(devices),
            log_device=0,
            page_bytes=8192,
            data_start_bytes=1 << 30,
            log_start_bytes=0,
            log_bytes=1 << 20,
            swap_start_bytes=1 << 29,
            swap_cluster_pages=1,
            merged_pages=parts.get("merged_pages", 1),
            requests_per_device=parts.get("requests_per_device", 16),
        ),
        log=Log(durable=parts.get("durable", False), flush_overhead_ns=0),
        costs=Costs(*parts.get("costs", (0, 0, 0, 0))),
        direct_io=direct_io,
        interval=Interval("cold", from_s(parts.get("warm_up_s", 0)), from_s(parts.get("duration_s", 10))),
        daemons=parts.get("daemons", daemons),
    )


def make_network(visits: list[tuple[str, str, int, int]], think_s: float = 0.0, **parts: Any) -> System:
    """Clients that think, then visit stations in turn: (station, distribution, a in ns, b)."""
    asm = Assembler()
    if parts.get("arrivals_per_s"):
        asm.emit("arrive")
    else:
        asm.emit("think", asm.distribution("exponential", from_s(think_s)), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("visit")
    for station, kind, a, b in visits:
        asm.emit("visit", asm.station(station), asm.distribution(kind, a, b), asm.stream(station))
    asm.emit("end")
    return make_model(asm, **parts)


@pytest.fixture
def network() -> Callable[..., System]:
    """See make_network."""
    return make_network


@pytest.fixture
def model_of() -> Callable[..., System]:
    """See make_model."""
    return make_model


def make_busy(**parts: Any) -> System:
    """A bit of everything: two tables, hot and cold rows, inserts, locks, a critical section, log, rollbacks."""
    asm = Assembler()
    asm.emit("think", asm.distribution("exponential", parts.pop("think_ns", 0)), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [3.0, 1.0]), asm.stream("mix"))
    rows, row, group = asm.stream("rows"), asm.register("row"), asm.register("group")
    hot = asm.region("hot", 1, 120, 1, fanout=50)
    grown = asm.region("grown", 2, 30, 4)
    asm.loaded(hot, 0, 120)
    popular = asm.reference(
        "popular", "popular", hot, asm.register("zero"), row=group, stream=rows, window=asm.window(8, 2),
        table=asm.table("popularity", 1.0 / np.arange(1, 121)),
    )  # fmt: skip
    recent = asm.reference("recent", "recent", hot, asm.register("zero"), row=group, window=0, stream=rows)
    insert = asm.reference("insert", "append", grown, group, row=row, appended_pages=0)
    lock, counter = asm.lock("group row", 2), asm.counter("rows", 2, 0)
    asm.begin_class("change")
    asm.emit("cpu", MS // 5, MS // 10, 0)
    asm.emit("uniform", group, 2, 0, rows)
    asm.emit("touch", popular, 1, MS // 50)
    asm.emit("lock", lock, group)
    asm.emit("take", row, counter, group, 1)
    asm.emit("touch", insert, 1, MS // 50)
    asm.emit("section", asm.section("mutex"), MS // 20)
    asm.emit("log", 500)
    undone = asm.label()
    asm.emit("maybe", 1 << 28, rows, undone)
    asm.emit("commit")
    asm.emit("end")
    asm.place(undone)
    asm.emit("rollback")
    asm.emit("end")
    asm.begin_class("look")
    asm.emit("uniform", group, 2, 0, rows)
    asm.emit("touch", recent, 0, MS // 50)
    asm.emit("touch", popular, 0, MS // 50)
    asm.emit("commit")
    asm.emit("end")
    defaults: dict[str, Any] = {
        "clients": 4, "pool_pages": 60, "cache_pages": 40, "dirty_limit_pages": 20, "duration_s": 3, "expire_s": 0.5,
        "flush_interval_s": 0.2, "checkpoint_s": 1.3, "handover_ns": MS // 50,
        "costs": (10_000, 15_000, 20_000, 5_000),
    }  # fmt: skip
    return make_model(asm, **(defaults | parts))


@pytest.fixture
def busy() -> Callable[..., System]:
    """See make_busy."""
    return make_busy
