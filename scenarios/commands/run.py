"""oltpsim run: one system's answer, by the formulas at once and by a simulation that confirms it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from oltpsim.models.input import write_whole
from oltpsim.models.jobs import run_job
from oltpsim.models.scenario import MeasuredSpec
from oltpsim.scenarios.commands.answer import (
    RunAnswer,
    check_target,
    command_line,
    expected_of,
    give,
    terminal_width,
    timed,
)
from oltpsim.scenarios.commands.lazy_parts import check_report_file, measured_scenario
from oltpsim.scenarios.commands.modelled import (
    Assumed,
    ModelledScenario,
    assumed_of,
    calculated,
    document_format,
    is_model,
    modelled_scenario,
    read_model,
)
from oltpsim.scenarios.commands.options import (
    AnswerOptions,
    Output,
    ReplicationsOption,
    ReportOption,
    SaveOption,
    SeedOption,
    SystemOptions,
    TargetOption,
    WorkersOption,
    finite,
    typed_options,
    with_records,
)
from oltpsim.scenarios.commands.output_files import check_places
from oltpsim.scenarios.library import asked_scenario
from oltpsim.scenarios.run import (
    SAVED_FORMAT,
    check_replications,
    default_workers,
    pool_replications,
    read_saved_run,
    replicate,
)
from oltpsim.scenarios.show.job import job_csv, job_json, job_text
from oltpsim.scenarios.show.machine import machine_yaml
from oltpsim.scenarios.show.prediction import certificate_line
from oltpsim.scenarios.show.progress import progress_display
from oltpsim.scenarios.show.summary import assumed_lines, headline_lines
from oltpsim.scenarios.show.words import NEW_ORDER
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results import Result

TRANSACTIONS_ONLY = ("--engine", "--replications", "--report", "--save", "--target")
INTERRUPTED = ("--seed", "--replications", "--target")
"""options that an interrupted run's answer is told by anew"""
NOT_DONE_AGAIN = ("--set", "--model", "--engine", "--seed", "--replications", "--save", "--base")


@with_records
def run(  # noqa: PLR0913 - one argument per option
    context: typer.Context,
    what: Annotated[
        str,
        typer.Argument(
            metavar="SYSTEM",
            help="A line, '8 cores, 32 GB, NVMe, PostgreSQL 17'; a scenario, by its file or its name in the library; "
            "a calibrated model, for its base; a saved run; or the folder of a measured run.",
        ),
    ],
    *,
    seed: SeedOption = 1,
    replications: ReplicationsOption = 1,
    workers: WorkersOption = None,
    target: TargetOption = None,
    measured: Annotated[
        float | None,
        typer.Option(metavar="N", callback=finite, help="Measured rate, to be shown beside the answer."),
    ] = None,
    base: Annotated[
        str | None, typer.Option(metavar="SCENARIO", help="Machine of a measured run, whose folder doesn't say it all.")
    ] = None,
    report: ReportOption = None,
    save: SaveOption = None,
    assumptions: Annotated[
        bool, typer.Option("--assumptions", help="List every assumption, its alternatives and their effect.")
    ] = False,
    save_scenario: Annotated[
        Path | None, typer.Option(metavar="FILE.yaml", help="Write the scenario that a line comes to.")
    ] = None,
    system: SystemOptions,
    options: AnswerOptions,
) -> None:
    """Answer for one system: its rate, how sure that is, and what limits it.

    Pieces of a line, in any order: a cloud machine ('r6i.2xlarge', 'Standard_E8ds_v5', 'n2-standard-8'), or processors
    ('8 cores', '2 x quad-core Xeon 5410 2.33 GHz', 'under Xen') and memory ('32 GB'); disks ('SSD', '2 NVMe', 'gp3 500
    GiB 3000 IOPS', 'RAID 10 of 4 SATA'); operating system, engine ('PostgreSQL 15'), 'shared buffers 8 GB', '500
    warehouses' or '40 GB of data', '64 clients'; a driver of TPC-C ('HammerDB', 'BenchBase'), or 'pgbench select only'
    with 'scale 1000', 'sysbench read-write' with '8 tables', 'YCSB A' with '20 million records'; 'load of 20
    warehouses', 'serial read'. Commas, +, on and with stand between them. Missing values are assumed; --assumptions
    lists each, its alternatives and their effect on the rate, which the interval covers.

    The formulas answer at once, on stderr; the simulation confirms them, and its answer is the one on stdout, in files
    and held to --target. With --engine analytic the formulas' answer is all. A job (load, scan, lookups, mutex,
    query_mix, partitioned_store) is answered by its own figure. A line of Virtuoso is answered by the model
    'published' unless --model says otherwise.

    The interval is where a measurement would fall: it holds what isn't known of parts and path lengths, the model
    error, the difference of one run from the next, and chance.

    The same scenario and seed give the same bytes with --output json, on any number of workers. With several
    replications the rate is their mean with its t interval; every other figure is the first seed's.
    """
    check_places(report, save, save_scenario)
    check_report_file(report)
    typed, command = typed_options(context), command_line(["oltpsim", *context.obj])
    if document_format(what) == SAVED_FORMAT:
        _refuse(typed, NOT_DONE_AGAIN, f"{what} is done already; it goes with a scenario")
        saved = read_saved_run(Path(what))
        modelled = _with_measured(ModelledScenario(saved.scenario, None), measured)
        expected = expected_of(modelled, saved.result, Assumed(), options)
        give(RunAnswer(modelled, saved.result, Assumed(), expected, None, command), options, report, None)
        check_target(saved.result, target, expected)
        return
    modelled = _with_measured(_modelled(what, system, base), measured)
    if save_scenario is not None:
        if modelled.description is None:
            raise InputError(f"--save-scenario: {what} isn't a line; copy its file, or give a line")
        write_whole(save_scenario, machine_yaml(modelled.description))
    if modelled.machine.job is not None:
        _refuse(typed, TRANSACTIONS_ONLY, f"is for transactions; {modelled.machine.name!r} has a job: leave it out")
        _answer_job(modelled, seed, options, assumptions)
        return
    check_replications([modelled.machine], replications)
    with progress_display(options.quiet) as display:
        assumed = assumed_of(modelled, display)
    is_alone = options.output is not Output.TABLE or system.engine_setting is not None
    first = None if is_alone else _calculated(modelled, seed, assumed, options)
    with timed(options.quiet) as block, progress_display(options.quiet) as display:
        runs = replicate(modelled.machine, seed, replications, workers or default_workers(), display)
        result = pool_replications(runs)
        block.results.append(result)
    interrupted = len(runs) < replications
    if interrupted:
        typer.echo(f"the answer is that of {len(runs)} of {replications} replications", err=True)
        seeds = ["--seed", result.seed, *(["--replications", len(runs)] if len(runs) > 1 else [])]
        command = command_line(["oltpsim", *without_options(context.obj, INTERRUPTED), *seeds])
    expected = expected_of(modelled, result, assumed, options)
    certificate = _certificate(what, system)
    give(RunAnswer(modelled, result, assumed, expected, first, command, certificate), options, report, save)
    if assumptions or options.output is not Output.TABLE:
        assumed.say(options.output, options.quiet)
    if interrupted:
        raise typer.Exit(130)
    check_target(result, target, expected)


