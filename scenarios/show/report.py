"""The report of one run: a single HTML file that can be mailed and opened without a network.

Its order is that of an executive summary: headline with advice, contents, throughput, what if, response times,
utilisation, where the time goes, caches, everything over time, configuration, assumptions and laws, how to reproduce.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from oltpsim.models.input import write_whole, written_whole
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.questions.explain import PoolSize, PurchaseAdvice, Upgrade
from oltpsim.scenarios.questions.what_if import WhatIf
from oltpsim.scenarios.show import configuration, run_charts, words
from oltpsim.scenarios.show.chart import Chart
from oltpsim.scenarios.show.chromium import chromium_path, printed
from oltpsim.scenarios.show.numbers import count, share, signed_count, signed_share, significant
from oltpsim.scenarios.show.page import html_page
from oltpsim.scenarios.show.summary import cost_words
from oltpsim.scenarios.show.what_if import KEY, what_if_panel
from oltpsim.scenarios.show.words import Expected
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results import Result, main_class_of, read_result, result_json

ENDINGS = (".html", ".htm", ".pdf")
Advised = PurchaseAdvice | str
"""What would help, or why that can't be said; empty: nobody asked."""
Grid = WhatIf | str
"""Machines around this one for the sliders, or why there are none; empty: nobody asked."""


def write_report(
    result: Result,
    scenario: ScenarioSpec,
    path: Path,
    command: str,
    expected: Expected = "",
    advised: Advised = "",
    grid: Grid = "",
) -> None:
    """Write the report as HTML, or as PDF if the name ends so, whole or not at all. Raises InputError."""
    page = report_html(result, scenario, command, expected, advised, grid)
    if path.suffix != ".pdf":
        write_whole(path, page)
        return
    paper = printed(page)
    with written_whole(path) as temporary:
        temporary.write_bytes(paper)


def check_report(path: Path | None, option: str) -> None:
    """Refuse, before the work, a name that is of another kind of file, and PDF without Chromium."""
    if path is None:
        return
    if path.suffix not in ENDINGS:
        raise InputError(f"{option} {path}: a report is a page or its print: the name must end in .html or .pdf")
    if path.suffix == ".pdf":
        chromium_path(f"{option} {path}")


def report_html(
    result: Result,
    scenario: ScenarioSpec,
    command: str,
    expected: Expected = "",
    advised: Advised = "",
    grid: Grid = "",
) -> str:
    """The report as one HTML page: same figures, same bytes, fresh from the engine or read back."""
    result = read_result(result_json(words.as_expected(result, expected)))
    measured = words.against_measured(result, scenario)
    charts = {
        "throughput": run_charts.throughput(result, measured.measured_per_min if measured else None),
        "responses": run_charts.responses(result),
        "utilisation": run_charts.utilisation(result),
        "time_by_activity": run_charts.time_by_activity(result),
        "hits": run_charts.hits_by_table(result),
    }
    series = run_charts.over_time(result)
    panel = what_if_panel(grid, scenario) if isinstance(grid, WhatIf) else None
    devices = run_charts.busiest(result.devices)
    price = scenario.machine.price
    content = {
        "advice": _advice_words(advised) if isinstance(advised, PurchaseAdvice) else None,
        "no_advice": advised if isinstance(advised, str) else "",
        "cost": cost_words(price, result.rate_per_min.mean) if price and result.rate_per_min.mean > 0 else "",
        "what_if": panel,
        "no_what_if": grid if isinstance(grid, str) else "",
        "contents": _contents(charts["throughput"], bool(grid), charts["time_by_activity"], series),
        "result": result,
        "scenario": scenario,
        "command": command,
        "line": words.configuration_line(scenario),
        "unit": words.unit_of(result.main_class),
        "interval": words.rate_words(result.rate_per_min, expected, words.is_calculated(result)),
        "uncertain": _uncertain(expected),
        "by_model": [] if isinstance(expected, str) else words.figure_words(expected.figures),
        "chance": _chance(result),
        "measured": measured,
        "calculated": words.is_calculated(result),
        "roles": words.ROLES,
        "main": main_class_of(result),
        "limit": words.bottleneck_details(result),
        "next_load": words.next_words(result),
        "pictures": charts,
        "series": series,
        "devices": devices,
        "hidden_devices": len(result.devices) - len(devices),
        "groups": configuration.configuration_groups(scenario),
        "assumptions": configuration.assumptions(scenario),
    }
    drawn = [*charts.values(), *series, *([panel.chart] if panel else [])]
    return html_page("report.html.j2", drawn, content)


