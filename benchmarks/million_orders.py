"""Benchmark 8: a million new orders per minute with caches and terminals, in a process of its own for its memory."""

from __future__ import annotations

import resource
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median

from benchmarks import v20z
from benchmarks.checkout import ROOT, THIS, Options
from benchmarks.engines import run_engine
from benchmarks.page import Section, at_most, figure, table
from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build

SCENARIO = ROOT / "scenarios" / "library" / "million-orders.yaml"
MOST_S_PER_S, MOST_SET_UP_S, MOST_GIB = 0.45, 2, 8


@dataclass(frozen=True)
class Said:
    """What the process found out."""

    set_up_s: float
    run_s: float
    simulated_s: float
    new_orders_per_minute: float
    state_gib: float
    peak_gib: float


def measure(seed: int) -> Said:
    """Run the scenario in this process, after a second of another one: loading libraries is not to be counted."""
    run_engine("kernel", v20z.model_of(1), seed)
    done = run_engine("kernel", build(load_scenario(SCENARIO)), seed)
    return Said(
        set_up_s=done.set_up_s,
        run_s=done.run_s,
        simulated_s=done.simulated_s,
        new_orders_per_minute=done.result.rate_per_min.mean,
        state_gib=done.state_bytes / (1 << 30),
        peak_gib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20),
    )


def section(options: Options) -> Section:
    checkouts = [THIS, options.beside] if options.beside else [THIS]
    with ExitStack() as until:
        workers = [checkout.worker("million_orders.measure(number)", until) for checkout in checkouts]
        turns = [[Said(**run(seed)) for run in workers] for seed in range(1, 4 if options.full else 2)]
    rows = []
    for checkout, runs in zip(checkouts, zip(*turns, strict=True), strict=True):
        rows.append(
            [
                checkout.name,
                figure(runs[0].new_orders_per_minute),
                f"{runs[0].simulated_s:.0f}",
                f"{median(run.set_up_s for run in runs):.1f}",
                f"{median(run.run_s for run in runs):.1f}",
                f"{median(run.run_s / run.simulated_s for run in runs):.2f}",
                f"{runs[0].state_gib:.2f}",
                f"{max(run.peak_gib for run in runs):.2f}",
            ]
        )
    own = [runs[0] for runs in turns]
    head = ["kernel of", "new orders per minute", "simulated s", "set-up s", "CPU s", "CPU s per simulated s"]
    text = f"`{SCENARIO.relative_to(ROOT)}`: every terminal, transaction and I/O, on a share of the pages."
    goals = [
        at_most("CPU seconds per simulated second:", MOST_S_PER_S, median(run.run_s / run.simulated_s for run in own)),
        at_most("seconds of set-up:", MOST_SET_UP_S, median(run.set_up_s for run in own)),
        at_most("GiB of memory:", MOST_GIB, max(run.peak_gib for run in own)),
    ]
    title = "A million new orders per minute, with caches and terminals"
    return Section(title, [text, table([*head, "state GiB", "peak GiB"], rows)], goals)
