"""Benchmark 4: page references with a buffer pool of 10 million pages and 1,000 warehouses."""

from __future__ import annotations

from statistics import median

from benchmarks.engines import Run, run_engine
from benchmarks.page import Section, at_least, at_most, figure, table
from benchmarks.v20z import SCENARIO
from models.build import build
from models.reading import load_scenario
from simulator.form import Model

WARM_UP_S = 5
LEAST_CLIENTS = 400
LEAST_REFERENCES_PER_S, MOST_BYTES_PER_PAGE = 3e6, 40
MACHINE = (
    "machine.cpu=server-2020s",
    "machine.cpu.cores=32",
    "machine.disks={disk: nvme, count: 8}",
)


def model_of(buffers: int, warehouses: int, clients: int, duration_s: float, think_ms: int = 0) -> Model:
    """A large machine under the V20z's database engine and workload."""
    memory_gib = 2 + 1.2 * buffers * 10 / (1 << 20)
    size = (
        f"machine.memory_gib={memory_gib:.1f} GiB",
        f"database.pool.buffers={buffers}",
        f"workload.warehouses={warehouses}",
        f"workload.arrivals.clients={clients}",
        f"workload.arrivals.think_time_s={think_ms} ms",
        f"interval.warm_up_s={WARM_UP_S}",
        f"interval.duration_s={duration_s}",
    )
    return build(load_scenario(SCENARIO, [*MACHINE, *size]))


def references_per_s(run: Run) -> float:
    """After the warm-up, in which memory is touched for the first time."""
    counted = run.result.caches[0].references
    return counted / run.run_s_after(WARM_UP_S)


def section(full: bool) -> Section:
    duration_s, rounds = (120.0, 3) if full else (20.0, 2)
    rows, speed, memory = [], 0.0, 0.0
    for buffers, warehouses in ((100_000, 10), (10_000_000, 1_000)):
        clients = max(LEAST_CLIENTS, warehouses)  # one works in one warehouse
        model = model_of(buffers, warehouses, clients, duration_s)
        runs = [run_engine("kernel", model, seed) for seed in range(1, rounds + 1)]
        speed = median(map(references_per_s, runs))
        memory = runs[0].state_bytes / model.program.pages
        rows.append(
            [
                f"{buffers:,}",
                f"{warehouses:,}",
                f"{clients:,}",
                f"{model.program.pages:,}",
                f"{median(run.set_up_s for run in runs):.2f}",
                figure(speed),
                f"{runs[0].result.caches[0].hit_ratio:.4f}",
                f"{runs[0].state_bytes / (1 << 20):.0f}",
                f"{memory:.1f}",
            ]
        )
    text = (
        "The V20z's database engine and workload on 32 cores, 8 SSDs and enough memory, with clients in every "
        "warehouse that do not think. Bytes are those of all arrays of a run, by pages of the database."
    )
    head = ["buffers", "warehouses", "clients", "pages of the database", "set-up s", "page references/s", "hit ratio"]
    goals = [
        at_least("page references per second with 10 million buffers:", LEAST_REFERENCES_PER_S, speed),
        at_most("bytes of memory per page of the database:", MOST_BYTES_PER_PAGE, memory),
    ]
    return Section("Pages", [text, table([*head, "state MiB", "bytes per page"], rows)], goals)