def _uncertain(expected: Expected) -> str:
    """What the interval is made of, or why there is none but chance's."""
    return expected if isinstance(expected, str) else ", ".join(words.uncertainty_words(expected.rate))


def _chance(result: Result) -> str:
    """The interval of chance alone, or why there is none."""
    rate = result.rate_per_min
    kind = words.interval_kind(rate)
    return f"{words.rate_interval(rate)}, {kind}" if rate.is_steady else kind


def _contents(
    throughput: Chart | None, what_if: bool, time_by_activity: Chart | None, series: Sequence[Chart]
) -> list[Link]:
    """The sections that this report has, in their order."""
    found = [
        Link("throughput", "Rate") if throughput else None,
        Link(KEY, "What if") if what_if else None,
        Link("responses", "Response times"),
        Link("utilisation", "Utilisation"),
        Link("time", "Time") if time_by_activity else None,
        Link("caches", "Caches"),
        Link("over-time", "Over time") if series else None,
        Link("configuration", "Configuration"),
        Link("assumptions", "Assumptions"),
        Link("reproduce", "Reproduce"),
    ]
    return [link for link in found if link is not None]


def _advice_words(advice: PurchaseAdvice) -> AdviceWords:
    now, pool = advice.bottlenecks, advice.buffers
    better = pool.best.rate_per_min / pool.now.rate_per_min - 1.0 if pool.now.rate_per_min else 0.0
    cliff = "no cliff: no pool that fits into memory loses 10 %"
    if pool.cliff is not None:
        cliff = f"cliff: −10 % from {_pool(pool.cliff)} on"
    return AdviceWords(
        rate=f"{count(advice.rate_per_min)}/min",
        doubts=advice.doubts,
        next_name=now.next.name,
        next_words=f"at {count(now.next_rate_per_min)}/min if {now.now.name} were free",
        steps=tuple(_step(step, advice.rate_per_min) for step in advice.steps),
        prices=", ".join(sorted({step.price.source.partition(":")[0] for step in advice.steps if step.price})),
        best_pool=_pool(pool.best),
        best_words=f"{signed_share(better)} against {_pool(pool.now)} now",
        near=f"{significant(pool.low.gib)} .. {significant(pool.high.gib)} GiB are as good but for 2 %",
        cliff=cliff,
    )


def _pool(size: PoolSize) -> str:
    return f"{significant(size.gib)} GiB ({share(size.ram_fraction)} of RAM)"


def _step(step: Upgrade, rate_per_min: float) -> StepWords:
    name = step.name + (f", as {step.into}" if step.into else "")
    if step.gain_per_min is None:
        return StepWords(name, "not possible", step.reason or "")
    gain = f"{signed_count(step.gain_per_min)}/min"
    if rate_per_min > 0:
        gain += f" ({signed_share(step.gain_per_min / rate_per_min)})"
    if step.price is None:
        return StepWords(name, gain)
    dated = f" in {step.price.date[:4]}" if step.price.date else ""
    return StepWords(name, gain, f"{significant(step.price.amount)} {step.price.currency}{dated}")


@dataclass(frozen=True)
class Link:
    """An entry of the contents: the place, and what stands there."""

    place: str
    title: str


@dataclass(frozen=True)
class StepWords:
    """One more of a thing, what it gives, and its price or why it isn't possible."""

    name: str
    gain: str
    note: str = ""


@dataclass(frozen=True)
class AdviceWords:
    """Advice as the first screen says it."""

    rate: str
    doubts: tuple[str, ...]
    next_name: str
    next_words: str
    steps: tuple[StepWords, ...]
    prices: str
    """the lists that gave prices"""
    best_pool: str
    best_words: str
    near: str
    cliff: str
