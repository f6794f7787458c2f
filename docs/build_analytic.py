"""Write the tables of docs/analytic.md and the model_error.json of simulator/analytic/answer, from random systems.

The kernel's runs are kept in out/analytic, out/analytic-pools, ... by `python -m benchmarks.random_runs`, which goes on
where it was stopped; this script simulates nothing. It takes some minutes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks.error_fit import (
    CONFIDENCE,
    FittedErrors,
    Samples,
    SystemRow,
    are_held,
    fitted_figures,
    held_out_content,
    model_json,
    system_row,
)
from benchmarks.random_comparison import FAR, SETS, Compared, rate_table, store_of, tables
from docs.build import replaced
from oltpsim.scenarios.run import default_workers
from oltpsim.simulator.analytic import ERROR_MODEL_FILE, MOST_FACTOR

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "analytic.md"
HELD_OUT = ROOT / "tests" / "simulator" / "analytic" / "answer" / "held_out.json"
BEGIN, END = "<!-- begin of the tables: python docs/build_analytic.py -->\n", "<!-- end of the tables -->\n"
SOURCE = (
    "docs/build_analytic.py: the analytic engine beside the kernel's runs of random systems, kinds in docs/analytic.md"
)


def rows_of(name: str) -> list[SystemRow]:
    """Rows of the kept runs of a set that the analytic engine answers."""
    files = sorted(store_of(name).glob("*.json"))
    with ProcessPoolExecutor(default_workers(), get_context("spawn")) as pool:
        found = pool.map(system_row, [name] * len(files), files, chunksize=8)
        return [one for one in found if not isinstance(one, str)]


def pools(rows: Sequence[Compared]) -> str:
    """Table of one machine with buffer pools of different sizes."""
    head = "| machine | kernel, new orders/min | analytic | difference |\n|---|---:|---:|---:|\n"
    lines = (
        f"| {one.kind} {one.number} | {one.rate_per_min[0]:,.0f} | {one.rate_per_min[1]:,.0f} "
        f"| {100 * one.rate_error:+.0f} % |\n"
        for one in rows
    )
    return head + "".join(lines)


Fitted = tuple[list[str], Samples, FittedErrors]


def coverage_table(rows: Sequence[SystemRow], found: dict[str, Fitted]) -> str:
    """Coverage of the intervals by cross-validation, and how wide they are; p95 of the main class."""
    columns = "held | held, kind left out | median ±"
    text = [f"| kind | systems | rate: {columns} | p95: {columns} | given |"]
    text += ["|---" + "|---:" * 8 + "|"]
    for kind in [*dict.fromkeys(one.kind for one in rows), "all"]:
        cells = [f"{sum(kind in (one.kind, 'all') for one in rows)}"]
        for name in ("rate", "p95"):
            _, samples, errors = found[name]
            mine = np.array([kind in (each, "all") for each in samples.kinds])
            both = errors.half_widths_by_fold, errors.half_widths
            cells += [f"{100 * are_held(samples, widths)[mine].mean():.0f} %" for widths in both]
            cells.append(f"{100 * np.expm1(np.median(errors.half_widths_by_fold[mine])):.0f} %")
        cells.append(f"{100 * (errors.half_widths_by_fold[mine] <= np.log(MOST_FACTOR)).mean():.0f} %")
        text.append(f"| {kind} | {' | '.join(cells)} |")
    return "\n".join([*text, "", far_outside(rows, found["rate"])]) + "\n"


def far_outside(rows: Sequence[SystemRow], fitted: Fitted) -> str:
    """How many rates are far off and outside their interval, and how many chance allows, as a sentence."""
    _, samples, errors = fitted
    is_far = np.abs(np.expm1(samples.log_ratios)) > FAR
    outside = int((is_far & ~are_held(samples, errors.half_widths_by_fold)).sum())
    is_wide = np.expm1(errors.half_widths_by_fold) > FAR
    allowed = (1.0 - CONFIDENCE) * is_wide.sum()
    return (
        f"Off by more than 30 % and outside the interval: {outside} of {len(rows)} rates; "
        f"one in ten of the {int(is_wide.sum())} intervals wider than that makes {allowed:.0f}."
    )


def main() -> None:
    """Fit the model error, and write page and figures."""
    by_set = {name: rows_of(name) for name in SETS}
    rows = [row for of_set in by_set.values() for row in of_set]
    seen = [row for row in rows if not row.is_held_out]
    found = fitted_figures(seen)
    content = {"source": SOURCE, "date": datetime.now(UTC).date().isoformat(), **model_json(seen, found)}
    ERROR_MODEL_FILE.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    HELD_OUT.write_text(json.dumps(held_out_content(rows), indent=1) + "\n", encoding="utf-8")
    compared = {name: [row.compared for row in of_set] for name, of_set in by_set.items()}
    parts = [coverage_table(seen, found), tables(compared["random"]) + "\n", pools(compared["pools"])]
    parts += ["\n".join(rate_table(compared[name])) + "\n" for name in ("page-cleaners", "postgresql")]
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), BEGIN, END, "\n".join(parts)), encoding="utf-8")


if __name__ == "__main__":
    main()
