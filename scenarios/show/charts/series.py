"""The report's pictures over time: the rate with what is counted, and everything else that has a series."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scenarios.show.marks import BLUE, GREY, PALETTE, SKY, VERMILION, LegendEntry, Picture, as_json, blank
from scenarios.show.numbers import count, plural, share, significant, span
from scenarios.show.ticks import linear_ticks
from scenarios.show.words import unit_of
from simulator.results import Result

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

RATE_KEYS = ("new_orders_per_min", "main_per_min")
WARM_UP_FILL, CHECKPOINT_FILL = "rgba(128,132,140,0.20)", "rgba(204,121,167,0.30)"
DASHES = ("solid", "dash", "dot", "dashdot")
MOST_LINES = 6
FIRST = ("cpu_user", "pool_hit_ratio", "pool_dirty_fraction")
SMOOTHED_STEPS = 5


@dataclass(frozen=True)
class Panel:
    """Series that share an axis. `is_share` says that they are drawn in per cent."""

    key: str
    title: str
    lines: dict[str, list[float]]
    is_share: bool
    is_stacked: bool = False
    caption: str = ""


def throughput(result: Result, measured_per_min: float | None) -> Picture | None:
    """The rate over time with warm-up, checkpoints, counted mean and its interval; None without a series."""
    rates = next((result.series.values[key] for key in RATE_KEYS if result.series.values.get(key)), None)
    if rates is None:
        return None
    unit, estimate, step_s = unit_of(result.main_class), result.rate_per_min, result.series.step_s
    figure, clock = _over_time(result)
    times = _times(result, clock)
    legend = [LegendEntry(f"{unit}, mean of each {span(step_s)}", SKY, "line")]
    line = {"color": SKY, "width": 1.5}
    if len(rates) > 12 * SMOOTHED_STEPS:
        smooth = moving_mean(rates, SMOOTHED_STEPS)
        figure.add_scatter(x=times, y=short(rates), mode="lines", line=line, name=f"each {span(step_s)}")
        line = {"color": BLUE, "width": 2.5}
        words = f"mean over {span(SMOOTHED_STEPS * step_s)}"
        figure.add_scatter(x=times, y=short(smooth), mode="lines", line=line, name=words)
        legend.append(LegendEntry(words, BLUE, "line"))
    else:
        figure.add_scatter(x=times, y=short(rates), mode="lines", line=line, name=unit)
    legend += _levels(figure, result, clock, measured_per_min)
    top = max([*rates, estimate.high, measured_per_min or 0.0])
    _count_axis(figure, top)
    said = (
        f"{unit} over {span(result.warm_up_s + result.duration_s)}:"
        f" from {count(min(rates))} to {count(max(rates))},"
        f" counted mean {count(estimate.mean)}, interval {count(estimate.low)} to {count(estimate.high)},"
        f" {_checkpoints(result)}"
    )
    return Picture(
        "throughput", f"{unit[0].upper()}{unit[1:]} over time", _counted(result), f"{said}.",
        (*legend, *_band_legend(result)), 320, as_json(figure),
    )  # fmt: skip


def _levels(figure: Figure, result: Result, clock: Clock, measured: float | None) -> list[LegendEntry]:
    """Draw the counted mean, its interval and the measured rate over the counted time."""
    estimate = result.rate_per_min
    begin, end = result.warm_up_s / clock.seconds, (result.warm_up_s + result.duration_s) / clock.seconds
    figure.add_shape(
        type="rect", x0=begin, x1=end, y0=estimate.low, y1=estimate.high, layer="below",
        fillcolor="rgba(217,96,26,0.25)", line={"width": 0},
    )  # fmt: skip
    counted = LegendEntry(f"counted: {count(estimate.mean)}, with its interval", VERMILION, "dash")
    levels = [(estimate.mean, counted)]
    if measured is not None:
        levels.append((measured, LegendEntry(f"measured by others: {count(measured)}", GREY, "dot")))
    for level, entry in levels:
        line = {"color": entry.colour, "width": 2, "dash": entry.mark}
        figure.add_shape(type="line", x0=begin, x1=end, y0=level, y1=level, line=line)
    return [entry for _, entry in levels]


def _counted(result: Result) -> str:
    steady = result.steady_rate_per_min
    words = f"Counted: {span(result.duration_s)}" + (
        f" after {span(result.warm_up_s)} of warm-up. " if result.warm_up_s else " from the start. "
    )
    return words + (
        f"Steady from {span(result.steady_from_s)} on, at {count(steady.mean)}"
        f" [{count(steady.low)} .. {count(steady.high)}]."
    )


def over_time(result: Result) -> list[Picture]:
    """One picture per group of series that share a meaning, unknown ones each by itself."""
    return [_draw(result, panel) for panel in panels(result) if any(panel.lines.values())]


def panels(result: Result) -> list[Panel]:
    """Sort the series into panels by their keys."""
    left = {key: list(values) for key, values in result.series.values.items() if key not in RATE_KEYS}

    def take(ending: str) -> dict[str, list[float]]:
        keys = sorted((key for key in left if key.endswith(ending)), key=_first_then_numbered)
        return {_words(key.removesuffix(ending)): left.pop(key) for key in keys}

    disks = take(" utilisation")
    ranked = sorted(disks, key=lambda name: -math.fsum(disks[name]))[:MOST_LINES]
    hidden = len(disks) - len(ranked)
    cpu = {_words(key): left.pop(key) for key in sorted(left, key=_first_then_numbered) if key.startswith("cpu")}
    found = [
        Panel("cpu", "CPU", cpu, is_share=True, is_stacked=True),
        Panel(
            "disks", "Disk utilisation", {name: disks[name] for name in disks if name in ranked}, True,
            caption=f"The {MOST_LINES} busiest devices; {hidden} others are not shown." if hidden else "",
        ),
        Panel("reads-pending", "Disk reads pending", {"reads pending": left.pop("reads_pending", [])}, False),
        Panel("dirty", "Dirty share", take("_dirty_fraction"), True),
        Panel("hit-ratios", "Hit ratio", take("_hit_ratio"), True),
    ]  # fmt: skip
    for number, (key, values) in enumerate(sorted(left.items())):
        is_share = key.endswith(("fraction", "ratio", "share"))
        title = _words(key)
        found.append(Panel(f"other-{number}", title[0].upper() + title[1:], {title: values}, is_share))
    return found


def _first_then_numbered(key: str) -> tuple[bool, int, str]:
    """Order of lines: what others are measured against first, disk 2 before disk 10."""
    return key not in FIRST, len(key), key


def _words(key: str) -> str:
    for ending, words in (("_per_s", " per second"), ("_per_min", " per minute"), ("_s", " (s)")):
        if key.endswith(ending):
            key = key.removesuffix(ending) + words
            break
    return key.replace("_", " ")


def _draw(result: Result, panel: Panel) -> Picture:
    figure, clock = _over_time(result)
    times = _times(result, clock)
    legend: list[LegendEntry] = []
    stacked = panel.is_stacked and len(panel.lines) > 1
    for number, (name, values) in enumerate(panel.lines.items()):
        colour, dash = PALETTE[number % len(PALETTE)], DASHES[number % len(DASHES)]
        line: dict[str, Any] = {
            "color": colour,
            "width": 1 if stacked else 2,
            "dash": "solid" if stacked else dash,
        }
        figure.add_scatter(
            x=times, y=short(values), mode="lines", name=name, line=line,
            **({"stackgroup": "all"} if stacked else {}),
        )  # fmt: skip
        mark = "fill" if stacked else {"solid": "line", "dash": "dash"}.get(dash, "dot")
        legend.append(LegendEntry(name, colour, mark))
    if panel.is_share:
        figure.update_yaxes(range=[0, 1.02], tickvals=[0, 0.5, 1], ticktext=["0 %", "50 %", "100 %"], fixedrange=True)
    else:
        _count_axis(figure, max(max(values) for values in panel.lines.values()))
    read = share if panel.is_share else significant
    said = "; ".join(_range_in_words(name, values, read) for name, values in panel.lines.items())
    return Picture(
        f"series-{panel.key}", panel.title, panel.caption, f"{panel.title} over time. {said}.",
        tuple(legend), 210, as_json(figure),
    )  # fmt: skip


def _range_in_words(name: str, values: Sequence[float], read: Any) -> str:
    mean = math.fsum(values) / len(values)
    return f"{name}: mean {read(mean)}, lowest {read(min(values))}, highest {read(max(values))}"


@dataclass(frozen=True)
class Clock:
    """The unit of a time axis."""

    name: str
    seconds: float


def clock_of(end_s: float) -> Clock:
    """Seconds, minutes or hours, so that the axis reads in numbers of one to three digits."""
    if end_s <= 600:
        return Clock("s", 1.0)
    return Clock("min", 60.0) if end_s <= 600 * 60 else Clock("h", 3600.0)


def _over_time(result: Result) -> tuple[Figure, Clock]:
    """A figure with a time axis, warm-up and checkpoints."""
    figure = blank()
    clock = clock_of(result.warm_up_s + result.duration_s)
    bands = [(0.0, result.warm_up_s, WARM_UP_FILL)] if result.warm_up_s else []
    bands += [(begin, end, CHECKPOINT_FILL) for begin, end in result.checkpoints_s]
    for begin, end, fill in bands:
        figure.add_shape(
            type="rect", xref="x", yref="paper", x0=begin / clock.seconds, x1=end / clock.seconds, y0=0, y1=1,
            fillcolor=fill, line={"width": 0}, layer="below",
        )  # fmt: skip
    end = (result.warm_up_s + result.duration_s) / clock.seconds
    ticks = linear_ticks(end * 0.96)
    labels = [*(f"{place:,.4g}" for place in ticks[:-1]), f"{ticks[-1]:,.4g} {clock.name}"]
    figure.update_xaxes(range=[0, end], tickvals=ticks, ticktext=labels, zeroline=False)
    figure.update_yaxes(zeroline=False, automargin=False)
    figure.update_layout(hovermode="x unified", margin={"l": 56, "r": 14, "t": 10, "b": 34, "pad": 4})
    return figure, clock


def _count_axis(figure: Figure, top: float) -> None:
    """A vertical axis from 0 to `top`, with room at its left for the longest label."""
    ticks = linear_ticks(top or 1.0)
    labels = [f"{place:,.10g}" for place in ticks]
    room = max(56, 16 + 8 * max(map(len, labels)))
    figure.update_yaxes(range=[0, (top or 1.0) * 1.06], tickvals=ticks, ticktext=labels, fixedrange=True)
    figure.update_layout(margin_l=room)


def _band_legend(result: Result) -> list[LegendEntry]:
    found = [LegendEntry("warm-up, not counted", WARM_UP_FILL, "fill")] if result.warm_up_s else []
    return found + ([LegendEntry("checkpoint", CHECKPOINT_FILL, "fill")] if result.checkpoints_s else [])


def _checkpoints(result: Result) -> str:
    number = len(result.checkpoints_s)
    return plural(number, "checkpoint") if number else "no checkpoint"


def _times(result: Result, clock: Clock) -> list[float]:
    """Middles of the steps."""
    length = max(len(values) for values in result.series.values.values())
    return short([(step + 0.5) * result.series.step_s / clock.seconds for step in range(length)])


def short(values: Sequence[float]) -> list[float]:
    """Five significant digits: more cannot be seen, and the file is mailed."""
    return [float(f"{value:.5g}") for value in values]


def moving_mean(values: Sequence[float], width: int) -> list[float]:
    """Mean over `width` steps around each, over fewer at the ends."""
    half = width // 2
    windows = (values[max(0, place - half) : place + half + 1] for place in range(len(values)))
    return [math.fsum(window) / len(window) for window in windows]
