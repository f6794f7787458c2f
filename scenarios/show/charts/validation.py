"""The pictures of a validation: model against measured, residuals with intervals, baselines, gaps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from calibration.fit import Certificate, Gap, JudgedRate
from scenarios.show.marks import (
    BLUE,
    FAINT,
    GREEN,
    GREY,
    LABEL_ABOVE,
    ORANGE,
    PINK,
    SKY,
    VERMILION,
    LegendEntry,
    Picture,
    as_json,
    blank,
)
from scenarios.show.numbers import count, signed_share
from scenarios.show.ticks import linear_ticks, log_ticks
from scenarios.show.validation import change
from simulator.analytic import CPU_PART, DEVICE_PART, MISSES_PART, READS_PART, WRITES_PART

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

ROW_PX = 58
MODEL, LEFT_OUT = "the model", "the model, refitted without the run"
NOT_TOLD = "not told"
PART_COLOURS = {
    MISSES_PART: GREEN, READS_PART: SKY, WRITES_PART: ORANGE, CPU_PART: BLUE, DEVICE_PART: PINK, NOT_TOLD: GREY,
}  # fmt: skip
MARGIN = 1.12
DOT = {"size": 11}


def against_measured(found: Certificate) -> Picture:
    """Rates by the model, and by the model refitted without the run, over what was measured."""
    left = found.left_out_by("run").rows
    every: Sequence[JudgedRate] = (*found.runs, *left)
    low = min(min(each.measured, each.low) for each in every) / MARGIN
    high = max(max(each.measured, each.high) for each in every) * MARGIN
    figure = blank()
    figure.add_scatter(
        x=[low, high], y=[low, high], mode="lines", hoverinfo="skip", line={"color": GREY, "dash": "dash", "width": 1.5}
    )
    _points(figure, left, "diamond", VERMILION, LEFT_OUT, whiskers=True)
    _points(figure, found.runs, "circle-open", BLUE, MODEL, whiskers=not left)
    ticks = log_ticks(low, high)
    axis: dict[str, Any] = {
        "type": "log", "range": [math.log10(low), math.log10(high)], "tickvals": ticks, "fixedrange": True,
        "ticktext": [count(tick) for tick in ticks], "zeroline": False, "automargin": True,
    }  # fmt: skip
    figure.update_xaxes(title={"text": "measured, new orders per minute", "standoff": 6}, **axis)
    figure.update_yaxes(**axis)
    figure.update_layout(margin={"l": 2, "r": 12, "t": 8, "b": 50, "pad": 0})
    legend = [LegendEntry(f"{MODEL}, new orders per minute", BLUE, "○")]
    legend += [LegendEntry(f"{LEFT_OUT}, with its interval", VERMILION, "◆")] if left else []
    legend.append(LegendEntry("as measured", GREY, "dash"))
    said = "; ".join(f"{each.name}: measured {count(each.measured)}, model {count(each.model)}" for each in found.runs)
    return Picture(
        "agreement", "Model against measured", "Both scales are logarithmic: equal distances are equal factors.",
        f"Model against measured. {said}.", tuple(legend), 380, as_json(figure),
    )  # fmt: skip


def _points(figure: Figure, rows: Sequence[JudgedRate], symbol: str, colour: str, name: str, *, whiskers: bool) -> None:
    if not rows:
        return
    bars = {
        "type": "data", "symmetric": False, "array": [each.high - each.model for each in rows],
        "arrayminus": [each.model - each.low for each in rows], "thickness": 2, "width": 5, "color": colour,
    }  # fmt: skip
    figure.add_scatter(
        x=[each.measured for each in rows], y=[each.model for each in rows], mode="markers",
        marker={**DOT, "symbol": symbol, "color": colour, "line": {"width": 2, "color": colour}},
        error_y=bars if whiskers else None,
        customdata=[_plain(f"{each.name}: {name} {count(each.model)}") for each in rows],
        hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip


def residuals(found: Certificate) -> Picture:
    """Each run's error with the interval, relative to what was measured; left out if it could be."""
    left = {each.name: each for each in found.left_out_by("run").rows}
    figure = blank()
    labels = []
    ends = [0.0]
    for number, run in enumerate(found.runs):
        shown, own = left.get(run.name, run), run.name in left
        low, high = shown.low / shown.measured - 1.0, shown.high / shown.measured - 1.0
        ends += [low, high, run.error]
        colour = VERMILION if own else BLUE
        figure.add_scatter(
            x=[low, high], y=[-number, -number], mode="lines", hoverinfo="skip", line={"color": colour, "width": 3}
        )
        if own:
            _dot(figure, shown.error, -number, "diamond", VERMILION,
                 f"{run.name}: without it {signed_share(shown.error)}")  # fmt: skip
        _dot(figure, run.error, -number, "circle-open", BLUE, f"{run.name}: {MODEL} {signed_share(run.error)}")
        labels.append((run.name, f"{signed_share(shown.error)}, {'inside' if shown.inside else 'OUTSIDE'}"))
    _rows(figure, labels)
    _error_axis(figure, min(ends), max(ends))
    said = "; ".join(f"{name} {value}" for name, value in labels)
    legend = (
        LegendEntry(MODEL, BLUE, "○"),
        *((LegendEntry(f"{LEFT_OUT}, with its interval", VERMILION, "◆"),) if left else ()),
    )
    return Picture(
        "residuals", "Errors with their intervals",
        "Errors are model / measured - 1. An interval that holds the line at 0 holds what was measured.",
        f"Errors. {said}.", legend, ROW_PX * len(labels) + 52, as_json(figure),
    )  # fmt: skip


