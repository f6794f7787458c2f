"""oltpsim predict: what a calibration says of other scenarios."""

from pathlib import Path
from typing import Annotated

import typer

from oltpsim.calibration.fit import calibration_path, read_calibration
from oltpsim.calibration.predict import Predicted
from oltpsim.scenarios.commands.modelled import predicted, scenario_or_base
from oltpsim.scenarios.commands.options import MOST_SEED, Output, OutputOption, QuietOption, SetOption
from oltpsim.scenarios.show.prediction import certificate_line, prediction_csv, prediction_json, prediction_table
from oltpsim.scenarios.show.progress import progress_display
from oltpsim.simulator.errors import InputError

ModelArgument = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL", help="A file that 'oltpsim calibrate --save' made; 'published', 'postgresql' or 'mysql'."
    ),
]
REFUSED = 2


def predict(
    model: ModelArgument,
    scenarios: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SCENARIO",
            help="Scenario files, names of the library, or lines as 'quick' takes them; the base if none.",
        ),
    ] = None,
    set_: SetOption = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Seed of a model that the kernel has corrected; the fit's own if absent.",
            min=0,
            max=MOST_SEED,
        ),
    ] = None,
    output: OutputOption = Output.TABLE,
    quiet: QuietOption = False,
) -> None:
    """Predict new orders per minute by a calibrated model, with an interval and the distance from its runs.

    A scenario that the model was fitted to is called fitted, all others predicted.
    """
    calibration = read_calibration(calibration_path(model))
    if seed is not None:
        calibration = calibration.model_copy(update={"seed": seed})
    words: list[str | None] = [*(scenarios or [])] or [None]
    answers: list[Predicted] = []
    refused = []
    with progress_display(quiet) as display:
        for number, name in enumerate(words):
            display.advance(number / len(words), name or calibration.base.name)
            try:
                asked = scenario_or_base(calibration, name, set_ or [])
                answers.append(predicted(calibration, asked))
            except InputError as error:
                refused += str(error).splitlines()
    certificate = certificate_line(calibration, model)
    if answers and output is Output.CSV:
        typer.echo(prediction_csv(answers, certificate), nl=False)
    elif answers:
        write = prediction_json if output is Output.JSON else prediction_table
        typer.echo(write(calibration, answers, certificate, set_ or []), nl=False)
    for text in refused:
        typer.echo(f"error: {text}", err=True)
    if refused:
        raise typer.Exit(REFUSED)
