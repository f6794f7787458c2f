"""The parts of docs/performance.md: text, tables, figures."""

from __future__ import annotations

from collections.abc import Sequence


def part(*blocks: str) -> str:
    """Blocks of Markdown with empty lines between them."""
    return "\n\n".join(blocks)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others are figures."""
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def figure(value: float, unit: str = "") -> str:
    """Three digits, in thousands or millions where that is shorter."""
    for factor, word in ((1e6, " M"), (1e3, " k")):
        if value >= 10 * factor or (value >= factor and factor == 1e6):
            return f"{value / factor:.3g}{word}{unit}"
    return f"{value:.3g}{unit}" if value < 100 else f"{value:.0f}{unit}"
