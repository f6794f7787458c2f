"""Benchmark 4: page references with a buffer pool of 10 million pages and 1,000 warehouses."""

from __future__ import annotations

from contextlib import ExitStack
from statistics import median

from benchmarks.checkout import THIS, Options
from benchmarks.engines import Run
from benchmarks.page import Section, at_least, at_most, figure, table
from benchmarks.v20z import SCENARIO
from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator.form import System

WARM_UP_S = 5
LEAST_CLIENTS = 400
LEAST_REFERENCES_PER_S, MOST_BYTES_PER_PAGE = 3e6, 24
SIZES = ((100_000, 10), (10_000_000, 1_000))
"""Buffers, warehouses"""
FIGURES = """(lambda run: {{
    "database_pages": run.database_pages, "set_up_s": run.set_up_s, "references_per_s": pages.references_per_s(run),
    "hit_ratio": run.result.caches[0].hit_ratio, "state_bytes": run.state_bytes,
}})(run_engine("kernel", pages.model_of{size}, number))"""
"""What a checkout computes"""
MACHINE = (
    "machine.cpu=server-2020s",
    "machine.cpu.cores=32",
    "machine.disks={disk: nvme, count: 8}",
)


def model_of(buffers: int, warehouses: int, clients: int, duration_s: float, think_ms: int = 0) -> System:
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


def section(options: Options) -> Section:
    duration_s, rounds = (120.0, 3) if options.full else (20.0, 2)
    checkouts = [THIS, options.beside] if options.beside else [THIS]
    rows: list[list[str]] = []
    found: list[dict[str, float]] = []
    for buffers, warehouses in SIZES:
        clients = max(LEAST_CLIENTS, warehouses)  # one works in one warehouse
        expression = FIGURES.format(size=(buffers, warehouses, clients, duration_s))
        with ExitStack() as until:
            workers = [checkout.worker(expression, until) for checkout in checkouts]
            turns = [[run(number) for run in workers] for number in range(1, rounds + 1)]
        found = [{name: median(run[name] for run in runs) for name in runs[0]} for runs in zip(*turns, strict=True)]
        for checkout, figures in zip(checkouts, found, strict=True):
            rows.append(
                [
                    checkout.name,
                    f"{buffers:,}",
                    f"{warehouses:,}",
                    f"{clients:,}",
                    f"{figures['database_pages']:,.0f}",
                    f"{figures['set_up_s']:.2f}",
                    figure(figures["references_per_s"]),
                    f"{figures['hit_ratio']:.4f}",
                    f"{figures['state_bytes'] / (1 << 20):.0f}",
                    f"{figures['state_bytes'] / figures['database_pages']:.1f}",
                ]
            )
    large = found[0]
    text = (
        "The V20z's database engine and workload on 32 cores, 8 SSDs and enough memory, with clients in every "
        "warehouse that do not think. Bytes are those of memory that a run takes beside its model, by pages of the "
        "database."
    )
    head = ["kernel of", "buffers", "warehouses", "clients", "pages of the database", "set-up s", "page references/s"]
    goals = [
        at_least(
            "page references per second with 10 million buffers:", LEAST_REFERENCES_PER_S, large["references_per_s"]
        ),
        at_most(
            "bytes of memory per page of the database:",
            MOST_BYTES_PER_PAGE,
            large["state_bytes"] / large["database_pages"],
        ),
    ]
    return Section("Pages", [text, table([*head, "hit ratio", "state MiB", "bytes per page"], rows)], goals)
