"""Answers about a machine for people, for programs, for tables and as charts."""

import datetime as dt
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from oltpsim.models.catalogue import is_old
from oltpsim.models.input import document_text
from oltpsim.scenarios.questions.explain import (
    HELD_RATE_FRACTION,
    BufferAdvice,
    Capacity,
    CapacityLimit,
    ClientCurve,
    CreditUse,
    Explanation,
    Growth,
    PercentileObjective,
    PoolSize,
    PurchaseAdvice,
    Upgrade,
    Warming,
)
from oltpsim.scenarios.show.chart import (
    BarSeries,
    Chart,
    Curve,
    Mark,
    Points,
    Scale,
    Segment,
    Zone,
    row_labels,
    row_scale,
    rows_px,
)
from oltpsim.scenarios.show.model import figure_lines
from oltpsim.scenarios.show.nearby import nearby_lines
from oltpsim.scenarios.show.numbers import (
    NONE,
    between,
    count,
    milliseconds,
    plural,
    rounded,
    share,
    signed_count,
    signed_share,
    significant,
    span,
)
from oltpsim.scenarios.show.palette import BLUE, GREEN, SLATE, VERMILION, translucent
from oltpsim.scenarios.show.table import WIDTH, csv_text, flow, sentence_flow
from oltpsim.scenarios.show.words import (
    SATURATED,
    STARTS,
    Expected,
    as_expected,
    class_name,
    figure_columns,
    is_calculated,
    rate_words,
    uncertainty_words,
    unit_of,
)
from oltpsim.simulator.results import ClassResult, Result, result_json

LONGEST_BAR = 40
"""letters of the bar of an activity that takes all of the time"""
OLD = "more than a year old"
PAGE_CACHE = "share of the pool's reads that the page cache serves, 100 % at the top"
FORMAT = "oltpsim-explanation-1"


def activity_bars(result: Result, expected: Expected = "") -> str:
    """Bars of the mean response time of each class by where it went, largest first."""
    result = as_expected(result, expected)
    rate, limit = result.rate_per_min, result.bottleneck
    words = rate_words(rate, expected, is_calculated(result))
    lines = [
        f"{result.scenario}: {rate.mean:,.0f} {unit_of(result.main_class)}  {', '.join(words)}",
        f"limited by {limit.name} ({limit.share:.0%}), next {limit.next_name} ({limit.next_share:.0%})",
    ]
    because = expected if isinstance(expected, str) else ", ".join(uncertainty_words(expected.rate))
    if because:
        lines.insert(1, because if isinstance(expected, str) else f"uncertain by {because}")
    lines += figure_lines(expected, WIDTH)
    if not isinstance(expected, str) and (corrections := nearby_lines(expected, WIDTH)):
        lines += [*corrections, "  The answers below the bars are the model's alone, without this factor."]
    for transaction in result.classes:
        lines += ["", *_class_bars(transaction)]
    return "\n".join(lines) + "\n"


def _class_bars(transaction: ClassResult) -> list[str]:
    name = class_name(transaction.name)
    if not transaction.completed:
        return [f"{name}: none completed"]
    lines = [f"{name}: mean {transaction.mean_s * 1000:,.1f} ms, of {transaction.completed:,}"]
    parts = sorted(transaction.time_by_s.items(), key=lambda item: (-item[1], item[0]))
    width = max((len(where) for where, _ in parts), default=0)
    for where, seconds in parts:
        part = seconds / transaction.mean_s if transaction.mean_s else 0.0
        if seconds > 0:
            bar = "▇" * max(1, round(part * LONGEST_BAR))
            lines.append(f"  {where.ljust(width)}  {seconds * 1000:>10,.2f} ms {part:>6.1%}  {bar}")
    return lines


def explanation_text(found: Explanation, width: int, today: dt.date) -> str:
    """The answers in lines of at most `width` columns, the last one ended too; prices may be old `today`."""
    now = found.bottlenecks
    then = f"{now.next.name}, at {count(now.next_rate_per_min)}/min if {now.now.name} were free"
    if now.next.used_fraction < SATURATED:
        then += f" and then only {share(now.next.used_fraction)} in use"
    rate = f"{count(found.rate_per_min)} {unit_of(found.main_class)}"
    lines = [f"the machine once it is warm, calculated: {rate}"]
    if found.start != "warm":
        lines.append(f"(the figures above count from {STARTS[found.start]})")
    for doubt in found.doubts:
        lines += sentence_flow("in doubt", doubt, width)
    lines += flow("limited by", [f"{now.now.name}, {share(now.now.used_fraction)} in use"], width)
    lines += sentence_flow("next", then, width)
    lines += flow("one more of each", [_step(each) for each in found.steps], width)
    reasons = [f"{step.name}: {step.reason}" for step in found.steps if step.reason]
    lines += flow("why not", reasons, width) if reasons else []
    priced = [text for each in found.steps for text in _per_money(each)]
    lines += flow("for the money", [*priced, *_dates(found, today)], width) if priced else []
    lines += _buffers(found.buffers, width)
    lines += _capacity(found.room, width) if found.room else []
    lines += flow("from cold", _warming(found.warming), width)
    lines += _credits(found.credits, width)
    lines += sentence_flow("growth", _growth(found.growth), width) if found.growth else []
    return "\n".join(lines) + "\n"


