"""oltpsim measure: a load generator against a live database, with what database and machine do, as a run record."""

from pathlib import Path
from typing import Annotated

import typer

from oltpsim.calibration.importers import find_runs
from oltpsim.calibration.measure import DatabaseKind, Measurement, measure, terminal
from oltpsim.scenarios.commands.import_runs import give_runs
from oltpsim.scenarios.commands.options import Output, QuietOption, finite
from oltpsim.scenarios.commands.output_files import check_places
from oltpsim.simulator.errors import InputError

INTERRUPTED = 130
HARNESS_FAILED = 1


def measure_(  # noqa: PLR0913, PLR0917 - one argument per option
    folder: Annotated[
        Path, typer.Option("--folder", "-o", metavar="DIR", help="New or empty folder for all that is recorded.")
    ],
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- COMMAND...", help="The load generator with its words, such as pgbench -T 60."),
    ] = None,
    attach: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Watch a database that has its load, in place of a COMMAND.", min=2),
    ] = None,
    database: Annotated[
        DatabaseKind, typer.Option(help="Database whose counters are read; none: only the machine's.")
    ] = DatabaseKind.POSTGRESQL,
    warm_up: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="Time that isn't counted; until commits per second are steady if absent.", min=0
        ),
    ] = None,
    every: Annotated[
        float, typer.Option(metavar="SECONDS", help="Time between two samples.", min=0.1, max=60, callback=finite)
    ] = 1.0,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the record to FILE.yaml or FILE.json; DIR/record.yaml if absent."),
    ] = None,
    output: Annotated[Output, typer.Option(help="Form of the answer on stdout.")] = Output.TABLE,
    quiet: QuietOption = False,
) -> None:
    """Run a load generator, sample database and machine beside it, and import what came out (Linux only).

    PostgreSQL (13 to 18) is found as psql finds it: PGHOST, PGPORT, PGUSER, PGDATABASE, PGSERVICE, and the password in
    PGPASSFILE; MySQL and MariaDB by their client's option files. No password is written or printed. DIR holds the
    series, the inventory, the settings and the load generator's output; 'oltpsim import DIR' reads it again, and also
    what there is of a measurement that was ended half-way. Exit status 1 if the load generator failed or a law is
    broken, 130 after Ctrl-C.
    """
    if (attach is None) == (not command):
        came = "both" if command else "neither"
        raise InputError(f"measure: got {came} of --attach SECONDS and -- COMMAND; expected one of them")
    place = save or folder / "record.yaml"
    if save is not None:
        check_places(save)
    result = measure(folder, command or [], attach, every, warm_up, database, terminal(quiet))
    for lack in [] if quiet else result.lacks:
        typer.echo(lack, err=True)
    _say_ended(result)
    found = find_runs([folder])
    if not any(each.has_result for each in found):
        raise InputError(
            f"{folder}: holds what was measured, but no rate: the load generator's output isn't known or it failed, "
            "and no database's commits were read; add its result to the folder and 'oltpsim import' it"
        )
    try:
        give_runs(found, place, output, quiet)
    except typer.Exit:  # a law is broken, as one may be in so short a time
        if not result.interrupted:
            raise
    if result.interrupted:
        raise typer.Exit(INTERRUPTED)
    if result.status:
        raise typer.Exit(HARNESS_FAILED)


def _say_ended(result: Measurement) -> None:
    if result.interrupted:
        typer.echo(f"stopped; {result.folder} holds what was measured until then", err=True)
    elif result.status:
        typer.echo(
            f"the load generator ended with status {result.status}; the record is of the time until then", err=True
        )
