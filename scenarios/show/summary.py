"""The answer in the terminal: what was run, the rate, what limits it, and how busy the rest is.

Plain text: it reads the same in 80 columns, without colour and in a file.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from oltpsim.calibration.predict import MeasurementInterval
from oltpsim.models.input import document_text
from oltpsim.models.machine import PriceSpec
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.show.model import figure_lines, model_lines
from oltpsim.scenarios.show.numbers import count, share, significant, span, time_text
from oltpsim.scenarios.show.table import WIDTH, blocks, csv_text, flow, sentence_flow
from oltpsim.scenarios.show.words import (
    NEW_ORDER,
    Expected,
    against_measured,
    bottleneck_details,
    class_name,
    configuration_line,
    figure_columns,
    interval_source,
    is_calculated,
    loads,
    next_words,
    page_cache,
    percentile_words,
    rate_words,
    uncertainty_words,
    unit_of,
)
from oltpsim.simulator.results import Result, main_class_of, result_json

FORMAT = "oltpsim-answer-1"
LONG_BAR, SHORT_BAR = 10, 6

CellValue = str | int | float
"""A cell of a table of results."""


def summary_text(result: Result, scenario: ScenarioSpec, width: int = WIDTH, expected: Expected = "") -> str:
    """The answer in lines of at most `width` columns, the last one ended too."""
    lines = flow("", configuration_line(scenario).split(" · "), width, separator=" · ", indent=0)
    lines += _rate(result, scenario, expected, width)
    limit, details = result.bottleneck, bottleneck_details(result)
    lines += flow("bottleneck", [f"{limit.name}: {details[0]}", *details[1:]], width)
    lines += flow("next", [f"{limit.next_name}: {next_words(result)}"], width)
    main = main_class_of(result)
    percentiles = [
        f"{name} {percentile_words(getattr(main, f'{name}_s'), getattr(main.intervals, name, None))}"
        for name in ("p50", "p95", "p99")
    ]
    if main.intervals and any(each.low_s is not None for each in vars(main.intervals).values()):
        percentiles.append(f"{result.rate_per_min.confidence:.0%} intervals of {interval_source(result)} alone")
    if main.p95_s is None:
        percentiles.insert(0, f"mean {time_text(main.mean_s)}")
    lines += flow(f"response ({class_name(main.name)})", percentiles if main.completed else ["none completed"], width)
    lines += flow(None, _bars(result, LONG_BAR if width >= 100 else SHORT_BAR), width)
    lines += flow("hit ratio", _hits(result), width)
    if result.start != "warm":
        lines += flow("getting warm", _warming(result), width)
    for warning in result.warnings:
        lines += sentence_flow("warning", warning, width)
    for law in result.broken_laws:
        sides = f"{significant(law.left, 5)} against {significant(law.right, 5)}"
        lines += sentence_flow("BROKEN LAW", f"{law.name}: {sides}; do not use this result", width)
    return "\n".join(lines) + "\n"


def headline_text(result: Result, scenario: ScenarioSpec, width: int = WIDTH, expected: Expected = "") -> str:
    """The rate with its interval and what limits it: the answer before another one that says the rest."""
    limit, details = result.bottleneck, bottleneck_details(result)
    lines = flow(unit_of(result.main_class), _rate_parts(result, scenario, expected), width)
    lines += flow("bottleneck", [f"{limit.name}: {details[0]}", *details[1:]], width)
    return "\n".join(lines) + "\n"


def _rate(result: Result, scenario: ScenarioSpec, expected: Expected, width: int) -> list[str]:
    lines = flow(unit_of(result.main_class), _rate_parts(result, scenario, expected), width)
    if isinstance(expected, MeasurementInterval):
        lines += flow("uncertain by", uncertainty_words(expected.rate), width)
        lines += [] if expected.model is None else model_lines(expected.model, width)
        lines += figure_lines(expected, width)
    elif expected:
        lines += sentence_flow("no interval", expected, width)
    return lines


def _rate_parts(result: Result, scenario: ScenarioSpec, expected: Expected) -> list[str]:
    first, *others = rate_words(result.rate_per_min, expected, is_calculated(result))
    parts = [f"{count(result.rate_per_min.mean)}  {first}", *others]
    if scenario.interval.new_orders_per_client:
        parts.append(f"{significant(result.duration_s)} s from the first start to the last end")
    if result.main_class != NEW_ORDER:
        parts.append(f"{significant(result.transactions_per_s, 4)} transactions/s of all kinds")
    if (beginning := result.beginning) is not None:
        minutes, rates = (
            significant(beginning.lasted_s / 60.0),
            (beginning.transactions_per_s, result.transactions_per_s),
        )
        before, then = map(significant, rates)
        parts.append(f"first {minutes} min {before}/s, calculated, then {then}/s")
    if is_calculated(result):
        parts.append("calculated, not simulated")
    measured = against_measured(result, scenario)
    if measured is not None:
        parts.append(
            f"measured by others: {count(measured.measured_per_min)} ({measured.error_words}, {measured.role})"
        )
    if scenario.machine.price is not None:
        parts.append(cost_words(scenario.machine.price, result.rate_per_min.mean))
    return parts


def cost_words(price: PriceSpec, per_min: float) -> str:
    """What throughput costs: of a machine that is bought by its rate, of a rented one by what it does."""
    scale, unit = (1e3 / per_min, "1,000/min") if price.per == "machine" else (1e6 / (per_min * 60.0), "a million")
    ends = significant(price.usd * scale)
    if price.usd_at_most is not None:
        ends += f" to {significant(price.usd_at_most * scale)}"
    return f"{ends} USD for {unit} at the price of {price.year}"


def _bars(result: Result, length: int) -> list[str]:
    """The processors, the busiest disk, the log's own disk or else the wait for the log, and the locks."""
    names = {device.name for device in result.devices}
    sections = {lock.name for lock in result.locks}
    every = {load.name: load.share for load in loads(result)}
    disks = [part for name, part in every.items() if name in names - {"log disk"}]
    shown = {
        "cpu": every["cpu"],
        "disk": max(disks, default=0.0),
        "log" if "log disk" in names else "log wait": every.get("log disk", every.get("log", 0.0)),
        "locks": max((part for name, part in every.items() if name in sections), default=0.0),
    }
    return [f"{name} {blocks(part, length)} {100 * part:.0f} %" for name, part in shown.items()]


