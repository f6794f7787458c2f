"""oltpsim quick: a machine in a line, in options or in a file, and its answer."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from oltpsim.calibration.fit import Calibration, calibration_path, read_calibration, shipped_calibrations
from oltpsim.calibration.predict import predict_described
from oltpsim.models.input import write_whole
from oltpsim.models.reading import Description, read_description
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.commands.answer import (
    AnswerOptions,
    TimedAnswers,
    command_line,
    give,
    terminal_width,
    timed,
)
from oltpsim.scenarios.commands.modelled import ModelledScenario, assumed_of, measurement_of
from oltpsim.scenarios.commands.options import (
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
from oltpsim.scenarios.commands.output_files import check_places
from oltpsim.scenarios.library import library_files, load_scenario_file, scenario_path
from oltpsim.scenarios.run import SimulationTask, replicate, simulate, simulate_by_kernel
from oltpsim.scenarios.show.machine import (
    machine_csv,
    machine_json,
    machine_table,
    machine_yaml,
)
from oltpsim.scenarios.show.numbers import significant
from oltpsim.scenarios.show.progress import progress_display
from oltpsim.scenarios.show.report import check_report
from oltpsim.scenarios.show.summary import headline_text
from oltpsim.simulator.errors import InputError

FIRST = "First answer, calculated by the analytic engine; the simulation follows:"
SECOND = "Second answer, simulated by the {} engine:"
SIMULATED = ("--engine", "--seed", "--report", "--save", "--target")
NO_MODEL = "none"
MODELS = {"virtuoso": "published"}
"""calibrations of the program's own that answer unasked, by engine: of runs on machines of every size"""
YAML = (".yaml", ".yml")


def quick(  # noqa: PLR0913, PLR0917 - one argument per option
    context: typer.Context,
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="LINE|SCENARIO",
            help="Pieces in any order: 'PostgreSQL on r6i.2xlarge + gp3 500 GiB', '8 cores, 32 GB, SSD'; or a "
            "scenario; or neither, but options.",
            show_default=False,
        ),
    ] = None,
    ram: Annotated[str | None, typer.Option(metavar="SIZE", help="Memory of the machine, for example 8GiB.")] = None,
    cores: Annotated[str | None, typer.Option(metavar="N", help="CPU cores.")] = None,
    disk: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Data disk: ssd, nvme, 'gp3 500 GiB', or a name of 'catalog list disks'."),
    ] = None,
    clients: Annotated[str | None, typer.Option(metavar="N", help="Clients that work at the same time.")] = None,
    disks: Annotated[str | None, typer.Option(metavar="N", help="Data disks.")] = None,
    warehouses: Annotated[str | None, typer.Option(metavar="N", help="Size of the database in warehouses.")] = None,
    data_size: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Or its size in bytes, for example '4 GiB'.")
    ] = None,
    database: Annotated[str | None, typer.Option(metavar="NAME", help="Database engine.")] = None,
    cpu: Annotated[str | None, typer.Option(metavar="NAME", help="Processor whose speed a core has.")] = None,
    operating_system: Annotated[str | None, typer.Option("--os", metavar="NAME", help="Operating system.")] = None,
    buffers: Annotated[str | None, typer.Option(metavar="N", help="Buffers of the database.")] = None,
    pool: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Or the memory they take, for example '5 GiB'.")
    ] = None,
    think: Annotated[str | None, typer.Option(metavar="TIME", help="Mean think time of a client.")] = None,
    warm_up: Annotated[str | None, typer.Option(metavar="TIME", help="Simulated time that is not counted.")] = None,
    duration: Annotated[str | None, typer.Option(metavar="TIME", help="Simulated time that is counted.")] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="A file of 'oltpsim calibrate --save', published, postgresql or mysql: answers in place of the "
            "catalogue's values; none: those. Without it, published for Virtuoso.",
        ),
    ] = None,
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
    """Predict a machine from a line that describes it, from options, from both, or from a scenario file.

    Pieces of a line: a cloud machine ('r6i.2xlarge', 'Standard_E8ds_v5', 'n2-standard-8'), or processors ('8 cores', '2
    x quad-core Xeon 5410 2.33 GHz', 'under Xen') and memory ('32 GB'); disks ('SSD', '2 NVMe', 'gp3 500 GiB 3000 IOPS',
    'RAID 10 of 4 SATA'); operating system, engine ('PostgreSQL 15'), 'shared buffers 8 GB', '500 warehouses' or '40 GB
    of data', '64 clients'; a driver of TPC-C ('HammerDB', 'BenchBase'), or 'pgbench select only' with 'scale 1000',
    'sysbench read-write' with '8 tables', 'YCSB A' with '20 million records'; 'load of 20 warehouses', 'serial read'.
    Commas, +, on and with stand between them. Options are pieces too, so that both may be mixed. What nobody says is
    assumed; a table lists it, and what else it might be with what that does to the rate, which the interval holds.

    The first answer is calculated at once, the second one simulated, and it is said how far apart they are. With
    --engine, --output json or csv there is one answer; what is saved, reported and held to --target is the
    simulation's. A calibrated model answers by its values, with its intervals: unasked that of Virtuoso.
    """
    typed = typed_options(context)
    overrides = settings(set_, engine)
    is_file = what is not None and (what in library_files() or Path(what).exists() or what.endswith(YAML))
    options: dict[str, str | None] = {
        "--ram": ram, "--cores": cores, "--cpu": cpu, "--disk": disk, "--disks": disks, "--os": operating_system,
        "--database": database, "--buffers": buffers, "--pool": pool, "--warehouses": warehouses,
        "--data-size": data_size, "--clients": clients, "--think": think, "--warm-up": warm_up, "--duration": duration,
    }  # fmt: skip
    flags = {option: text for option, text in options.items() if text is not None}
    wanted = AnswerOptions(
        output, report, save, target, command_line(["oltpsim", *context.obj]), chance=chance, quiet=quiet
    )
    two = output is Output.TABLE and not any(setting.partition("=")[0].strip() == "engine" for setting in overrides)
    if is_file:
        _refuse(typed, (*options, "--model", "--save-scenario"), "not with a scenario; change it by --set KEY=VALUE")
        modelled = ModelledScenario(load_scenario_file(scenario_path(str(what)), overrides), None)
        check_places(report, save)
        check_report(report, "--report")
        _answer_scenario(modelled, seed, quiet, wanted, two)
        return
    if what is None and not flags:
        hint = "say what the machine is, as in 'r6i.2xlarge + gp3 500 GiB' or --cores 8 --ram 32GiB, or name a scenario"
        raise UsageError(hint, context)
    description = read_description(what or "", overrides, flags)
    calibration = _calibration_of(description.scenario, model)
    is_job = description.scenario.job is not None
    if is_job:
        _refuse(typed, SIMULATED, "a job is answered without a simulation")
    check_places(report, save, save_scenario)
    check_report(report, "--report")
    if save_scenario is not None:
        write_whole(save_scenario, machine_yaml(description))
    if is_job:
        _answer_job(description, calibration, wanted, quiet)
    else:
        _answer_description(description, calibration, seed, quiet, wanted, two)
    if save_scenario is not None and output is Output.TABLE:
        typer.echo(f"saved: {save_scenario}")


