"""Systems at random over the whole schema: what the analytic engine is held against.

Twenty kinds, as many of each: the six of random_machines.py, one for each way of arriving, writing and waiting that the
schema can say, and one that puts three others together. The same number always gives the same system. Machines are
small, and intervals are as long as about `CHECKPOINT_TRANSACTIONS` take, so that the kernel needs a few seconds.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.random_machines import FLASH, REGIMES, ROTATING, machine_keys
from oltpsim.models.catalogue import catalogue_entry
from oltpsim.models.machine import DiskSpec, RotatingDiskSpec, SsdSpec, speed_of
from oltpsim.models.reading import scenario_from_mapping
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import memory_plan
from oltpsim.models.workloads import ClosedClientsSpec
from oltpsim.simulator.errors import InputError

Keys = dict[str, Any]
CHECKPOINT_TRANSACTIONS = 20_000
"""transactions of all classes between two checkpoints, about"""
SHORTEST_CHECKPOINT_S, LONGEST_CHECKPOINT_S = 2.0, 600.0
FASTEST_PER_S = 8_000
"""transactions/s: faster processors are drawn, but slowed to this, since simulating them shows nothing else"""
EXPIRY_SHARE, WAKING_SHARE = 0.1, 1 / 60
"""of a checkpoint's interval: age at which dirty pages are written back, and how often the flusher wakes (Linux and
PostgreSQL: 30 s and 5 s of 300 s)"""
WORKING_SET_MIB = 66
"""of a warehouse: the Virtuoso scalability article"""
MOST_PAGES = 1_000_000
MOST_TRIES = 50
CYCLE_S = 21.0
"""mean keying and think time together that TPC-C asks of a terminal (clause 5.2.5.7)"""
ROWS, SCANNED_ROWS = 20, 28
"""mean of a transaction, about"""
LAYOUTS = {"tpcc-8k": 8, "tpcc-16k": 16, "tpcc-postgresql": 8, "tpcc-oracle-4k": 4}
SOURCE = "assumption: drawn at random"
SLOW_FLASH = ("crucial-mx200", "slc-array-ssd", "samsung-860-pro", "intel-dc-p4510-2000")


def _one_of(rng: np.random.Generator, *values: Any) -> Any:
    return values[int(rng.integers(len(values)))]


def _between(rng: np.random.Generator, low: float, high: float) -> float:
    """Evenly on a logarithmic scale, to three digits."""
    return float(f"{np.exp(rng.uniform(np.log(low), np.log(high))):.3g}")


@dataclass
class Drawing:
    """A scenario while it is drawn: its keys, and what sizes, memory and times are made of at the end."""

    rng: np.random.Generator
    machine: Keys = field(default_factory=dict)
    cpu: Keys = field(default_factory=dict)
    disks: Keys = field(default_factory=dict)
    system: Keys = field(default_factory=dict)
    page_cache: Keys = field(default_factory=dict)
    database: Keys = field(default_factory=dict)
    workload: Keys = field(default_factory=dict)
    arrivals: Keys = field(default_factory=dict)
    cluster: Keys | None = None
    start: str = "warm"
    warm_up_intervals: float = 1.0
    warehouses: int = 1
    clients: int = 1
    layout: str = "tpcc-8k"
    cached: float = 1.0
    """buffers by the pages that the warehouses keep busy"""
    spare: float = 0.1
    """memory that nobody holds, by that of the pool: the page cache has it"""
    load: float = 0.5
    """of open arrivals and terminals: transactions offered by those that the machine is thought to do"""
    bursts: list[tuple[Keys, float]] = field(default_factory=list)
    """limits with credits, and for how many of a checkpoint's intervals these last beside what comes back"""

    def one_of(self, *values: Any) -> Any:
        """One of the values."""
        return _one_of(self.rng, *values)

    def between(self, low: float, high: float) -> float:
        """Evenly on a logarithmic scale, to three digits."""
        return _between(self.rng, low, high)

    def chance(self, share: float) -> bool:
        """Whether what comes to pass with this probability does."""
        return bool(self.rng.random() < share)


