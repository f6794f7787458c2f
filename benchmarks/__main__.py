"""Run the benchmarks and write docs/performance.md; `--full` takes the long sizes, names take some and only print.

With `--write` the named sections take their places on the page, and say on what machine they were measured apart.

`--beside CHECKOUT` measures another checkout of this project in turn, with the environment in its .venv.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from benchmarks.checkout import ROOT, Checkout, Options
from benchmarks.machine import description, share_of_a_core, warning
from benchmarks.page import Section, goals_table, part, with_section

PAGE = ROOT / "docs" / "performance.md"
SECTIONS = (
    "closed_network",
    "many_terminals",
    "v20z",
    "pages",
    "replacement",
    "million_orders",
    "growth",
    "start",
    "fresh_machine",
    "day",
    "analytic",
    "sweeps",
    "planning",
    "live_page",
)
OPENING = (
    "Written by `make bench` on {machine}. Contestants run in turn, round by round; a figure is the median of the "
    "rounds after a first one that does not count, a ratio the median of the rounds' ratios. Times are CPU times of "
    "one process, which other programs on the machine disturb least, unless a column says wall."
)
APART = "Measured in a run of its own on {machine}."
GOALS = "What the engine was to reach, and what was measured; the sections below say how."


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--full", action="store_true", help="long runs: about an hour")
    parser.add_argument("--write", action="store_true", help="put the named sections into the page")
    parser.add_argument("--beside", type=Path, metavar="CHECKOUT", help="measure it in turn, such as an older commit")
    words = parser.parse_args()
    unknown = sorted(set(words.sections) - set(SECTIONS))
    if unknown:
        parser.error(f"no section {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    if words.write and not words.sections:
        parser.error("--write puts named sections into the page; all of them are written without it")
    beside = words.beside and words.beside.resolve()
    options = Options(words.full, Checkout(beside, beside / ".venv" / "bin") if beside else None)
    done: list[Section] = []
    opening = ["# Speed", OPENING.format(machine=description())]
    shares = [share_of_a_core()]
    for name in words.sections or SECTIONS:
        began = time.perf_counter()
        done.append(import_module(f"benchmarks.{name}").section(options))
        shares.append(share_of_a_core())
        print(f"{name}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    goals = ["## Goals", GOALS, goals_table(done)]
    text = part(*opening, *warning(min(shares)), *goals, *(section.text() for section in done)) + "\n"
    if words.sections and words.write:
        page = PAGE.read_text(encoding="utf-8")
        notes = [APART.format(machine=description()), *warning(min(shares))]
        for each in done:
            page = with_section(page, replace(each, blocks=[*notes, *each.blocks]))
        PAGE.write_text(page, encoding="utf-8")
        print(f"{PAGE.relative_to(ROOT)} has {', '.join(each.title for each in done)} anew")
    elif words.sections:
        print(text)
    else:
        PAGE.write_text(text, encoding="utf-8")
        print(f"{PAGE.relative_to(ROOT)} is written")


if __name__ == "__main__":
    main()
