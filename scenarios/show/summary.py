"""The answer in the terminal: what was run, the rate, what limits it, and how busy the rest is.

Plain text: it reads the same in 80 columns, without colour and in a file.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from oltpsim.calibration.predict import MeasurementInterval
from oltpsim.models.input import document_text
from oltpsim.models.machine import PriceSpec
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.show.model import figure_lines, model_lines
from oltpsim.scenarios.show.nearby import nearby_lines
from oltpsim.scenarios.show.numbers import count, known_digits, share, significant, span, time_text
from oltpsim.scenarios.show.table import LABEL, WIDTH, blocks, csv_text, flow, sentence_flow
from oltpsim.scenarios.show.warnings import warning_lines
from oltpsim.scenarios.show.words import (
    NEW_ORDER,
    NOTHING_NEAR,
    Expected,
    against_measured,
    as_expected,
    bottleneck_details,
    class_name,
    configuration_line,
    figure_columns,
    interval_source,
    is_calculated,
    loads,
    narrowed_by,
    next_words,
    page_cache,
    percentile_words,
    short_unit_of,
    uncertainty_words,
)
from oltpsim.simulator.results import NOT_STEADY, Result, main_class_of, result_json

FORMAT = "oltpsim-answer-1"
DISAGREE = "engines disagree"
"""label of what limits the machine by either engine, where they don't name the same"""
MOST_WARNINGS, MOST_NARROWER = 3, 2
LONG_BAR, SHORT_BAR = 10, 6
WIDEST_ENDS = 16.0
"""ratio of an interval's ends beyond which it is printed as a factor"""

CellValue = str | int | float
"""A cell of a table of results."""


@dataclass(frozen=True)
class Beside:
    """What stands beside an answer.

    `calculated`: the formulas' answer beside a simulated one. `assumed`: values that nobody said, those first that
    move the rate most. `certificate`: how well the calibrated model has met its runs.
    """

    calculated: Result | None = None
    assumed: Sequence[str] = ()
    certificate: str | None = None


def summary_text(
    result: Result, scenario: ScenarioSpec, width: int = WIDTH, expected: Expected = "", beside: Beside | None = None
) -> str:
    """The answer in lines of at most `width` columns, the last one ended too: rate, limit, doubts, then details."""
    beside = beside or Beside()
    lines = flow("", configuration_line(scenario).split(" · "), width, separator=" · ", indent=0)
    lines += headline_lines(result, expected, width)
    lines += flow("answered by", _answered_by(result, beside.calculated), width)
    if beside.calculated is not None and beside.calculated.bottleneck.name != result.bottleneck.name:
        sides = (("formulas", beside.calculated.bottleneck), ("simulation", result.bottleneck))
        lines += flow(DISAGREE, [f"{who}: {limit.name}, {share(limit.share)}" for who, limit in sides], width)
    lines += _uncertainty(expected, width)
    if beside.certificate is not None:
        lines += sentence_flow("certificate", beside.certificate, width)
    if not isinstance(expected, str):
        lines += nearby_lines(expected, width)
    shown = as_expected(result, expected)
    lines += _evidence(shown, scenario, width)
    lines += assumed_lines(beside.assumed, width)
    lines += _details(shown, width)
    lines += warning_lines(result.warnings, width, MOST_WARNINGS)
    for law in result.broken_laws:
        sides_of_law = f"{significant(law.left, 5)} against {significant(law.right, 5)}"
        lines += sentence_flow("BROKEN LAW", f"{law.name}: {sides_of_law}; do not use this result", width)
    return "\n".join(lines) + "\n"


def headline_lines(result: Result, expected: Expected, width: int) -> list[str]:
    """The rate with its interval, p95, and what limits it."""
    result = as_expected(result, expected)
    rate, main = result.rate_per_min, main_class_of(result)
    low, high = (rate.low, rate.high) if isinstance(expected, str) else expected.rate.interval
    figure, parts = count(rate.mean), []
    if low is not None and high is not None:
        figure = known_digits(rate.mean, low, high)
        ends = f"between {known_digits(low, low, high)} and {known_digits(high, low, high)}"
        if low > 0.0 and high > low * WIDEST_ENDS:
            ends = f"x or / {significant(math.sqrt(high / low), 2)}"
        parts.append(f"{ends} ({_interval_kind(result, expected)})")
    if not rate.is_steady:
        parts.append(NOT_STEADY if isinstance(expected, str) else f"{NOT_STEADY}: chance isn't in it")
    parts += [] if main.p95_s is None else [f"p95 {time_text(main.p95_s)}"]
    lines = flow(f"{figure} {short_unit_of(class_name(result.main_class))}", parts, width)
    limit, details = result.bottleneck, bottleneck_details(result)
    near = details[1:2] if details[1:2] == [NOTHING_NEAR] else []
    words = [f"{limit.name}, {details[0]}", *near, f"next: {limit.next_name}, {next_words(result)}"]
    lines += flow("limited by", words, width)
    if (beginning := result.beginning) is None:
        return lines
    minutes, *rates = map(
        significant, (beginning.lasted_s / 60.0, beginning.transactions_per_s, result.transactions_per_s)
    )
    return [*lines, *flow("credits", [f"first {minutes} min {rates[0]}/s, calculated, then {rates[1]}/s"], width)]


