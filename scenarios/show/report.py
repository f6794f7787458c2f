"""The report of one run: a single HTML file that can be mailed and opened without a network.

Its order is that of an executive summary: headline, throughput, response times, utilisation, where the time
goes, caches, everything over time, configuration, assumptions and laws, how to reproduce.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from models.scenario import ScenarioSpec
from scenarios.show import configuration as report_configuration
from scenarios.show import words as report_text
from scenarios.show.charts import report as report_figures
from scenarios.show.charts import series as report_series
from scenarios.show.page import render
from simulator.results import Result, main_class_of, read_result, result_json


def write_report(result: Result, scenario: ScenarioSpec, path: Path, command: str) -> None:
    """Write the report to a file, whole or not at all. Raises InputError if the place cannot be written."""
    from models.input import write_whole

    write_whole(path, report_html(result, scenario, command))


def report_html(result: Result, scenario: ScenarioSpec, command: str) -> str:
    """The report as one HTML page: same figures, same bytes, fresh from the engine or read back."""
    return render("report.html.j2", _context(read_result(result_json(result)), scenario, command))


def _context(result: Result, scenario: ScenarioSpec, command: str) -> dict[str, Any]:
    """Everything the template shows."""
    measured = report_text.comparison(result, scenario)
    pictures = {
        "throughput": report_series.throughput(result, measured.measured_per_min if measured else None),
        "responses": report_figures.responses(result),
        "utilisation": report_figures.utilisation(result),
        "time_by_activity": report_figures.time_by_activity(result),
        "hits": report_figures.hits_by_table(result),
    }
    series = report_series.over_time(result)
    drawn = [picture for picture in (*pictures.values(), *series) if picture is not None]
    devices = report_figures.busiest(result.devices)
    return {
        "result": result,
        "scenario": scenario,
        "command": command,
        "line": report_text.configuration_line(scenario),
        "unit": report_text.unit_of(result.main_class),
        "interval": report_text.interval(result.rate_per_min),
        "confidence": report_text.confidence(result.rate_per_min),
        "measured": measured,
        "calculated": report_text.is_calculated(result),
        "roles": report_text.ROLES,
        "main": main_class_of(result),
        "limit": report_text.bottleneck_details(result),
        "next_load": report_text.next_words(result),
        "pictures": pictures,
        "series": series,
        "figures": {picture.key: picture.figure for picture in drawn},
        "devices": devices,
        "hidden_devices": len(result.devices) - len(devices),
        "groups": report_configuration.groups(scenario),
        "assumptions": report_configuration.assumptions(scenario),
    }
