"""oltpsim run: simulate one scenario."""

import typer

from oltpsim.models.jobs import run_job
from oltpsim.scenarios.commands.answer import AnswerOptions, command_line, give, terminal_width, timed
from oltpsim.scenarios.commands.modelled import ModelledScenario, assumed_of, modelled_scenario
from oltpsim.scenarios.commands.options import (
    ChanceOption,
    EngineOption,
    ModelOption,
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
from oltpsim.scenarios.commands.output_files import check_places
from oltpsim.scenarios.run import check_replications, default_workers, pool_replications, replicate
from oltpsim.scenarios.show.job import job_json, job_text
from oltpsim.scenarios.show.progress import progress_display
from oltpsim.scenarios.show.report import check_report
from oltpsim.simulator.errors import InputError


def run(  # noqa: PLR0913, PLR0917 - one argument per option
    scenario: ScenarioArgument,
    set_: SetOption = None,
    model: ModelOption = None,
    engine: EngineOption = None,
    seed: SeedOption = 1,
    replications: ReplicationsOption = 1,
    workers: WorkersOption = None,
    output: OutputOption = Output.TABLE,
    report: ReportOption = None,
    save: SaveOption = None,
    target: TargetOption = None,
    chance: ChanceOption = False,
    quiet: QuietOption = False,
) -> None:
    """Simulate one scenario: its rate and what limits it.

    A line that describes a machine is taken as by 'oltpsim quick', with what it leaves open listed first.

    With --engine analytic it is calculated from mean values instead, in milliseconds. A scenario with a job (load,
    scan, lookups, mutex, query_mix, partitioned_store) is answered by the job's figure and what it rests on.

    The interval is the one in which a measurement would fall: by what isn't known of the parts and path lengths, what
    the model misses, what one run differs by from the next, and chance.

    The same scenario and seed give the same bytes with --output json, on any number of workers. With several
    replications the rate is the mean over them with its t interval; every other figure is the first seed's.
    """
    modelled = modelled_scenario(scenario, settings(set_, engine), model, jobs=True)
    spec = modelled.machine
    if spec.job is not None:
        given = {"--engine": engine, "--replications": replications > 1, "--report": report, "--save": save}
        _answer_job(
            modelled, seed, output, quiet, [option for option, value in (given | {"--target": target}).items() if value]
        )
        return
    check_replications([spec], replications)
    check_places(report, save)
    check_report(report, "--report")
    with progress_display(quiet) as display:
        assumed = assumed_of(modelled, display)
    assumed.say(output, quiet)
    with timed(quiet) as block, progress_display(quiet) as display:
        runs = replicate(spec, seed, replications, workers or default_workers(), display)
        result = pool_replications(runs)
        block.results.append(result)
    interrupted = len(runs) < replications
    if interrupted:
        typer.echo(f"the answer is that of {len(runs)} of {replications} replications", err=True)
    command: list[object] = ["oltpsim", "run", scenario, *(("--model", model) if model is not None else ())]
    command += [word for setting in settings(set_, engine) for word in ("--set", setting)]
    command += ["--seed", str(result.seed)] + (["--replications", str(len(runs))] if len(runs) > 1 else [])
    command += ["--chance"] if chance else []
    command += [word for option, file in (("--report", report), ("--save", save)) if file for word in (option, file)]
    held = None if interrupted else target
    again = command_line(command)
    give(modelled, result, AnswerOptions(output, report, save, held, again, None, chance, assumed, quiet))
    if interrupted:
        raise typer.Exit(130)


def _answer_job(modelled: ModelledScenario, seed: int, output: Output, quiet: bool, given: list[str]) -> None:
    """Print what a job comes to. Raises InputError for options that only a run of transactions has."""
    spec = modelled.machine
    if given:
        raise InputError(f"{given[0]}: is for transactions; {spec.name!r} has a job: leave it out")
    if output is Output.CSV:
        raise InputError("--output csv: a job has one figure; give table or json")
    with progress_display(quiet) as display:
        assumed = assumed_of(modelled, display)
    assumed.say(output, quiet)
    result = run_job(spec, seed)
    interval = modelled.job_interval(result.value, assumed.guesses)
    write = (
        job_json(result, spec, interval)
        if output is Output.JSON
        else job_text(result, spec, terminal_width(), interval)
    )
    typer.echo(write, nl=False)
