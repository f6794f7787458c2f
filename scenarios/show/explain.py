"""Answers about a machine for people, for programs and for tables."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from models.catalogue import OLD_AFTER_DAYS
from scenarios.questions.explain import (
    KEEPS,
    BufferAdvice,
    Capacity,
    CapacityLimit,
    CreditUse,
    Explanation,
    Growth,
    PercentileObjective,
    PoolSize,
    Upgrade,
    Warming,
)
from scenarios.show.numbers import NONE, count, milliseconds, plural, share, signed_share, significant, span
from scenarios.show.summary import flow
from scenarios.show.words import SATURATED, STARTS
from simulator.results import Result, result_json

OLD = "more than a year old"
FORMAT = "oltpsim-explanation-1"


def answers_text(found: Explanation, width: int, today: dt.date) -> str:
    """The answers in lines of at most `width` columns, the last one ended too; prices may be old `today`."""
    now = found.bottlenecks
    then = f"{now.next.name}, at {count(now.next_rate_per_min)}/min if {now.now.name} were free"
    if now.next.used_fraction < SATURATED:
        then += f" and then only {share(now.next.used_fraction)} in use"
    lines = [f"the machine once it is warm, calculated: {count(found.rate_per_min)} new orders per minute"]
    if found.start != "warm":
        lines.append(f"(the figures above count from {STARTS[found.start]})")
    lines += flow("limited by", [f"{now.now.name}, {share(now.now.used_fraction)} in use"], width)
    lines += flow("next", then.split(), width, separator=" ")
    lines += flow("one more of each", [_step(each) for each in found.steps], width)
    lines += flow("why not", [reason for each in found.steps for reason in _reason(each)], width) if any(
        each.reason for each in found.steps) else []  # fmt: skip
    priced = [text for each in found.steps for text in _per_money(each)]
    lines += flow("for the money", [*priced, *_dates(found, today)], width) if priced else []
    lines += _buffers(found.buffers, width)
    lines += _room(found.room, width)
    lines += flow("from cold", _warming(found.warming), width)
    lines += _credits(found.credits, width)
    lines += flow("growth", _growth(found.growth).split(), width, separator=" ") if found.growth else []
    return "\n".join(lines) + "\n"


def _step(step: Upgrade) -> str:
    if step.gain_per_min is None:
        return f"{step.name} {NONE}"
    return f"{step.name} {_signed(step.gain_per_min)}/min" + (f" as {step.into}" if step.into else "")


def _signed(number: float) -> str:
    whole = round(number)
    return f"{'−' if whole < 0 else '+'}{count(abs(whole))}"


def _reason(step: Upgrade) -> Iterator[str]:
    if step.reason:
        yield f"{step.name}: {step.reason}"


def _per_money(step: Upgrade) -> Iterator[str]:
    gain, price = step.gain_per_money, step.price
    if gain is not None and price is not None:
        sign = "−" if gain < 0 else "+"
        cost = f"{significant(price.amount)} {price.currency}"
        yield f"{step.name} {sign}{significant(abs(gain), 2)}/min for each {price.currency} ({cost})"


def _dates(found: Explanation, today: dt.date) -> list[str]:
    """Of the lists that gave prices, those from more than a year before."""
    dates = sorted({step.price.date for step in found.steps if step.price is not None and step.price.date})
    return [f"prices of {date}: {OLD}" for date in dates if (today - dt.date.fromisoformat(date)).days > OLD_AFTER_DAYS]


def _buffers(found: BufferAdvice, width: int) -> list[str]:
    better = found.best.rate_per_min / found.now.rate_per_min - 1.0
    gain = f"{count(found.best.rate_per_min)}/min, {signed_share(better)} against {count(found.now.buffers)}"
    near = f"{count(found.low.buffers)} .. {count(found.high.buffers)} are as good but for 2 %"
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


def _room(found: Capacity, width: int) -> list[str]:
    met = f"at {objective_words(found.objective)}" if found.objective else f"at {share(KEEPS)} of its rate in memory"
    data = found.warehouses
    size = f"{plural(data.number, 'warehouse')}, {significant(data.data_gib)} GiB"
    more = f"{plural(data.clients, 'client')}, {count(data.rate_per_min)}/min"
    lines = flow("holds data", _held(data, size, met, more), width)
    users = found.paced
    if users is not None:
        met = f"at {objective_words(found.objective)}" if found.objective else "at the specification's pace"
        words = f"{count(users.clients)} who key and think: {plural(users.number, 'warehouse')}"
        size = f"{significant(users.data_gib)} GiB, {count(users.rate_per_min)}/min"
        lines += flow("holds users", _held(users, words, met, size), width)
    clients = found.clients
    if clients is not None:
        words = f"{count(clients.number)} on its own data"
        lines += flow("holds clients", _held(clients, words, met, f"{count(clients.rate_per_min)}/min"), width)
    return lines


def _held(found: CapacityLimit, words: str, met: str, more: str) -> list[str]:
    if not found.number:
        return [f"none {met}"]
    return [words, met, more] + (["more don't fit"] if found.full else [])


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


def as_json(result: Result, found: Explanation) -> str:
    """The result and all answers."""
    data = {"format": FORMAT, "result": json.loads(result_json(result)), "answers": asdict(found)}
    return json.dumps(data, sort_keys=True, indent=1, allow_nan=False) + "\n"


def as_csv(found: Explanation) -> str:
    """A row for each figure: its place among the answers, and its value."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["answer", "value"])
    writer.writerows(_leaves(asdict(found)))
    return text.getvalue()


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
