"""Benchmark 8: a million new orders per minute with caches and terminals, in a process of its own for its memory."""

from __future__ import annotations

import json
import resource
import sys
from dataclasses import asdict, dataclass
from statistics import median

from benchmarks import others, v20z
from benchmarks.engines import run_engine
from benchmarks.page import Goal, Section, at_least, at_most, figure, table
from models.build import build
from models.reading import load_scenario

SCENARIO = others.ROOT / "scenarios" / "library" / "million-orders.yaml"
MOST_GIB = 8
TITLE = "A million new orders per minute, with caches and terminals"


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
    """Run the scenario in this process, after a second of another one: compiling is not to be counted."""
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


def section(full: bool) -> Section:
    if not SCENARIO.exists():
        goal = Goal("faster than real time on one core, in at most 8 GiB", "not measured", None)
        return Section(TITLE, [f"Left out: there is no `{SCENARIO.relative_to(others.ROOT)}`."], [goal])
    module = "benchmarks.million_orders"
    runs = [Said(**others.run_module(module, str(seed))) for seed in range(1, 4 if full else 2)]
    speed = median(run.simulated_s / run.run_s for run in runs)
    peak_gib = max(run.peak_gib for run in runs)
    row = [
        figure(runs[0].new_orders_per_minute),
        f"{runs[0].simulated_s:.0f}",
        f"{median(run.set_up_s for run in runs):.1f}",
        f"{median(run.run_s for run in runs):.1f}",
        f"{speed:.2f}",
        f"{runs[0].state_gib:.2f}",
        f"{peak_gib:.2f}",
    ]
    head = ["new orders per minute", "simulated s", "set-up s", "wall s", "simulated s per s", "state GiB", "peak GiB"]
    text = f"`{SCENARIO.relative_to(others.ROOT)}`: every terminal, transaction and I/O, on a share of the pages."
    goals = [
        at_least("simulated seconds per second:", 1, speed),
        at_most("GiB of memory:", MOST_GIB, peak_gib),
    ]
    return Section(TITLE, [text, table(head, [row])], goals)


if __name__ == "__main__":
    print(json.dumps(asdict(measure(int(sys.argv[1])))))
