"""The pictures of a plan: cost against rate, what the short list holds, why the others fell out."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from scenarios.questions.plan import LATENCY, MEETS, OVERLOAD, VERDICTS, Plan, ShortListed
from scenarios.show.marks import (
    BLUE,
    FAINT,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    SLATE,
    VERMILION,
    LegendEntry,
    Picture,
    Row,
    Style,
    as_json,
    bar_chart,
    blank,
)
from scenarios.show.numbers import count, plural, share
from scenarios.show.plan import money, some_of_frontier
from scenarios.show.ticks import linear_ticks, log_ticks
from simulator.form import FloatArray, IntArray

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

MOST_POINTS = 4000
LIST_LENGTH = 10
"""of the short list are shown, beside those that were simulated"""
LOG_FROM = 10.0
"""a scale that spans more is logarithmic"""
COLOURS = {MEETS: GREEN, OVERLOAD: GREY, LATENCY: ORANGE}
"""verdicts that come with a rate"""
LABEL_LETTERS, LABEL_LINE_PX, HOVER_LETTERS = 54, 18, 30
"""of lines of names, so that they fit on a phone: a label has the picture's width, a box beside a point half of it"""
MARGIN = 1.15


def cost_and_rate(plan: Plan) -> Picture | None:
    """Every candidate that was calculated, the frontier, the target and the choice; None if there is none."""
    found = plan.screened
    cost, reach = found.cost, found.reach_per_min
    there = np.flatnonzero(np.isfinite(cost) & np.isfinite(reach) & (reach > 0.0))
    if not len(there):
        return None
    drawn = _sample(there, found.verdict, cost, reach)
    target, best = plan.question.target_per_min, plan.choice
    rates = [*reach[drawn].tolist(), *(each.per_min for each in plan.frontier)]
    rates += [] if target is None else [target]
    rates += [] if best is None else [best.belief.per_min]
    costs = [*cost[drawn].tolist(), *(each.cost for each in plan.frontier)]
    figure = blank()
    legend = _candidates(figure, plan, drawn, reach)
    if plan.frontier:
        figure.add_scatter(
            x=[each.cost for each in plan.frontier], y=[each.per_min for each in plan.frontier],
            mode="lines+markers", line={"color": BLUE, "width": 2, "shape": "hv"}, marker={"size": 7, "color": BLUE},
            customdata=[lines(f"{each.name}: {count(each.per_min)}/min for {money(plan, each.cost)}")
                        for each in plan.frontier],
            hovertemplate="%{customdata}<extra></extra>",
        )  # fmt: skip
        legend.append(LegendEntry("frontier: no more for less", BLUE, "line"))
    legend += _aims(figure, plan)
    currency = plan.till.prices.currency
    figure.update_xaxes(title={"text": f"{currency} over {plan.question.years:g} years", "standoff": 6}, **_axis(costs))
    figure.update_yaxes(**_axis(rates, log=True))
    figure.update_layout(margin={"l": 2, "r": 12, "t": 8, "b": 50, "pad": 0})
    caption = f"Upwards: new orders per minute, a logarithmic scale. {_drawn(plan, len(there), len(drawn))}"
    return Picture(
        "cost-and-rate", "Cost against rate", caption, _cost_and_rate_in_words(plan, caption), tuple(legend), 440,
        as_json(figure),
    )  # fmt: skip


def _sample(numbers: IntArray, verdict: IntArray, cost: FloatArray, reach: FloatArray) -> IntArray:
    """At most `MOST_POINTS` of them, evenly from every verdict and cost."""
    order = numbers[np.lexsort((reach[numbers], cost[numbers], verdict[numbers]))]
    if len(order) <= MOST_POINTS:
        return order
    return order[np.linspace(0, len(order) - 1, MOST_POINTS).astype(np.int64)]


def _candidates(figure: Figure, plan: Plan, drawn: IntArray, reach: FloatArray) -> list[LegendEntry]:
    """A faint point for each candidate; those that fell out lie below those that didn't."""
    found, legend = plan.screened, list[LegendEntry]()
    for verdict in sorted(set(found.verdict[drawn].tolist()), reverse=True):
        some = drawn[found.verdict[drawn] == verdict]
        colour = COLOURS[verdict]
        figure.add_scatter(
            x=_rounded(found.cost[some]), y=_rounded(reach[some]), mode="markers",
            marker={"size": 6, "color": colour, "opacity": 0.45, "line": {"width": 0}},
            customdata=[lines(found.stock.candidates[number].name) for number in some.tolist()],
            hovertemplate="%{customdata}<br>%{y:,.0f}/min, " + VERDICTS[verdict] + "<extra></extra>",
        )  # fmt: skip
        legend.insert(0, LegendEntry(VERDICTS[verdict], colour, "●"))
    return legend


