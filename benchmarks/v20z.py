"""Benchmark 3: the hour of the SunFire V20z, with pages, caches, one disk: kernel against reference."""

from __future__ import annotations

from benchmarks.engines import run_engine
from benchmarks.others import ROOT
from benchmarks.page import figure, part, table
from benchmarks.race import Contestant, Outcome, Standing, race
from models.loading import load_scenario
from models.system import build
from simulator.model import Model

HOUR_S = 3600
SCENARIO = ROOT / "scenarios" / "library" / "v20z.yaml"


def model_of(duration_s: int) -> Model:
    """The first part of the scenario's hour."""
    return build(load_scenario(SCENARIO, [f"interval.duration_s={duration_s}"]))


def engine(name: str, duration_s: int) -> Contestant:
    """The whole call, set-up and result included: what a user waits for once the code is compiled."""
    model = model_of(duration_s)

    def run(seed: int) -> Outcome:
        done = run_engine(name, model, seed)
        return Outcome(done.set_up_s + done.run_s + done.result_s, done.references, done.transactions)

    return Contestant(name, run)


def row(standing: Standing, simulated_s: int, ratio: str) -> list[str]:
    return [
        standing.name,
        f"{simulated_s}",
        f"{standing.seconds:.2f}",
        f"{simulated_s / standing.seconds:.0f}",
        figure(standing.answer / standing.seconds),
        figure(standing.rate),
        ratio,
    ]


def section(full: bool) -> str:
    duration_s = HOUR_S if full else 300
    kernel, reference = race([engine(name, duration_s) for name in ("kernel", "reference")], 3)
    if kernel.answer != reference.answer:
        raise SystemExit(f"kernel and reference differ: {kernel.answer} and {reference.answer} transactions")
    rows = [row(kernel, duration_s, "1"), row(reference, duration_s, f"{kernel.times_faster_than(reference):.3g}")]
    if not full:
        rows.insert(0, row(race([engine("kernel", HOUR_S)], 3, warm_up=0)[0], HOUR_S, ""))
    return part(
        "## The hour of the SunFire V20z",
        "`scenarios/library/v20z.yaml`: buffer pool, page cache, one rotating disk, write-back, checkpoints. "
        "Both engines end the same transactions. The reference runs what happens at one instant (programs, page "
        "references, caches) as the same compiled code as the kernel; SimPy does the rest. Set-up and result "
        "are included.",
        table(
            [
                "engine",
                "simulated s",
                "wall s",
                "simulated s per s",
                "transactions/s",
                "page references/s",
                "kernel is faster by",
            ],
            rows,
        ),
    )
