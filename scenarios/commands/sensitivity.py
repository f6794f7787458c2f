"""oltpsim sensitivity: which numbers of a scenario its rate depends on."""

from pathlib import Path
from typing import Annotated

import typer

from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.commands.answer import terminal_width
from oltpsim.scenarios.commands.modelled import read_model
from oltpsim.scenarios.commands.options import (
    ModelOption,
    Output,
    OutputOption,
    QuietOption,
    ScenarioArgument,
    SeedOption,
    SetOption,
)
from oltpsim.scenarios.commands.output_files import check_places
from oltpsim.scenarios.library import asked_scenario
from oltpsim.scenarios.questions.sensitivity import (
    ParameterRange,
    RateFunction,
    SobolSamples,
    calibrated_ranges,
    default_ranges,
    ranges_of,
    tornado,
)
from oltpsim.scenarios.show.picture import check_picture, write_picture
from oltpsim.scenarios.show.progress import progress_display
from oltpsim.scenarios.show.sections import sections_form
from oltpsim.scenarios.show.sensitivity import sensitivity_answer, sensitivity_chart, sensitivity_title
from oltpsim.scenarios.show.words import CALCULATED
from oltpsim.simulator.errors import InputError


def sensitivity(  # noqa: PLR0913, PLR0917 - one argument per option
    scenario: ScenarioArgument,
    vary: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=LOW..HIGH", help="A number and its ends, in place of the usual ones; repeat."),
    ] = None,
    model: ModelOption = None,
    sobol: Annotated[
        int | None, typer.Option(metavar="N", help="Sobol's indices as well, from N base points, a power of 2.")
    ] = None,
    set_: SetOption = None,
    seed: SeedOption = 1,
    picture: Annotated[Path | None, typer.Option(metavar="FILE", help="The tornado: .html, .svg, .png, .pdf.")] = None,
    output: OutputOption = Output.TABLE,
    quiet: QuietOption = False,
) -> None:
    """Show which numbers of a scenario its rate depends on.

    A tornado: each number from its low end to its high one, the others at their middle, the widest bar first. Varied
    are, unless --vary names others, what a calibration would fit, over 90 % of what is known of it before any run or,
    with --model, after its runs, and the hardware by a quarter up and down. --sobol varies all of them at once: which
    share of the variance of the rate's logarithm each makes up, alone and with all that it does together with others.
    """
    check_picture(picture, "--picture")
    check_places(picture)
    machine, ranges = _ranges(asked_scenario(scenario, [*(set_ or []), "engine=analytic"]).scenario, model, vary or [])
    samples = None if sobol is None else SobolSamples.planned(ranges, sobol, seed)
    rates = RateFunction(machine, ranges)
    interrupted = False
    with progress_display(quiet) as display:
        found = tornado(rates, ranges, lambda: rates.reasons, machine.workload.main_class)
        if samples is not None:
            whole = samples.base_points
            try:
                samples.evaluate(rates, lambda done: display.advance(done / whole, f"{done} of {whole} base points"))
            except KeyboardInterrupt:
                interrupted = True
                typer.echo(f"the indices are those of {samples.done} of {whole} base points", err=True)
    indices = None if samples is None or (interrupted and not samples.done) else samples.indices()
    typer.echo(sections_form(sensitivity_answer(machine.name, found, indices), output, terminal_width()), nl=False)
    if picture is not None:
        write_picture(picture, sensitivity_title(machine.name), [sensitivity_chart(found)], CALCULATED)
        typer.echo(f"picture: {picture}", err=True)
    if interrupted:
        raise typer.Exit(130)


def _ranges(scenario: ScenarioSpec, model: Path | None, vary: list[str]) -> tuple[ScenarioSpec, list[ParameterRange]]:
    """The scenario at its middle, and what varies. Raises InputError if nothing does."""
    found: list[ParameterRange] | None = None
    calibration = read_model(model)
    if calibration is not None:
        scenario, found = calibrated_ranges(calibration, scenario)
    if vary:
        found = ranges_of(vary, scenario)
    found = default_ranges(scenario) if found is None else found
    if not found:
        raise InputError(f"{scenario.name}: has no number that is varied by default; name some with --vary")
    return scenario, found