def plain_drawing(rng: np.random.Generator) -> Drawing:
    """What most kinds have in common."""
    d = Drawing(rng)
    d.warehouses = round(d.between(3, 60))
    d.clients = max(4, round(d.warehouses * d.one_of(0.5, 1, 1, 2, 2, 3, 5)))
    d.cached, d.spare = d.between(0.15, 1.5), d.between(0.03, 0.6)
    d.cpu = {"base": "opteron-244", "relative_speed": d.between(0.5, 3), "cores": d.one_of(1, 2, 4, 8)}
    d.disks = {
        "disk": d.one_of(random_arm(d), random_arm(d), d.one_of(*FLASH), random_flash(d)),
        "count": d.one_of(1, 1, 2, 4, 8),
    }
    clients_on_server = d.one_of(True, False)
    d.machine = {"network": {"clients_on_server": clients_on_server, "round_trip_us": d.one_of(0, 100, 200, 1000)}}
    d.system = {"base": d.one_of("linux", "linux", "linux-2-6", "solaris-10", "windows-2000")}
    high = d.one_of(0.3, 0.5, 0.75, 0.9)
    d.database = {
        "base": d.one_of("virtuoso-4", "virtuoso-5", "virtuoso-6"),
        "io": d.one_of("buffered", "direct"),
        "requests_per_file": d.one_of(16, 64, 1024),
        "pool": {"replacement": d.one_of("lru", "clock")},
        "writer": {"dirty_high_fraction": high, "dirty_low_fraction": high - d.one_of(0.01, 0.03, 0.2)},
        "checkpoint": {"spread_fraction": d.one_of(0.0, 0.5, 0.9)},
        "log": {"commit": d.one_of("durable", "buffered"), "flush_overhead_us": d.one_of(0, 50, 300)},
        "critical_section": {"share_of_path": d.one_of(0.0, 0.05, 0.1, 0.3)},
    }
    if d.chance(0.4):
        d.machine["log_disk"] = d.one_of(random_arm(d), *FLASH, random_flash(d))
    d.workload = {"base": d.one_of("virtuoso-tpcc", "virtuoso-tpcc", "tpcc-specification")}
    d.arrivals = {"kind": "closed", "think_time_s": d.one_of(0.0, 0.0, d.between(0.01, 0.5))}
    return d


def random_arm(d: Drawing) -> Any:
    """A disk with an arm, with a write cache or without."""
    name = d.one_of(*ROTATING)
    changes = {
        "queue_depth": d.one_of(1, 8, 32, 64),
        "scheduler": d.one_of("look", "look", "c-look", "fcfs"),
        "write_cache_mib": d.one_of(0, 0, 8, 32),
    }
    return d.one_of(name, {"base": name, **changes})


def random_flash(d: Drawing) -> Any:
    """An SSD of the catalogue, or one whose writes take up to fifteen milliseconds."""
    keys = {
        "kind": "flash",
        "name": "an SSD at random",
        "capacity_gib": 500,
        "read_latency_us": d.between(60, 2500),
        "write_latency_us": d.between(30, 15_000),
        "parallel_requests": d.one_of(1, 2, 4, 8, 16, 64),
        "reads_per_write": d.one_of(None, None, 2, 3),
        "source": SOURCE,
    }
    return d.one_of(d.one_of(*SLOW_FLASH), keys, keys)


def _limit(d: Drawing, of: str, per_s: float) -> Keys:
    """A rate limit, half of them with credits for bursts: all gone, lasting, or used up on the way."""
    keys = {"of": of, "per_s": per_s, "source": SOURCE}
    if d.one_of(True, False):
        keys |= {"burst_per_s": round(per_s * d.between(1.2, 10), 1), "credits_at_start_fraction": d.one_of(0, 0.5, 1)}
        d.bursts.append((keys, d.between(0.1, 30)))
    return keys


def random_volume(d: Drawing) -> Keys:
    """A cloud volume, with the latencies of gp2 and gp3 or io2 of the catalogue."""
    latencies = d.one_of((1050, 2000), (1050, 2000), (800, 1200), (400, 600))
    limits = [_limit(d, "requests", d.between(100, 4000))]
    if d.one_of(True, False):
        limits.append(_limit(d, "mib", d.between(2, 250)))
    return {
        "kind": "flash",
        "name": "a volume at random",
        "capacity_gib": 500,
        "read_latency_us": latencies[0],
        "write_latency_us": latencies[1],
        "parallel_requests": d.one_of(16, 64, 192),
        "limits": limits,
        "source": SOURCE,
    }


