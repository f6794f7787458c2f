"""oltpsim run: simulate one scenario."""

from __future__ import annotations

import typer

from scenarios.commands.answer import Wanted, command_line, give, timed
from scenarios.commands.inputs import check_places
from scenarios.commands.options import (
    EngineOption,
    Output,
    OutputOption,
    QuietOption,
    ReplicationsOption,
    ReportOption,
    SaveOption,
    ScenarioArgument,
    SeedOption,
    SetOption,
    TargetOption,
    WorkersOption,
    settings,
)
from scenarios.files import load, scenario_path


def run(  # noqa: PLR0913, PLR0917 - one argument per option
    scenario: ScenarioArgument,
    set_: SetOption = None,
    engine: EngineOption = None,
    seed: SeedOption = 1,
    replications: ReplicationsOption = 1,
    workers: WorkersOption = None,
    output: OutputOption = Output.TABLE,
    report: ReportOption = None,
    save: SaveOption = None,
    target: TargetOption = None,
    quiet: QuietOption = False,
) -> None:
    """Simulate one scenario: its rate and what limits it.

    With --engine analytic it is calculated from mean values instead, in milliseconds.

    The same scenario and seed give the same bytes with --output json, on any number of workers. With several
    replications the rate is the mean over them with its t interval; every other figure is the first seed's.
    """
    from scenarios.progress import display
    from scenarios.runs import check_replications, default_workers, pool, replicate

    path = scenario_path(scenario)
    spec = load(path, settings(set_, engine))
    check_replications([spec], replications)
    check_places(report, save)
    with timed(quiet, spec.engine) as block, display(quiet) as shown:
        runs = replicate(spec, seed, replications, workers or default_workers(), shown)
        result = pool(runs)
        block.results.append(result)
    interrupted = len(runs) < replications
    if interrupted:
        typer.echo(f"the answer is that of {len(runs)} of {replications} replications", err=True)
    command: list[object] = [
        "oltpsim",
        "run",
        scenario,
        *(word for setting in settings(set_, engine) for word in ("--set", setting)),
    ]
    command += ["--seed", str(result.seed)] + (["--replications", str(len(runs))] if len(runs) > 1 else [])
    command += [word for option, file in (("--report", report), ("--save", save)) if file for word in (option, file)]
    give(spec, result, Wanted(output, report, save, None if interrupted else target, command_line(command)))
    if interrupted:
        raise typer.Exit(130)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(run)