def _interval_kind(result: Result, expected: Expected) -> str:
    if isinstance(expected, str):
        return f"{result.rate_per_min.confidence:.0%}, {interval_source(result)} alone"
    return f"{expected.rate.confidence:.0%}, {'predicted' if expected.model is None else expected.model.role}"


def _answered_by(result: Result, calculated: Result | None) -> list[str]:
    """Engine, and how far the formulas are from a simulation."""
    if is_calculated(result):
        return ["formulas: calculated, not simulated"]
    words = [f"simulation ({result.engine})"]
    if calculated is not None and result.rate_per_min.mean:
        apart = calculated.rate_per_min.mean / result.rate_per_min.mean - 1.0
        words.append(f"formulas {share(abs(apart))} {'lower' if apart < 0 else 'higher'}")
    return words


def _uncertainty(expected: Expected, width: int) -> list[str]:
    """Parts of the interval, and what would narrow it; or why there is none."""
    if isinstance(expected, str):
        return sentence_flow("no interval", expected, width) if expected else []
    lines = flow("uncertain by", uncertainty_words(expected.rate), width)
    if narrower := narrowed_by(expected.rate)[:MOST_NARROWER]:
        lines += flow("would narrow it most", narrower, width)
    lines += [] if expected.model is None else model_lines(expected.model, width)
    return lines + figure_lines(expected, width)


def _evidence(result: Result, scenario: ScenarioSpec, width: int) -> list[str]:
    """The rate that was measured on the same system, what the machine costs, and how long the work took."""
    lines = []
    if scenario.interval.new_orders_per_client:
        lines += flow("took", [f"{significant(result.duration_s)} s from the first start to the last end"], width)
    measured = against_measured(result, scenario)
    if measured is not None:
        words = f"{count(measured.measured_per_min)} ({measured.error_words}, {measured.role})"
        lines += flow("measured by others", [words], width)
    if scenario.machine.price is not None:
        lines += flow("costs", [cost_words(scenario.machine.price, result.rate_per_min.mean)], width)
    return lines


def assumed_lines(words: Sequence[str], width: int) -> list[str]:
    """As many assumptions as one line holds."""
    line = "  assumed".ljust(LABEL + 2)
    for number, each in enumerate(words):
        left = len(words) - number
        joined = f"{line}{', ' if number else ''}{each}"
        if number and len(joined) > width - len(f" ({left} more: --assumptions)"):
            return [f"{line} ({left} more: --assumptions)"]
        line = joined
    return [line] if words else []


def _details(result: Result, width: int) -> list[str]:
    """Percentiles, loads, hit ratios, and how a cold start gets warm."""
    main = main_class_of(result)
    times = [(name, getattr(main, f"{name}_s")) for name in ("p50", "p95", "p99")]
    known = [f"{name} {percentile_words(at_s, getattr(main.intervals, name, None))}" for name, at_s in times if at_s]
    if main.intervals and any(each.low_s is not None for each in vars(main.intervals).values()):
        known.append(f"{result.rate_per_min.confidence:.0%} intervals of {interval_source(result)} alone")
    if main.p95_s is None:
        known.insert(0, f"mean {time_text(main.mean_s)}")
    lines = flow(f"response ({class_name(main.name)})", known if main.completed else ["none completed"], width)
    if result.main_class != NEW_ORDER:
        lines += flow("all kinds", [f"{significant(result.transactions_per_s, 4)} transactions/s"], width)
    lines += flow(None, _bars(result, LONG_BAR if width >= 100 else SHORT_BAR), width)
    lines += flow("hit ratio", _hits(result), width)
    return lines if result.start == "warm" else [*lines, *flow("getting warm", _warming(result), width)]


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
    content = json.loads(result_json(as_expected(result, expected))) | {"format": FORMAT, "measurement": measurement}
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
    of_each = [results] if isinstance(results, Result) else results
    rows = [summary_row(as_expected(result, expected)) for result in of_each]
    measured = scenario.measured if scenario is not None else None
    figure = scenario.measured_per_min if scenario is not None else None
    if measured is not None and figure is not None:
        role = measured.role
        rows = [row | {"measured_per_min": figure, "measured_role": role} for row in rows]
    if isinstance(expected, MeasurementInterval):
        ends = {"measurement_low_per_min": expected.rate.low, "measurement_high_per_min": expected.rate.high}
        rows = [row | ends | figure_columns(expected.figures) for row in rows]
    return csv_text(dict.fromkeys(column for row in rows for column in row), rows)