def _aims(figure: Figure, plan: Plan) -> list[LegendEntry]:
    """The target's line and the choice's star."""
    target, best = plan.question.target_per_min, plan.choice
    legend = list[LegendEntry]()
    if target is not None:
        figure.add_shape(type="line", xref="paper", x0=0, x1=1, y0=target, y1=target,
                         line={"color": VERMILION, "dash": "dash", "width": 2})  # fmt: skip
        legend.append(LegendEntry(f"target, {count(target)}/min", VERMILION, "dash"))
    if best is not None:
        figure.add_scatter(
            x=[best.cost], y=[best.belief.per_min], mode="markers",
            marker={"size": 17, "symbol": "star", "color": PINK, "line": {"width": 1.5, "color": "#ffffff"}},
            customdata=[lines(f"the choice: {best.name}: {_rate(best)} for {money(plan, best.cost)}")],
            hovertemplate="%{customdata}<extra></extra>",
        )  # fmt: skip
        legend.append(LegendEntry("the choice", PINK, "★"))
    return legend


def _drawn(plan: Plan, there: int, drawn: int) -> str:
    """Which candidates are points, and what their places are."""
    total = len(plan.screened.verdict)
    words = [f"{there:,} of {plural(total, 'candidate')} came so far that a rate was calculated"]
    if drawn < there:
        words[0] += f", {drawn:,} of them are drawn"
    if plan.question.target_per_min is not None:
        words += [
            "a point is about the most that a machine could do, by its busiest part",
            "frontier and choice are calculated exactly, with queues, connections and times of answers",
            "some fall out above the target for the want of connections or time",
        ]
    return ". ".join(each[:1].upper() + each[1:] for each in words) + "."


def _cost_and_rate_in_words(plan: Plan, caption: str) -> str:
    said = [f"Cost against rate. {caption}"]
    if plan.question.target_per_min is not None:
        said.append(f"Target {count(plan.question.target_per_min)}/min.")
    if plan.choice is not None:
        best = plan.choice
        said.append(f"The choice: {best.name}, {money(plan, best.cost)}, {count(best.belief.per_min)}/min.")
    points = "; ".join(f"{money(plan, each.cost)} {count(each.per_min)}/min" for each in some_of_frontier(plan))
    return " ".join([*said, f"Frontier: {points}."] if points else said)


def shown_of(plan: Plan) -> list[tuple[int, ShortListed]]:
    """The short list with ranks: the best, the choice, and whatever was simulated."""
    return [
        (rank, each)
        for rank, each in enumerate(plan.listed, 1)
        if rank <= LIST_LENGTH or each is plan.choice or each.number in plan.confirmed
    ]


def short_list(plan: Plan) -> Picture | None:
    """What each machine of the short list holds, with its interval, beside the target; None if the list is empty."""
    shown = shown_of(plan)
    if not shown:
        return None
    figure, target = blank(), plan.question.target_per_min
    names = [_row_label(plan, rank, each) for rank, each in shown]
    tallest = max(label.count("<br>") + 1 for label in names)
    row_px = tallest * LABEL_LINE_PX + 30
    used: dict[str, LegendEntry] = {}
    for place, (label, (_, each)) in enumerate(zip(names, shown, strict=True)):
        entry, symbol = _mark(plan, each)
        used[entry.label] = entry
        low, high = each.belief.interval
        figure.add_scatter(
            x=[low, high], y=[-place, -place], mode="lines", hoverinfo="skip", line={"color": entry.colour, "width": 4}
        )
        figure.add_scatter(
            x=[each.belief.per_min], y=[-place], mode="markers", cliponaxis=False,
            marker={"size": 12, "symbol": symbol, "color": entry.colour, "line": {"width": 2, "color": entry.colour}},
            customdata=[lines(f"{each.name}: {_rate(each)}")], hovertemplate="%{customdata}<extra></extra>",
        )  # fmt: skip
        figure.add_annotation(
            text=label, x=0, xref="paper", xanchor="left", align="left", showarrow=False,
            y=-place, yanchor="bottom", yshift=9,
        )  # fmt: skip
        figure.add_shape(type="line", xref="paper", x0=0, x1=1, y0=-place, y1=-place, layer="below",
                         line={"color": FAINT, "width": 5})  # fmt: skip
        if target is not None:
            figure.add_shape(type="line", x0=target, x1=target, y0=-place - 9 / row_px, y1=-place + 9 / row_px,
                             line={"color": VERMILION, "width": 3})  # fmt: skip
    rates = [end for _, each in shown for end in each.belief.interval]
    legend = list(used.values())
    if target is not None:
        legend.append(LegendEntry(f"target, {count(target)}/min", VERMILION, "|"))
        rates.append(target)
    figure.update_xaxes(**_axis(rates, log=True))
    figure.update_yaxes(
        visible=False, fixedrange=True, range=[1 - len(shown) - 18 / row_px, (tallest * LABEL_LINE_PX + 14) / row_px]
    )
    said = "; ".join(f"{rank}. {each.name}, {money(plan, each.cost)}: {_rate(each)}, {_mark(plan, each)[0].label}"
                     for rank, each in shown)  # fmt: skip
    aim = "" if target is None else f" Target {count(target)}/min."
    return Picture(
        "short-list", "What the short list holds",
        "Most new orders per minute, a logarithmic scale; bars are 90 % intervals, predicted.",
        f"What the short list holds, 90 % intervals.{aim} {said}.", tuple(legend),
        row_px * len(shown) + 38, as_json(figure),
    )  # fmt: skip


