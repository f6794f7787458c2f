"""oltpsim predict: what a calibration says of other scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenarios.commands.options import MOST_SEED, Output, OutputOption, QuietOption, SetOption
from simulator.errors import InputError

if TYPE_CHECKING:
    from calibration.fit import Calibration
    from models.scenario import ScenarioSpec

ModelArgument = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="A file that 'oltpsim calibrate --save' made, or 'published'."),
]
REFUSED = 2


def predict(
    model: ModelArgument,
    scenarios: Annotated[
        list[str] | None,
        typer.Argument(metavar="SCENARIO", help="Scenario files or names of the library; the model's base if none."),
    ] = None,
    set_: SetOption = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Seed of a model that the kernel has corrected; the fit's own if absent.", min=0,
                     max=MOST_SEED),
    ] = None,
    output: OutputOption = Output.TABLE,
    quiet: QuietOption = False,
) -> None:  # fmt: skip
    """Predict new orders per minute by a calibrated model, with an interval and the distance from its runs.

    A scenario that the model was fitted to is called fitted, all others predicted.
    """
    from calibration.fit import model_path, read
    from calibration.predict import prediction
    from scenarios.run import display
    from scenarios.show import certificate_line, prediction_csv, prediction_json, prediction_table

    calibration = read(model_path(model))
    if seed is not None:
        calibration = calibration.model_copy(update={"seed": seed})
    asked: list[str | None] = [*(scenarios or [])] or [None]
    answers: list[prediction.Predicted] = []
    refused = []
    with display(quiet) as shown:
        for number, name in enumerate(asked):
            shown.advance(number / len(asked), name or calibration.base.name)
            try:
                answers.append(prediction.predict(calibration, _scenario(calibration, name, set_ or [])))
            except InputError as error:
                refused += str(error).splitlines()
    validated = certificate_line(calibration, model)
    if answers and output is Output.CSV:
        typer.echo(prediction_csv(answers, validated), nl=False)
    elif answers:
        write = prediction_json if output is Output.JSON else prediction_table
        typer.echo(write(calibration, answers, validated, set_ or []), nl=False)
    for text in refused:
        typer.echo(f"error: {text}", err=True)
    if refused:
        raise typer.Exit(REFUSED)


def _scenario(calibration: Calibration, name: str | None, overrides: list[str]) -> ScenarioSpec:
    """The scenario of a file or of the library, or without a name the base."""
    from models.reading import scenario_from_mapping
    from scenarios.library import load, scenario_path

    if name is not None:
        return load(scenario_path(name), overrides)
    data = calibration.base.model_dump(mode="json", exclude={"measured"})
    return scenario_from_mapping(data, calibration.base.name, overrides)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(predict)
