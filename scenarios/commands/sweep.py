"""oltpsim sweep: one scenario over a grid of values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenarios.commands.inputs import check_places, check_store
from scenarios.commands.options import (
    EngineOption,
    Output,
    OutputOption,
    QuietOption,
    ReplicationsOption,
    ScenarioArgument,
    SeedOption,
    SetOption,
    WorkersOption,
    settings,
)
from scenarios.files import scenario_path
from simulator.errors import InputError

if TYPE_CHECKING:
    from scenarios.sweep import Sweep


def sweep(  # noqa: PLR0913, PLR0917 - one argument per option
    scenario: ScenarioArgument,
    vary: Annotated[
        list[str],
        typer.Option(metavar="KEY=VALUES", help="A field and its values, a,b,c or start:stop:step; repeat for a grid."),
    ],
    set_: SetOption = None,
    engine: EngineOption = None,
    seed: SeedOption = 1,
    replications: ReplicationsOption = 1,
    workers: WorkersOption = None,
    output: OutputOption = Output.TABLE,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Keep every run here; a stopped sweep goes on where it was."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw rate against the varied field: .html or .svg.")
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Simulate a scenario over a grid of values.

    Points that cannot be run are listed with the reason. The result is the same on any number of workers.
    """
    from scenarios import sweep as sweeping
    from scenarios.progress import display
    from scenarios.runs import check_replications, default_workers

    if picture is not None and picture.suffix not in (".html", ".svg"):
        raise InputError(f"--picture {picture}: the name must end in .html or .svg")
    if picture is not None and len(vary) > 2:
        raise InputError("--picture shows one or two varied fields; leave it out for larger grids")
    check_places(picture)
    check_store(save)
    axes = [sweeping.parse_axis(text) for text in vary]
    points = sweeping.grid(scenario_path(scenario), axes, settings(set_, engine))
    check_replications((each.scenario for each in points if not isinstance(each.scenario, InputError)), replications)
    runner = sweeping.Runner(points, seed, replications, save)
    interrupted = False
    try:
        with display(quiet) as shown:
            runner.run(workers or default_workers(), shown)
    except KeyboardInterrupt:
        interrupted = True
    for path in runner.damaged:
        typer.echo(f"{path}: is damaged; its point is run again", err=True)
    if runner.reused and not quiet:
        typer.echo(f"{runner.reused} runs were in {save} already", err=True)
    if interrupted:
        kept = f"{runner.finished} of {runner.wanted} runs are done"
        where = f" and kept in {save}; the same command goes on from there" if save else "; --save would have kept them"
        typer.echo(f"{kept}{where}", err=True)
        if not runner.finished:
            raise typer.Exit(130)
    answer = runner.sweep(scenario, axes)
    typer.echo(_text(answer, output), nl=False)
    if picture is not None:
        _draw(answer, picture)
        typer.echo(f"picture: {picture}", err=True)
    if interrupted:
        raise typer.Exit(130)


def _text(answer: Sweep, output: Output) -> str:
    from scenarios import sweep as sweeping

    write = {Output.JSON: sweeping.to_json, Output.CSV: sweeping.to_csv, Output.TABLE: sweeping.to_text}
    return write[output](answer)


def _draw(answer: Sweep, picture: Path) -> None:
    from calibration.whole_file import write_whole
    from scenarios.sweep_figures import to_html, to_svg

    write_whole(picture, to_svg(answer) if picture.suffix == ".svg" else to_html(answer))


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(sweep)