def _row_label(plan: Plan, rank: int, each: ShortListed) -> str:
    chosen = "<b>the choice</b>, " if each is plan.choice else ""
    return f"{lines(f'{rank}. {each.name}', LABEL_LETTERS)}<br>{chosen}{escape(money(plan, each.cost))}"


def _mark(plan: Plan, each: ShortListed) -> tuple[LegendEntry, str]:
    """The mark of a machine, in the legend and plotly's name of it: what the kernel said, if it was asked."""
    confirmed = plan.confirmed.get(each.number)
    if confirmed is None or confirmed.fault:
        return LegendEntry("calculated, not simulated", SLATE, "○"), "circle-open"
    if confirmed.holds:
        return LegendEntry(
            "simulated: holds" if plan.question.target_per_min is not None else "simulated", GREEN, "●"
        ), "circle"
    return LegendEntry("simulated: doesn't hold", VERMILION, "✕"), "x-thin-open"


def _rate(each: ShortListed) -> str:
    low, high = each.belief.interval
    return f"{count(each.belief.per_min)}/min [{count(low)} .. {count(high)}]"


def rejected(plan: Plan) -> Picture | None:
    """How many candidates fell out for which reason; None if none did."""
    kinds = sorted(plan.rejected.items(), key=lambda each: -each[1])
    if not kinds:
        return None
    total, most = len(plan.screened.verdict), kinds[0][1]
    log = most > LOG_FROM * kinds[-1][1]
    styles = {"many": Style("rejected", SLATE)}
    rows = [
        Row(VERDICTS[verdict], f"{many:,}, {share(many / total)}", {"many": many}, {"many": f"{many:,}"})
        for verdict, many in kinds
    ]
    ticks = [tick for tick in log_ticks(1.0, most) if tick >= 1.0] if log else linear_ticks(most)
    axis: dict[str, Any] = {
        "range": [math.log10(0.7), math.log10(most * MARGIN)] if log else [0, most * 1.02],
        "tickvals": ticks, "ticktext": [f"{tick:,.4g}" for tick in ticks],
    }  # fmt: skip
    figure, height = bar_chart(rows, styles, axis | ({"type": "log"} if log else {}))
    scale = " The scale is logarithmic." if log else ""
    said = "; ".join(f"{VERDICTS[verdict]} {many:,}" for verdict, many in kinds)
    caption = f"Of {plural(total, 'candidate')}; each is counted once, by the first that it fails.{scale}"
    return Picture(
        "rejected", "Why the others fell out", caption, f"Rejected: {said}; of {total:,}.", (), height, figure
    )


def lines(text: str, letters: int = HOVER_LETTERS) -> str:
    """Text broken into lines that fit on a phone, in which plotly finds no tags but the breaks."""
    return "<br>".join(escape(line, quote=False) for line in textwrap.wrap(text, letters, break_on_hyphens=False))


def _rounded(values: FloatArray) -> list[float]:
    return [float(f"{value:.5g}") for value in values.tolist()]


def _axis(values: Sequence[float], *, log: bool = False) -> dict[str, Any]:
    """An axis with round marks; logarithmic if it must be or spans much, else from 0."""
    low, high = max(min(values), 1.0), max(*values, 1.0)
    axis: dict[str, Any] = {"fixedrange": True, "zeroline": False, "automargin": True}
    if log or high > LOG_FROM * low:
        low, high = low / MARGIN, high * MARGIN
        ticks, place = log_ticks(low, high), [math.log10(low), math.log10(high)]
        axis |= {"type": "log", "range": place}
    else:
        ticks = linear_ticks(high)
        axis |= {"range": [0, high * 1.05]}
    return axis | {"tickvals": ticks, "ticktext": [_short(tick) for tick in ticks]}


def _short(tick: float) -> str:
    """A round number at an axis: 500, 20,000, 3 M."""
    return f"{tick / 1e6:,.4g} M" if tick >= 1e6 else f"{tick:,.4g}" if tick < 1e4 else f"{tick:,.0f}"
