"""A sweep as CSV, as a table, and as a chart: rate against the varied field, with intervals and bottlenecks.

A second varied field becomes one line per value.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from oltpsim.models.input import last_word
from oltpsim.scenarios.questions.sweep import MeasuredPoint, SampledAxis, Sweep
from oltpsim.scenarios.show.chart import LOG_MARGIN, MOST_TICKS, Chart, Curve, Mark, Points, Scale
from oltpsim.scenarios.show.numbers import NONE, between, count, number_tick, significant
from oltpsim.scenarios.show.palette import GREY, SERIES_COLOURS, VERMILION
from oltpsim.scenarios.show.table import aligned, csv_text
from oltpsim.scenarios.show.words import short_unit_of, unit_of
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results import NOT_STEADY

FIGURES = (
    "rate_per_min",
    "low_per_min",
    "high_per_min",
    "measurement_low_per_min",
    "measurement_high_per_min",
    "bottleneck",
    "cpu_utilisation",
    "disk_utilisation",
)
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x")
UNITS = {"_gib": " (GiB)", "_kib": " (KiB)", "_ms": " (ms)", "_us": " (µs)", "_s": " (s)"}
BUFFERS, POOL_TITLE = "database.pool.buffers", "buffer pool (GiB)"
LEAST_FACTOR, ALIKE_FACTORS = 1.5, 1.3
"""a scale is logarithmic where values grow by a factor: 1, 2, 5, 10 does, 1, 2, 3, 4 doesn't"""


def sweep_columns(sweep: Sweep) -> dict[str, list[Any]]:
    """A column for each varied field, as text, and for each figure; None where a point could not be run."""
    rows = sweep.rows
    found: dict[str, list[Any]] = {axis.key: [row.values[i] for row in rows] for i, axis in enumerate(sweep.axes)}
    found |= {name: [getattr(row, name) for row in rows] for name in FIGURES}
    found |= {f"{name} hit_ratio": [(row.hit_ratios or {}).get(name) for row in rows] for name in _cache_names(sweep)}
    found |= {"seed": [sweep.seed] * len(rows), "replications": [row.replications for row in rows]}
    if "engine" not in found:  # else the field's own column says for each row which it was
        found["engine"] = [sweep.engine] * len(rows)
    found["version"] = [sweep.versions.get("oltpsim", "")] * len(rows)
    found |= {name: [getattr(row, name) for row in rows] for name in ("model_hash", "reason")}
    return found | {"warnings": ["; ".join(row.warnings) for row in rows]}


def sweep_csv(sweep: Sweep) -> str:
    """One line per point with a header; empty fields where a point could not be run."""
    found = sweep_columns(sweep)
    return csv_text(found, zip(*found.values(), strict=True))


def sweep_table(sweep: Sweep) -> str:
    """A table for people: one line per point, then the warnings by their numbers, then where it comes from."""
    ratios = _cache_names(sweep)
    header = [*(last_word(axis.key) for axis in sweep.axes), short_unit_of(sweep.main_class)]
    header += [sweep.interval_kind, "bottleneck", "cpu", "disk", *(f"{name} hits" for name in ratios)]
    if sweep.until_fraction is not None:
        header.append("replications")
    lines = [header]
    for row in sweep.rows:
        if row.reason is not None:
            lines.append([*row.values, "-"])
            continue
        cpu, disk = row.cpu_utilisation, row.disk_utilisation
        interval = sweep.interval_of(row)
        missing = NONE if sweep.is_measurable else NOT_STEADY
        ends = missing if interval is None else between(*interval)
        figures = [f"{row.rate_per_min:,.0f}", ends, row.limit]
        hits = [f"{(row.hit_ratios or {}).get(name, 0.0):.1%}" for name in ratios]
        lines.append([*row.values, *figures, f"{cpu:.0%}", f"{disk:.0%}", *hits])
        if sweep.until_fraction is not None:
            lines[-1].append(str(row.replications))
    text = aligned(lines, ">")
    warnings = list(dict.fromkeys(warning for row in sweep.rows for warning in row.warnings))
    for number, row in enumerate(sweep.rows, start=1):
        if row.reason is not None:
            text[number] += f"  not run: {row.reason}"
        if row.warnings:
            text[number] += "  warning " + ", ".join(str(warnings.index(warning) + 1) for warning in row.warnings)
    text += [f"warning {number}: {warning}" for number, warning in enumerate(warnings, start=1)]
    version = sweep.versions.get("oltpsim", "?")
    seeds = f"seed {sweep.seed}"
    if sweep.until_fraction is not None:
        seeds = (
            f"seeds from {sweep.seed}, up to {sweep.replications}, until ±{100 * sweep.until_fraction:.3g}% of the rate"
        )
    elif sweep.replications > 1:
        seeds = f"seeds {sweep.seed}..{sweep.seed + sweep.replications - 1}"
    hashes = [row.model_hash for row in sweep.rows if row.model_hash]
    models = hashes[0] if len(set(hashes)) == 1 else f"{hashes[0]} .. {hashes[-1]}"
    text.append(f"oltpsim {version} · engine {sweep.engine} · {seeds} · models {models}")
    return "\n".join(text) + "\n"


