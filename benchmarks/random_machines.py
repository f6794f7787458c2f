"""Machines at random, from ranges that people buy and run: what the analytic engine is held against.

Six kinds of machine, so that each way to be slow is there as often as any other. The same number always gives the
same machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from oltpsim.models.reading import scenario_from_mapping
from oltpsim.models.scenario import ScenarioSpec

REGIMES = ("cpu bound", "one disk", "many disks", "transition", "lock bound", "swap")
WORKING_SET_PAGES = 8_450
"""pages of 8 KiB that a warehouse keeps busy: 66 MB, the Virtuoso scalability article"""
BUFFER_GIB = 10 / 1024**2
ROTATING = ("scsi-10k-73", "sas-10k", "sas-15k", "sata-7200")
FLASH = ("sata-ssd", "nvme")
CPU_SPEEDS = (1.0, 2.94, 5.0)
"""of an Opteron of 2003, as catalogue cores of then, of 2006 and of today"""
FEWEST_CLIENTS = 8
MOST_PAGES = 1_500_000


def random_machine(regime: str, number: int) -> ScenarioSpec:
    """Machine `number` of a regime."""
    return scenario_from_mapping(machine_keys(regime, np.random.default_rng([REGIMES.index(regime), number])), regime)


def machine_keys(regime: str, rng: np.random.Generator) -> dict[str, Any]:
    """Keys of a scenario of a regime, drawn by `rng`."""

    def one_of(*values: Any) -> Any:
        return values[int(rng.integers(len(values)))]

    def between(low: float, high: float) -> float:
        return float(round(np.exp(rng.uniform(np.log(low), np.log(high))), 4))

    warehouses = round(between(5, 120))
    per_warehouse = one_of(0.5, 1, 1, 2, 2, 3, 5, between(0.5, 5))
    warehouses = max(warehouses, round(FEWEST_CLIENTS / per_warehouse))
    clients = round(warehouses * per_warehouse)
    cores, disk, disks = one_of(1, 2, 4, 8), one_of(*ROTATING, *FLASH), 1
    cached = between(0.15, 1.5)
    think = one_of(0.0, 0.0, between(0.02, 0.5))
    if regime == "cpu bound":
        disk, disks, cached = one_of(*FLASH), one_of(1, 2), between(0.5, 2.0)
    elif regime == "one disk":
        disk = one_of(*ROTATING, *ROTATING, *FLASH)
    elif regime == "many disks":
        disks = one_of(2, 3, 4, 6, 8, 12, 16)
        disk = one_of(*ROTATING)
    elif regime == "transition":
        cached, disks = between(0.3, 0.7), one_of(1, 1, 2, 4)
    elif regime == "lock bound":
        warehouses, cached = round(between(1, 20)), between(0.5, 2.0)
        clients, think = warehouses * one_of(4, 8, 10, 15), 0.0
        disk, disks = one_of("sas-15k", *FLASH), one_of(1, 4)
    if disks * 500 < warehouses * 100 / 1024 * 2:
        warehouses = 20
    pool = min(round(cached * warehouses * WORKING_SET_PAGES), MOST_PAGES)
    system, direct = one_of("linux", "linux", "solaris-10"), one_of(False, False, True)
    reserved = {"linux": 0.5 + clients * 2 / 1024, "solaris-10": 0.25 + clients * 1.5 / 1024}[system] + 0.1
    floor = {"linux": 0.05, "solaris-10": 0.12}[system]
    pool_gib = pool * BUFFER_GIB
    if regime == "swap":
        direct = False
        memory = reserved + pool_gib * (1 + floor * between(0.05, 0.9))
    else:
        memory = (reserved + pool_gib * (1 + between(0.03, 0.6))) / (1 - floor)
    durable = regime == "lock bound" or one_of(True, False)
    slow = disk in ROTATING and disks < 6
    checkpoint_s = one_of(240, 600) if slow else one_of(60, 120)
    high = one_of(0.5, 0.75, 0.9)
    spec_mix = {"new_order": 0.45, "payment": 0.43, "order_status": 0.04, "delivery": 0.04, "stock_level": 0.04}
    keys: dict[str, Any] = {
        "name": regime,
        "machine": {
            "name": "a machine at random",
            "cpu": {"base": "opteron-244", "relative_speed": one_of(*CPU_SPEEDS), "cores": cores},
            "memory_gib": round(memory, 4),
            "disks": {"disk": disk, "count": disks},
            "network": {"clients_on_server": one_of(True, False), "round_trip_us": 200},
            "source": "assumption: drawn at random",
        },
        "operating_system": system,
        "database": {
            "base": "virtuoso-4",
            "io": "direct" if direct else "buffered",
            "requests_per_file": one_of(16, 64),
            "pool": {"buffers": max(pool, 1000), "replacement": one_of("lru", "lru", "clock")},
            "writer": {"dirty_high_fraction": high, "dirty_low_fraction": high - 0.03},
            "checkpoint": {"interval_s": checkpoint_s, "spread_fraction": one_of(0.0, 0.5, 0.9)},
            "log": {"commit": "durable" if durable else "buffered", "flush_overhead_us": one_of(0, 50)},
            "critical_section": {"share_of_path": one_of(0.0, 0.1, 0.3)},
        },
        "workload": {
            "base": "virtuoso-tpcc",
            "mix": one_of(None, spec_mix),
            "warehouses": warehouses,
            "arrivals": {"kind": "closed", "clients": clients, "think_time_s": think},
        },
        "interval": {"start": "warm", "warm_up_s": checkpoint_s, "duration_s": 2 * checkpoint_s},
    }
    if keys["workload"]["mix"] is None:
        del keys["workload"]["mix"]
    if durable and one_of(True, False):
        keys["machine"]["log_disk"] = one_of(disk, "sata-ssd")
    return keys
