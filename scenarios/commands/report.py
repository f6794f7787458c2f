"""oltpsim report: the HTML report of a saved run, or of a scenario that is run for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenarios.commands.inputs import check_places
from scenarios.commands.options import QuietOption, SeedOption
from scenarios.library import load, scenario_path

if TYPE_CHECKING:
    from scenarios.run import saved


def report(
    what: Annotated[
        str,
        typer.Argument(metavar="RESULT.json|SCENARIO", help="A saved run, or a scenario to run first."),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE.html", help="The report to write.")],
    seed: SeedOption = 1,
    quiet: QuietOption = False,
) -> None:
    """Write the report of a run as one HTML file.

    It can be mailed and opened without a network.
    """
    from scenarios.run import saved
    from scenarios.show import write_report

    check_places(out)
    if what.endswith(".json"):
        run = saved.read(Path(what))
        command = f"oltpsim report {what} --out {out}"
    else:
        run = _simulated(what, seed, quiet)
        command = f"oltpsim run {what} --seed {seed}"
    write_report(run.result, run.scenario, out, command)
    typer.echo(f"report: {out}")


def _simulated(what: str, seed: int, quiet: bool) -> saved.SavedRun:
    from scenarios.run import display, replicate, saved

    spec = load(scenario_path(what))
    with display(quiet) as shown:
        return saved.SavedRun(spec, *replicate(spec, seed, 1, 1, shown))


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(report)
