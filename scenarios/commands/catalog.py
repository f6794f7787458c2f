"""oltpsim catalog: the parts that scenarios are put together from, and the scenarios that come with the program."""

from __future__ import annotations

from typing import Annotated

import typer

from simulator.errors import InputError

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="List, show and check the parts that scenarios are made of.",
)
SCENARIOS = "scenarios"
"""The last kind in the list: whole scenarios, for `oltpsim run`."""


@app.command("list")
def list_entries(
    kind: Annotated[str | None, typer.Argument(metavar="KIND", help="Only this kind, such as disks.")] = None,
) -> None:
    """List the entries by kind, then the library of scenarios."""
    from models.catalogue import catalogue_kinds, catalogue_names
    from scenarios.files import library

    kinds = [kind] if kind else [*catalogue_kinds(), SCENARIOS]
    names = {one: list(library()) if one == SCENARIOS else catalogue_names(one) for one in kinds}
    for one, entries in names.items():
        typer.echo("\n".join([one, *(f"  {name}" for name in entries)]))


@app.command()
def show(
    kind: Annotated[str, typer.Argument(metavar="KIND")], name: Annotated[str, typer.Argument(metavar="NAME")]
) -> None:
    """Show one entry with its source."""
    from models.catalogue import describe

    typer.echo(describe(kind, name).rstrip("\n"))


@app.command()
def check() -> None:
    """Check that every entry is valid and says where its figures come from. Exit status 2 if one does not."""
    from models.catalogue import catalogue_kinds, catalogue_names
    from models.catalogue_check import entry_faults

    entries = [(kind, name) for kind in catalogue_kinds() for name in catalogue_names(kind)]
    faults = [fault for kind, name in entries for fault in entry_faults(kind, name)]
    if faults:
        raise InputError("\n".join(faults))
    typer.echo(f"{len(entries)} entries, all valid and with a source")


def register(parent: typer.Typer) -> None:
    """Add the commands."""
    parent.add_typer(app, name="catalog")