def _step(step: Upgrade) -> str:
    if step.gain_per_min is None:
        return f"{step.name} {NONE}"
    return f"{step.name} {signed_count(step.gain_per_min)}/min" + (f" as {step.into}" if step.into else "")


def _per_money(step: Upgrade) -> Iterator[str]:
    gain, price = step.gain_per_money, step.price
    if gain is not None and price is not None:
        sign = "−" if gain < 0 else "+"
        cost = f"{significant(price.amount)} {price.currency}"
        yield f"{step.name} {sign}{significant(abs(gain), 2)}/min for each {price.currency} ({cost})"


def _dates(found: Explanation, today: dt.date) -> list[str]:
    """Of the lists that gave prices, those from more than a year before."""
    dates = sorted({step.price.date for step in found.steps if step.price is not None and step.price.date})
    return [f"prices of {date}: {OLD}" for date in dates if is_old(dt.date.fromisoformat(date), today)]


def _buffers(found: BufferAdvice, width: int) -> list[str]:
    better = found.best.rate_per_min / found.now.rate_per_min - 1.0
    gain = f"{count(found.best.rate_per_min)}/min, {signed_share(better)} against {count(found.now.buffers)}"
    near = f"{between(found.low.buffers, found.high.buffers)} are as good but for 2 %"
    lines = flow("best buffers", [_setting(found.best), gain, near], width)
    fallen = "none: no pool that fits into memory loses 10 %"
    if found.cliff is not None:
        fallen = f"−10 % from {_setting(found.cliff)} on"
    parts = [fallen]
    if found.swaps_above is not None and found.cliff is not None:
        parts.append(f"swaps above {count(found.swaps_above)}")
    return lines + flow("cliff", parts, width)


def _setting(found: PoolSize) -> str:
    return f"{count(found.buffers)} ({significant(found.gib)} GiB, {share(found.ram_fraction)} of RAM)"


def _capacity(found: Capacity, width: int) -> list[str]:
    met = (
        f"at {objective_words(found.objective)}"
        if found.objective
        else f"at {share(HELD_RATE_FRACTION)} of its rate in memory"
    )
    data = found.warehouses
    size = f"{plural(data.number, 'warehouse')}, {significant(data.data_gib)} GiB"
    more = f"{plural(data.clients, 'client')}, {count(data.rate_per_min)}/min"
    lines = flow("holds data", _held(data, size, met, more), width)
    lines += _undecided(data, width)
    users = found.paced
    if users is not None:
        met = f"at {objective_words(found.objective)}" if found.objective else "at the specification's pace"
        words = f"{count(users.clients)} who key and think: {plural(users.number, 'warehouse')}"
        size = f"{significant(users.data_gib)} GiB, {count(users.rate_per_min)}/min"
        lines += flow("holds users", _held(users, words, met, size), width) + _undecided(users, width)
    clients = found.clients
    if clients is not None:
        words = f"{count(clients.number)} on its own data"
        lines += flow("holds clients", _held(clients, words, met, f"{count(clients.rate_per_min)}/min"), width)
        lines += _undecided(clients, width)
    return lines


def _held(found: CapacityLimit, words: str, met: str, more: str) -> list[str]:
    if not found.number:
        return [f"none {met}"]
    return [words, met, more] + (["more don't fit"] if found.full else [])


def _undecided(found: CapacityLimit, width: int) -> list[str]:
    return sentence_flow("", f"more can't be decided: {found.undecided}", width) if found.undecided else []


def objective_words(objective: PercentileObjective) -> str:
    """p95 within 50 ms."""
    return f"{objective.percentile} within {milliseconds(objective.within_s)} ms"


def _warming(found: Warming) -> list[str]:
    parts = [f"95 % of the steady rate after {_minutes(found.cold_s)}"]
    if found.own_s is not None:
        parts.append(f"from the load after {_minutes(found.own_s)}")
    return parts