def _direct_durable(d: Drawing) -> None:
    d.database["io"] = "direct"
    d.database["log"] = {"commit": "durable", "flush_overhead_us": d.one_of(0, 50, 300, 5000)}
    d.machine.pop("log_disk", None)
    d.disks = {
        "disk": d.one_of(random_arm(d), random_flash(d), random_flash(d), *FLASH),
        "count": d.one_of(1, 1, 1, 2, 4),
    }
    d.database["writer"] |= {"coalesced_pages": d.one_of(1, 1, 8, 32), "batch_pages": d.one_of(8, 32, 32, 256)}
    d.cached = d.between(0.1, 1.0)


def _volume_limits(d: Drawing) -> None:
    d.disks = {"disk": random_volume(d), "count": d.one_of(1, 1, 1, 2, 4)}
    d.machine.pop("log_disk", None)
    if d.one_of(True, False):
        d.machine["log_disk"] = random_volume(d)
    if d.chance(0.4):
        d.machine["volume_limits"] = [_limit(d, *d.one_of(("requests", d.between(300, 6000)), ("mib", 100)))]
    d.cached = d.between(0.15, 1.2)


def _raid(d: Drawing) -> None:
    level = d.one_of("raid0", "raid1", "raid10", "raid5", "raid6")
    sets = 1 if level == "raid1" else d.one_of(1, 1, 1, 2)
    of_set = {"raid0": (2, 4, 8), "raid1": (2,), "raid10": (4, 6, 8), "raid5": (3, 4, 6), "raid6": (4, 6, 8)}[level]
    flash = d.chance(0.35)
    disk = random_flash(d) if flash else random_arm(d)
    count = sets * d.one_of(*of_set)
    d.disks = {"disk": disk, "count": count, "level": level, "sets": sets, "stripe_kib": d.one_of(16, 64, 256)}
    if flash and d.chance(0.3):
        d.machine.pop("volume_limits", None)
        limits = [_limit(d, *d.one_of(("requests", d.between(500, 20_000)), ("mib", d.between(10, 300))))]
        d.disks |= {"controllers": 1, "controller_limits": limits}
    if isinstance(d.machine.get("log_disk"), str | dict) and d.chance(0.2):
        d.machine["log_disks"] = d.one_of(2, 4)
    if not flash:
        d.machine.pop("volume_limits", None)


def _write_throttling(d: Drawing) -> None:
    d.database["io"] = "buffered"
    d.database["writer"].pop("coalesced_pages", None)
    d.page_cache = {
        "dirty_limit_fraction": d.between(0.005, 0.2),
        "in_flight_pages": d.one_of(16, 64, 256, 2048),
        "merged_write_kib": d.one_of(16, 64, 128, 512),
    }
    d.spare, d.cached = d.between(0.005, 0.3), d.between(0.2, 1.0)
    d.disks = {"disk": d.one_of(random_arm(d), random_flash(d)), "count": d.one_of(1, 1, 2, 4)}


def _critical_section(d: Drawing) -> None:
    cores = d.one_of(2, 4, 8, 16)
    share = min(d.between(0.7, 1.5) / cores, 0.95)
    d.cpu["cores"], d.cpu["relative_speed"] = cores, d.between(0.5, 2)
    entries = d.one_of(1, 5, 20, 50)
    d.database["critical_section"] = {"share_of_path": share, "entries_per_transaction": entries}
    d.system["cpu"] = {"contended_handover_us": d.one_of(0, 2, 10, 18)}
    d.warehouses = max(d.warehouses, 8)
    d.clients = max(d.clients, cores * d.one_of(1, 2, 5))
    d.cached = d.between(0.6, 2.0)
    d.disks = {"disk": d.one_of(*FLASH), "count": d.one_of(1, 4)}


