"""Eight pools of 5 to 45 GiB over slow flash: a machine on which misses, dirty pages and waits decide each other.

The data are those of published runs on three devices (tpcc-mysql, 1,000 warehouses, about 100 GB in pages of 16 KiB).
What they don't say is assumed: the profile is the catalogue's InnoDB with a row operation of 150 us, each transaction
draws its warehouse, as tpcc-mysql's do, and rows are chosen as by go-tpc.
"""

from oltpsim.models.reading import scenario_from_mapping
from oltpsim.models.scenario import ScenarioSpec

POOLS_GIB = (5, 10, 15, 20, 25, 30, 35, 45)
PAGES_PER_GIB = 65_536
SOURCE = "assumption: for pools of 5 to 45 GiB"
CHECKPOINT_S, CHECKPOINTS = 1200, 8


def pool_system(number: int) -> tuple[str, ScenarioSpec]:
    """Kind and scenario of the pool of that number."""
    disk = {
        "kind": "flash",
        "name": "SSD with slow writes",
        "capacity_gib": 1000,
        "read_latency_us": 500,
        "write_latency_us": 15_000,
        "parallel_requests": 8,
        "source": SOURCE,
    }
    cpu = {"model": "28 cores of 2 GHz", "cores": 28, "threads_per_core": 2, "relative_speed": 2.0, "source": SOURCE}
    machine = {"name": "server", "cpu": cpu, "memory_gib": 256, "disks": {"disk": disk, "count": 1}, "source": SOURCE}
    database = {
        "base": "mysql-5-1",
        "io": "direct",
        "requests_per_file": 1024,
        "pool": {"buffers": POOLS_GIB[number] * PAGES_PER_GIB},
        "checkpoint": {"interval_s": CHECKPOINT_S},
        "log": {"commit": "durable", "flush_overhead_us": 5000},
        "path": {"row_operation_us": 150},
    }
    workload = {
        "base": "go-tpc",
        "layout": "tpcc-16k",
        "warehouses": 1000,
        "arrivals": {"kind": "closed", "clients": 56, "think_time_s": 0},
    }
    keys = {
        "name": f"pool of {POOLS_GIB[number]} GiB",
        "machine": machine,
        "operating_system": "linux",
        "database": database,
        "workload": workload,
        "interval": {"start": "warm", "warm_up_s": CHECKPOINT_S, "duration_s": CHECKPOINTS * CHECKPOINT_S},
    }
    return "pool", scenario_from_mapping(keys, f"pool {number}")
