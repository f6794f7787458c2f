"""oltpsim quick: eight questions, one answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenarios.commands.answer import Timed, Wanted, command_line, give, table_of, timed
from scenarios.commands.inputs import check_places
from scenarios.commands.options import (
    EngineOption,
    Output,
    OutputOption,
    QuietOption,
    ReportOption,
    SaveOption,
    SeedOption,
    SetOption,
    TargetOption,
    settings,
)
from simulator.errors import InputError

if TYPE_CHECKING:
    from models.scenario import ScenarioSpec

FIRST = "First answer, calculated by the analytic engine; the simulation follows:"
SECOND = "Second answer, simulated by the {} engine:"


def quick(  # noqa: PLR0913, PLR0917 - one argument per option
    context: typer.Context,
    ram: Annotated[str, typer.Option(metavar="SIZE", help="Memory of the machine, for example 8GiB.")],
    cores: Annotated[int, typer.Option(metavar="N", help="CPU cores.", min=1)],
    disk: Annotated[str, typer.Option(metavar="NAME", help="Kind of data disk: 'oltpsim catalog list disks'.")],
    clients: Annotated[int, typer.Option(metavar="N", help="Clients that work at the same time.", min=1)],
    disks: Annotated[int, typer.Option(metavar="N", help="Data disks.", min=1)] = 1,
    warehouses: Annotated[
        int | None, typer.Option(metavar="N", help="Size of the database in warehouses.", min=1)
    ] = None,
    data_size: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Or its size in bytes, for example '4 GiB'.")
    ] = None,
    database: Annotated[str, typer.Option(metavar="NAME", help="Database engine.")] = "virtuoso-4",
    cpu: Annotated[str, typer.Option(metavar="NAME", help="Processor whose speed a core has.")] = "server-2020s",
    operating_system: Annotated[str, typer.Option("--os", metavar="NAME", help="Operating system.")] = "linux",
    buffers: Annotated[int | None, typer.Option(metavar="N", help="Buffers of the database.", min=1)] = None,
    pool: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Or the memory they take, for example '5 GiB'.")
    ] = None,
    think: Annotated[str, typer.Option(metavar="TIME", help="Mean think time of a client.")] = "0 s",
    warm_up: Annotated[str, typer.Option(metavar="TIME", help="Simulated time that is not counted.")] = "1 min",
    duration: Annotated[str, typer.Option(metavar="TIME", help="Simulated time that is counted.")] = "2 min",
    set_: SetOption = None,
    engine: EngineOption = None,
    seed: SeedOption = 1,
    output: OutputOption = Output.TABLE,
    report: ReportOption = None,
    save: SaveOption = None,
    save_scenario: Annotated[
        Path | None, typer.Option(metavar="FILE.yaml", help="Write the scenario that was made.")
    ] = None,
    target: TargetOption = None,
    quiet: QuietOption = False,
) -> None:
    """Predict a machine from eight answers.

    Calculates an answer at once, then simulates the same machine and says how far apart the two are. With --engine,
    --output json or csv there is one answer; what is saved, reported and held to --target is the simulation's.

    Only databases with a profile in the catalogue are offered ('oltpsim catalog list databases').
    What the questions leave open is assumed; the table and the report list the assumptions.
    """
    import yaml

    from models.input import write_whole
    from models.reading import Questions, assumed, scenario_of
    from scenarios.run import display, replicate
    from scenarios.show import significant

    questions = Questions(
        ram=ram, cores=cores, disk=disk, disks=disks, warehouses=warehouses, data_size=data_size, clients=clients,
        database=database, cpu=cpu, operating_system=operating_system, buffers=buffers, pool=pool, think=think,
        warm_up=warm_up, duration=duration, answered=[word.partition("=")[0] for word in context.obj],
    )  # fmt: skip
    overrides = settings(set_, engine)
    scenario, data = scenario_of(questions, overrides)
    check_places(report, save, save_scenario)
    if save_scenario is not None:
        write_whole(save_scenario, yaml.safe_dump(data, sort_keys=False))
    if output is not Output.TABLE and not quiet:  # whose forms hold figures only
        for note in scenario.notes:
            typer.echo(note, err=True)
    wanted = Wanted(output, report, save, target, command_line(["oltpsim", *context.obj]), assumed=assumed(scenario))
    chosen = any(setting.partition("=")[0].strip() == "engine" for setting in overrides)
    first = None if chosen or output is not Output.TABLE else _calculated(scenario, seed, quiet, wanted)
    with timed(quiet, scenario.engine) as second, display(quiet) as shown:
        second.results += replicate(scenario, seed, 1, 1, shown)
    (result,) = second.results
    if first is not None:
        if not quiet:
            typer.echo(f"the simulation took {significant(second.wall_s / first.wall_s)} times as long", err=True)
        typer.echo("\n" + SECOND.format(result.engine))
        wanted = replace(wanted, before=first.results[0])
    give(scenario, result, wanted)


def _calculated(scenario: ScenarioSpec, seed: int, quiet: bool, wanted: Wanted) -> Timed | None:
    """The analytic answer, on stdout before this returns; None, and a line that says why, if there is none."""
    from scenarios.run import Task, simulate

    calculated = scenario.model_copy(update={"engine": "analytic"})
    try:
        with timed(quiet, "analytic") as block:
            block.results.append(simulate(Task(calculated, seed)))
    except InputError as error:
        typer.echo(f"no analytic answer: {'; '.join(str(error).splitlines())}", err=True)
        return None
    typer.echo(f"{FIRST}\n{table_of(calculated, block.results[0], wanted)}")
    return block


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(quick)
