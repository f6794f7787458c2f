"""A comparison for people, for programs and for tables."""

from dataclasses import asdict
from statistics import fmean

from oltpsim.calibration.fit import INTERVAL_CONFIDENCE
from oltpsim.models.input import document_text
from oltpsim.scenarios.questions.compare import Difference, ScenarioComparison
from oltpsim.scenarios.run import pool_rates
from oltpsim.scenarios.show.numbers import (
    NONE,
    between,
    count,
    plural,
    share,
    signed_count,
    signed_share,
    significant,
    time_text,
)
from oltpsim.scenarios.show.summary import cost_words
from oltpsim.scenarios.show.table import LABEL, aligned, csv_text, flow, sentence_flow
from oltpsim.scenarios.show.words import Expected, interval_kind, is_calculated, page_cache, rate_interval, unit_of
from oltpsim.simulator.results import NOT_STEADY, Estimate, Result, main_class_of

FORMAT = "oltpsim-comparison-1"
NOT_INDEPENDENT = (
    "formulas draw nothing: the difference is exactly theirs. Their errors, which the intervals above are, aren't "
    "independent of each other: what they miss of one machine they mostly miss of the other too"
)
PREDICTED = f"{INTERVAL_CONFIDENCE:.0%} intervals in which measurements would fall, predicted"
OPEN = "so two measurements may say otherwise"
ONE_SEED = "a single seed says nothing of chance: --replications 5 would"


def comparison_table(found: ScenarioComparison, width: int) -> str:
    """Lines for people: who is who, the rates, what differs beside them, and whether the difference is real."""
    lines = [f"{side.label}  {side.title}" for side in found.sides]
    rows = _rows(found)
    widest = max(len(row[0]) for row in rows)
    lines += aligned([[label.ljust(max(LABEL - 2, widest)), *cells] for label, *cells in rows], indent=2)
    for side, difference in zip(found.sides[1:], found.differences, strict=True):
        lines += flow(f"{side.label} against {found.sides[0].label}", verdict(found, difference), width)
    if all(is_calculated(each) for each in _firsts(found)) and not any(found.measured):
        lines += sentence_flow("", NOT_INDEPENDENT, width)
    for side, expected in zip(found.sides, found.measured, strict=True):
        if isinstance(expected, str) and expected:
            lines += sentence_flow(f"no interval {side.label}", expected, width)
    pooled = zip(found.sides, map(pool_rates, found.results), strict=True)
    warnings = {warning: side.label for side, rates in pooled for warning in rates.warnings}
    for warning, label in warnings.items():
        lines += sentence_flow(f"warning {label}", warning, width)
    return "\n".join([*lines, _origin(found)]) + "\n"


def verdict(found: ScenarioComparison, difference: Difference) -> list[str]:
    """Whether a side differs from the first one, by how much, and what common random numbers were worth."""
    if difference.same or (difference.seeds == 1 and not difference.difference_per_min):
        return [f"exactly the same in {plural(difference.seeds, 'seed')}"]
    faster = "faster" if difference.ratio.value > 1 else "slower"
    by = f"{signed_share(difference.ratio.value - 1.0)}, {signed_count(difference.difference_per_min)}/min"
    if difference.ratio_ends is None:
        calculated = all(is_calculated(each) for each in _firsts(found))
        return [f"{faster}: {by}", *_measured(difference), *([] if calculated else [ONE_SEED])]
    bounds = _shares(difference.ratio_ends)
    seeds = f"{100 * difference.ratio.confidence:.4g} % interval of chance alone, {plural(difference.seeds, 'seed')}"
    words = [f"{faster}: {by}" if difference.distinguishable else f"not told apart: {by}"]
    words += _measured(difference) or [f"{bounds} {seeds}"]
    if difference.correlation is not None:
        words.append(f"correlation {difference.correlation:.2f}")
    if difference.variance_reduction is not None:
        words.append(f"variance {significant(difference.variance_reduction, 2)} times less than of independent seeds")
    return words


def _measured(difference: Difference) -> list[str]:
    """In which the ratio of two measurements would fall, and whether it leaves open which is faster."""
    if difference.measured_ratio is None:
        return []
    ends = difference.measured_ratio.interval
    words = [f"{_shares(ends)} {INTERVAL_CONFIDENCE:.0%} interval of two measurements, predicted"]
    return words + ([OPEN] if ends[0] < 1.0 < ends[1] else [])


def _shares(ends: tuple[float, float]) -> str:
    low, high = (signed_share(end - 1.0) for end in ends)
    return f"[{low} .. {high}]"


def _firsts(found: ScenarioComparison) -> list[Result]:
    return [results[0] for results in found.results]


def _rows(found: ScenarioComparison) -> list[list[str]]:
    """Label and cells. All figures but the bottleneck are means over the seeds."""
    pooled = [pool_rates(results) for results in found.results]
    rows = [["", *(side.label for side in found.sides)]]
    rates = [
        f"{count(each.rate_per_min.mean)}  {_interval(each.rate_per_min, expected)}"
        for each, expected in zip(pooled, found.measured, strict=True)
    ]
    rows.append([unit_of(found.results[0][0].main_class), *rates])
    rows.append(["bottleneck", *(f"{each.bottleneck.name}, {share(each.bottleneck.share)}" for each in _firsts(found))])
    figures = [_figures(results) for results in found.results]
    for key, label in (("p50_s", "response p50"), ("p95_s", "p95"), ("p99_s", "p99")):
        rows.append([label, *(time_text(each[key]) if key in each else NONE for each in figures)])
    for key, label in SHARES.items():
        rows.append([label, *(share(each[key]) if key in each else NONE for each in figures)])
    prices = [side.scenario.machine.price for side in found.sides]
    if any(prices):
        priced = zip(prices, pooled, strict=True)
        cells = [cost_words(price, each.rate_per_min.mean) if price else NONE for price, each in priced]
        rows.append(["cost", *cells])
    return rows


