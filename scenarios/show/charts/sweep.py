"""Pictures of a sweep: rate against the varied field, with the interval as a band and the bottleneck marked.

The SVG is written by hand: no browser, the same bytes every time. A second varied field becomes one line per
value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from math import floor, log10

from scenarios.questions.sweep import SampledAxis, Sweep, SweepRow
from simulator.errors import InputError

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 76, 24, 64, 56
# Okabe and Ito's palette: told apart by colour-blind readers too.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
SHAPES = ("circle", "square", "diamond", "triangle", "cross")
PLOTLY_SHAPES = ("circle", "square", "diamond", "triangle-up", "x")
UNITS = {"_gib": "GiB", "_kib": "KiB", "_ms": "ms", "_us": "µs", "_s": "s"}
RATE_TITLE = "new orders per minute"


@dataclass(frozen=True)
class Line:
    """The points of one value of the second field, in order of x."""

    label: str
    points: tuple[tuple[float, SweepRow], ...]


@dataclass(frozen=True)
class Chart:
    """A sweep laid out for drawing. `tick_labels` names the places 0, 1, ... of a field without numbers."""

    title: str
    x_title: str
    tick_labels: tuple[str, ...] | None
    lines: tuple[Line, ...]
    bottlenecks: tuple[str, ...]
    confidence: float
    origin: str


def chart(sweep: Sweep, title: str = "") -> Chart:
    """Lay out a sweep over one or two fields. Raises InputError for more, or if no point has a rate."""
    if len(sweep.axes) > 2:
        raise InputError("a picture shows one or two varied fields; this sweep has more: use --output csv")
    axes = list(sweep.axes)
    first = axes[0]
    rows = [row for row in sweep.rows if row.rate_per_min is not None]
    if not rows:
        raise InputError("nothing to draw: no point of the sweep has a rate")
    values, labels = (_values(sweep, number) for number in (0, 1))
    positions, unit = _positions(values)
    lines: list[Line] = []
    for label in labels:
        mine = [(positions[row.values[0]], row) for row in rows if row.values[1:] == ((label,) if label else ())]
        if mine:
            name = f"{_words(axes[1].key)} {label}" if label else ""
            lines.append(Line(name, tuple(sorted(mine, key=lambda point: point[0]))))
    return Chart(
        title=title or f"{RATE_TITLE} · {sweep.scenario}",
        x_title=_words(first.key) + (f" ({unit})" if unit and unit != "text" else ""),
        tick_labels=values if unit == "text" else None,
        lines=tuple(lines),
        bottlenecks=tuple(dict.fromkeys(row.limit for row in rows)),
        confidence=sweep.confidence,
        origin=f"band: {sweep.confidence:.0%} interval · oltpsim {sweep.versions.get('oltpsim', '?')},"
        f" engine {sweep.engine}, seed {sweep.seed}"
        + (f", {sweep.replications} replications" if sweep.replications > 1 else ""),
    )


def _values(sweep: Sweep, number: int) -> tuple[str, ...]:
    """What one axis takes: as listed, or as drawn. Raises InputError for lines that would have a point each."""
    if number >= len(sweep.axes):
        return ("",)
    axis = sweep.axes[number]
    if not isinstance(axis, SampledAxis):
        return axis.values
    if number:
        raise InputError(f"a picture draws samples of the first field alone, not of {axis.key}: use --output csv")
    return tuple(dict.fromkeys(row.values[number] for row in sweep.rows))


def _positions(values: tuple[str, ...]) -> tuple[dict[str, float], str]:
    """Place of each value and the unit that all share; `text` if they are not numbers of one unit."""
    found = [re.fullmatch(r"([-+.\d_eE]+)\s*([^\d\s].*)?", value) for value in values]
    units = {match.group(2) or "" for match in found if match}
    try:
        if all(found) and len(units) == 1:
            numbers = {value: float(match.group(1)) for value, match in zip(values, found, strict=True) if match}
            return numbers, units.pop()
    except ValueError:
        pass
    return {value: float(number) for number, value in enumerate(values)}, "text"


def _words(key: str) -> str:
    """`machine.memory_gib` as people read it: memory, GiB."""
    name = " ".join(key.split(".")[-2:]) if key.endswith((".count", ".name")) else key.rpartition(".")[2]
    for suffix, unit in (
        ("_gib", " (GiB)"),
        ("_kib", " (KiB)"),
        ("_ms", " (ms)"),
        ("_us", " (µs)"),
        ("_s", " (s)"),
    ):
        if name.endswith(suffix):
            name = name.removesuffix(suffix) + unit
            break
    return name.replace("_", " ")


def to_svg(sweep: Sweep, title: str = "") -> str:
    """The picture as one SVG file."""
    drawing = chart(sweep, title)
    x_range, y_top = _ranges(drawing)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}"',
        f' height="{HEIGHT}" font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#222222">',
        f"<title>{escape(drawing.title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _text(LEFT, 22, drawing.title, size=15),
        *_axes(drawing, x_range, y_top),
    ]
    for number, line in enumerate(drawing.lines):
        parts += _line(drawing, line, COLOURS[number % len(COLOURS)], x_range, y_top)
    parts += _legend(drawing)
    parts.append(_text(WIDTH - RIGHT, HEIGHT - 8, drawing.origin, anchor="end", size=10, colour="#666666"))
    return "\n".join([*parts, "</svg>", ""])


def _ranges(drawing: Chart) -> tuple[tuple[float, float], float]:
    places = [x for line in drawing.lines for x, _ in line.points]
    low, high = min(places), max(places)
    margin = (high - low) * 0.04 or 1.0
    top = max(row.high_per_min or 0.0 for line in drawing.lines for _, row in line.points)
    return (low - margin, high + margin), (top or 1.0) * 1.05


def _place(x: float, y: float, x_range: tuple[float, float], y_top: float) -> tuple[float, float]:
    across = (x - x_range[0]) / (x_range[1] - x_range[0])
    return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - y / y_top * (HEIGHT - TOP - BOTTOM)


def _ticks(low: float, high: float) -> list[float]:
    """Four to nine round numbers from `low` to `high`."""
    rough = (high - low) / 6
    power = 10.0 ** floor(log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough)
    first = floor(low / step) + (0 if low % step == 0 else 1)
    return [number * step for number in range(first, floor(high / step) + 1)]


def _axes(drawing: Chart, x_range: tuple[float, float], y_top: float) -> list[str]:
    parts: list[str] = []
    bottom = HEIGHT - BOTTOM
    for tick in _ticks(0.0, y_top):
        _, y = _place(x_range[0], tick, x_range, y_top)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#e4e4e4"/>')
        parts.append(_text(LEFT - 8, y + 4, f"{tick:,.0f}" if y_top >= 10 else f"{tick:g}", anchor="end"))
    labels = drawing.tick_labels
    marks = [(float(i), name) for i, name in enumerate(labels)] if labels else [
        (tick, f"{tick:,.10g}") for tick in _ticks(*x_range)
    ]  # fmt: skip
    for tick, name in marks:
        x, _ = _place(tick, 0.0, x_range, y_top)
        parts.append(f'<path d="M{x:.1f} {bottom}v5" stroke="#222222"/>')
        parts.append(_text(x, bottom + 19, name, anchor="middle"))
    parts.append(f'<path d="M{LEFT} {TOP}V{bottom}H{WIDTH - RIGHT}" fill="none" stroke="#222222"/>')
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, bottom + 38, drawing.x_title, anchor="middle"))
    turned = f"translate(18 {(TOP + bottom) / 2:.1f}) rotate(-90)"
    parts.append(f'<text transform="{turned}" text-anchor="middle">{RATE_TITLE}</text>')
    return parts


def _line(drawing: Chart, line: Line, colour: str, x_range: tuple[float, float], y_top: float) -> list[str]:
    def path(values: list[tuple[float, float | None]]) -> str:
        places = (_place(x, y or 0.0, x_range, y_top) for x, y in values)
        return "L".join(f"{x:.1f} {y:.1f}" for x, y in places)

    upper = path([(x, row.high_per_min) for x, row in line.points])
    lower = path([(x, row.low_per_min) for x, row in reversed(line.points)])
    middle = path([(x, row.rate_per_min) for x, row in line.points])
    parts = [
        f'<path d="M{upper}L{lower}Z" fill="{colour}" fill-opacity="0.15"/>',
        f'<path d="M{middle}" fill="none" stroke="{colour}" stroke-width="2"/>',
    ]
    for x, row in line.points:
        at_x, at_y = _place(x, row.rate_per_min or 0.0, x_range, y_top)
        shape = SHAPES[drawing.bottlenecks.index(row.limit) % len(SHAPES)]
        parts.append(_marker(shape, at_x, at_y, colour))
    return parts


def _marker(shape: str, x: float, y: float, colour: str) -> str:
    paths = {
        "circle": "m-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0Z",
        "square": "m-4.5 -4.5h9v9h-9Z",
        "diamond": "m0 -6l6 6l-6 6l-6 -6Z",
        "triangle": "m0 -6l5.5 10h-11Z",
        "cross": "m-5 -5l10 10m0 -10l-10 10",
    }
    return f'<path d="M{x:.1f} {y:.1f}{paths[shape]}" fill="{colour}" stroke="#ffffff" stroke-width="1"/>'


def _legend(drawing: Chart) -> list[str]:
    """One row of words above the picture: lines by colour, bottlenecks by shape."""
    parts: list[str] = []
    x = float(LEFT)
    entries = [
        (f'<path d="M{{x:.1f}} 43h16" stroke="{COLOURS[i % len(COLOURS)]}" stroke-width="3"/>', line.label)
        for i, line in enumerate(drawing.lines)
        if line.label
    ]
    for name, shape in zip(drawing.bottlenecks, SHAPES * 9, strict=False):
        entries.append((_marker(shape, -1.0, 43.0, "#666666").replace("M-1.0", "M{x:.1f}"), f"{name} limits"))
    for mark, label in entries:
        parts.append(mark.format(x=x if "h16" in mark else x + 8))
        parts.append(_text(x + 22, 47, label))
        x += 38 + 5.8 * len(label)
    return parts


def _text(x: float, y: float, words: str, anchor: str = "start", size: int = 12, colour: str = "") -> str:
    fill = f' fill="{colour}"' if colour else ""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} font-size="{size}"{fill}>{escape(words)}</text>'


def to_html(sweep: Sweep, title: str = "") -> str:
    """The picture as one HTML file that needs no network."""
    from plotly import graph_objects

    drawing = chart(sweep, title)
    figure = graph_objects.Figure()
    for number, line in enumerate(drawing.lines):
        colour = COLOURS[number % len(COLOURS)]
        places = [x for x, _ in line.points]
        rows = [row for _, row in line.points]
        band = [row.high_per_min for row in rows] + [row.low_per_min for row in reversed(rows)]
        figure.add_scatter(
            x=places + places[::-1], y=band, fill="toself", mode="none", fillcolor=colour, opacity=0.2,
            name=f"{drawing.confidence:.0%} interval {line.label}".strip(), hoverinfo="skip",
        )  # fmt: skip
        shapes = [PLOTLY_SHAPES[drawing.bottlenecks.index(row.limit) % len(PLOTLY_SHAPES)] for row in rows]
        figure.add_scatter(
            x=places, y=[row.rate_per_min for row in rows], mode="lines+markers",
            name=line.label or RATE_TITLE, line={"color": colour}, marker={"symbol": shapes, "size": 11},
            text=[f"limited by {row.bottleneck}" for row in rows], hovertemplate="%{x}: %{y:,.0f}<br>%{text}",
        )  # fmt: skip
    for name, shape in zip(drawing.bottlenecks, PLOTLY_SHAPES * 9, strict=False):
        figure.add_scatter(
            x=[None], y=[None], mode="markers", marker={"symbol": shape, "size": 11, "color": "#666666"},
            name=f"{name} limits",
        )  # fmt: skip
    figure.update_layout(title=drawing.title, template="plotly_white", xaxis_title=drawing.x_title)
    figure.update_yaxes(title=RATE_TITLE, rangemode="tozero")
    if drawing.tick_labels:
        figure.update_xaxes(tickvals=list(range(len(drawing.tick_labels))), ticktext=list(drawing.tick_labels))
    figure.add_annotation(text=drawing.origin, xref="paper", yref="paper", x=1, y=-0.18, showarrow=False)
    page: str = figure.to_html(include_plotlyjs=True, full_html=True, div_id="sweep")
    return page
