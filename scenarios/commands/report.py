"""oltpsim report: the HTML report of a saved run, or of a scenario that is run for it."""

from pathlib import Path
from typing import Annotated

import typer

from scenarios.commands.answer import advice_of, measurement_of
from scenarios.commands.options import QuietOption, SeedOption
from scenarios.commands.output_files import check_places
from scenarios.library import load_scenario_file, scenario_path
from scenarios.run import SavedRun, read_saved_run, replicate
from scenarios.show.progress import progress_display
from scenarios.show.report import check_report, write_report


def report(
    what: Annotated[
        str, typer.Argument(metavar="RESULT.json|SCENARIO", help="A saved run, or a scenario to run first.")
    ],
    out: Annotated[Path, typer.Option(metavar="FILE.html", help="The report to write; .pdf prints it (Chromium).")],
    seed: SeedOption = 1,
    quiet: QuietOption = False,
) -> None:
    """Write the report of a run as one HTML file.

    It can be mailed and opened without a network.
    """
    check_places(out)
    check_report(out, "--out")
    if what.endswith(".json"):
        run = read_saved_run(Path(what))
        command = f"oltpsim report {what} --out {out}"
    else:
        spec = load_scenario_file(scenario_path(what))
        with progress_display(quiet) as display:
            run = SavedRun(spec, *replicate(spec, seed, 1, 1, display))
        command = f"oltpsim run {what} --seed {seed}"
    expected = measurement_of(run.scenario, run.result)
    write_report(run.result, run.scenario, out, command, expected, advice_of(run.scenario))
    typer.echo(f"report: {out}")
