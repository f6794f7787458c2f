"""Random small TPC-C scenarios, as files would say them: tests/scenarios/tiny.yaml with other parts."""

import copy
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st

from oltpsim.models.catalogue import catalogue_entry
from oltpsim.models.reading import scenario_from_mapping
from oltpsim.models.wiring import build
from oltpsim.simulator.form import System

TINY = Path(__file__).resolve().parents[1] / "scenarios" / "tiny.yaml"
FLASH = {
    "kind": "flash", "name": "flash", "capacity_gib": 70, "read_latency_us": 150, "write_latency_us": 250,
    "parallel_requests": 2, "source": "assumption: for tests",
}  # fmt: skip
READS_FIRST = FLASH | {"parallel_requests": 1, "reads_per_write": 2}


@cache
def tiny() -> dict[str, Any]:
    """The keys of the small scenario."""
    keys: dict[str, Any] = yaml.safe_load(TINY.read_text(encoding="utf-8"))
    return keys


@st.composite
def tpcc_models(draw: st.DrawFn) -> System:
    """One warehouse or two, a few clients, one or two simulated seconds."""
    keys = copy.deepcopy(tiny())
    machine, database, workload = keys["machine"], keys["database"], keys["workload"]
    arm = machine["disks"]["disk"] | {
        "queue_depth": draw(st.sampled_from([1, 8])),
        "scheduler": draw(st.sampled_from(["fcfs", "look", "c-look", "deadline"])),
    }
    machine["cpu"]["cores"] = draw(st.integers(1, 4))
    machine["disks"] = {"count": draw(st.integers(1, 3)), "disk": draw(st.sampled_from([arm, FLASH, READS_FIRST]))}
    machine["memory_gib"] = draw(st.sampled_from([0.3, 1]))
    machine["network"] = {"clients_on_server": draw(st.booleans())}
    if draw(st.booleans()):
        machine["log_disk"] = draw(st.sampled_from([arm, FLASH]))
    database["io"] = draw(st.sampled_from(["buffered", "direct"]))
    database["pool"] |= {
        "buffers": draw(st.sampled_from([100, 2000, 8000])),
        "replacement": draw(st.sampled_from(["lru", "clock"])),
    }
    database["writer"]["dirty_high_fraction"] = draw(st.sampled_from([0.25, 0.5, 1.0]))
    database["checkpoint"] = {"interval_s": 1, "spread_fraction": draw(st.sampled_from([0.0, 0.5]))}
    database["log"] = {
        "commit": draw(st.sampled_from(["buffered", "durable"])),
        "flush_overhead_us": draw(st.sampled_from([0, 100])),
    }
    keys["operating_system"]["page_cache"] |= {
        "floor_fraction": draw(st.sampled_from([0.0, 0.2])),
        "dirty_expire_s": draw(st.sampled_from([0, 1])),
        "flush_interval_s": 0.5,
        "dirty_limit_fraction": draw(st.sampled_from([0.001, 0.4])),
        "free_behind": draw(st.booleans()),
    }
    clients = draw(st.integers(1, 20))
    closed = {"kind": "closed", "clients": clients, "think_time_s": draw(st.sampled_from([0, 0.05]))}
    opened = {"kind": "open", "connections": clients, "transactions_per_s": draw(st.sampled_from([30, 400]))}
    workload["arrivals"] = draw(st.sampled_from([closed, opened]))
    workload["warehouses"] = draw(st.integers(1, 2))
    workload["tpcc"] = {
        "home_warehouse": draw(st.sampled_from(["bound", "drawn"])),
        "payment_order": draw(st.sampled_from(["customer_first", "warehouse_first"])),
        "namesakes_read": draw(st.sampled_from(["to_the_middle", "all", "chosen"])),
        "last_name_choice": draw(st.sampled_from(["nurand", "uniform"])),
        "stock_key": draw(st.sampled_from(["warehouse_first", "item_first"])),
    }
    if draw(st.booleans()):
        workload["layout"] |= {"heap": catalogue_entry("layouts", "tpcc-postgresql")["heap"]}
    keys["interval"] = {
        "start": draw(st.sampled_from(["cold", "after_load", "warm"])),
        "warm_up_s": draw(st.sampled_from([0, 0.4])),
        "duration_s": draw(st.sampled_from([1, 2])),
    }
    machine["cpu"] |= draw(st.sampled_from([{}, {"threads_per_core": 2}, {"memory_bus_share": 0.2}]))
    if workload["arrivals"]["kind"] == "closed" and draw(st.booleans()):
        keys["interval"] = {"start": keys["interval"]["start"], "new_orders_per_client": draw(st.sampled_from([1, 9]))}
    return build(scenario_from_mapping(keys, "tiny.yaml"))
