"""Benchmark 7: 24 simulated hours: neither memory nor the time for a transaction may grow."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from itertools import pairwise
from time import process_time

from benchmarks.checkout import THIS, Options
from benchmarks.machine import resident_bytes
from benchmarks.page import Section, at_most, table
from benchmarks.v20z import SCENARIO
from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator.form import Progress
from oltpsim.simulator.kernel import simulate
from oltpsim.simulator.results.recording import MOST_SERIES_STEPS

HOURS = (1, 2, 6, 12, 18, 24)
MOST_GROWTH, MOST_GROWTH_MIB = 1.1, 32


@dataclass(frozen=True)
class Mark:
    """Where a run stood at the end of an hour."""

    hour: float
    at_s: float
    mib: float
    transactions: int


def marks_of_a_day() -> list[Mark]:
    """Run the V20z for a day; the first mark is at hour 0."""
    model = build(load_scenario(SCENARIO, [f"interval.duration_s={HOURS[-1]} h"]))
    marks = [Mark(0.0, process_time(), resident_bytes() / (1 << 20), 0)]

    def note(progress: Progress) -> None:
        hour = progress.simulated_s / 3600
        if hour >= next((h for h in HOURS if h > marks[-1].hour), HOURS[-1]):
            marks.append(Mark(hour, process_time(), resident_bytes() / (1 << 20), progress.transactions))

    simulate(model, 1, note)
    return marks


def section(options: Options) -> Section:
    del options  # a day is a day
    marks = [Mark(**mark) for mark in THIS.run_module("benchmarks.day")["marks"]]
    rows, costs_us = [], []
    for before, mark in pairwise(marks):
        cpu_s, transactions = mark.at_s - before.at_s, mark.transactions - before.transactions
        costs_us.append(1e6 * cpu_s / transactions)
        rows.append(
            [
                f"{before.hour:.0f} to {mark.hour:.0f}",
                f"{transactions:,}",
                f"{cpu_s / (mark.hour - before.hour):.2f}",
                f"{costs_us[-1]:.2f}",
                f"{mark.mib - marks[1].mib:+.1f}",
            ]
        )
    text = (
        "The V20z for 24 simulated hours, saturated by its 80 clients. No list grows with the transactions: the "
        f"series in the result has at most {MOST_SERIES_STEPS:,} points however long a run is, and they are what "
        "memory is taken for on the way."
    )
    head = ["hours", "transactions", "CPU s per simulated hour", "us per transaction"]
    goals = [
        at_most("time for a transaction in the last hours by that in the second:", MOST_GROWTH,
                costs_us[-1] / costs_us[1]),
        at_most("MiB of memory taken after the first hour:", MOST_GROWTH_MIB, marks[-1].mib - marks[1].mib),
    ]  # fmt: skip
    return Section("A day", [text, table([*head, "memory since the first hour, MiB"], rows)], goals)


if __name__ == "__main__":
    print(json.dumps({"marks": [asdict(mark) for mark in marks_of_a_day()]}))
