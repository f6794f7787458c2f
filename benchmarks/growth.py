"""Benchmark 5: what a run costs when one thing grows: simulated time, clients, pages."""

from __future__ import annotations

from statistics import median

from benchmarks.checkout import Options
from benchmarks.engines import Run, run_engine
from benchmarks.page import Section, at_most, figure, table
from benchmarks.pages import WARM_UP_S, model_of
from oltpsim.simulator.form import System

MOST_BEYOND_PROPORTION = 1.1
"""A tenth for what a shared machine does to a measurement"""
BUFFERS, WAREHOUSES, CLIENTS, THINK_MS = 100_000, 10, 40, 60


def section(options: Options) -> Section:
    seconds = 300.0 if options.full else 60.0
    models = {
        "base": model_of(BUFFERS, WAREHOUSES, CLIENTS, seconds, THINK_MS),
        "simulated time x 2": model_of(BUFFERS, WAREHOUSES, CLIENTS, 2 * seconds + WARM_UP_S, THINK_MS),
        "clients x 10": model_of(BUFFERS, WAREHOUSES, 10 * CLIENTS, seconds, THINK_MS),
        "pages x 10": model_of(10 * BUFFERS, 10 * WAREHOUSES, CLIENTS, seconds, THINK_MS),
    }
    factors = (1, 2, 10, 10)
    rounds = [{name: run_engine("kernel", model, seed) for name, model in models.items()} for seed in range(4)]
    base = [each["base"] for each in rounds[1:]]
    rows, beyond = [], []
    for (name, model), factor in zip(models.items(), factors, strict=True):
        runs = [each[name] for each in rounds[1:]]
        times = median(own.run_s / its.run_s for own, its in zip(runs, base, strict=True))
        beyond.append(times / factor)
        rows.append(row(name, model, runs, times))
    text = (
        f"One thing at a time; {CLIENTS} clients think {THINK_MS} ms. Ten times the clients end ten times the "
        "transactions. Ten times the pages are no more work, but the processor's caches no longer hold them. "
        "Memory follows pages and clients, not time."
    )
    head = ["", "clients", "pages", "simulated s", "transactions", "CPU s", "CPU s by the base's"]
    goal = at_most("CPU time by what grew, most of all:", MOST_BEYOND_PROPORTION, max(beyond[1:]))
    return Section("Growth", [text, table([*head, "us per transaction", "state MiB"], rows)], [goal])


def row(name: str, model: System, runs: list[Run], times: float) -> list[str]:
    return [
        name,
        str(len(model.client_registers)),
        figure(model.program.pages),
        f"{runs[0].simulated_s:.0f}",
        figure(median(run.transactions for run in runs)),
        f"{median(run.run_s for run in runs):.2f}",
        f"{times:.2f}",
        f"{1e6 * median(run.run_s / run.transactions for run in runs):.2f}",
        f"{runs[0].state_bytes / (1 << 20):.0f}",
    ]
