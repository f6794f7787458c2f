"""Small systems for the tests of the engine, assembled by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simulator.assembler import Assembler
from simulator.clock import from_s
from simulator.model import (
    Checkpoint,
    Costs,
    Cpu,
    FlashDevice,
    Interval,
    Log,
    Model,
    PageCache,
    Pool,
    Section,
    Station,
    Storage,
)

MS = 1_000_000
FLASH = FlashDevice("disk 1", read_ns=2 * MS, write_ns=3 * MS, parallel=1)


def make_model(asm: Assembler, **parts: Any) -> Model:
    """A model around an assembled program; everything not named is small, fast and out of the way."""
    program = asm.finish(parts.get("main_class", asm.classes[0]))
    clients = parts.get("clients", 1)
    devices = parts.get("devices", (FLASH,))
    pages = parts.get("pool_pages", 1000)
    return Model(
        name="test",
        program=program,
        client_registers=np.zeros((clients, max(len(program.registers), 1)), dtype=np.int64),
        arrivals_per_s=parts.get("arrivals_per_s", 0.0),
        cpu=Cpu(parts.get("cores", 1)),
        sections=tuple(Section(name, parts.get("handover_ns", 0)) for name in program.sections),
        stations=tuple(Station(name, parts.get("servers", {}).get(name, 1)) for name in program.stations),
        pool=Pool(pages, parts.get("replacement", "lru"), parts.get("resident_pages", pages), pages, pages),
        page_cache=PageCache(
            pages=parts.get("cache_pages", 1000),
            dirty_limit_pages=parts.get("dirty_limit_pages", 1000),
            expire_ns=from_s(parts.get("expire_s", 3600)),
            flush_interval_ns=from_s(parts.get("flush_interval_s", 3600)),
            in_flight_pages=64,
            free_behind=False,
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
        checkpoint=Checkpoint(from_s(parts.get("checkpoint_s", 1e6)), 0),
        costs=Costs(*parts.get("costs", (0, 0, 0, 0))),
        direct_io=parts.get("direct_io", False),
        interval=Interval("cold", from_s(parts.get("warm_up_s", 0)), from_s(parts.get("duration_s", 10))),
    )


def make_network(visits: list[tuple[str, str, int, int]], think_s: float = 0.0, **parts: Any) -> Model:
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
def network() -> Callable[..., Model]:
    """See make_network."""
    return make_network


@pytest.fixture
def model_of() -> Callable[..., Model]:
    """See make_model."""
    return make_model