def _cache_names(sweep: Sweep) -> list[str]:
    names = [name for row in sweep.rows for name in (row.hit_ratios or {})]
    return list(dict.fromkeys(names))


def sweep_chart(sweep: Sweep, measured: Sequence[MeasuredPoint] = (), gib_per_buffer: float | None = None) -> Chart:
    """Rate against the first field. Raises InputError for more than two fields, or if no point has a rate.

    `measured` stands beside the curve where it is in the chart. The scale is logarithmic where values double, and in
    GiB where buffers are varied and their size is given.
    """
    axes = list(sweep.axes)
    if len(axes) > 2:
        raise InputError("a picture shows one or two varied fields; this sweep has more: use --output csv")
    rows = [row for row in sweep.rows if row.rate_per_min is not None]
    if not rows:
        raise InputError("nothing to draw: no point of the sweep has a rate")
    values, labels = (_values(sweep, number) for number in (0, 1))
    places, unit = _places(values)
    title = _words(axes[0].key) + (f" ({unit})" if unit else "")
    scale = 1.0
    if axes[0].key == BUFFERS and unit == "" and gib_per_buffer is not None:
        title, scale = POOL_TITLE, gib_per_buffer
        places = {value: place * scale for value, place in places.items()}
    log = unit is not None and is_geometric(places.values())
    limits = list(dict.fromkeys(row.limit for row in rows))
    symbols = {limit: SYMBOLS[number % len(SYMBOLS)] for number, limit in enumerate(limits)}
    marks: list[Mark] = []
    for label in labels:
        line = sorted(
            (row for row in rows if row.values[1:] == ((label,) if label else ())),
            key=lambda row: places[row.values[0]],
        )
        if not line:
            continue
        name = f"{_words(axes[1].key)} {label}" if label else ""
        rates = [row.rate_per_min or 0.0 for row in line]
        hover = [
            f"{row.values[0]}{f' ({significant(places[row.values[0]])} GiB)' if scale != 1.0 else ''}"
            f"{f', {name}' if name else ''}: {count(rate)}\nlimited by {row.bottleneck}"
            for row, rate in zip(line, rates, strict=True)
        ]
        marks.append(
            Curve(
                x=[places[row.values[0]] for row in line],
                y=rates,
                low=[(sweep.interval_of(row) or (rate, rate))[0] for row, rate in zip(line, rates, strict=True)],
                high=[(sweep.interval_of(row) or (rate, rate))[1] for row, rate in zip(line, rates, strict=True)],
                symbols=[symbols[row.limit] for row in line],
                size=10,
                colour=SERIES_COLOURS[len(marks) % len(SERIES_COLOURS)],
                label=name,
                hover=hover,
            )
        )
    marks += [Points(x=[], y=[], colour=GREY, symbol=symbols[limit], label=f"{limit} limits") for limit in limits]
    low, high = min(places.values()), max(places.values())
    margin = (high - low) * 0.04 or 1.0
    ends = (low / LOG_MARGIN, high * LOG_MARGIN) if log else (low - margin, high + margin)
    named = {places[value]: value for value in values} if unit is None else None
    if log and len(places) <= MOST_TICKS:
        named = {place: significant(place) if scale != 1.0 else number_tick(place) for place in sorted(places.values())}
    beside = [each for each in measured if unit == "" and ends[0] <= each.value * scale <= ends[1]]
    for role in dict.fromkeys(each.role for each in beside):
        of_role = [each for each in beside if each.role == role]
        marks.append(
            Points(
                x=[each.value * scale for each in of_role],
                y=[each.rate_per_min for each in of_role],
                colour=VERMILION,
                symbol="x-thin-open" if role == "fitted" else "star",
                label=f"measured by others ({role})",
                hover=[f"measured: {count(each.rate_per_min)}\n{each.scenario}, {role}" for each in of_role],
            )
        )
    top = max((sweep.interval_of(row) or (0.0, row.rate_per_min or 0.0))[1] for row in rows) or 1.0
    top = max(top, *(each.rate_per_min for each in beside), 1.0)
    seeds = f", {sweep.replications} replications" if sweep.replications > 1 else ""
    points = "; ".join(f"{', '.join(row.values)}: {count(row.rate_per_min or 0.0)}, {row.limit}" for row in rows)
    points += _measured_words(beside)
    return Chart(
        key="sweep",
        title="",
        alternative=f"{unit_of(sweep.main_class)} by {', '.join(_words(axis.key) for axis in axes)}. {points}.",
        marks=marks,
        x=Scale(
            low=ends[0],
            high=ends[1],
            log=log,
            ticks=named,
            title=title,
            write=lambda place: f"{place:,.10g}",
            grid=False,
        ),
        y=Scale(low=0.0, high=top * 1.05, title=unit_of(sweep.main_class), write=number_tick),
        height_px=400,
        caption=f"band: {sweep.interval_kind} · oltpsim {sweep.versions.get('oltpsim', '?')},"
        f" engine {sweep.engine}, seed {sweep.seed}{seeds}",
    )


