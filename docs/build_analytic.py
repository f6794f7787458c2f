"""Write the tables of docs/analytic.md and the engine_errors.json of simulator/analytic/answer: random systems.

The kernel's runs are kept in out/analytic and out/analytic-pools by `python -m benchmarks.random_runs`, which goes on
where it was stopped; this script simulates nothing.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks.random_comparison import WIDEST, Compared, compared_or_failed, far_off, rate_table, store_of, tables
from docs.build import replaced
from oltpsim.scenarios.run import default_workers
from oltpsim.simulator.analytic import RATE_ERRORS_FILE, REGIMES

PAGE = Path(__file__).resolve().parent / "analytic.md"
BEGIN, END = "<!-- begin of the tables: python docs/build_analytic.py -->\n", "<!-- end of the tables -->\n"
FEWEST = 5
"""an interval is claimed for systems of a kind only if so many were compared"""
MOST_ERROR = 0.95


def rows_of(name: str) -> list[Compared]:
    """Kept runs of a set beside the analytic engine's answers."""
    files = sorted(store_of(name).glob("*.json"))
    with ProcessPoolExecutor(default_workers(), get_context("spawn")) as pool:
        found = pool.map(compared_or_failed, files, chunksize=8)
        return [one for one in found if isinstance(one, Compared)]


def pools(rows: Sequence[Compared]) -> str:
    """Table of one machine with buffer pools of different sizes."""
    head = "| machine | kernel, new orders/min | analytic | difference |\n|---|---:|---:|---:|\n"
    lines = (
        f"| {one.kind} {one.number} | {one.rate_per_min[0]:,.0f} | {one.rate_per_min[1]:,.0f} "
        f"| {100 * one.rate_error:+.0f} % |\n"
        for one in rows
    )
    return head + "".join(lines)


def page_cleaners(rows: Sequence[Compared]) -> str:
    """Table of systems with page cleaners."""
    return "\n".join([*rate_table(rows), "", far_off(rows)]) + "\n"


def error_table(rows: Sequence[Compared]) -> dict[str, dict[str, float]]:
    """What the engine's own intervals are made of: errors by what limits a system, where the kernel knows its rate."""
    by_limit = defaultdict(list)
    known = [one for one in rows if one.rate_interval <= WIDEST]
    for one in known:
        by_limit[one.regime].append(abs(one.rate_error))
    everything = [abs(one.rate_error) for one in known]
    table = {}
    for regime in REGIMES:
        errors = by_limit[regime] if len(by_limit[regime]) >= FEWEST else everything
        median, p95 = np.minimum(np.quantile(errors, [0.5, 0.95]), MOST_ERROR).round(4).tolist()
        table[regime] = {
            "machines": len(by_limit[regime]) if len(by_limit[regime]) >= FEWEST else 0,
            "median": median,
            "p95": p95,
        }
    return table


def main() -> None:
    """Compare all that is kept, and write page and figures."""
    rows = rows_of("random")
    RATE_ERRORS_FILE.write_text(json.dumps(error_table(rows), indent=1) + "\n", encoding="utf-8")
    text = tables(rows) + "\n\n" + pools(rows_of("pools")) + "\n" + page_cleaners(rows_of("page-cleaners"))
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), BEGIN, END, text), encoding="utf-8")


if __name__ == "__main__":
    main()
