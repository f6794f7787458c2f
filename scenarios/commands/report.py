"""oltpsim report: the HTML report of a saved run, or of a scenario that is run for it."""

from pathlib import Path
from typing import Annotated

import typer

from oltpsim.scenarios.commands.answer import advice_of, command_line, grid_of
from oltpsim.scenarios.commands.modelled import (
    Assumed,
    ModelledScenario,
    assumed_of,
    document_format,
    measurement_of,
    modelled_scenario,
)
from oltpsim.scenarios.commands.options import Output, QuietOption, SeedOption, SystemOptions, with_records
from oltpsim.scenarios.commands.output_files import check_places
from oltpsim.scenarios.run import SAVED_FORMAT, SavedRun, read_saved_run, replicate
from oltpsim.scenarios.show.progress import progress_display
from oltpsim.scenarios.show.report import check_report, write_report
from oltpsim.simulator.errors import InputError


@with_records
def report(
    context: typer.Context,
    what: Annotated[
        str, typer.Argument(metavar="RESULT.json|SCENARIO", help="A saved run, or a scenario to run first.")
    ],
    out: Annotated[Path, typer.Option(metavar="FILE.html", help="The report to write; .pdf prints it (Chromium).")],
    *,
    seed: SeedOption = 1,
    quiet: QuietOption = False,
    system: SystemOptions,
) -> None:
    """Write the report of a run as one HTML file.

    It can be mailed and opened without a network.
    """
    check_places(out)
    check_report(out, "--out")
    if document_format(what) == SAVED_FORMAT:
        if system.model is not None or system.settings:
            raise InputError(f"{what} is done already: --model, --set and --engine go with a scenario; give that")
        run, assumed = read_saved_run(Path(what)), Assumed()
        modelled = ModelledScenario(run.scenario, None)
    else:
        modelled = modelled_scenario(what, system.settings, system.model)
        with progress_display(quiet) as display:
            assumed = assumed_of(modelled, display)
            run = SavedRun(modelled.machine, *replicate(modelled.machine, seed, 1, 1, display))
        assumed.say(Output.TABLE, quiet)
    expected = measurement_of(modelled, run.result, assumed.guesses)
    grid = grid_of(run.scenario, quiet)
    command = command_line(["oltpsim", *context.obj])
    write_report(run.result, run.scenario, out, command, expected, advice_of(run.scenario), grid)
    typer.echo(f"report: {out}")
