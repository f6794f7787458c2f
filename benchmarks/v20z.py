"""Benchmark 3: the hour of the SunFire V20z, with pages, caches, one disk: kernel against reference."""

from __future__ import annotations

from contextlib import ExitStack

from benchmarks.checkout import ROOT, Options
from benchmarks.engines import run_engine
from benchmarks.page import Section, at_least, at_most, figure, table
from benchmarks.race import Contestant, Outcome, Standing, race
from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator.form import System

HOUR_S, SHORT_S = 3600, 60
LEAST_TIMES_FASTER, MOST_HOUR_S, MOST_OF_OLD = 100, 5, 0.5
SCENARIO = ROOT / "scenarios" / "library" / "v20z.yaml"


def model_of(duration_s: int) -> System:
    """The first part of the scenario's hour."""
    return build(load_scenario(SCENARIO, [f"interval.duration_s={duration_s}"]))


def engine(name: str, duration_s: int, whole: bool = True) -> Contestant:
    """`whole`: set-up and result are counted, so it is what a user waits for once the code is compiled."""
    model = model_of(duration_s)

    def run(seed: int) -> Outcome:
        done = run_engine(name, model, seed)
        seconds = done.set_up_s + done.run_s + done.result_s if whole else done.run_s
        return Outcome(seconds, done.references, done.transactions)

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


def section(options: Options) -> Section:
    hours = [engine("kernel", HOUR_S)]
    with ExitStack() as until:
        if options.beside:
            hours.append(options.beside.contestant(f"v20z.engine('kernel', {HOUR_S}).run(number)", until))
        hour, *old = race(hours, 3)
    duration_s = HOUR_S if options.full else SHORT_S
    pair = [engine(name, duration_s, whole=options.full) for name in ("kernel", "reference")]
    kernel, reference = race(pair, 3, warm_up=0 if options.full else 1)
    if kernel.answer != reference.answer:
        raise SystemExit(f"kernel and reference differ: {kernel.answer} and {reference.answer} transactions")
    ratio = kernel.times_faster_than(reference)
    rows = [row(hour, HOUR_S, "1"), *(row(each, HOUR_S, f"{hour.times_faster_than(each):.3g}") for each in old)]
    rows += [row(kernel, duration_s, "1"), row(reference, duration_s, f"{ratio:.3g}")]
    text = (
        "`scenarios/library/v20z.yaml`: buffer pool, page cache, one rotating disk, write-back, checkpoints. "
        "Both engines end the same transactions. The reference is plain Python over SimPy. "
    )
    text += (
        "Set-up and result are counted."
        if options.full
        else f"Set-up and result are counted for the hour. The race is over its first {SHORT_S} s, where they would "
        "weigh more than in an hour, and leaves them out; `make bench ARGS=--full` races over the hour with them."
    )
    head = ["engine", "simulated s", "CPU s", "simulated s per s", "transactions/s", "page references/s"]
    by_old = 1 / hour.times_faster_than(old[0]) if old else None
    goals = [
        at_most("CPU time of the hour by that of the checkout beside:", MOST_OF_OLD, by_old),
        at_least("times faster than the reference:", LEAST_TIMES_FASTER, ratio),
        at_most("CPU seconds for the hour:", MOST_HOUR_S, hour.seconds),
    ]
    title = "The hour of the SunFire V20z"
    return Section(title, [text, table([*head, "kernel is faster by"], rows)], goals)
