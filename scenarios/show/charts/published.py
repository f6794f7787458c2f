"""Pictures of the published rows: model against measured, and residuals by row. SVG by hand, the same every time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from calibration.fit import Certificate, JudgedRate

FITTED, LEFT_OUT, INK, GRID = "#0072b2", "#d55e00", "#222222", "#e4e4e4"
"""Okabe and Ito's palette: told apart by colour-blind readers too"""
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 560, 84, 24, 64, 60
ROW, NAMES = 17, 170
MOST_ERROR = 1.0
"""natural logarithm: errors beyond are drawn at the edge"""
TICKS = (0.4, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 2.5)


def against(found: Certificate) -> str:
    """Model against measured on logarithmic axes, fitted with all rows, and without the row's machine."""
    left = found.left_out_by("machine").rows
    every = [*found.runs, *left]
    low = math.log10(min(min(row.measured, row.low) for row in every)) - 0.1
    high = math.log10(max(max(row.measured, row.high) for row in every)) + 0.1

    def across(value: float) -> float:
        return LEFT + (math.log10(value) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def up(value: float) -> float:
        return HEIGHT - BOTTOM - (math.log10(value) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    parts = _begin("Published rows: the model beside what was measured", HEIGHT)
    for power in range(math.ceil(low), math.floor(high) + 1):
        value = 10.0**power
        parts.append(
            f'<path d="M{LEFT} {up(value):.1f}H{WIDTH - RIGHT}M{across(value):.1f} {TOP}V{HEIGHT - BOTTOM}" '
            f'stroke="{GRID}"/>'
        )
        name = f"{value:,.0f}" if power >= 0 else f"{value:g}"
        parts += [
            _text(LEFT - 8, up(value) + 4, name, "end"),
            _text(across(value), HEIGHT - BOTTOM + 18, name, "middle"),
        ]
    begin, end = 10.0**low, 10.0**high
    equal = f"M{across(begin):.1f} {up(begin):.1f}L{across(end):.1f} {up(end):.1f}"
    parts.append(f'<path d="{equal}" stroke="{INK}" stroke-dasharray="4 4"/>')
    for rows, colour, shape in ((left, LEFT_OUT, "diamond"), (found.runs, FITTED, "circle")):
        for row in rows:
            x, y = across(row.measured), up(row.model)
            whisker = f"M{x:.1f} {up(row.low):.1f}V{up(row.high):.1f}"
            parts.append(f'<path d="{whisker}" stroke="{colour}" stroke-opacity="0.35"/>')
            parts.append(_mark(x, y, colour, shape, row))
    parts.append(
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - BOTTOM + 38, "measured, each row in its own unit", "middle")
    )
    turned = f"translate(18 {(TOP + HEIGHT - BOTTOM) / 2:.1f}) rotate(-90)"
    parts.append(f'<text transform="{turned}" text-anchor="middle">model, with 90 % interval</text>')
    return _end(parts)


def residuals(found: Certificate) -> str:
    """Errors of every row, in the order of machines and jobs, with both fits."""
    left = {row.name: row for row in found.left_out_by("machine").rows}
    height = TOP + ROW * len(found.runs) + BOTTOM
    middle = (NAMES + WIDTH - RIGHT) / 2

    def across(ratio: float) -> float:
        log = max(-MOST_ERROR, min(MOST_ERROR, math.log(ratio)))
        return middle + log / MOST_ERROR * (WIDTH - RIGHT - NAMES) / 2

    parts = _begin("Published rows: model over measured, with 90 % intervals", height)
    bottom = height - BOTTOM
    for tick in TICKS:
        parts.append(f'<path d="M{across(tick):.1f} {TOP}V{bottom}" stroke="{INK if tick == 1.0 else GRID}"/>')
        parts.append(_text(across(tick), bottom + 18, f"{tick - 1:+.0%}" if tick != 1.0 else "0", "middle"))
    for number, row in enumerate(found.runs):
        y = TOP + ROW * (number + 0.5)
        parts.append(_text(NAMES - 8, y + 4, row.name.partition("/")[2], "end", 11))
        for one, colour, shape in ((left.get(row.name), LEFT_OUT, "diamond"), (row, FITTED, "circle")):
            if one is None:
                continue
            ends = [across(each / one.measured) for each in (one.low, one.high)]
            shift = 3 if one is not row else -2
            whisker = f"M{ends[0]:.1f} {y + shift:.1f}H{ends[1]:.1f}"
            parts.append(f'<path d="{whisker}" stroke="{colour}" stroke-opacity="0.35" stroke-width="2"/>')
            parts.append(_mark(across(one.model / one.measured), y + shift, colour, shape, one))
    parts.append(_text(middle, bottom + 38, "model / measured - 1 (logarithmic)", "middle"))
    return _end(parts)


def _begin(title: str, height: int) -> list[str]:
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}',
        f' font-family="Helvetica, Arial, sans-serif" font-size="12" fill="{INK}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        _text(24, 22, title, "start", 15),
        f'<circle cx="30" cy="41" r="4" fill="{FITTED}"/>',
        _text(42, 45, "fitted with all rows", "start"),
        f'<path d="M190 36l5 5l-5 5l-5 -5Z" fill="{LEFT_OUT}"/>',
        _text(202, 45, "fitted without the row's machine", "start"),
    ]


def _end(parts: Sequence[str]) -> str:
    return "\n".join([*parts, "</svg>", ""])


def _text(x: float, y: float, words: str, anchor: str, size: int = 12) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{escape(words)}</text>'


def _mark(x: float, y: float, colour: str, shape: str, row: JudgedRate) -> str:
    said = f"<title>{escape(row.name)}: {row.error:+.1%}</title>"
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}">{said}</circle>'
    return f'<path d="M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5 -5Z" fill="{colour}">{said}</path>'
