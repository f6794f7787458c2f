"""Benchmark 6: whole commands, from the shell's prompt to the next: start, warm run, cold compilation."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from statistics import median
from time import perf_counter

from benchmarks.others import ROOT
from benchmarks.page import Section, at_most, table

COMMAND = (sys.executable, "-c", "import sys; from scenarios.commands.cli import main; sys.exit(main(sys.argv[1:]))")
MOST_WARM_S, MOST_COLD_S = 2, 40
RUN = ("run", "v20z-10-warehouses")
SECOND = (*RUN, "--set", "interval.duration_s=1")
"""The same command with one simulated second: what is left is start, state and result"""


def seconds_of(words: tuple[str, ...], home: str | None = None) -> float:
    """Wall time of an oltpsim command; with the folder of compiled code elsewhere if `home` is given."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | ({"XDG_CACHE_HOME": home} if home else {})
    began = perf_counter()
    subprocess.run([*COMMAND, *words], check=True, capture_output=True, env=environment, cwd=ROOT)
    return perf_counter() - began


def warm(words: tuple[str, ...], rounds: int) -> float:
    return median(seconds_of(words) for _ in range(rounds))


def section(full: bool) -> Section:
    rounds = 5 if full else 3
    seconds_of(SECOND)
    help_s, second_s, whole_s = warm(("--help",), rounds), warm(SECOND, rounds), warm(RUN, rounds if full else 1)
    with tempfile.TemporaryDirectory(prefix="oltpsim-") as home:
        cold_s = seconds_of(SECOND, home)
    rows = [
        ["`oltpsim --help`", f"{help_s:.2f}"],
        ["`oltpsim run v20z-10-warehouses`, the whole hour", f"{whole_s:.2f}"],
        ["the same, one simulated second", f"{second_s:.2f}"],
        ["the same, one simulated second, nothing compiled before", f"{cold_s:.1f}"],
        ["so compiling takes", f"{cold_s - second_s:.1f}"],
    ]
    text = "Whole processes. Compiled code is kept on disk, so a machine compiles once for each version."
    goals = [
        at_most("seconds for `oltpsim run v20z-10-warehouses` in all, with its hour:", MOST_WARM_S, whole_s),
        at_most("seconds of that for start, state and result:", MOST_WARM_S, second_s),
        at_most("seconds to compile, once:", MOST_COLD_S, cold_s - second_s),
    ]
    return Section("Start", [text, table(["command", "wall s"], rows)], goals)
