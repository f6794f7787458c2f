"""Fit of a disk to fio's table, as text and values: kinds beside each other, numbers with intervals, the points."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from oltpsim.calibration.fit import FittedEntry, TableFit
from oltpsim.calibration.records import DiskPoint
from oltpsim.scenarios.show.numbers import plural, significant
from oltpsim.scenarios.show.table import aligned

MOST_POINTS = 12
"""Points that are printed: of more those that are furthest off."""
MOST_TAIL = 8.0
"""A p99 that is so many times the mean at the least depth: requests wait for leave, not for service."""
MOST_MEAN_ERROR = 0.15
"""A kind that is further off in the mean doesn't describe the disk."""


def fitted_disk_lines(fits: Sequence[TableFit]) -> list[str]:
    """Comment lines: what was measured, which kind fits best, its numbers, where it is off."""
    best, table = fits[0], fits[0].table
    shares = sorted({round(100 * share) for share in table.write_fraction.tolist()})
    lines = [
        f"# {plural(len(table.per_s), 'point')}: blocks of {table.words}, {', '.join(map(str, shares))} % writes",
        "# kind                  mean error",
    ]
    for fit in fits:
        equal = "  (not told apart from the first)" if fit is not best and fit.is_equal(best) else ""
        lines.append(f"# {fit.kind.name:<22} {fit.error:>9.1%}{equal}")
    basis = "with 90 % intervals" if best.intervals else "without intervals (fewer than four depths)"
    lines.append(f"# {best.kind.name}: {best.kind.words}; at {table.least_kib:g} KiB, {basis}:")
    for name, value in best.numbers.items():
        interval = best.intervals.get(name, ())
        ends = f"{significant(value, 4):>10}  {' .. '.join(significant(end, 4) for end in interval)}".rstrip()
        lines.append(f"#   {name:<20} {'         -  not identified' if name in best.unidentified else ends}")
    lines += _point_lines(best)
    if best.error > MOST_MEAN_ERROR:
        lines.append(f"# warning: {best.error:.0%} off in the mean: no kind describes this disk; look at its points")
    return lines


def tail_lines(points: Sequence[DiskPoint]) -> list[str]:
    """Comment line of a warning if requests of the fewest in flight wait for leave, not for service."""
    least = min(points, key=lambda point: point.depth)
    if not least.p99_us > MOST_TAIL * least.mean_us:
        return []
    times = least.p99_us / least.mean_us
    warning = (
        f"# warning: at depth {least.depth:g} one request in a hundred takes {times:.0f} times the mean: "
        "a limit of I/Os per s, or a busy host; the disk itself is faster than this entry's latency"
    )
    return [warning]


def fitted_entry_lines(entry: FittedEntry) -> list[str]:
    """Comment lines above the entry: what it assumes, and where it belongs."""
    assumed = [f"# assumed: {assumption}" for assumption in entry.assumptions]
    return [*assumed, f"# for {entry.place} of a scenario:"]


def _point_lines(fit: TableFit) -> list[str]:
    """Comment lines: measured rates beside the fit's; of many points those that are furthest off."""
    table, off = fit.table, fit.off
    order = np.lexsort((table.in_flight, table.block_kib, table.write_fraction))
    title = "# points"
    if len(off) > MOST_POINTS:
        order = np.argsort(-np.abs(off), kind="stable")[:MOST_POINTS]
        title = f"# the {MOST_POINTS} points that are furthest off"
    rows = [
        (
            f"{table.in_flight[at]:g}",
            f"{table.block_kib[at]:g}",
            f"{table.write_fraction[at]:.0%}",
            f"{table.per_s[at]:,.0f}",
            f"{table.per_s[at] * (1.0 + off[at]):,.0f}",
            f"{off[at]:+.0%}",
        )
        for at in order.tolist()
    ]
    head = ("in flight", "KiB", "writes", "measured/s", "fitted/s", "off")
    return [title, *(f"# {line}" for line in aligned([head, *rows], ">>>>>>", indent=1))]


def fitted_disk_fields(fits: Sequence[TableFit]) -> dict[str, Any]:
    """Fit as JSON has it: kinds with their mean errors, and the numbers of the best with intervals."""
    best = fits[0]
    return {
        "kind": best.kind.name,
        "block_kib": best.table.least_kib,
        "points": len(best.table.per_s),
        "mean_error": best.error,
        "numbers": {
            name: dict(zip(("value", "low", "high"), (value, *best.intervals.get(name, (None, None))), strict=True))
            | {"identified": best.is_identified(name)}
            for name, value in best.numbers.items()
        },
        "kinds": {fit.kind.name: fit.error for fit in fits},
    }
