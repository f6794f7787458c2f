"""oltpsim validate: how well a calibration meets runs, and its certificate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenarios.commands.answer import command_line
from scenarios.commands.calibrate import say_kept
from scenarios.commands.inputs import check_places
from scenarios.commands.options import Output, OutputOption, QuietOption, ReportOption, WorkersOption
from scenarios.commands.predict import ModelArgument
from simulator.errors import InputError

if TYPE_CHECKING:
    from calibration.fit import Certificate
    from calibration.judge import FigureRow

PUBLISHED = "published"


def validate(  # noqa: PLR0913, PLR0917 - one argument per option
    model: ModelArgument,
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN...",
            help="Run records, their folders, or names that come with the program; MODEL's own if it is such a name.",
        ),
    ] = None,
    mapping: Annotated[
        Path | None, typer.Option(metavar="FILE.yaml", help="The mapping file that 'oltpsim calibrate' was given.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Explain the gap of every run, not only of those outside their interval.")
    ] = False,
    near: Annotated[
        bool,
        typer.Option(
            "--near", help="Refits begin at the model, with its corrections by the kernel: faster, for many runs."
        ),
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="Write the model with its certificate, also over MODEL; resumable."),
    ] = None,
    simulate: Annotated[
        bool,
        typer.Option(
            "--simulate",
            help="Of the published large systems: simulate all again, which takes minutes, not only what changed.",
        ),
    ] = False,
    report: ReportOption = None,
    workers: WorkersOption = None,
    output: OutputOption = Output.TABLE,
    quiet: QuietOption = False,
) -> None:
    """Hold a calibrated model against runs: errors by regime, refits without each run, machine and device, baselines.

    Runs that the model was fitted to are called fitted, all others predicted. --save gives the model a certificate
    that every later prediction shows.
    """
    from calibration.fit import Kept, model_path, read, read_mapping_file, shipped, write
    from calibration.judge import digest, processes, runs_to_judge
    from calibration.judge import validate as held_against
    from scenarios.questions.measured_runs import read_runs
    from scenarios.run import default_workers, display
    from scenarios.show import validation_lines

    if output is Output.CSV:
        raise InputError("--output csv: a validation is no table; give table or json")
    check_places(save, report)
    calibration = read(model_path(model))
    if not runs and str(model) not in shipped():
        raise InputError(f"{model}: give the runs that the model is held against: validate {model} RUN...")
    every = not runs
    runs = runs or [str(model)]
    records, bases = read_runs(runs, calibration.base)
    file = read_mapping_file(mapping, records) if mapping is not None else None
    some = runs_to_judge(calibration, records, bases, file)
    state = save.with_name(f".{save.name}.validation.state") if save is not None else None
    kept = Kept(state, digest(calibration, some, near))
    number = min(workers or default_workers(), len(some))
    try:
        with display(quiet) as shown, processes(number) as executor:
            found = held_against(
                calibration, records, bases, file, kept, shown.advance, executor, explain_all=explain, near=near
            )
    except KeyboardInterrupt:
        say_kept("refits", state)
        raise typer.Exit(130) from None
    if save is not None:
        write(save, calibration.model_copy(update={"certificate": found}))
        kept.close()
    words = ["oltpsim", "validate", str(model), *runs, *(["--mapping", str(mapping)] if mapping else [])]
    if report is not None:
        from scenarios.show import write_validation_page

        write_validation_page(report, calibration, found, command_line([*words, "--report", report]))
    large = _large_systems(number, quiet, simulate) if every and str(model) == PUBLISHED else []
    typer.echo(_text(found, output, validation_lines(calibration, found), large), nl=False)
    for path in (save, report):
        if path is not None:
            typer.echo(f"written: {path}", err=True)


def _large_systems(workers: int, quiet: bool, again: bool) -> list[FigureRow]:
    """The rows of the published systems that no calibration is of."""
    from scenarios.questions.large_systems import measured_systems, rows
    from scenarios.run import display

    with display(quiet) as shown:
        return rows(measured_systems(), workers, shown, again=again)


def _text(found: Certificate, output: Output, lines: list[str], large: list[FigureRow]) -> str:
    if output is Output.TABLE:
        from scenarios.show import large_system_lines

        return "\n".join([*lines, *(["", *large_system_lines(large)] if large else [])]) + "\n"
    import json

    from calibration.judge import as_json

    data = found.model_dump(mode="json") | ({"large_systems": as_json(large)} if large else {})
    return json.dumps(data, sort_keys=True, indent=1, allow_nan=False) + "\n"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(validate)
