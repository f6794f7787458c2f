"""Benchmark 6: whole commands, from the shell's prompt to the next."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter

from benchmarks.checkout import THIS, Checkout, Options
from benchmarks.page import Section, at_most, table
from benchmarks.race import Contestant, Outcome, Standing, race

MOST_HOUR_S, MOST_SECOND_CPU_S = 2, 0.7
HOUR = ("run", "v20z-10-warehouses")
SECOND = (*HOUR, "--set", "interval.duration_s=1")
"""The same command with one simulated second: what is left is start, state and result"""


def seconds_of(command: list[str], folder: Path, environment: Mapping[str, str]) -> tuple[float, float]:
    """Wall time and CPU time of a process and its children; stops with what it wrote if it fails."""
    with tempfile.TemporaryFile("w+") as written:
        began = perf_counter()
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=written, stderr=written)
        _, status, used = os.wait4(process.pid, 0)
        wall_s = perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            written.seek(0)
            raise SystemExit(f"{written.read().strip()}\nThat was: {' '.join(command)}")
    return wall_s, used.ru_utime + used.ru_stime


def command(checkout: Checkout, words: tuple[str, ...]) -> Contestant:
    """An `oltpsim` command. The outcome's time is CPU time, its answer wall time, s."""

    def run(_: int) -> Outcome:
        wall_s, cpu_s = seconds_of(checkout.command("oltpsim", *words), checkout.folder, checkout.environment)
        return Outcome(cpu_s, 1.0, wall_s)

    return Contestant(checkout.name, run)


def section(options: Options) -> Section:
    rounds = 5 if options.full else 3
    checkouts = [THIS, options.beside] if options.beside else [THIS]
    rows: list[list[str]] = []

    def measured(text: str, words: tuple[str, ...], rounds: int) -> Standing:
        own, *others = race([command(checkout, words) for checkout in checkouts], rounds)
        for standing in (own, *others):
            ratio = f"{own.times_faster_than(standing):.3g}"
            rows.append([text, standing.name, f"{standing.answer:.2f}", f"{standing.seconds:.2f}", ratio])
        return own

    measured("`oltpsim --help`", ("--help",), rounds)
    second = measured("`oltpsim run v20z-10-warehouses`, one simulated second", SECOND, rounds)
    hour = measured("the same, the whole hour", HOUR, rounds if options.full else 1)
    goals = [
        at_most("CPU seconds for `oltpsim run` of one simulated second:", MOST_SECOND_CPU_S, second.seconds),
        at_most("seconds for `oltpsim run v20z-10-warehouses` in all, with its hour:", MOST_HOUR_S, hour.answer),
    ]
    head = ["command", "checkout", "wall s", "CPU s", "this one is faster by, CPU"]
    return Section("Start", ["Whole processes.", table(head, rows)], goals)