def _minutes(seconds: float) -> str:
    return span(float(f"{seconds:.2g}"))


def _credits(found: CreditUse | None, width: int) -> list[str]:
    """The bucket that runs out first; the others last longer than they would have."""
    if found is None:
        return []
    first = found.buckets[0]
    if first.lasts_s is None:
        return flow("credits", ["last: no more is asked for than comes back"], width)
    lasts = f"{first.name}: last {_minutes(first.lasts_s)}"
    rates = f"{count(found.burst_rate_per_min)}/min until then, {count(found.sustained_rate_per_min)}/min without any"
    return flow("credits", [lasts, rates], width)


def _growth(found: Growth) -> str:
    start = f"by {share(found.per_year_fraction)} a year from {count(found.load_per_min)}/min:"
    if found.month is None:
        return f"{start} lasts 20 years and more"
    if not found.month:
        at_most = f"it can do {count(found.rate_per_min)}/min"
        return f"{start} exhausted within a month, {at_most} ({found.by}); --load says what is asked for now"
    grown = f"{plural(found.warehouses, 'warehouse')} by then"
    return f"{start} lasts {plural(found.month, 'month')}, {grown}; then {found.by} gives out"


def explanation_json(result: Result, expected: Expected, found: Explanation) -> str:
    """The result, where a measurement of it would fall, and all answers."""
    measurement = None if isinstance(expected, str) else expected.to_json()
    shown = json.loads(result_json(as_expected(result, expected)))
    content = {"result": shown, "measurement": measurement, "answers": asdict(found)}
    return document_text(FORMAT, content)


def explanation_csv(found: Explanation, expected: Expected = "") -> str:
    """A row for each figure: its place among the answers, and its value; with a model its figures and their ends."""
    measured = [] if isinstance(expected, str) else list(figure_columns(expected.figures).items())
    return csv_text(("answer", "value"), [*_leaves(asdict(found)), *measured])


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _leaves(each, (*path, key))
    elif isinstance(value, tuple):
        for number, each in enumerate(value):
            name = each["name"] if isinstance(each, dict) and "name" in each else str(number)
            yield from _leaves(each, (*path, name))
    elif value is not None:
        yield ".".join(path), value


def explanation_title(found: Explanation) -> str:
    """Title of the picture."""
    return f"New orders per minute · {found.scenario}"


def explanation_charts(found: Explanation) -> list[Chart]:
    """Rate against buffers with the best and the cliff, and what one more of each part would give."""
    return advice_charts(found, found.main_class)


def advice_charts(found: Explanation | PurchaseAdvice, main_class: str) -> list[Chart]:
    """The same of advice, whose rates count `main_class`."""
    return [_buffers_chart(found.buffers, main_class), _steps_chart(found.steps, main_class)]


def clients_chart(found: ClientCurve, main_class: str) -> Chart:
    """Rate against clients, below what each would have alone and the highest rate."""
    clients, rates = [number for number, _ in found.curve], [rate for _, rate in found.curve]
    now = next(((number, rate) for number, rate in found.curve if number == found.now), None)
    top, slope, unit = max(rates), found.alone_per_min, unit_of(main_class)
    knee = top / slope if slope > 0 else clients[-1]
    alone = [number for number in clients if number * slope <= 1.15 * top]
    most = plural(round(max(knee, 1)), "client")
    at_knee = f"if none waited for another: {count(slope)}/min each, {count(top)}/min by {most}"
    marks: list[Mark] = [
        Curve(x=alone, y=rounded(number * slope for number in alone), colour=SLATE, dash="dash", label=at_knee),
        Segment(y=(top, top), colour=SLATE, dash="dot", label=f"highest here: {count(top)}/min"),
        Curve(
            x=clients,
            y=rounded(rates),
            colour=BLUE,
            width=2.5,
            symbols=["circle"] * len(clients),
            size=5,
            hover=[f"{plural(number, 'client')}: {count(rate)}/min" for number, rate in found.curve],
        ),
    ]
    if now is not None:
        words = f"now {plural(now[0], 'client')}: {count(now[1])}/min"
        marks.append(Points(x=[now[0]], y=[now[1]], colour=SLATE, symbol="circle-open", label=words, hover=[words]))
    text = "; ".join(f"{count(number)}: {count(rate)}" for number, rate in found.curve)
    return Chart(
        key="clients",
        title="Rate against clients",
        alternative=f"{unit} by clients. {text}. {at_knee}.",
        marks=marks,
        x=Scale(low=0.9, high=clients[-1] * 1.15, log=True, title="clients"),
        y=Scale(low=0.0, high=top * 1.15 or 1.0, title=unit),
        height_px=340,
        caption=f"More clients can't be calculated: {found.refused}" if found.refused else "",
    )