def _one_client(d: Drawing) -> None:
    d.clients, d.warehouses = d.one_of(1, 1, 2, 3), round(d.between(1, 20))
    if d.chance(0.3):
        d.workload["active_warehouses"] = 1


def _thousand_clients(d: Drawing) -> None:
    d.clients, d.warehouses = round(d.between(300, 1500)), round(d.between(20, 80))
    d.arrivals = {"kind": "closed", "think_time_s": d.one_of(0.0, d.between(0.05, 2.0))}
    d.cached = d.between(0.2, 1.5)


def _terminals(d: Drawing) -> None:
    d.load = d.between(0.2, 1.3)
    d.arrivals = {
        "kind": "terminals",
        "terminals_per_warehouse": d.one_of(1, 5, 10, 10, 20),
        "connections": round(d.between(4, 100)),
        "deferred_delivery": d.one_of(True, False),
        "middle_tier_ms": d.one_of(0, 2, 50),
    }
    d.clients = d.arrivals["connections"]


def _open(d: Drawing) -> None:
    d.load = d.between(0.15, 0.95)
    d.arrivals = {"kind": "open", "connections": d.one_of(20, 50, 200)}
    d.clients = d.arrivals["connections"]


def _after_load(d: Drawing) -> None:
    d.start, d.warm_up_intervals = d.one_of("after_load", "after_load", "cold"), d.one_of(0, 0.2, 1)
    d.cached = d.between(0.1, 2.0)


def _postgresql(d: Drawing) -> None:
    d.database = {
        "base": "postgresql-15",
        "pool": {"replacement": "clock"},
        "checkpoint": {"spread_fraction": d.one_of(0.5, 0.9, 0.9)},
        "log": {"commit": d.one_of("durable", "durable", "buffered"), "flush_overhead_us": d.one_of(50, 300, 2000)},
        "writer": {},
    }
    d.layout, d.system = "tpcc-postgresql", {"base": "linux"}
    d.workload = {"base": "go-tpc"}
    d.cpu |= {"base": "server-2020s", "relative_speed": d.between(1.5, 5)}
    d.cached, d.spare = d.between(0.05, 1.2), d.between(0.1, 3.0)
    d.clients = d.one_of(4, 8, 16, 32, 64)
    d.page_cache = {"dirty_limit_fraction": d.one_of(0.05, 0.2, 1)}


def _innodb(d: Drawing) -> None:
    path = {"transaction_us": d.between(80, 1500), "row_operation_us": d.between(10, 150), "scanned_row_us": 1.5}
    high = d.one_of(0.1, 0.5, 0.75, 0.9)
    d.database = {
        "base": "mysql-5-1",
        "io": d.one_of("direct", "direct", "buffered"),
        "requests_per_file": d.one_of(16, 64, 256),
        "pool": {"replacement": "lru"},
        "writer": {"dirty_high_fraction": high, "dirty_low_fraction": high - 0.01, "batch_pages": d.one_of(8, 32, 200)},
        "checkpoint": {"spread_fraction": d.one_of(0.5, 0.9)},
        "log": {"commit": d.one_of("durable", "durable", "buffered"), "flush_overhead_us": d.one_of(50, 300, 5000)},
        "path": path,
        "critical_section": {"share_of_path": d.one_of(0, 0.02, 0.1)},
    }
    if d.database["io"] == "direct":
        d.database["writer"]["coalesced_pages"] = d.one_of(1, 1, 8, 64)
    d.layout, d.workload = "tpcc-16k", {"base": "tpcc-specification"}
    d.cached = d.between(0.1, 1.3)
    if d.one_of(True, False):
        d.machine.pop("log_disk", None)
    d.disks = {
        "disk": d.one_of(random_arm(d), random_flash(d), random_flash(d), random_volume(d), *FLASH),
        "count": d.one_of(1, 2),
    }
    if "volume_limits" in d.machine:
        d.disks["disk"] = random_flash(d)


