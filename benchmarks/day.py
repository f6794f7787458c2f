"""Benchmark 7: 24 simulated hours: neither memory nor the time for an hour may grow."""

from __future__ import annotations

from itertools import pairwise
from time import perf_counter

from benchmarks.machine import resident_mib
from benchmarks.page import part, table
from benchmarks.v20z import SCENARIO
from models.loading import load_scenario
from models.system import build
from simulator.kernel import simulate
from simulator.model import Model, Progress

HOURS = (1, 2, 6, 12, 18, 24)


def model_of(hours: int, full: bool) -> Model:
    """The V20z with a day before it. Quick: its clients think, so that there is less to do."""
    clients = "{kind: closed, clients: 80}" if full else "{kind: closed, clients: 80, think_time_s: 20 s}"
    return build(load_scenario(SCENARIO, [f"interval.duration_s={hours} h", f"workload.arrivals={clients}"]))


def section(full: bool) -> str:
    marks: list[tuple[float, float, float, int]] = [(0.0, perf_counter(), resident_mib(), 0)]

    def note(progress: Progress) -> None:
        hour = progress.simulated_s / 3600
        if hour >= next((h for h in HOURS if h > marks[-1][0]), HOURS[-1]):
            marks.append((hour, perf_counter(), resident_mib(), progress.transactions))

    simulate(model_of(HOURS[-1], full), 1, note)
    rows = []
    for (hour, at_s, _, ended), (until, until_s, mib, ended_then) in pairwise(marks):
        wall_s, transactions = until_s - at_s, ended_then - ended
        rows.append(
            [
                f"{hour:.0f} to {until:.0f}",
                f"{transactions:,}",
                f"{wall_s / (until - hour):.2f}",
                f"{1e6 * wall_s / transactions:.2f}",
                f"{mib - marks[1][2]:+.1f}",
            ]
        )
    return part(
        "## A day",
        "The V20z for 24 simulated hours"
        + (", saturated by 80 clients." if full else ", 80 clients that think 20 s between transactions."),
        table(
            [
                "hours",
                "transactions",
                "wall s per simulated hour",
                "us per transaction",
                "memory since the first hour, MiB",
            ],
            rows,
        ),
    )