def _hits(result: Result) -> list[str]:
    pool, lower = result.caches[0], page_cache(result)
    found = [f"pool {share(pool.hit_ratio)}"]
    found += [f"page cache {share(lower.hit_ratio)}"] if lower else []
    found.append(f"dirty {share(pool.dirty_fraction)}")
    return found if is_calculated(result) else [*found, *_steady(result)]


def _steady(result: Result) -> list[str]:
    return [] if result.steady_from_s is None else [f"steady after {span(result.steady_from_s)}"]


WARMING_ENDS_S = (60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0, 4 * 3600.0, 8 * 3600.0)
"""until when the first minutes and hours of a run are shown, each from the one before"""


def _warming(result: Result) -> list[str]:
    """Mean rate and hit ratios of the first minutes, then of longer times, up to the run's end."""
    series, parts, begin = result.series, [], 0
    rates, pool = series.values[series.rate_key], series.values["pool_hit_ratio"]
    lower = series.values["page_cache_hit_ratio"] if page_cache(result) else None
    end_s = len(rates) * series.step_s
    for until_s in (*(each for each in WARMING_ENDS_S if each < end_s), end_s):
        end = round(until_s / series.step_s)
        if end <= begin:
            continue
        hits = f"pool {share(fmean(pool[begin:end]))}"
        hits += f", page cache {share(fmean(lower[begin:end]))}" if lower else ""
        parts.append(f"to {span(until_s)} {count(fmean(rates[begin:end]))} ({hits})")
        begin = end
    return parts


def answer_json(
    result: Result,
    expected: Expected,
    described: Sequence[Mapping[str, object]] | None = None,
    certificate: str | None = None,
) -> str:
    """A result with `measurement`: where one would fall and the parts of what isn't known; null if that isn't said.

    `described`: what a description of the machine came to. `certificate`: of the model that answers.
    """
    measurement = None if isinstance(expected, str) else expected.to_json()
    content = json.loads(result_json(result)) | {"format": FORMAT, "measurement": measurement}
    content |= {} if described is None else {"described": list(described)}
    return document_text(FORMAT, content if certificate is None else content | {"certificate": certificate})


