"""oltpsim catalog: the parts that scenarios are put together from, and the scenarios that come with the program."""

import datetime as dt
from typing import Annotated

import typer

from oltpsim.models.catalogue import CATALOGUE_KINDS, catalogue_names, entry_faults, without_price, without_shape
from oltpsim.models.catalogue.importers import shorten_list
from oltpsim.scenarios.commands.catalog_import import import_
from oltpsim.scenarios.commands.options import Output, OutputOption
from oltpsim.scenarios.library import library_files
from oltpsim.scenarios.show.catalogue import catalogue_rows, entry_csv, entry_json, entry_text, price_table
from oltpsim.scenarios.show.table import rows_text
from oltpsim.simulator.errors import InputError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="List, show, import and check the parts that scenarios are made of, what is for sale, and prices.",
)
app.command("import")(import_)
LIST_FORMAT, CHECK_FORMAT = "oltpsim-catalogue-1", "oltpsim-catalogue-check-1"
MOST_NAMES = 8
SCENARIOS = "scenarios"
"""The last kind in the list: whole scenarios, for `oltpsim run`."""


@app.command("list")
def list_entries(
    kind: Annotated[str | None, typer.Argument(metavar="KIND", help="Only this kind, such as disks.")] = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """List the entries by kind, then the library of scenarios."""
    rows_by_kind = {one: _rows(one) for one in ([kind] if kind else [*CATALOGUE_KINDS, SCENARIOS])}
    if output is Output.TABLE:
        for one, rows in rows_by_kind.items():
            entries = [f"  {row['name']} ({row['whose']})" if row["whose"] else f"  {row['name']}" for row in rows]
            typer.echo("\n".join([one, *entries]))
        return
    every = [row for rows in rows_by_kind.values() for row in rows]
    typer.echo(rows_text(LIST_FORMAT, ("kind", "name", "whose"), every, output is Output.JSON), nl=False)


def _rows(kind: str) -> list[dict[str, str]]:
    if kind != SCENARIOS:
        return catalogue_rows(kind)
    return [{"kind": kind, "name": name, "whose": ""} for name in library_files()]


@app.command()
def show(
    kind: Annotated[str, typer.Argument(metavar="KIND")],
    name: Annotated[str, typer.Argument(metavar="NAME")],
    output: OutputOption = Output.TABLE,
) -> None:
    """Show one entry with its source; of a price list also how old it is, if that is more than a year."""
    if output is not Output.TABLE:
        typer.echo((entry_json if output is Output.JSON else entry_csv)(kind, name), nl=False)
        return
    text = price_table(name, dt.date.today()) if kind == "prices" else entry_text(kind, name)  # noqa: DTZ011
    typer.echo(text.rstrip("\n"))


@app.command()
def check(output: OutputOption = Output.TABLE) -> None:
    """Check that every entry is valid and says where its figures come from. Exit status 2 if one does not."""
    entries = [(kind, name) for kind in CATALOGUE_KINDS for name in catalogue_names(kind)]
    faults = [fault for kind, name in entries for fault in entry_faults(kind, name)]
    if faults:
        raise InputError("\n".join(faults))
    gaps = {
        "for sale without a price in any list": without_price(),
        "with a price, but the catalogue has no such machine": without_shape(),
    }
    if output is not Output.TABLE:
        rows = [{"name": f"{kind}/{name}", "finding": "valid"} for kind, name in entries]
        rows += [{"name": name, "finding": what} for what, names in gaps.items() for name in names]
        typer.echo(rows_text(CHECK_FORMAT, ("name", "finding"), rows, output is Output.JSON), nl=False)
        return
    typer.echo(f"{len(entries)} entries, all valid and with a source")
    for what, names in gaps.items():
        if names:
            typer.echo(f"{len(names)} {what}: {shorten_list(names, MOST_NAMES)}")
