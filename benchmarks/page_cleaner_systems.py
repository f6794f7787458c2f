"""Systems at random with page cleaners, as InnoDB has them: what the analytic engine's formulas for these are held to.

The same number always gives the same system. They are counted over twice the time in which their redo log fills, or in
which 60,000 transactions end if that is longer, after a warm-up in which the dirty pages of a warm start have gone.
"""

import itertools

import numpy as np

from benchmarks.random_machines import FLASH
from benchmarks.random_systems import (
    FASTEST_PER_S,
    MOST_PAGES,
    MOST_TRIES,
    SLOW_FLASH,
    SOURCE,
    WORKING_SET_MIB,
    Drawing,
    Keys,
    capacity_per_s,
    plain_drawing,
    random_arm,
    random_flash,
    random_volume,
)
from oltpsim.models.catalogue import catalogue_entry
from oltpsim.models.reading import scenario_from_mapping
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.errors import InputError

KIND = "page cleaners"
SYSTEMS = 300
PAGE_KIB = 16
LOG_BYTES = 5000
"""of a transaction, at most"""
FEWEST, MOST = 60_000, 400_000
"""transactions of the time that a system is counted for, about half of them"""
KEY = 777
"""beside the number, so that these systems aren't drawn as others are"""


def page_cleaner_system(number: int) -> tuple[str, ScenarioSpec]:
    """Kind and scenario of system `number`. Machines that can't run their workload are drawn again."""
    for attempt in itertools.count():
        try:
            return KIND, _timed(_keys(np.random.default_rng([KEY, number, attempt])))
        except InputError:
            if attempt + 1 >= MOST_TRIES:
                raise
    raise AssertionError


def _keys(rng: np.random.Generator) -> Keys:
    d = plain_drawing(rng)
    d.cached = d.between(0.1, 1.3)
    if d.chance(0.5):
        d.machine.pop("log_disk", None)
    disk = d.one_of(random_arm(d), random_flash(d), random_flash(d), random_volume(d), *FLASH, *SLOW_FLASH)
    engine, system = catalogue_entry("databases", "mysql-8-4"), catalogue_entry("operating_systems", "linux")
    buffers = round(
        max(min(d.cached * d.warehouses * WORKING_SET_MIB * 1024 / PAGE_KIB, MOST_PAGES), 1000, d.clients + 20)
    )
    pool_gib = buffers * engine["pool"]["memory_per_buffer_kib"] / 1024**2
    local = d.clients if d.machine["network"]["clients_on_server"] else 0
    used_gib = (
        system["reserved_memory_gib"] + engine["process_memory_gib"] + local * system["memory_per_client_mib"] / 1024
    )
    memory_gib = (used_gib + pool_gib * (1 + d.spare)) / (1 - system["page_cache"]["floor_fraction"]) + 0.02
    return {
        "name": KIND,
        "machine": {
            "name": "a machine at random",
            "cpu": d.cpu,
            "memory_gib": round(memory_gib, 4),
            "disks": {"disk": disk, "count": d.one_of(1, 1, 2)},
            "source": SOURCE,
            **d.machine,
        },
        "operating_system": "linux",
        "database": _database(d, buffers, pool_gib),
        "workload": {
            "base": "tpcc-specification",
            "layout": "tpcc-16k",
            "warehouses": d.warehouses,
            "arrivals": d.arrivals | {"clients": d.clients},
        },
        "interval": {"start": "warm", "warm_up_s": 60, "duration_s": 120},
    }


def _database(d: Drawing, buffers: int, pool_gib: float) -> Keys:
    capacity = d.one_of(200, 1000, 5000, 10_000)
    cleaner = {
        "cleaners": d.one_of(1, 1, 2, 4),
        "lru_scan_depth_pages": min(d.one_of(64, 256, 1024), buffers // 10),
        "io_capacity_per_s": capacity,
        "io_capacity_max_per_s": 2 * capacity,
        "dirty_low_fraction": d.one_of(0, 0.1),
        "dirty_high_fraction": d.one_of(0.75, 0.9),
        "redo_capacity_gib": max(0.004, round(pool_gib * d.between(0.02, 0.6), 4)),
        "doublewrite": d.one_of(True, False),
        "batch_pages": d.one_of(32, 128),
    }
    return {
        "base": "mysql-8-4",
        "requests_per_file": d.one_of(16, 64, 256, 4096),
        "pool": {"buffers": buffers},
        "page_cleaner": cleaner,
        "log": {
            "commit": d.one_of("durable", "durable", "buffered"),
            "flush_overhead_us": d.one_of(0, 50, 300),
            "syncs_per_group": 1,
        },
        "path": {
            "transaction_us": d.between(80, 1500),
            "row_operation_us": d.between(10, 150),
            "scanned_row_us": 1.5,
        },
        "critical_section": {"share_of_path": d.one_of(0, 0.02)},
    }


def _timed(keys: Keys) -> ScenarioSpec:
    """The scenario with processors that aren't too fast to simulate, and the times that suit its speed."""
    cpu = keys["machine"]["cpu"]
    rate = capacity_per_s(scenario_from_mapping(keys, KIND))
    if rate > FASTEST_PER_S:
        cpu["relative_speed"] = max(float(f"{cpu['relative_speed'] * FASTEST_PER_S / rate:.3g}"), 0.02)
        rate = capacity_per_s(scenario_from_mapping(keys, KIND))
    redo_bytes = keys["database"]["page_cleaner"]["redo_capacity_gib"] * 1024**3
    lasts_s = float(f"{2 * np.clip(redo_bytes / LOG_BYTES, FEWEST, MOST) / rate:.4g}")
    keys["interval"] |= {"warm_up_s": lasts_s, "duration_s": lasts_s}
    return scenario_from_mapping(keys, KIND)