def _hardware_threads(d: Drawing) -> None:
    cores = d.one_of(2, 4, 8)
    d.cpu |= {"cores": cores, "threads_per_core": d.one_of(1, 2, 2), "second_thread_gain": d.between(0.05, 0.6)}
    d.cpu |= {"memory_bus_share": d.one_of(0, 0, 0.1, 0.4), "relative_speed": d.between(0.5, 1.5)}
    d.machine["hardware_share_lost"] = d.one_of(0, 0, 0.1)
    d.clients = max(d.clients, cores)
    d.cached = d.between(0.4, 2.0)
    if d.chance(0.3):
        d.cpu |= {"sockets": 2, "remote_memory_factor": 1.5, "tlb_entries": 64, "cache_mib": 8}
        d.database["path"] = {"memory_references": d.one_of(10, 33)}
    if d.chance(0.4):
        apart = d.cpu["threads_per_core"] == 1 and not d.cpu["memory_bus_share"] and d.one_of(True, False)
        d.system["interrupts"] = {
            "interrupt_us": d.one_of(5, 15),
            "per_message": d.one_of(1, 2),
            "bound_processors": int(apart),
            "remote_socket_factor": 1.5,
            "by_locality": d.one_of(True, False),
        }


def _other_rows(d: Drawing) -> None:
    """Other mixes, row choices and program options than the drivers'."""
    weights = d.rng.dirichlet([4, 4, 1, 1, 1])
    shares = [round(float(weight), 4) for weight in weights[1:]]
    names = ("payment", "order_status", "delivery", "stock_level")
    d.workload["mix"] = {"new_order": round(1 - sum(shares), 4), **dict(zip(names, shares, strict=True))}
    d.workload["tpcc"] = {
        "item_choice": d.one_of("nurand", "uniform"),
        "customer_choice": d.one_of("nurand", "uniform"),
        "remote_stock_fraction": d.one_of(0.0, 0.01, 0.5),
        "remote_payment_fraction": d.one_of(0.0, 0.15, 1.0),
        "home_warehouse": d.one_of("bound", "drawn"),
        "payment_order": d.one_of("customer_first", "warehouse_first"),
        "round_trips": d.one_of(1, 6, 30),
    }


def _stack(d: Drawing) -> None:
    """What lies between a database's files and its devices, and other servers beside the machine."""
    if d.chance(0.3):
        d.system["io_scheduler"] = {"kind": "cfq", "request_us": d.one_of(0, 5)}
    if d.chance(0.3):
        d.system["storage_stack"] = {"kind": "file_system"}
    if d.chance(0.3) and d.disks.get("count", 1) > 1:
        d.database["file_layout"] = "by_table"
    if d.chance(0.3):
        standby = {"round_trip_us": d.one_of(100, 1000), "flush_us": d.one_of(100, 500)}
        d.cluster = {"servers": d.one_of(1, 2, 8), "standby": d.one_of(None, standby)}


def _oracle(d: Drawing) -> None:
    """Small blocks, heaps, and a pool whose references cost memory accesses."""
    d.database = {
        "base": "oracle-10g",
        "process_memory_gib": 0.5,
        "pool": {"replacement": "lru"},
        "writer": {"coalesced_pages": d.one_of(1, 16), "batch_pages": d.one_of(32, 256)},
        "checkpoint": {"spread_fraction": d.one_of(0.5, 0.9)},
        "log": {"commit": "durable", "flush_overhead_us": d.one_of(50, 300)},
    }
    d.layout, d.workload = "tpcc-oracle-4k", {"base": "tpcc-specification"}


def _anything(d: Drawing) -> None:
    """Three kinds of change, one upon the other, and often what no kind is named for."""
    if d.chance(0.6):
        changes = [change for kind, change in CHANGES.items() if kind != "anything"]
        for number in sorted(d.rng.choice(len(changes), 3, replace=False)):
            changes[int(number)](d)
    if d.chance(0.25):
        _oracle(d)
    if d.chance(0.5):
        _other_rows(d)
    if d.chance(0.3):
        _stack(d)


CHANGES: dict[str, Callable[[Drawing], None]] = {
    "direct durable": _direct_durable,
    "volume limits": _volume_limits,
    "raid": _raid,
    "write throttling": _write_throttling,
    "postgresql": _postgresql,
    "innodb": _innodb,
    "critical section": _critical_section,
    "hardware threads": _hardware_threads,
    "one client": _one_client,
    "thousand clients": _thousand_clients,
    "terminals": _terminals,
    "open": _open,
    "after load": _after_load,
    "anything": _anything,
}
KINDS = (*REGIMES, *CHANGES)


