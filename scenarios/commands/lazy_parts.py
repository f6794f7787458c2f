"""Parts that few runs need and that take long to import, each imported when it is called."""

from collections.abc import Sequence
from pathlib import Path

from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.run import SavedRun
from oltpsim.scenarios.show.words import Expected


def check_report_file(report: Path | None) -> None:
    """Refuse a report that can't be written. Raises InputError."""
    if report is not None:
        from oltpsim.scenarios.show.report import check_report

        check_report(report, "--report")


def write_report_file(run: SavedRun, expected: Expected, out: Path, command: str, quiet: bool) -> None:
    """Write the report of a run."""
    from oltpsim.scenarios.commands.report import report_run

    report_run(run, expected, out, command, quiet)


def measured_scenario(text: str, base: ScenarioSpec | None, settings: Sequence[str]) -> ScenarioSpec | None:
    """The scenario of a measured run, by its folder or record; None of anything else. Raises InputError."""
    if not Path(text).exists():
        return None
    from oltpsim.scenarios.questions.measured import is_run, scenario_of_run

    return scenario_of_run(text, base, settings) if is_run(text) else None