def without_options(words: Sequence[str], options: Sequence[str]) -> list[str]:
    """A command's words without some options that take a value."""
    found: list[str] = []
    is_value = False
    for word in words:
        if not is_value and word.partition("=")[0] not in options:
            found.append(word)
        is_value = not is_value and word in options
    return found


def _modelled(what: str, system: SystemOptions, base: str | None) -> ModelledScenario:
    """The scenario that SYSTEM means, and the model that answers for it. Raises InputError."""
    machine = None if base is None else asked_scenario(base).scenario
    found = measured_scenario(what, machine, system.settings)
    if found is not None:
        return ModelledScenario(found, read_model(system.model))
    if base is not None:
        raise InputError(f"--base {base}: goes with the folder of a measured run; {what} says its whole machine")
    return modelled_scenario(what, system.settings, system.model, jobs=True)


def _certificate(what: str, system: SystemOptions) -> str | None:
    """What the certificate says of the model that was asked for; None without one."""
    model = system.model or (Path(what) if is_model(what) else None)
    calibration = read_model(model)
    return None if calibration is None or model is None else certificate_line(calibration, model)


def _with_measured(modelled: ModelledScenario, per_min: float | None) -> ModelledScenario:
    """The scenario with the rate of --measured, in place of one that it has. Raises InputError for a job."""
    if per_min is None:
        return modelled
    scenario = modelled.scenario
    if scenario.job is not None or scenario.workload.main_class != NEW_ORDER:
        raise InputError(f"--measured: is new orders per minute, which {scenario.name!r} has none of")
    measured = MeasuredSpec(new_orders_per_minute=per_min, role="predicted", source="--measured")
    return replace(modelled, scenario=scenario.model_copy(update={"measured": measured}))


def _refuse(typed: Sequence[str], options: Sequence[str], why: str) -> None:
    """Refuse the first of these options that was typed. Raises InputError."""
    wrong = next((option for option in options if option in typed), None)
    if wrong is not None:
        raise InputError(f"{wrong}: {why}")


def _calculated(modelled: ModelledScenario, seed: int, assumed: Assumed, options: AnswerOptions) -> Result | None:
    """The formulas' answer beside a simulation's table, said on stderr at once; None where they know no such system."""
    if modelled.scenario.engine == "analytic":
        return None
    try:
        with timed(options.quiet) as block:
            block.results.append(result := calculated(modelled, seed))
    except InputError as error:
        typer.echo(f"no answer by the formulas: {'; '.join(str(error).splitlines())}", err=True)
        return None
    if not options.quiet:
        formulas = replace(modelled, scenario=modelled.scenario.model_copy(update={"engine": "analytic"}))
        expected = expected_of(formulas, result, assumed, options)
        typer.echo("\n".join(headline_lines(result, expected, terminal_width())), err=True)
    return result


def _answer_job(modelled: ModelledScenario, seed: int, options: AnswerOptions, assumptions: bool) -> None:
    """Answer a job by its figure; by a calibrated model with an interval, which holds the guesses."""
    with progress_display(options.quiet) as display:
        assumed = assumed_of(modelled, display)
    result = run_job(modelled.machine, seed)
    interval = modelled.job_interval(result.value, assumed.guesses)
    if options.output is Output.JSON:
        text = job_json(result, modelled.machine, interval, assumed.rows)
    elif options.output is Output.CSV:
        text = job_csv(result, modelled.machine, interval)
    else:
        text = job_text(result, modelled.machine, terminal_width(), interval)
        text += "".join(f"{line}\n" for line in assumed_lines(assumed.words, terminal_width()))
    typer.echo(text, nl=False)
    if assumptions or options.output is not Output.TABLE:
        assumed.say(options.output, options.quiet)