def random_system(number: int) -> tuple[str, ScenarioSpec]:
    """Kind and scenario of system `number`; kinds take turns.

    Machines that can't run their workload are drawn again. Raises InputError if `MOST_TRIES` in turn can't.
    """
    kind = KINDS[number % len(KINDS)]
    for attempt in itertools.count():
        rng = np.random.default_rng([number, attempt])
        try:
            return kind, _timed(machine_keys(kind, rng), kind) if kind in REGIMES else finished(kind, drawn(kind, rng))
        except InputError:
            if attempt + 1 >= MOST_TRIES:
                raise
    raise AssertionError


def drawn(kind: str, rng: np.random.Generator) -> Drawing:
    """Drawing of a kind that changes the plain one."""
    d = plain_drawing(rng)
    CHANGES[kind](d)
    return d


def finished(kind: str, d: Drawing) -> ScenarioSpec:
    """Scenario of a drawing, with pool and memory of the sizes that it asks for."""
    database = catalogue_entry("databases", d.database["base"]) | {"io": d.database.get("io", "buffered")}
    system = catalogue_entry("operating_systems", d.system["base"])
    page_kib = LAYOUTS[d.layout]
    busy = d.cached * d.warehouses * WORKING_SET_MIB * 1024 / page_kib
    buffers = round(max(min(busy, MOST_PAGES), 1000, d.clients + 20))
    pool_gib = buffers * database["pool"]["memory_per_buffer_kib"] / 1024**2
    process_gib = d.database.get("process_memory_gib", database["process_memory_gib"])
    local = d.clients if d.machine["network"]["clients_on_server"] else 0
    used_gib = system["reserved_memory_gib"] + process_gib + local * system["memory_per_client_mib"] / 1024
    floor = system["page_cache"]["floor_fraction"]
    memory_gib = (used_gib + pool_gib * (1 + d.spare)) / (1 - floor) + 0.02
    d.database["pool"] = d.database.get("pool", {}) | {"buffers": buffers}
    if d.arrivals["kind"] == "closed":
        d.arrivals["clients"] = d.clients
    keys = {
        "machine": {
            "name": "a machine at random",
            "cpu": d.cpu,
            "memory_gib": round(memory_gib, 4),
            "disks": d.disks,
            "source": SOURCE,
            **d.machine,
        },
        "operating_system": d.system | {"page_cache": d.page_cache},
        "database": d.database,
        "workload": d.workload | {"layout": d.layout, "warehouses": d.warehouses, "arrivals": d.arrivals},
        "interval": {"start": d.start},
        "cluster": d.cluster,
    }
    return _timed(keys, kind, d.load, d.warm_up_intervals, d.bursts)