def summary_row(result: Result) -> dict[str, CellValue]:
    """One result as flat columns, units in their names; one group of columns per class and per device."""
    rate, steady, limit = result.rate_per_min, result.steady_rate_per_min, result.bottleneck
    row: dict[str, CellValue] = {
        "scenario": result.scenario,
        "engine": result.engine,
        "seed": result.seed,
        "oltpsim_version": result.versions.get("oltpsim", ""),
        "model_hash": result.model_hash,
        "start": result.start,
        "warm_up_s": result.warm_up_s,
        "duration_s": result.duration_s,
        "main_class": class_name(result.main_class),
        "rate_per_min": rate.mean,
        "rate_low_per_min": "" if rate.low is None else rate.low,
        "rate_high_per_min": "" if rate.high is None else rate.high,
        "rate_confidence_fraction": rate.confidence,
        "steady_rate_per_min": steady.mean,
        "steady_from_s": "" if result.steady_from_s is None else result.steady_from_s,
        "transactions_per_s": result.transactions_per_s,
        "bottleneck": limit.name,
        "bottleneck_fraction": limit.share,
        "next_bottleneck": limit.next_name,
        "next_bottleneck_fraction": limit.next_share,
        "cpu_user_fraction": result.cpu.user,
        "cpu_system_fraction": result.cpu.system,
        "cpu_iowait_fraction": result.cpu.iowait,
        "cpu_idle_fraction": result.cpu.idle,
        "reads_pending": result.reads_pending,
        "log_bytes_per_s": result.log.bytes_per_s,
        "log_flushes_per_s": result.log.flushes_per_s,
        "swap_in_per_s": result.swap_in_per_s,
        "swap_out_per_s": result.swap_out_per_s,
        "warnings": len(result.warnings),
        "broken_laws": len(result.broken_laws),
    }
    return row | _class_columns(result) | _part_columns(result)


def _class_columns(result: Result) -> dict[str, CellValue]:
    row: dict[str, CellValue] = {}
    for one in result.classes:
        name = _column(one.name)
        row |= {f"{name}_per_min": one.rate_per_min, f"{name}_completed": one.completed}
        times = (one.mean_s, one.p50_s, one.p90_s, one.p95_s, one.p99_s, one.p999_s)
        names = ("mean", "p50", "p90", "p95", "p99", "p999")
        row |= {
            f"{name}_{which}_s": "" if seconds is None else seconds for which, seconds in zip(names, times, strict=True)
        }
    return row


def _part_columns(result: Result) -> dict[str, CellValue]:
    row: dict[str, CellValue] = {}
    for cache in result.caches:
        name = _column(cache.name)
        row |= {f"{name}_hit_fraction": cache.hit_ratio, f"{name}_dirty_fraction": cache.dirty_fraction}
    for device in result.devices:
        name = _column(device.name)
        row |= {
            f"{name}_utilisation_fraction": device.utilisation,
            f"{name}_reads_per_s": device.reads_per_s,
            f"{name}_writes_per_s": device.writes_per_s,
            f"{name}_queue": device.mean_queue,
            f"{name}_response_s": device.mean_response_s,
        }
    return row


def _column(name: str) -> str:
    return name.lower().replace(" ", "_").replace("-", "_")


def summary_csv(
    results: Result | Iterable[Result], scenario: ScenarioSpec | None = None, expected: Expected = ""
) -> str:
    """A line for each result, with the columns of all; with a scenario also what others measured on it.

    `expected`: where a measurement of the scenario would fall.
    """
    rows = [summary_row(result) for result in ([results] if isinstance(results, Result) else results)]
    measured = scenario.measured if scenario is not None else None
    figure = scenario.measured_per_min if scenario is not None else None
    if measured is not None and figure is not None:
        role = measured.role
        rows = [row | {"measured_per_min": figure, "measured_role": role} for row in rows]
    if isinstance(expected, MeasurementInterval):
        ends = {"measurement_low_per_min": expected.rate.low, "measurement_high_per_min": expected.rate.high}
        rows = [row | ends | figure_columns(expected.figures) for row in rows]
    return csv_text(dict.fromkeys(column for row in rows for column in row), rows)