def _interval(rate: Estimate, expected: Expected) -> str:
    """In which a measurement would fall, or that of chance."""
    if isinstance(expected, str):
        return rate_interval(rate)
    return f"[{between(expected.rate.low, expected.rate.high)}]" + ("" if rate.is_steady else f" {NOT_STEADY}")


SHARES = {
    "cpu_fraction": "cpu",
    "disk_fraction": "busiest disk",
    "pool_hit_fraction": "pool hits",
    "page_cache_hit_fraction": "page cache hits",
}


def _figures(results: tuple[Result, ...]) -> dict[str, float]:
    """Means over a side's seeds."""
    mains = [main_class_of(result) for result in results]
    times = {key: [getattr(main, key) for main in mains] for key in ("p50_s", "p95_s", "p99_s")}
    found = {key: fmean(each) for key, each in times.items() if None not in each}
    found["cpu_fraction"] = fmean(result.cpu.utilisation for result in results)
    found["disk_fraction"] = fmean(max(device.utilisation for device in result.devices) for result in results)
    found["pool_hit_fraction"] = fmean(result.caches[0].hit_ratio for result in results)
    lower = [cache.hit_ratio for result in results if (cache := page_cache(result)) is not None]
    return found | ({"page_cache_hit_fraction": fmean(lower)} if lower else {})


def _origin(found: ScenarioComparison) -> str:
    first = found.results[0][0]
    seeds = f"seed {found.seeds[0]}" if len(found.seeds) == 1 else f"seeds {found.seeds[0]}..{found.seeds[-1]}"
    engines = ", ".join(dict.fromkeys(each.engine for each in _firsts(found)))
    models = ", ".join(dict.fromkeys(each.model_hash for each in _firsts(found)))
    rate = pool_rates(found.results[0]).rate_per_min
    how = f"chance alone: {interval_kind(rate)}" if isinstance(found.measured[0], str) else PREDICTED
    return f"rates: {how}\noltpsim {first.versions.get('oltpsim', '?')} · engine {engines} · {seeds} · models {models}"


def comparison_json(found: ScenarioComparison) -> str:
    """Each side with its rates by seed and its means, then the differences."""
    every = zip(found.sides, found.results, found.measured, strict=True)
    content = {
        "seeds": found.seeds,
        "sides": [
            {
                "label": side.label,
                "scenario": side.scenario.name,
                "asked": side.title,
                "engine": results[0].engine,
                "model_hash": results[0].model_hash,
                "oltpsim_version": results[0].versions.get("oltpsim", ""),
                "rate_per_min": asdict(pool_rates(results).rate_per_min),
                "measurement": None if isinstance(expected, str) else expected.to_json(),
                "rates_per_min": [result.rate_per_min.mean for result in results],
                "bottleneck": results[0].bottleneck.name,
                "means": _figures(results),
                "warnings": list(pool_rates(results).warnings),
            }
            for side, results, expected in every
        ],
        "differences": [
            difference.to_json() | {"label": side.label}
            for side, difference in zip(found.sides[1:], found.differences, strict=True)
        ],
    }
    return document_text(FORMAT, content)


def comparison_csv(found: ScenarioComparison) -> str:
    """One row for each side; the first one's differences are empty."""
    rows: list[dict[str, object]] = []
    every = zip(found.sides, found.results, found.measured, [None, *found.differences], strict=True)
    for side, results, expected, difference in every:
        rate = pool_rates(results).rate_per_min
        row: dict[str, object] = {
            "label": side.label,
            "asked": side.title,
            "engine": results[0].engine,
            "seeds": len(results),
            "rate_per_min": rate.mean,
            "rate_low_per_min": rate.low,
            "rate_high_per_min": rate.high,
            "measurement_low_per_min": None if isinstance(expected, str) else expected.rate.low,
            "measurement_high_per_min": None if isinstance(expected, str) else expected.rate.high,
            "bottleneck": results[0].bottleneck.name,
        }
        figures = _figures(results)
        row |= {key: figures.get(key) for key in ("p50_s", "p95_s", "p99_s", *SHARES)}
        ratio = None if difference is None else difference.ratio_ends
        measured = None if difference is None else difference.measured_ratio
        row |= {
            "difference_per_min": None if difference is None else difference.difference_per_min,
            "ratio": None if difference is None else difference.ratio.value,
            "ratio_low": None if ratio is None else ratio[0],
            "ratio_high": None if ratio is None else ratio[1],
            "measured_ratio_low": None if measured is None else measured.low,
            "measured_ratio_high": None if measured is None else measured.high,
            "distinguishable": None if difference is None else difference.distinguishable,
        }
        rows.append(row)
    return csv_text(rows[0], rows)
