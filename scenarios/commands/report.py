"""oltpsim report: the HTML report of a saved run, or of a scenario that is run for it."""

from pathlib import Path
from typing import Annotated

import typer

from oltpsim.models.catalogue import Prices, catalogue_names, price_list
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.commands.answer import command_line
from oltpsim.scenarios.commands.modelled import (
    Assumed,
    ModelledScenario,
    assumed_of,
    is_model,
    measurement_of,
    modelled_scenario,
)
from oltpsim.scenarios.commands.options import Output, QuietOption, SeedOption, SystemOptions, with_records
from oltpsim.scenarios.commands.output_files import check_places
from oltpsim.scenarios.questions.explain import advise, unit_prices
from oltpsim.scenarios.questions.what_if import what_if
from oltpsim.scenarios.run import SavedRun, read_saved_run, replicate
from oltpsim.scenarios.show.progress import progress_display
from oltpsim.scenarios.show.report import Advised, Grid, check_report, write_report
from oltpsim.scenarios.show.words import Expected
from oltpsim.simulator.errors import InputError

ADVICE_CURRENCY = "USD"


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
    if what.endswith(".json") and not is_model(what):
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
    report_run(run, expected, out, command_line(["oltpsim", *context.obj]), quiet)
    typer.echo(f"report: {out}")


def report_run(run: SavedRun, expected: Expected, out: Path, command: str, quiet: bool) -> None:
    """Write the report of a run, with what would help its machine and with machines around it."""
    grid = _grid_of(run.scenario, quiet)
    write_report(run.result, run.scenario, out, command, expected, _advice_of(run.scenario), grid)


def _advice_of(scenario: ScenarioSpec) -> Advised:
    """What would help the machine at prices of the catalogue, the newest list first, or why that can't be said."""
    lists = [listed for name in catalogue_names("prices") if (listed := price_list(name)).currency == ADVICE_CURRENCY]
    prices = Prices(tuple(sorted(lists, key=lambda listed: listed.date, reverse=True)))
    try:
        return advise(scenario, unit_prices(scenario, prices, {}))
    except InputError as error:
        return "; ".join(str(error).splitlines())


def _grid_of(scenario: ScenarioSpec, quiet: bool) -> Grid:
    """Machines around this one, with progress unless `quiet`, or why there are none."""
    try:
        with progress_display(quiet) as display:
            display.step("machines around this one")
            return what_if(scenario, display.advance)
    except InputError as error:
        return "; ".join(str(error).splitlines())
