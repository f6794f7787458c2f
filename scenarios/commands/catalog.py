"""oltpsim catalog: the parts that scenarios are put together from, and the scenarios that come with the program."""

import datetime as dt
from typing import Annotated

import typer

from models.catalogue import CATALOGUE_KINDS, catalogue_names, entry_faults, without_price, without_shape
from models.catalogue.importers import shorten_list
from scenarios.commands.catalog_import import import_
from scenarios.library import library_files
from scenarios.show.catalogue import catalogue_lines, entry_text, price_table
from simulator.errors import InputError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="List, show, import and check the parts that scenarios are made of, what is for sale, and prices.",
)
app.command("import")(import_)
MOST_NAMES = 8
SCENARIOS = "scenarios"
"""The last kind in the list: whole scenarios, for `oltpsim run`."""


@app.command("list")
def list_entries(
    kind: Annotated[str | None, typer.Argument(metavar="KIND", help="Only this kind, such as disks.")] = None,
) -> None:
    """List the entries by kind, then the library of scenarios."""
    for one in [kind] if kind else [*CATALOGUE_KINDS, SCENARIOS]:
        lines = [f"  {name}" for name in library_files()] if one == SCENARIOS else catalogue_lines(one)
        typer.echo("\n".join([one, *lines]))


@app.command()
def show(
    kind: Annotated[str, typer.Argument(metavar="KIND")], name: Annotated[str, typer.Argument(metavar="NAME")]
) -> None:
    """Show one entry with its source; of a price list also how old it is, if that is more than a year."""
    text = price_table(name, dt.date.today()) if kind == "prices" else entry_text(kind, name)  # noqa: DTZ011
    typer.echo(text.rstrip("\n"))


@app.command()
def check() -> None:
    """Check that every entry is valid and says where its figures come from. Exit status 2 if one does not."""
    entries = [(kind, name) for kind in CATALOGUE_KINDS for name in catalogue_names(kind)]
    faults = [fault for kind, name in entries for fault in entry_faults(kind, name)]
    if faults:
        raise InputError("\n".join(faults))
    typer.echo(f"{len(entries)} entries, all valid and with a source")
    for names, what in (
        (without_price(), "for sale without a price in any list"),
        (without_shape(), "with a price, but the catalogue has no such machine"),
    ):
        if names:
            typer.echo(f"{len(names)} {what}: {shorten_list(names, MOST_NAMES)}")