def _refuse(typed: Sequence[str], options: Sequence[str], remedy: str) -> None:
    """Refuse the first of these options that was typed. Raises InputError."""
    wrong = next((option for option in options if option in typed), None)
    if wrong is not None:
        raise InputError(f"quick: {wrong}: {remedy}")


def _calibration_of(scenario: ScenarioSpec, model: str | None) -> Calibration | None:
    """The model that is asked for; else the one that answers for the scenario's engine, None if none does."""
    if model == NO_MODEL:
        return None
    if model is not None:
        return read_calibration(calibration_path(Path(model)))
    own = MODELS.get(re.split(r"[\W_]", scenario.database.name.lower())[0])
    return None if own is None else read_calibration(shipped_calibrations()[own])


def _answer_job(description: Description, calibration: Calibration | None, wanted: AnswerOptions, quiet: bool) -> None:
    """Answer a job by its formulas; by a calibrated model with an interval, which holds the guesses."""
    with progress_display(quiet) as display:
        found = predict_described(description, calibration, display.advance, simulate_by_kernel)
    if wanted.output is Output.JSON:
        text = machine_json(description, found, calibration)
    elif wanted.output is Output.CSV:
        text = machine_csv(found)
    else:
        text = machine_table(description, found, calibration, terminal_width())
    typer.echo(text, nl=False)


def _answer_description(
    description: Description,
    calibration: Calibration | None,
    seed: int,
    quiet: bool,
    wanted: AnswerOptions,
    two: bool,
) -> None:
    """Answer by a model's values or the catalogue's: what is assumed, then as a scenario is answered."""
    modelled = ModelledScenario(description.scenario, calibration, description)
    with progress_display(quiet) as display:
        assumed = assumed_of(modelled, display)
    _answer_scenario(modelled, seed, quiet, replace(wanted, assumed=assumed), two)


def _answer_scenario(modelled: ModelledScenario, seed: int, quiet: bool, wanted: AnswerOptions, two: bool) -> None:
    """Answer by the scenario's engine, with what is assumed before it; with `two` by the analytic one first."""
    first = _calculated(modelled, seed, quiet, wanted) if two else None
    with timed(quiet) as second, progress_display(quiet) as display:
        second.results += replicate(modelled.machine, seed, 1, 1, display)
    (result,) = second.results
    if first is not None:
        if not quiet:
            typer.echo(f"the simulation took {significant(second.wall_s / first.wall_s)} times as long", err=True)
        typer.echo("\n" + SECOND.format(result.engine))
        wanted = replace(wanted, before=first.results[0])
    else:
        wanted.assumed.say(wanted.output, quiet)
    give(modelled, result, wanted)


def _calculated(modelled: ModelledScenario, seed: int, quiet: bool, wanted: AnswerOptions) -> TimedAnswers | None:
    """The analytic answer behind what is assumed, on stdout before this returns; None if none is: why is on stderr."""
    modelled = replace(modelled, scenario=modelled.scenario.model_copy(update={"engine": "analytic"}))
    try:
        with timed(quiet) as block:
            block.results.append(simulate(SimulationTask(modelled.machine, seed)))
    except InputError as error:
        typer.echo(f"no analytic answer: {'; '.join(str(error).splitlines())}", err=True)
        return None
    (result,) = block.results
    expected = "" if wanted.chance else measurement_of(modelled, result, wanted.assumed.guesses)
    wanted.assumed.say(wanted.output, quiet)
    typer.echo(f"{FIRST}\n{headline_text(result, modelled.machine, terminal_width(), expected)}", nl=False)
    return block