def baselines(found: Certificate) -> Picture | None:
    """Errors of the model and of the baselines on left-out runs; None if nothing was left out."""
    left = found.left_out_by("run")
    if left.errors is None:
        return None
    shown = [(LEFT_OUT, [(row.name, row.error) for row in left.rows], left.errors.median)]
    for each in found.baselines:
        if each.errors is not None:
            told = [(row.name, row.error) for row in each.rows if row.error is not None]
            shown.append((each.name, told, each.errors.median))
    figure = blank()
    for number, (name, errors, _) in enumerate(shown):
        colour = VERMILION if name == LEFT_OUT else GREY
        for run, error in errors:
            _dot(figure, error, -number, "diamond" if name == LEFT_OUT else "circle", colour,
                 f"{name}: {run} {signed_share(error)}")  # fmt: skip
    labels = [(name, f"median {middle:.1%} of {len(errors)}") for name, errors, middle in shown]
    _rows(figure, labels)
    every = [error for _, errors, _ in shown for _, error in errors]
    _error_axis(figure, min([0.0, *every]), max([0.0, *every]))
    said = "; ".join(f"{name}: {value}" for name, value in labels)
    return Picture(
        "baselines", "Errors of left-out runs beside baselines",
        "One mark is one run that was predicted from the others. Baselines that no run allows are listed below.",
        f"Errors of left-out runs. {said}.", (), ROW_PX * len(labels) + 52, as_json(figure),
    )  # fmt: skip


def gaps(found: Sequence[Gap]) -> Picture | None:
    """Parts of each gap as a stacked bar, those that make the model too slow to the left; None if there are none."""
    if not found:
        return None
    figure = blank()
    used = [name for name in PART_COLOURS if any(name in _parts(gap) for gap in found)]
    for name in used:
        logs = [_parts(gap).get(name, 0.0) for gap in found]
        figure.add_bar(
            orientation="h", y=[-float(number) for number in range(len(found))], x=logs, width=0.38,
            marker={"color": PART_COLOURS[name], "line": {"width": 0}},
            customdata=[_plain(f"{gap.name}: {name} {change(log)}") for gap, log in zip(found, logs, strict=True)],
            hovertemplate="%{customdata}<extra></extra>",
        )  # fmt: skip
    labels = [(gap.name, signed_share(math.expm1(gap.log))) for gap in found]
    _rows(figure, labels)
    figure.update_layout(barmode="relative")
    sums = [sum(x for x in _parts(gap).values() if x * sign > 0) for gap in found for sign in (1, -1)]
    _error_axis(figure, math.expm1(min([0.0, *sums])), math.expm1(max([0.0, *sums])), log=True)
    legend = tuple(LegendEntry(name, PART_COLOURS[name], "fill") for name in used)
    said = "; ".join(f"{name} {value}" for name, value in labels)
    return Picture(
        "gaps", "Where a gap comes from",
        "Parts to the left make the model slower than what was measured, to the right faster.",
        f"Gaps. {said}.", legend, ROW_PX * len(labels) + 52, as_json(figure),
    )  # fmt: skip


def _parts(gap: Gap) -> dict[str, float]:
    return {part.name: part.log for part in gap.parts} | {NOT_TOLD: gap.not_told_log}


def _plain(text: str) -> str:
    """Text in which plotly finds no tags; names come from files of others."""
    return escape(text, quote=False)


def _dot(figure: Figure, x: float, y: float, symbol: str, colour: str, said: str) -> None:
    figure.add_scatter(
        x=[x], y=[y], mode="markers", customdata=[_plain(said)], hovertemplate="%{customdata}<extra></extra>",
        marker={**DOT, "symbol": symbol, "color": colour, "line": {"width": 2, "color": colour}}, cliponaxis=False,
    )  # fmt: skip


def _rows(figure: Figure, labels: Sequence[tuple[str, str]]) -> None:
    """A faint rule for each row, its label at the left above and its value at the right."""
    for number, (label, value) in enumerate(labels):
        above = {"y": LABEL_ABOVE - number, "yanchor": "middle", "showarrow": False, "xref": "paper"}
        figure.add_annotation(text=_plain(label), x=0, xanchor="left", **above)
        figure.add_annotation(text=value, x=1, xanchor="right", **above)
        figure.add_shape(
            type="line", xref="paper", x0=0, x1=1, y0=-number, y1=-number, layer="below",
            line={"color": FAINT, "width": 5},
        )  # fmt: skip
    figure.update_yaxes(visible=False, fixedrange=True, range=[0.6 - len(labels), 0.66])


def _error_axis(figure: Figure, low: float, high: float, *, log: bool = False) -> None:
    """Relative errors with marks at round numbers; `log`: places are logarithms of 1 + error."""
    room = 0.06 * max(high - low, 0.02)
    low, high = max(low - room, -0.98), high + room
    longest = max(-low, high)
    steps = linear_ticks(longest)
    marks = [-step for step in reversed(steps) if 0 < step <= -low] + [step for step in steps if step <= high]
    place = math.log1p if log else float
    figure.update_xaxes(
        range=[place(low), place(high)], tickvals=[place(mark) for mark in marks], fixedrange=True,
        ticktext=["0" if mark == 0 else f"{mark:+.4g} %".replace("-", "\u2212") for mark in
                  (round(100 * each, 6) for each in marks)],
        zeroline=True, zerolinecolor=GREY, zerolinewidth=2,
    )  # fmt: skip
