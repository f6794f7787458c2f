"""The published large systems: their figures as a table, and how each figure and its error is written."""

from collections.abc import Sequence

from oltpsim.calibration.judge import FigureRow
from oltpsim.scenarios.show.table import aligned

BOUNDS = {"at_least": "at least ", "at_most": "at most "}
WHOLE_FROM = 1000.0


def large_system_lines(found: Sequence[FigureRow]) -> list[str]:
    """A table of all rows, and how far off they are; empty if there are none."""
    if not found:
        return []
    rows = [["scenario", "figure", "measured", "simulated", "error", "role"]]
    for row in found:
        measured = BOUNDS.get(row.bound, "") + figure_amount(row, row.measured)
        simulated = figure_amount(row, row.simulated)
        rows.append([row.scenario, row.figure, measured, simulated, figure_error(row), row.role])
    return ["", "large systems, each simulated as its scenario says", "", *aligned(rows)]


def figure_amount(row: FigureRow, value: float) -> str:
    """A value of a row's figure; shares in percent."""
    if _is_share(row):
        return f"{100 * value:.1f} %"
    return f"{value:,.0f}" if abs(value) >= WHOLE_FROM else f"{value:.3g}"


def figure_error(row: FigureRow) -> str:
    """How far off a row is: points of a share, percent of everything else, or whether its bound holds."""
    if row.holds is not None:
        return "holds" if row.holds else "DOESN'T HOLD"
    if _is_share(row):
        return f"{100 * (row.simulated - row.measured):+.1f} points"
    return f"{row.error:+.1%}"


def _is_share(row: FigureRow) -> bool:
    return "fraction" in row.figure or row.figure.endswith(", share")