def _buffers_chart(found: BufferAdvice, main_class: str) -> Chart:
    """Rate against buffers; what has fallen off the cliff has another colour."""
    end, cliff = found.curve[-1][0] * 1.02, found.cliff
    edge = end if cliff is None else cliff.buffers
    safe = [(buffers, rate) for buffers, rate in found.curve if buffers <= edge]
    near = "as good but for 2 %: " + between(found.low.buffers, found.high.buffers)
    marks: list[Mark] = [
        Zone(x=(found.low.buffers, found.high.buffers), colour=translucent(GREEN, 0.18), label=near),
        _rates(safe, BLUE),
    ]
    sentences = [near]
    top = max(rate for _, rate in found.curve) * 1.08
    if found.page_cache:
        hover = [f"{count(size)}: the page cache serves {share(part)} of reads" for size, part in found.page_cache]
        sizes, heights = [size for size, _ in found.page_cache], rounded(part * top for _, part in found.page_cache)
        marks.append(Curve(x=sizes, y=heights, colour=SLATE, dash="dash", hover=hover, label=PAGE_CACHE))
        served = dict(found.page_cache)
        places = {"now": found.now, "best": found.best, **({} if cliff is None else {"cliff": cliff})}
        shares = [f"{word} {share(served[at.buffers])}" for word, at in places.items() if at.buffers in served]
        sentences += [f"reads that the page cache serves: {', '.join(shares)}"] * bool(shares)
    if cliff is not None:
        lost = f"cliff: 10 % lost from {count(cliff.buffers)} on"
        sentences.append(lost)
        marks.append(Zone(x=(edge, end), colour=translucent(VERMILION, 0.14), label=lost))
        marks.append(_rates([(buffers, rate) for buffers, rate in found.curve if buffers >= edge], VERMILION))
    for setting, colour, symbol, word in (
        (found.now, SLATE, "circle-open", "now"),
        (found.best, GREEN, "circle", "best"),
    ):
        words = f"{word} {count(setting.buffers)}: {count(setting.rate_per_min)}/min"
        sentences.append(words)
        marks.append(
            Points(
                x=[setting.buffers], y=[setting.rate_per_min], colour=colour, symbol=symbol, label=words, hover=[words]
            )
        )
    gib = significant(found.most.gib / found.most.buffers * 100_000)
    return Chart(
        key="buffers",
        title="Rate against buffers",
        alternative=f"Rate against buffers. {'; '.join(sentences)}.",
        marks=marks,
        x=Scale(low=0.0, high=end, title="buffers"),
        y=Scale(low=0.0, high=top, title=unit_of(main_class)),
        height_px=380,
        caption=f"100,000 buffers take {gib} GiB; {count(found.most.buffers)} fill the memory.",
    )


def _rates(places: Sequence[tuple[int, float]], colour: str) -> Curve:
    return Curve(
        x=[buffers for buffers, _ in places],
        y=rounded(rate for _, rate in places),
        width=2.5,
        colour=colour,
        hover=[f"{count(buffers)}: {count(rate)}/min" for buffers, rate in places],
    )


def _steps_chart(steps: Sequence[Upgrade], main_class: str) -> Chart:
    """A bar for each step with its gain; a step that can't be taken says so."""
    gains = [step.gain_per_min or 0.0 for step in steps]
    labels = []
    for step, gain in zip(steps, gains, strict=True):
        words = "not possible" if step.gain_per_min is None else signed_count(gain)
        if step.price is not None and step.gain_per_money is not None:
            words += f" ({significant(step.gain_per_money, 2)} for each {step.price.currency})"
        labels.append((step.name + (f", as {step.into}" if step.into else ""), words))
    places = [-float(number) for number in range(len(steps))]
    hover = [f"{label}: {words}" for label, words in labels]
    marks: list[Mark] = [
        BarSeries(places=places, values=[max(gain, 0.0) for gain in gains], colour=BLUE, hover=hover),
        BarSeries(places=places, values=[min(gain, 0.0) for gain in gains], colour=VERMILION, hover=hover),
    ]
    high, low = max(*gains, 1.0), min(*gains, 0.0)
    return Chart(
        key="steps",
        title="One more of each",
        alternative=f"One more of each, {unit_of(main_class)}. {'; '.join(hover)}.",
        marks=[*row_labels(labels), *marks],
        x=Scale(low=1.02 * low, high=high * 1.02, title=f"{unit_of(main_class)} more", zero=True),
        y=row_scale(len(steps)),
        height_px=rows_px(len(steps)) + 16,
    )
