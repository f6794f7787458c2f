"""oltpsim quick: a machine in a line, in a few flags or in a file, and its answer."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from calibration.fit import calibration_path, read_calibration
from calibration.predict import predict_described
from models.input import write_whole, yaml_text
from models.reading import Questions, assumptions_of, read_description, scenario_of
from models.scenario import ScenarioSpec
from scenarios.commands.answer import (
    AnswerOptions,
    TimedAnswers,
    command_line,
    give,
    measurement_of,
    table_of,
    terminal_width,
    timed,
)
from scenarios.commands.options import (
    ChanceOption,
    EngineOption,
    Output,
    OutputOption,
    QuietOption,
    ReportOption,
    SaveOption,
    SeedOption,
    SetOption,
    TargetOption,
    UsageError,
    settings,
    typed_options,
)
from scenarios.commands.output_files import check_places
from scenarios.library import library_files, load_scenario_file, scenario_path
from scenarios.run import SimulationTask, replicate, simulate, simulate_by_kernel
from scenarios.show.machine import machine_json, machine_table, machine_yaml
from scenarios.show.numbers import significant
from scenarios.show.progress import progress_display
from scenarios.show.report import check_report
from simulator.errors import InputError

FIRST = "First answer, calculated by the analytic engine; the simulation follows:"
SECOND = "Second answer, simulated by the {} engine:"
REQUIRED = ("--ram", "--cores", "--disk", "--clients")
FLAGS = (*REQUIRED, "--disks", "--warehouses", "--data-size", "--database", "--cpu", "--os", "--buffers", "--pool",
         "--think", "--warm-up", "--duration")  # fmt: skip
SIMULATED = ("--engine", "--seed", "--report", "--save", "--target")
LINE_REMEDY = (
    "a line is answered by a calibrated model; --set KEY=VALUE changes its scenario, and --save-scenario FILE.yaml "
    "writes it for 'oltpsim quick FILE.yaml'"
)
NO_MODEL = "none"
PUBLISHED = "published"


def quick(  # noqa: PLR0913, PLR0917 - one argument per option
    context: typer.Context,
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="LINE|SCENARIO",
            help="Pieces in any order, with commas: '2 x Opteron 244, 8 GB, 4 SATA'; or a scenario; or neither, "
            "but --ram, --cores, --disk, --clients and the size of the data.",
            show_default=False,
        ),
    ] = None,
    ram: Annotated[str | None, typer.Option(metavar="SIZE", help="Memory of the machine, for example 8GiB.")] = None,
    cores: Annotated[int | None, typer.Option(metavar="N", help="CPU cores.", min=1)] = None,
    disk: Annotated[
        str | None, typer.Option(metavar="NAME", help="Kind of data disk: 'oltpsim catalog list disks'.")
    ] = None,
    clients: Annotated[int | None, typer.Option(metavar="N", help="Clients that work at the same time.", min=1)] = None,
    disks: Annotated[int, typer.Option(metavar="N", help="Data disks.", min=1)] = 1,
    warehouses: Annotated[
        int | None, typer.Option(metavar="N", help="Size of the database in warehouses.", min=1)
    ] = None,
    data_size: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Or its size in bytes, for example '4 GiB'.")
    ] = None,
    database: Annotated[str, typer.Option(metavar="NAME", help="Database engine.")] = "postgresql-15",
    cpu: Annotated[str, typer.Option(metavar="NAME", help="Processor whose speed a core has.")] = "server-2020s",
    operating_system: Annotated[str, typer.Option("--os", metavar="NAME", help="Operating system.")] = "linux",
    buffers: Annotated[int | None, typer.Option(metavar="N", help="Buffers of the database.", min=1)] = None,
    pool: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Or the memory they take, for example '5 GiB'.")
    ] = None,
    think: Annotated[str, typer.Option(metavar="TIME", help="Mean think time of a client.")] = "0 s",
    warm_up: Annotated[str, typer.Option(metavar="TIME", help="Simulated time that is not counted.")] = "1 min",
    duration: Annotated[str, typer.Option(metavar="TIME", help="Simulated time that is counted.")] = "2 min",
    model: Annotated[
        str,
        typer.Option(
            metavar="MODEL",
            help="For a LINE. A file of 'oltpsim calibrate --save'; published: the program's own; none: the "
            "catalogue's values.",
        ),
    ] = PUBLISHED,
    set_: SetOption = None,
    engine: EngineOption = None,
    seed: SeedOption = 1,
    output: OutputOption = Output.TABLE,
    report: ReportOption = None,
    save: SaveOption = None,
    save_scenario: Annotated[
        Path | None, typer.Option(metavar="FILE.yaml", help="Write the scenario that was made, for 'oltpsim run'.")
    ] = None,
    target: TargetOption = None,
    chance: ChanceOption = False,
    quiet: QuietOption = False,
) -> None:
    """Predict a machine from a line that describes it, from a few flags, or from a scenario file.

    A line is answered by a calibrated model, with an honest interval. Its pieces: a name, processors ('2 x quad-core
    Xeon 5410 2.33 GHz', '8 cores', 'hyper-threading', 'under Xen'), memory ('8 GB'), disks ('4 SATA', 'RAID 5 of 4 SCSI
    10k', 'SSD'), operating system, engine, '120,000 buffers', '40 warehouses' or '40 GB of data', '80 clients'; and
    '30 min', 'in memory, 10,000 new orders each', 'load of 20 warehouses', 'serial read'. What the line leaves open is
    guessed, of machines before 2010 as published, of today's as PostgreSQL is run; each guess is shown with its
    source, and the interval holds it.

    Flags or a scenario are calculated at once, then simulated, and it is said how far apart the two answers are. With
    --engine, --output json or csv there is one answer; what is saved, reported and held to --target is the
    simulation's. Flags offer databases with a profile in the catalogue ('oltpsim catalog list databases'); what they
    leave open is assumed; the table and the report list the assumptions.
    """
    typed = typed_options(context)
    overrides = settings(set_, engine)
    if what is not None and not (what in library_files() or Path(what).exists() or what.endswith((".yaml", ".yml"))):
        _refuse(typed, (*FLAGS, *SIMULATED), LINE_REMEDY)
        _answer_line(what, model, set_ or (), output, save_scenario, quiet)
        return
    if what is not None:
        _refuse(typed, (*FLAGS, "--model", "--save-scenario"), "not with a scenario; change it by --set KEY=VALUE")
        scenario = load_scenario_file(scenario_path(what), overrides)
        check_places(report, save)
        check_report(report, "--report")
    else:
        _refuse(typed, ("--model",), "only with a line")
        if ram is None or cores is None or disk is None or clients is None:
            missing = [option for option in REQUIRED if option not in typed]
            hint = "give a line, as in '2 x Opteron 244, 8 GB, 4 SATA', a scenario, or " + ", ".join(REQUIRED)
            raise UsageError(hint if len(missing) == len(REQUIRED) else f"missing option '{missing[0]}'", context)
        questions = Questions(
            ram=ram,
            cores=cores,
            disk=disk,
            disks=disks,
            warehouses=warehouses,
            data_size=data_size,
            clients=clients,
            database=database,
            cpu=cpu,
            operating_system=operating_system,
            buffers=buffers,
            pool=pool,
            think=think,
            warm_up=warm_up,
            duration=duration,
            answered=typed,
        )
        scenario, data = scenario_of(questions, overrides)
        check_places(report, save, save_scenario)
        check_report(report, "--report")
        if save_scenario is not None:
            write_whole(save_scenario, yaml_text(data))
    if output is not Output.TABLE and not quiet:  # whose forms hold figures only
        for note in scenario.notes:
            typer.echo(note, err=True)
    wanted = AnswerOptions(
        output,
        report,
        save,
        target,
        command_line(["oltpsim", *context.obj]),
        assumed=assumptions_of(scenario),
        chance=chance,
    )
    chosen = any(setting.partition("=")[0].strip() == "engine" for setting in overrides)
    _answer_scenario(scenario, seed, quiet, wanted, two=not chosen and output is Output.TABLE)


def _refuse(typed: Sequence[str], options: Sequence[str], remedy: str) -> None:
    """Refuse the first of these options that was typed. Raises InputError."""
    wrong = next((option for option in options if option in typed), None)
    if wrong is not None:
        raise InputError(f"quick: {wrong}: {remedy}")


def _answer_line(
    line: str, model: str, overrides: Sequence[str], output: Output, save_scenario: Path | None, quiet: bool
) -> None:
    """Answer by the calibrated model, with an interval that holds the guesses."""
    if output is Output.CSV:
        raise InputError("--output csv: a machine is more than a row; give table or json")
    description = read_description(line, overrides)
    check_places(save_scenario)
    calibration = None if model == NO_MODEL else read_calibration(calibration_path(Path(model)))
    if save_scenario is not None:
        write_whole(save_scenario, machine_yaml(description))
    with progress_display(quiet) as display:
        found = predict_described(description, calibration, display.advance, simulate_by_kernel)
    if output is Output.JSON:
        text = machine_json(description, found, calibration)
    else:
        text = machine_table(description, found, calibration, terminal_width())
    typer.echo(text, nl=False)
    if save_scenario is not None and output is Output.TABLE:
        typer.echo(f"saved: {save_scenario}")


def _answer_scenario(scenario: ScenarioSpec, seed: int, quiet: bool, wanted: AnswerOptions, two: bool) -> None:
    """Answer by the scenario's engine; with `two` by the analytic one before it."""
    first = _calculated(scenario, seed, quiet, wanted) if two else None
    with timed(quiet) as second, progress_display(quiet) as display:
        second.results += replicate(scenario, seed, 1, 1, display)
    (result,) = second.results
    if first is not None:
        if not quiet:
            typer.echo(f"the simulation took {significant(second.wall_s / first.wall_s)} times as long", err=True)
        typer.echo("\n" + SECOND.format(result.engine))
        wanted = replace(wanted, before=first.results[0])
    give(scenario, result, wanted)


def _calculated(scenario: ScenarioSpec, seed: int, quiet: bool, wanted: AnswerOptions) -> TimedAnswers | None:
    """The analytic answer, on stdout before this returns; None, and a line that says why, if there is none."""
    calculated = scenario.model_copy(update={"engine": "analytic"})
    try:
        with timed(quiet) as block:
            block.results.append(simulate(SimulationTask(calculated, seed)))
    except InputError as error:
        typer.echo(f"no analytic answer: {'; '.join(str(error).splitlines())}", err=True)
        return None
    expected = "" if wanted.chance else measurement_of(calculated, block.results[0])
    typer.echo(f"{FIRST}\n{table_of(calculated, block.results[0], wanted, expected)}")
    return block
