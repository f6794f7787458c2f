"""oltpsim quick: eight questions, one answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scenarios.commands.answer import Wanted, command_line, give
from scenarios.commands.inputs import check_places
from scenarios.commands.options import (
    Output,
    OutputOption,
    QuietOption,
    ReportOption,
    SaveOption,
    SeedOption,
    TargetOption,
)


def quick(  # noqa: PLR0913, PLR0917 - one argument per option
    ram: Annotated[str, typer.Option(metavar="SIZE", help="Memory of the machine, for example 8GiB.")],
    cores: Annotated[int, typer.Option(metavar="N", help="CPU cores.")],
    disk: Annotated[str, typer.Option(metavar="NAME", help="Kind of data disk: 'oltpsim catalog list disks'.")],
    clients: Annotated[int, typer.Option(metavar="N", help="Clients that work at the same time.")],
    disks: Annotated[int, typer.Option(metavar="N", help="Data disks.")] = 1,
    warehouses: Annotated[int | None, typer.Option(metavar="N", help="Size of the database in warehouses.")] = None,
    data_size: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Or its size in bytes, for example '4 GiB'.")
    ] = None,
    database: Annotated[str, typer.Option(metavar="NAME", help="Database engine.")] = "virtuoso-4",
    cpu: Annotated[str, typer.Option(metavar="NAME", help="Processor whose speed a core has.")] = "server-2020s",
    operating_system: Annotated[str, typer.Option("--os", metavar="NAME", help="Operating system.")] = "linux",
    buffers: Annotated[int | None, typer.Option(metavar="N", help="Buffers of the database.")] = None,
    pool: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Or the memory they take, for example '5 GiB'.")
    ] = None,
    think: Annotated[str, typer.Option(metavar="TIME", help="Mean think time of a client.")] = "0 s",
    warm_up: Annotated[str, typer.Option(metavar="TIME", help="Simulated time that is not counted.")] = "1 min",
    duration: Annotated[str, typer.Option(metavar="TIME", help="Simulated time that is counted.")] = "2 min",
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

    Only databases with a profile in the catalogue are offered ('oltpsim catalog list databases').
    What the questions leave open is assumed; the answer lists the assumptions.
    """
    import sys

    import yaml

    from scenarios.progress import display
    from scenarios.quick import Questions, scenario_of
    from scenarios.runs import replicate

    check_places(report, save, save_scenario)
    questions = Questions(
        ram=ram, cores=cores, disk=disk, disks=disks, warehouses=warehouses, data_size=data_size, clients=clients,
        database=database, cpu=cpu, operating_system=operating_system, buffers=buffers, pool=pool, think=think,
        warm_up=warm_up, duration=duration,
    )  # fmt: skip
    scenario, data = scenario_of(questions)
    if save_scenario is not None:
        save_scenario.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    if not quiet:
        for note in scenario.notes:
            typer.echo(note, err=True)
    with display(quiet) as shown:
        result = replicate(scenario, seed, 1, 1, shown)
    words = sys.argv[1:] if sys.argv[1:2] == ["quick"] else ["quick", "--help"]
    give(scenario, result, Wanted(output, report, save, target, command_line(["oltpsim", *words])))


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(quick)