def is_geometric(values: Iterable[float]) -> bool:
    """Whether three or more positive values grow by about the same factor, 1.5 or more, from one to the next."""
    ordered = sorted(values)
    if len(ordered) < 3 or ordered[0] <= 0:
        return False
    factors = [after / before for before, after in pairwise(ordered)]
    return min(factors) >= LEAST_FACTOR and max(factors) <= ALIKE_FACTORS * min(factors)


def _measured_words(beside: Sequence[MeasuredPoint]) -> str:
    if not beside:
        return ""
    return "; measured by others: " + "; ".join(f"{each.value:,g}: {count(each.rate_per_min)}" for each in beside)


def sweep_title(sweep: Sweep) -> str:
    """Title of the chart."""
    return f"{unit_of(sweep.main_class)} · {sweep.scenario}"


def _values(sweep: Sweep, number: int) -> tuple[str, ...]:
    """Values of one axis: as listed, or as drawn. Raises InputError for lines that would have a point each."""
    if number >= len(sweep.axes):
        return ("",)
    axis = sweep.axes[number]
    if not isinstance(axis, SampledAxis):
        return axis.values
    if number:
        raise InputError(f"a picture draws samples of the first field alone, not of {axis.key}: use --output csv")
    return tuple(dict.fromkeys(row.values[number] for row in sweep.rows))


def _places(values: tuple[str, ...]) -> tuple[dict[str, float], str | None]:
    """Place of each value and the unit that all share; None if they are not numbers of one unit."""
    found = [re.fullmatch(r"([-+.\d_eE]+)\s*([^\d\s].*)?", value) for value in values]
    units = {match.group(2) or "" for match in found if match}
    try:
        if all(found) and len(units) == 1:
            numbers = {value: float(match.group(1)) for value, match in zip(values, found, strict=True) if match}
            return numbers, units.pop()
    except ValueError:
        pass
    return {value: float(number) for number, value in enumerate(values)}, None


def _words(key: str) -> str:
    """`machine.memory_gib` as people read it: memory (GiB)."""
    name = " ".join(key.split(".")[-2:]) if key.endswith((".count", ".name")) else last_word(key)
    for suffix, unit in UNITS.items():
        if name.endswith(suffix):
            name = name.removesuffix(suffix) + unit
            break
    return name.replace("_", " ")
