"""The report's pictures of the whole run: response times, utilisation, where the time goes, hits by table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from scenarios.show.marks import (
    BLUE,
    FAINT,
    GREEN,
    GREY,
    ORANGE,
    PALETTE,
    PINK,
    SKY,
    SLATE,
    VERMILION,
    LegendEntry,
    Picture,
    Row,
    Style,
    as_json,
    bar_chart,
    bar_legend,
    blank,
)
from scenarios.show.numbers import count, share, tick, time
from scenarios.show.ticks import linear_ticks, log_ticks
from scenarios.show.words import Load, class_name, loads
from simulator.results import ClassResult, CpuResult, DeviceResult, Result, TableResult

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

MOST_DEVICES = MOST_TABLES = 8
QUANTILES = {
    "p50_s": ("median", "circle", "●", BLUE),
    "p90_s": ("90 %", "diamond", "◆", GREEN),
    "p95_s": ("95 %", "square", "■", ORANGE),
    "p99_s": ("99 %", "triangle-up", "▲", VERMILION),
    "p999_s": ("99.9 %", "x", "✖", PINK),
}
ACTIVITY_STYLES = {
    "cpu": Style("cpu", BLUE),
    "cpu queue": Style("cpu queue", BLUE, hatched=True),
    "critical section": Style("critical section", SKY, hatched=True),
    "row locks": Style("row locks", VERMILION, hatched=True),
    "disk read": Style("disk read", GREEN),
    "page wait": Style("page wait", GREEN, hatched=True),
    "swap": Style("swap", VERMILION),
    "write throttle": Style("write throttle", ORANGE, hatched=True),
    "log": Style("log", PINK),
    "network": Style("network", GREY),
}
HIT_STYLES = {
    "pool_hits": Style("buffer pool", BLUE),
    "page_cache_hits": Style("page cache", SKY, hatched=True),
    "disk_reads": Style("read from disk", VERMILION),
    "created": Style("created new", GREY),
}


def busiest(devices: Sequence[DeviceResult]) -> list[DeviceResult]:
    """The devices that fit a picture: all, or the busiest ones in their own order."""
    if len(devices) <= MOST_DEVICES:
        return list(devices)
    ranked = sorted(devices, key=lambda device: -device.utilisation)[:MOST_DEVICES]
    return [device for device in devices if device in ranked]


def responses(result: Result) -> Picture | None:
    """Percentiles of the response time of each class, on a logarithmic axis; None if nothing completed."""
    classes = [one for one in result.classes if one.completed and one.p50_s > 0]
    if not classes:
        return None
    figure = blank()
    for number, one in enumerate(classes):
        _range_of(figure, -float(number), one)
    for field, (label, symbol, _, colour) in QUANTILES.items():
        figure.add_scatter(
            x=[getattr(one, field) * 1e3 for one in classes],
            y=[-float(number) for number in range(len(classes))],
            mode="markers",
            marker={"symbol": symbol, "size": 11, "color": colour},
            customdata=[f"{class_name(c.name)}: {label} {time(getattr(c, field))}" for c in classes],
            hovertemplate="%{customdata}<extra></extra>",
            cliponaxis=False,
        )
    low = min(one.p50_s for one in classes) * 1e3 / 1.35
    high = max(one.p999_s for one in classes) * 1e3 * 1.35
    ticks = log_ticks(low, high)
    figure.update_xaxes(
        type="log", range=[math.log10(low), math.log10(high)], tickvals=ticks,
        ticktext=[tick(place / 1e3) for place in ticks], fixedrange=True, zeroline=False,
    )  # fmt: skip
    figure.update_yaxes(visible=False, fixedrange=True, range=[0.6 - len(classes), 0.66])
    legend = tuple(LegendEntry(label, colour, glyph) for label, _, glyph, colour in QUANTILES.values())
    said = "; ".join(
        f"{class_name(one.name)} median {time(one.p50_s)}, 95 % within {time(one.p95_s)}, 99 % within {time(one.p99_s)}"
        for one in classes
    )
    caption = "The scale is logarithmic: equal distances are equal factors."
    return Picture(
        "responses", "Response times by class", caption, f"Response times. {said}.", legend,
        52 * len(classes) + 44, as_json(figure),
    )  # fmt: skip


def _range_of(figure: Figure, place: float, one: ClassResult) -> None:
    """The row of one class: a faint rule, the range from median to 99.9 %, name and 95 % above them."""
    figure.add_shape(
        type="line", xref="paper", x0=0, x1=1, y0=place, y1=place, layer="below",
        line={"color": FAINT, "width": 5},
    )  # fmt: skip
    figure.add_scatter(
        x=[one.p50_s * 1e3, one.p999_s * 1e3], y=[place, place], mode="lines", hoverinfo="skip",
        line={"color": "rgba(128,132,140,0.55)", "width": 5},
    )  # fmt: skip
    above = {"y": place + 0.36, "yanchor": "middle", "showarrow": False, "xref": "paper"}
    figure.add_annotation(text=class_name(one.name), x=0, xanchor="left", **above)
    figure.add_annotation(text=f"95 % within {time(one.p95_s)}", x=1, xanchor="right", **above)


def utilisation(result: Result) -> Picture:
    """How busy everything is, the bottleneck framed and named."""
    shown = {device.name for device in busiest(result.devices)}
    every = loads(result)
    devices = {device.name for device in result.devices}
    listed = [load for load in every if load.name not in devices - shown or load.is_bottleneck]
    styles = {
        "user": Style("cpu user", BLUE),
        "system": Style("cpu system", SKY),
        "iowait": Style("cpu waiting for disk reads", GREEN, hatched=True),
        "used": Style("in use", SLATE),
        "limit": Style("in use, bottleneck", VERMILION),
        "free": Style("free", FAINT),
    }
    if result.bottleneck.name == "cpu":
        styles.pop("limit")
    rows = [_load_row(load, result.cpu) for load in listed]
    figure, height = bar_chart(rows, styles, _percent_axis())
    hidden = len(every) - len(listed)
    caption = f"The {len(shown)} busiest devices; {hidden} others are not shown." if hidden else ""
    said = "; ".join(f"{load.name} {share(load.share)} {load.meaning}" for load in listed)
    limit = result.bottleneck
    text = f"Utilisation. Bottleneck: {limit.name}, {share(limit.share)}. {said}."
    return Picture("utilisation", "How busy everything is", caption, text, bar_legend(styles), height, figure)


def _load_row(load: Load, cpu: CpuResult) -> Row:
    if load.name == "cpu":
        parts = {"user": cpu.user, "system": cpu.system, "iowait": cpu.iowait, "free": cpu.idle}
    else:
        parts = {"limit" if load.is_bottleneck else "used": load.share, "free": max(0.0, 1.0 - load.share)}
    label = load.name
    if load.is_bottleneck:
        label = f"<b>▶ {load.name}: bottleneck</b>"
    elif load.is_next:
        label = f"{load.name}: next bottleneck"
    hover = {part: share(value) for part, value in parts.items()}
    return Row(label, f"{share(load.share)} {load.meaning}", parts, hover, framed=load.is_bottleneck)


def _percent_axis() -> dict[str, object]:
    return {
        "range": [0, 1],
        "tickvals": [0.25, 0.5, 0.75],
        "ticktext": ["25 %", "50 %", "75 %"],
    }


def time_by_activity(result: Result) -> Picture | None:
    """Where a transaction's time goes, by class; None if nothing completed."""
    classes = [one for one in result.classes if one.completed and one.mean_s > 0]
    if not classes:
        return None
    styles = _activity_styles(classes)
    longest = max(one.mean_s for one in classes) * 1e3
    rows = [
        Row(
            class_name(one.name),
            f"{time(one.mean_s)} in all",
            {part: spent * 1e3 for part, spent in one.time_by_s.items()},
            {part: f"{time(spent)}, {share(spent / one.mean_s)}" for part, spent in one.time_by_s.items()},
        )
        for one in classes
    ]
    ticks = linear_ticks(longest)
    axis = {
        "range": [0, longest * 1.02],
        "tickvals": ticks,
        "ticktext": [tick(place / 1e3) for place in ticks],
    }
    figure, height = bar_chart(rows, styles, axis)
    said = ". ".join(_where(one) for one in classes)
    return Picture(
        "time-by-activity", "Where a transaction’s time goes", _where(classes[0]) + ".",
        f"Mean response time by what it was spent on. {said}.", bar_legend(styles), height, figure,
    )  # fmt: skip


