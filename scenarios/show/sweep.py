"""A sweep as CSV, and as a table for people."""

from __future__ import annotations

import csv
import io
from typing import Any

from scenarios.questions.sweep import Sweep

FIGURES = ("rate_per_min", "low_per_min", "high_per_min", "bottleneck", "cpu_utilisation", "disk_utilisation")


def columns(sweep: Sweep) -> dict[str, list[Any]]:
    """A column for each varied field, as text, and for each figure; None where a point could not be run."""
    rows = sweep.rows
    found: dict[str, list[Any]] = {axis.key: [row.values[i] for row in rows] for i, axis in enumerate(sweep.axes)}
    found |= {name: [getattr(row, name) for row in rows] for name in FIGURES}
    found |= {f"{name} hit_ratio": [(row.hit_ratios or {}).get(name) for row in rows] for name in _cache_names(sweep)}
    found |= {"seed": [sweep.seed] * len(rows), "replications": [row.replications for row in rows]}
    if "engine" not in found:  # else the field's own column says for each row which it was
        found["engine"] = [sweep.engine] * len(rows)
    found["version"] = [sweep.versions.get("oltpsim", "")] * len(rows)
    found |= {name: [getattr(row, name) for row in rows] for name in ("model_hash", "reason")}
    return found | {"warnings": ["; ".join(row.warnings) for row in rows]}


def to_csv(sweep: Sweep) -> str:
    """One line per point with a header; empty fields where a point could not be run."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    found = columns(sweep)
    writer.writerow(found)
    writer.writerows(zip(*found.values(), strict=True))
    return out.getvalue()


def to_text(sweep: Sweep) -> str:
    """A table for people: one line per point, then the warnings by their numbers, then where it comes from."""
    ratios = _cache_names(sweep)
    header = [*(axis.key.rpartition(".")[2] for axis in sweep.axes), "new orders/min"]
    header += [f"{sweep.confidence:.0%} interval", "bottleneck", "cpu", "disk", *(f"{name} hits" for name in ratios)]
    if sweep.until_fraction is not None:
        header.append("replications")
    lines = [header]
    for row in sweep.rows:
        if row.reason is not None:
            lines.append([*row.values, "-"])
            continue
        low, high, cpu, disk = row.low_per_min, row.high_per_min, row.cpu_utilisation, row.disk_utilisation
        figures = [f"{row.rate_per_min:,.0f}", f"{low:,.0f} .. {high:,.0f}", row.limit]
        hits = [f"{(row.hit_ratios or {}).get(name, 0.0):.1%}" for name in ratios]
        lines.append([*row.values, *figures, f"{cpu:.0%}", f"{disk:.0%}", *hits])
        if sweep.until_fraction is not None:
            lines[-1].append(str(row.replications))
    widths = [max(len(line[i]) for line in lines if i < len(line)) for i in range(len(header))]
    text = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=False)) for line in lines]
    warnings = list(dict.fromkeys(warning for row in sweep.rows for warning in row.warnings))
    for number, row in enumerate(sweep.rows, start=1):
        if row.reason is not None:
            text[number] += f"  not run: {row.reason}"
        if row.warnings:
            text[number] += "  warning " + ", ".join(str(warnings.index(warning) + 1) for warning in row.warnings)
    text += [f"warning {number}: {warning}" for number, warning in enumerate(warnings, start=1)]
    version = sweep.versions.get("oltpsim", "?")
    seeds = f"seed {sweep.seed}"
    if sweep.until_fraction is not None:
        seeds = (
            f"seeds from {sweep.seed}, up to {sweep.replications}, until ±{100 * sweep.until_fraction:.3g}% of the rate"
        )
    elif sweep.replications > 1:
        seeds = f"seeds {sweep.seed}..{sweep.seed + sweep.replications - 1}"
    hashes = [row.model_hash for row in sweep.rows if row.model_hash]
    models = hashes[0] if len(set(hashes)) == 1 else f"{hashes[0]} .. {hashes[-1]}"
    text.append(f"oltpsim {version} · engine {sweep.engine} · {seeds} · models {models}")
    return "\n".join(text) + "\n"


def _cache_names(sweep: Sweep) -> list[str]:
    names = [name for row in sweep.rows for name in (row.hit_ratios or {})]
    return list(dict.fromkeys(names))
