"""Benchmark 5: what a run costs when one thing grows: simulated time, clients, pages."""

from __future__ import annotations

from statistics import median

from benchmarks.engines import Run, run_engine
from benchmarks.page import figure, part, table
from benchmarks.pages import model_of
from simulator.model import Model

BUFFERS, WAREHOUSES, CLIENTS, THINK_MS = 100_000, 10, 40, 60


def section(full: bool) -> str:
    seconds = 300.0 if full else 60.0
    models = {
        "base": model_of(BUFFERS, WAREHOUSES, CLIENTS, seconds, THINK_MS),
        "simulated time x 2": model_of(BUFFERS, WAREHOUSES, CLIENTS, 2 * seconds, THINK_MS),
        "clients x 10": model_of(BUFFERS, WAREHOUSES, 10 * CLIENTS, seconds, THINK_MS),
        "pages x 10": model_of(10 * BUFFERS, 10 * WAREHOUSES, CLIENTS, seconds, THINK_MS),
    }
    rounds = [{name: run_engine("kernel", model, seed) for name, model in models.items()} for seed in range(4)]
    counted = rounds[1:]
    rows = [row(name, model, [each[name] for each in counted], [each["base"] for each in counted])
            for name, model in models.items()]  # fmt: skip
    return part(
        "## Growth",
        f"One thing at a time; clients think {THINK_MS} ms. A cost that grows linearly "
        "leaves the time for a transaction as it was, but for "
        "what the processor's caches no longer hold; memory follows pages and clients, not time.",
        table(
            [
                "",
                "clients",
                "pages",
                "simulated s",
                "transactions",
                "wall s",
                "us per transaction",
                "as against the base",
                "state MiB",
            ],
            rows,
        ),
    )


def row(name: str, model: Model, runs: list[Run], base: list[Run]) -> list[str]:
    return [
        name,
        str(len(model.client_registers)),
        figure(model.program.pages),
        f"{runs[0].simulated_s:.0f}",
        figure(median(run.transactions for run in runs)),
        f"{median(run.run_s for run in runs):.2f}",
        f"{1e6 * median(map(cost_s, runs)):.2f}",
        f"{median(cost_s(own) / cost_s(its) for own, its in zip(runs, base, strict=True)):.2f}",
        f"{runs[0].state_bytes / (1 << 20):.0f}",
    ]


def cost_s(run: Run) -> float:
    """Wall time for a transaction."""
    return run.run_s / run.transactions
