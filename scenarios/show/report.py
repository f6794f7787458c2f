"""The report of one run: a single HTML file that can be mailed and opened without a network.

Its order is that of an executive summary: headline, throughput, response times, utilisation, where the time
goes, caches, everything over time, configuration, assumptions and laws, how to reproduce.
"""

from pathlib import Path

from models.input import write_whole
from models.scenario import ScenarioSpec
from scenarios.show import configuration, run_charts, words
from scenarios.show.page import html_page
from scenarios.show.words import Expected
from simulator.results import Result, main_class_of, read_result, result_json


def write_report(result: Result, scenario: ScenarioSpec, path: Path, command: str, expected: Expected = "") -> None:
    """Write the report to a file, whole or not at all. Raises InputError if the place cannot be written."""
    write_whole(path, report_html(result, scenario, command, expected))


def report_html(result: Result, scenario: ScenarioSpec, command: str, expected: Expected = "") -> str:
    """The report as one HTML page: same figures, same bytes, fresh from the engine or read back."""
    result = read_result(result_json(result))
    measured = words.against_measured(result, scenario)
    charts = {
        "throughput": run_charts.throughput(result, measured.measured_per_min if measured else None),
        "responses": run_charts.responses(result),
        "utilisation": run_charts.utilisation(result),
        "time_by_activity": run_charts.time_by_activity(result),
        "hits": run_charts.hits_by_table(result),
    }
    series = run_charts.over_time(result)
    devices = run_charts.busiest(result.devices)
    content = {
        "result": result,
        "scenario": scenario,
        "command": command,
        "line": words.configuration_line(scenario),
        "unit": words.unit_of(result.main_class),
        "interval": words.rate_words(result.rate_per_min, expected, words.is_calculated(result)),
        "uncertain": _uncertain(expected),
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
    return html_page("report.html.j2", [*charts.values(), *series], content)


def _uncertain(expected: Expected) -> str:
    """What the interval is made of, or why there is none but chance's."""
    return expected if isinstance(expected, str) else ", ".join(words.uncertainty_words(expected.parts, expected.sd))


def _chance(result: Result) -> str:
    """The interval of chance alone, or why there is none."""
    rate = result.rate_per_min
    kind = words.interval_kind(rate)
    return f"{words.rate_interval(rate)}, {kind}" if rate.is_steady else kind
