"""Sensitivities for people, for programs and for tables."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import asdict

from scenarios.questions.sensitivity import Range, SobolIndices, Tornado, TornadoBar
from scenarios.show.numbers import NONE, count, signed_share, significant
from scenarios.show.summary import flow

FORMAT = "oltpsim-sensitivity-1"
MOST_BAR = 20
NO_PART = 0.005
"""indices below are rounded to nothing"""
CALCULATED = "the machine once it is warm, calculated by the analytic engine"


def table(name: str, found: Tornado, indices: SobolIndices | None, width: int) -> str:
    """The bars, the widest first, then the indices if there are any."""
    lines = [f"{name}: {count(found.rate_per_min)} new orders per minute", f"({CALCULATED})", ""]
    rows = [["one at a time", "low", "high", "at low", "at high"], *(_row(found, bar) for bar in found.bars)]
    aligned = _aligned(rows)
    room = min(MOST_BAR, width - 2 - max(map(len, aligned)))
    lines += [aligned[0], *(f"{line}  {_blocks(found, bar, room)}".rstrip()
                            for line, bar in zip(aligned[1:], found.bars, strict=True))]  # fmt: skip
    for bar in found.bars:
        if bar.reason is not None:
            lines += flow("not possible", f"{bar.range.key}: {bar.reason}".split(), width, separator=" ")
    if indices is not None:
        lines += ["", *_indices(indices, width)]
    return "\n".join(lines) + "\n"


def _row(found: Tornado, bar: TornadoBar) -> list[str]:
    ends = (bar.low_per_min, bar.high_per_min)
    cells = [NONE if end is None else signed_share(end / found.rate_per_min - 1.0) for end in ends]
    return [bar.range.key, value(bar.range.low), value(bar.range.high), *cells]


def _blocks(found: Tornado, bar: TornadoBar, room: int) -> str:
    """The bar's width beside the widest one's, as far as there is room for it."""
    widest = found.bars[0].swing(found.rate_per_min)
    return "▇" * round(room * bar.swing(found.rate_per_min) / widest) if widest and room > 1 else ""


def value(number: float) -> str:
    """An end of a range."""
    return significant(number) if abs(number) < 1e4 else count(number)


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns, the first to the left, figures to the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = []
    for first, *figures in rows:
        cells = [cell.rjust(width) for cell, width in zip(figures, widths[1:], strict=True)]
        lines.append("  ".join([f"  {first.ljust(widths[0])}", *cells]).rstrip())
    return lines


def _indices(found: SobolIndices, width: int) -> list[str]:
    """Those that have a part of the variance, then what all of them mean."""
    shown = [one for one in found.indices if max(abs(one.first), one.total) >= NO_PART]
    interval = f"{found.confidence:.0%}"
    rows = [["all at once", "alone", interval, "total", interval]]
    rows += [
        [one.key, _share(one.first), f"{_share(one.first_low)}..{_share(one.first_high)}",
         _share(one.total), f"{_share(one.total_low)}..{_share(one.total_high)}"]
        for one in shown
    ]  # fmt: skip
    lines = _aligned(rows)
    rest = [one.key for one in found.indices if one not in shown]
    lines += flow("without a part", rest, width, separator=", ") if rest else []
    said = (
        "shares of the variance of the rate's logarithm, alone and with all that each does together with others; "
        f"{found.points} base points, intervals by bootstrap; one standard deviation of the rate is a factor of "
        f"{significant(math.exp(found.log_sd))}"
    )
    lines += flow(None, said.split(), width, separator=" ")
    if found.left_out:
        words = f"{found.left_out} base points have a machine that can't be and are left out: shares are of the others"
        lines += flow("warning", words.split(), width, separator=" ")
    return lines


def _share(index: float) -> str:
    return f"{index:.2f}".replace("-0.00", "0.00").replace("-", "−")


def as_json(name: str, found: Tornado, indices: SobolIndices | None) -> str:
    """All of it."""
    data = {
        "format": FORMAT,
        "scenario": name,
        "rate_per_min": found.rate_per_min,
        "bars": [asdict(bar) | {"swing_per_min": bar.swing(found.rate_per_min)} for bar in found.bars],
        "sobol": None if indices is None else asdict(indices),
    }
    return json.dumps(data, sort_keys=True, indent=1, allow_nan=False) + "\n"


def as_csv(found: Tornado, indices: SobolIndices | None) -> str:
    """A row for each number, its indices beside its bar."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["key", "low", "middle", "high", "rate_low_per_min", "rate_middle_per_min", "rate_high_per_min",
                     "source", "first", "first_low", "first_high", "total", "total_low", "total_high"])  # fmt: skip
    by_key = {one.key: one for one in indices.indices} if indices is not None else {}
    for bar in found.bars:
        one, of = by_key.get(bar.range.key), bar.range
        shares: list[object] = [""] * 6
        if one is not None:
            shares = [one.first, one.first_low, one.first_high, one.total, one.total_low, one.total_high]
        writer.writerow([of.key, of.low, of.middle, of.high, bar.low_per_min, found.rate_per_min, bar.high_per_min,
                         of.source, *shares])  # fmt: skip
    return text.getvalue()


def range_words(of: Range) -> str:
    """From its low to its high end."""
    return f"{value(of.low)} .. {value(of.high)}"
