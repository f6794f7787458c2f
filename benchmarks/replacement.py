"""Benchmark 4, continued: LRU alone on the stream of pages of TPC-C."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np

from benchmarks import others
from benchmarks.checkout import Options
from benchmarks.kernel_parts import Int32Array, count_hits
from benchmarks.page import Goal, Section, at_least, figure, table
from benchmarks.page_stream import page_stream
from benchmarks.race import Contestant, Outcome, Standing, race

TRACE = np.dtype([("time", "<u4"), ("page", "<u8"), ("size", "<u4"), ("next", "<i8")])
"""libcachesim's `oracleGeneral` record"""
ROUNDING = 1e-6
"""libcachesim tells the miss ratio as a 32-bit float"""
LEAST_PER_S, MOST_BEHIND_LIMIT, LEAST_AHEAD = 40e6, 1.5, 5


def own_lru(stream: Int32Array, pages: int, capacity: int, policy: str) -> Contestant:
    """The simulator's own cache, with all that a dirty page needs beside the order of use."""

    def run(_: int) -> Outcome:
        hits, seconds = count_hits(stream, pages, capacity, policy)
        return Outcome(seconds, len(stream), hits)

    return Contestant(f"simulator/kernel/cache.hpp, {policy.upper()}", run)


def rivals(stream: Int32Array, pages: int, capacity: int, folder: Path) -> tuple[list[Contestant], list[str]]:
    """A list written by hand in C++, and libcachesim."""
    numbers, trace, found, missing = folder / "pages", folder / "trace.oracleGeneral.bin", [], []
    try:
        program = others.compiled("lru")
        stream.tofile(numbers)
        found.append(_rival("C++ LRU", lambda: others.run_program(program, f"{numbers} {pages} {capacity}"), stream))
    except others.NotThere as reason:
        missing.append(f"The C++ LRU was left out: {reason}.")
    try:
        others.python()
        records = np.zeros(len(stream), dtype=TRACE)
        records["time"], records["page"], records["size"] = np.arange(len(stream)), stream + 1, 1
        records.tofile(trace)
        given = json.dumps({"trace": str(trace), "capacity": capacity, "references": len(stream)})
        name = f"libcachesim ({others.version('libcachesim')})"
        found.append(_rival(name, lambda: others.run_python("libcachesim_lru", given), stream))
    except others.NotThere as reason:
        missing.append(f"libcachesim was left out: {reason}.")
    return found, missing


def goals_of(standings: list[Standing], warehouses: int) -> list[Goal]:
    """What our LRU, the first of them, was to reach beside the others, if they are there."""
    own = standings[0]
    ratios = {other.name.split(" (")[0]: own.times_faster_than(other) for other in standings}
    found, met = f"{figure(own.rate)} references/s", own.rate >= LEAST_PER_S
    if "C++ LRU" in ratios:
        slower = 1 / ratios["C++ LRU"]
        found, met = f"{found}, the C++ LRU {slower:.2f} times faster", met or slower <= MOST_BEHIND_LIMIT
    either = f"at least {figure(LEAST_PER_S)} references/s, or at most {MOST_BEHIND_LIMIT} times behind the C++ LRU"
    where = f"{warehouses:,} warehouses"
    return [
        Goal(f"{where}: {either}", found, met),
        at_least(f"{where}, times faster than libcachesim:", LEAST_AHEAD, ratios.get("libcachesim")),
    ]


def section(options: Options) -> Section:
    references, rounds = (50_000_000, 5) if options.full else (10_000_000, 3)
    rows: list[list[str]] = []
    remarks: list[str] = []
    goals: list[Goal] = []
    for warehouses, capacity in ((40, 120_000), (1_000, 500_000)):
        stream, pages = page_stream(warehouses, references)
        with tempfile.TemporaryDirectory(prefix="oltpsim-") as folder:
            found, remarks = rivals(stream, pages, capacity, Path(folder))
            lru = own_lru(stream, pages, capacity, "lru")
            standings = race([lru, *found, own_lru(stream, pages, capacity, "clock")], rounds)
        goals += goals_of(standings, warehouses)
        for standing in standings:
            if "CLOCK" not in standing.name and abs(standing.answer - standings[0].answer) > ROUNDING * references:
                raise SystemExit(f"{standing.name} has {standing.answer:.0f} hits, ours {standings[0].answer:.0f}")
            rows.append(
                [
                    standing.name,
                    f"{warehouses:,}",
                    f"{capacity:,}",
                    figure(standing.rate),
                    f"{standings[0].times_faster_than(standing):.2f}",
                    f"{standing.answer / references:.4f}",
                ]
            )
    text = (
        f"{references:,} page references of TPC-C's transactions, recorded beforehand, a client for each warehouse. "
        "All LRUs have the same number of hits. libcachesim finds pages by a hash table, as it must for keys of any "
        "kind, and reads its trace as it goes."
    )
    head = ["cache", "warehouses", "pages it holds", "references/s", "ours is faster by", "hit ratio"]
    return Section("Replacement alone", [text, table(head, rows), *remarks], goals)


def _rival(name: str, ask: others.Ask, stream: Int32Array) -> Contestant:
    def run(_: int) -> Outcome:
        said = ask()
        return Outcome(said["seconds"], len(stream), said["hits"])

    return Contestant(name, run)
