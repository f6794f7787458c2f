"""oltpsim compare: scenarios side by side with the same seeds."""

from typing import Annotated

import typer

from oltpsim.models.input import parse_quantity
from oltpsim.scenarios.commands.answer import terminal_width
from oltpsim.scenarios.commands.modelled import ModelledScenario, assumed_of, read_model
from oltpsim.scenarios.commands.options import (
    MOST_REPLICATIONS,
    AnswerOptions,
    Output,
    SeedOption,
    SystemOptions,
    TargetOption,
    WorkersOption,
    with_records,
)
from oltpsim.scenarios.questions.compare import Comparer, ScenarioComparison, measured_comparison, read_sides
from oltpsim.scenarios.run import default_workers, pool_rates
from oltpsim.scenarios.show.compare import comparison_csv, comparison_json, comparison_table
from oltpsim.scenarios.show.progress import progress_display
from oltpsim.scenarios.show.words import unit_of
from oltpsim.simulator.errors import InputError

REPLICATIONS = 5
MOST_UNTIL = 200
"""seeds of a comparison that goes on until its intervals are narrow"""
MISSED = 1


@with_records
def compare(
    scenarios: Annotated[
        list[str],
        typer.Argument(
            metavar="A B ...",
            help="Scenario files, names of the library, lines as 'run' takes them, or saved runs; two or more.",
        ),
    ],
    *,
    seed: SeedOption = 1,
    replications: Annotated[
        int | None,
        typer.Option(metavar="N", help="Seeds SEED, SEED + 1, ... of each; 5 if absent.", min=1, max=MOST_REPLICATIONS),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="More seeds until each ratio's interval is ± this: '1 %'; at most 200."),
    ] = None,
    workers: WorkersOption = None,
    target: TargetOption = None,
    system: SystemOptions,
    options: AnswerOptions,
) -> None:
    """Compare scenarios: the rate of each and its difference from the first, with an interval.

    All run with the same seeds and so draw the same numbers: their differences are known better than their rates.
    The scenarios are called A, B, C, ...; what is changed may be told apart by that: --set B:machine.disks.count=2.
    With --target the exit status is 1 if none of them reaches it.
    """
    if replications is not None and until is not None:
        raise InputError("--replications and --until: give one of them")
    calibration = read_model(system.model)
    sides = read_sides(scenarios, system.settings, calibration)
    with progress_display(options.quiet) as display:
        for side in sides:
            modelled = ModelledScenario(side.uncalibrated or side.scenario, calibration, side.description)
            assumed_of(modelled, display).say(options.output, options.quiet)
    narrow = None if until is None else _share(until)
    if all(side.scenario.engine == "analytic" for side in sides):
        if replications is not None or until is not None:
            given = "--until" if replications is None else "--replications"
            raise InputError(
                f"{given}: the analytic engine draws nothing at random and answers every seed alike: leave it out, or "
                "take --engine kernel"
            )
        replications = 1
    comparer = Comparer(sides, seed)
    interrupted = False
    try:
        with progress_display(options.quiet) as display:
            if narrow is None:
                comparer.run(replications or REPLICATIONS, workers or default_workers(), display)
            else:
                comparer.run_until(narrow, MOST_UNTIL, workers or default_workers(), display)
    except KeyboardInterrupt:
        interrupted = True
    compared = comparer.comparison()
    if compared is None:
        raise typer.Exit(130)
    if not options.chance:
        compared = measured_comparison(compared, calibration)
    if interrupted:
        typer.echo(f"the answer is that of {len(compared.seeds)} seeds", err=True)
    write = {Output.JSON: comparison_json, Output.CSV: comparison_csv}.get(options.output)
    typer.echo(comparison_table(compared, terminal_width()) if write is None else write(compared), nl=False)
    if interrupted:
        raise typer.Exit(130)
    _check(compared, target, narrow)


def _share(text: str) -> float:
    try:
        share = parse_quantity(text, "share", "")
    except ValueError as error:
        raise InputError(f"--until {text}: {error}") from error
    if not isinstance(share, float) or not 0 < share < 1:
        raise InputError(f"--until {text}: must be above 0 and below 100 %, for example '1 %'")
    return share


def _check(compared: ScenarioComparison, target: float | None, narrow: float | None) -> None:
    """Say what was missed. Raises typer.Exit(1) for a target that no scenario reaches."""
    widest = max(difference.half_width_fraction for difference in compared.differences)
    if narrow is not None and widest > narrow:
        typer.echo(f"after {len(compared.seeds)} seeds the widest interval is ±{widest:.2%} still", err=True)
    best = max(pool_rates(results).rate_per_min.mean for results in compared.results)
    if target is not None and best < target:
        unit = unit_of(compared.results[0][0].main_class)
        typer.echo(f"target missed: the best is {best:,.0f} {unit}, target {target:,.0f}", err=True)
        raise typer.Exit(MISSED)