def _timed(
    keys: Keys,
    kind: str,
    load: float = 1.0,
    warm_up_intervals: float = 1.0,
    bursts: list[tuple[Keys, float]] | None = None,
) -> ScenarioSpec:
    """The scenario with the times that suit its speed: checkpoints, expiry, credits, arrivals and interval."""
    keys["name"] = kind
    arrivals, cpu = keys["workload"]["arrivals"], keys["machine"]["cpu"]
    keys["interval"] = {"start": keys["interval"]["start"], "warm_up_s": 60, "duration_s": 120}
    if arrivals["kind"] == "open":
        arrivals["transactions_per_s"] = 1.0
    for limit, _ in bursts or []:
        limit["credits"] = limit["per_s"]
    rate = capacity_per_s(scenario_from_mapping(keys, kind))
    if rate > FASTEST_PER_S:
        cpu["relative_speed"] = max(float(f"{cpu['relative_speed'] * FASTEST_PER_S / rate:.3g}"), 0.02)
        rate = capacity_per_s(scenario_from_mapping(keys, kind))
    if arrivals["kind"] == "open":
        arrivals["transactions_per_s"] = rate = float(f"{load * rate:.4g}")
    elif arrivals["kind"] == "terminals":
        terminals = keys["workload"]["warehouses"] * arrivals["terminals_per_warehouse"]
        factor = terminals / (CYCLE_S * load * rate)
        rate *= min(load, 1.0)
        arrivals["keying_time_s"] = _class_times(factor, 18, 3, 2, 2, 2)
        arrivals["think_time_s"] = _class_times(factor, 12, 12, 10, 5, 5)
    interval_s = min(max(CHECKPOINT_TRANSACTIONS / rate, SHORTEST_CHECKPOINT_S), LONGEST_CHECKPOINT_S)
    interval_s = float(f"{interval_s:.3g}")
    keys["database"]["checkpoint"]["interval_s"] = interval_s
    for limit, lasting in bursts or []:
        limit["credits"] = round(limit["per_s"] * interval_s * lasting, 1)
    system = keys["operating_system"]
    if isinstance(system, str):
        system = keys["operating_system"] = {"base": system, "page_cache": {}}
    base = catalogue_entry("operating_systems", system["base"])["page_cache"]
    cache = system["page_cache"]
    cache["flush_interval_s"] = round(min(5.0, max(interval_s * WAKING_SHARE, 0.02)), 4)
    cache["dirty_expire_s"] = 0 if base["dirty_expire_s"] == 0 else round(min(30.0, interval_s * EXPIRY_SHARE), 4)
    keys["interval"] |= {"warm_up_s": round(warm_up_intervals * interval_s, 3), "duration_s": 2 * interval_s}
    return scenario_from_mapping(keys, kind)


def _class_times(factor: float, *times_s: float) -> Keys:
    names = ("new_order", "payment", "order_status", "delivery", "stock_level")
    return {name: round(min(time_s * factor, 3600.0), 6) for name, time_s in zip(names, times_s, strict=True)}


def capacity_per_s(scenario: ScenarioSpec) -> float:
    """Transactions/s that a machine does at most, very roughly: the least of its parts' bounds.

    What chooses intervals and arrivals; nothing is judged by it.
    """
    machine, database, disks = scenario.machine, scenario.database, scenario.machine.disks
    path, cpu = database.path, machine.cpu
    of_path_s = path.transaction_us + ROWS * path.row_operation_us + SCANNED_ROWS * path.scanned_row_us
    cpu_s = (of_path_s + scenario.operating_system.cpu.message_us) / speed_of(machine) / 1e6
    gain = cpu.second_thread_gain if cpu.threads_per_core == 2 else 0.0
    bounds = [cpu.cores * (1.0 + gain) / cpu_s, 1.0 / max(database.critical_section.share_of_path * cpu_s, 1e-9)]
    plan = memory_plan(scenario)
    held = plan.resident_buffers + (plan.page_cache_pages if database.io == "buffered" else 0)
    busy = scenario.workload.loaded * WORKING_SET_MIB * 1024 / database.page_kib
    misses = 0.1 + 7.0 * max(0.0, 1.0 - held / busy) ** 1.5
    requests = 2.0 * misses * (1.5 if disks.layout else 1.0)
    bounds.append(disks.count * requests_per_s(disks.disk) / requests)
    bounds += [limit.per_s / requests for limit in machine.volume_limits if limit.of == "requests"]
    arrivals = scenario.workload.arrivals
    if isinstance(arrivals, ClosedClientsSpec):
        response_s = cpu_s + misses / requests_per_s(disks.disk)
        bounds.append(arrivals.clients / (arrivals.think_time_s + response_s))
    return float(min(bounds))


def requests_per_s(disk: DiskSpec) -> float:
    """Requests/s that a disk serves, as many reads as writes, roughly."""
    if isinstance(disk, RotatingDiskSpec):
        return 1500.0 / (0.6 * disk.seek_average_ms + 30_000 / disk.rpm + disk.overhead_ms)
    if isinstance(disk, SsdSpec):
        return 2.0 / (1.0 / disk.reads_per_s + 1.0 / (disk.programmed_mib_per_s * 256))
    latency_us = (disk.read_latency_us + disk.write_latency_us) / 2
    limits = [limit.per_s for limit in disk.limits if limit.of == "requests"]
    return float(min(disk.parallel_requests * 1e6 / latency_us, *limits, 1e9))