def _activity_styles(classes: Sequence[ClassResult]) -> dict[str, Style]:
    """Styles of what took any time, the known ones first."""
    spent = {part for one in classes for part, seconds in one.time_by_s.items() if seconds > 0}
    unknown = sorted(spent - set(ACTIVITY_STYLES))
    others = {part: Style(part, PALETTE[n % len(PALETTE)]) for n, part in enumerate(unknown)}
    return {part: style for part, style in (ACTIVITY_STYLES | others).items() if part in spent}


def _where(one: ClassResult) -> str:
    """The three largest parts of a class's time, in words."""
    parts = sorted(one.time_by_s.items(), key=lambda item: (-item[1], item[0]))[:3]
    said = ", ".join(f"{name} {time(spent)}" for name, spent in parts if spent > 0)
    return f"A {class_name(one.name)} takes {time(one.mean_s)} on average: most of it {said}"


def hits_by_table(result: Result) -> Picture | None:
    """Where the references of each table were answered, as shares; None if there were none."""
    tables = [table for table in result.tables if table.references]
    if not tables:
        return None
    whole = TableResult(
        "all tables",
        *(sum(getattr(t, field) for t in tables) for field in ("references", *HIT_STYLES)),
    )
    styles = {field: style for field, style in HIT_STYLES.items() if getattr(whole, field) or field != "created"}
    missed = sorted((t for t in tables if t.pool_hits < t.references), key=lambda t: (-t.disk_reads, t.name))
    shown = [whole, *missed[:MOST_TABLES]]
    rows = [_hit_row(table) for table in shown]
    figure, height = bar_chart(rows, styles, _percent_axis())
    worst = max(tables, key=lambda t: (t.disk_reads, t.name))
    caption = "No table was read from disk."
    if whole.disk_reads:
        caption = f"{share(worst.disk_reads / whole.disk_reads)} of all disk reads are for {worst.name}."
    if len(tables) > len(shown) - 1:
        caption += " Tables that are not drawn are read less, or never; the list below has them all."
    said = "; ".join(
        f"{t.name} {share(t.pool_hits / t.references)} buffer pool,"
        f" {share(t.page_cache_hits / t.references)} page cache, {share(t.disk_reads / t.references)} disk"
        for t in shown
    )
    return Picture(
        "hits-by-table", "Where pages were found, by table", caption, f"{caption} {said}.",
        bar_legend(styles), height, figure,
    )  # fmt: skip


def _hit_row(table: TableResult) -> Row:
    parts = {field: getattr(table, field) / table.references for field in HIT_STYLES}
    hover = {field: f"{share(part)}, {count(getattr(table, field))} pages" for field, part in parts.items()}
    return Row(table.name, f"{share(parts['disk_reads'])} from disk", parts, hover)
