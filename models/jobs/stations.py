"""A model of plain stations: a program without pages, and nothing else that would take time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from simulator.form import (
    NS_PER_MS,
    Checkpoint,
    Costs,
    Cpu,
    FlashDevice,
    Interval,
    Log,
    Model,
    PageCache,
    Pool,
    Program,
    Station,
    Storage,
    from_s,
)

NEVER_NS = 10**18
STEPS = 300
"""of the time series, each of whole milliseconds"""


def model_of_stations(
    name: str,
    program: Program,
    registers: npt.NDArray[np.int64],
    servers: Mapping[str, int],
    warm_up_s: float,
    duration_s: float,
) -> Model:
    """The model; each station has one server unless `servers` says otherwise. `registers`: (clients, registers)."""
    return Model(
        name=name,
        program=program,
        client_registers=registers,
        arrivals_per_s=0.0,
        cpu=Cpu(1),
        sections=(),
        stations=tuple(Station(each, servers.get(each, 1)) for each in program.stations),
        pool=Pool(1, "lru", 1, 1, 1),
        page_cache=PageCache(1, 1, NEVER_NS, NEVER_NS, 1, False),
        storage=Storage(
            devices=(FlashDevice("none", 1, 1, 1),), data_devices=1, log_device=0, page_bytes=8192,
            data_start_bytes=0, log_start_bytes=0, log_bytes=1 << 20, swap_start_bytes=0, swap_cluster_pages=1,
            merged_pages=1, requests_per_device=1,
        ),
        log=Log(durable=False, flush_overhead_ns=0),
        checkpoint=Checkpoint(NEVER_NS, 0),
        costs=Costs(0, 0, 0, 0),
        direct_io=True,
        interval=Interval("cold", from_s(warm_up_s), from_s(duration_s)),
        step_ns=max(from_s(warm_up_s + duration_s) // (STEPS * NS_PER_MS), 1) * NS_PER_MS,
    )  # fmt: skip
