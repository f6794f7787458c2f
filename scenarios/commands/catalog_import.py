"""oltpsim catalog import: machines and prices of somebody's list become entries of one's own catalogue."""

import datetime as dt
from pathlib import Path
from typing import Annotated

import typer

from oltpsim.models.catalogue.importers import (
    ImportedEntries,
    ListFacts,
    WrittenFile,
    read_list,
    shorten_list,
    write_entries,
)
from oltpsim.scenarios.commands.options import Output, OutputOption, QuietOption
from oltpsim.scenarios.show.numbers import plural
from oltpsim.scenarios.show.progress import progress_display
from oltpsim.scenarios.show.table import rows_text
from oltpsim.simulator.errors import InputError

FORMAT = "oltpsim-catalogue-import-1"
MOST_NAMES = 5
MOST_FILES = 8


def import_(  # noqa: PLR0913, PLR0917 - one argument per option
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The list, as JSON or CSV.")],
    kind: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="ec2instances or csv; guessed if absent."),
    ] = None,
    date: Annotated[
        str | None, typer.Option(metavar="YYYY-MM-DD", help="From when the figures are, if the file doesn't say it.")
    ] = None,
    region: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose prices, such as us-east-1, if the file has several.")
    ] = None,
    term: Annotated[
        str | None,
        typer.Option(metavar="TERM", help="Such as 'on demand' or '3 years reserved', if the file says none."),
    ] = None,
    currency: Annotated[str | None, typer.Option(metavar="USD", help="If the file says none.")] = None,
    into: Annotated[
        Path, typer.Option(metavar="FOLDER", help="The catalogue to write into; 'oltpsim --catalog FOLDER' uses it.")
    ] = Path("catalog"),
    output: OutputOption = Output.TABLE,
    quiet: QuietOption = False,
) -> None:
    """Import machines and prices from a list of somebody else's, or of your own.

    Known are ec2-instances-info's instances.json, and CSV with the columns part, amount, per, above, source or name,
    provider, cpu, cores, memory_gib.
    """
    facts = ListFacts(_day(date), region, term, currency)
    with progress_display(quiet) as display:
        display.step(f"reading {file.name}")
        entries = read_list(file, kind, facts)
    if not (entries.instances or entries.lists):
        reasons = [line.strip() for line in _left_out(entries)[1:]]
        raise InputError(f"{file.name}: nothing in it fits the catalogue; {'; '.join(reasons) or 'it has no entries'}")
    files = write_entries(entries, into)
    if output is Output.TABLE:
        typer.echo("\n".join(_summary(entries, files, into)))
        return
    rows = [{"place": str(file.path), "entries": file.count} for file in files]
    rows += [{"left_out": reason, "entries": len(names)} for reason, names in entries.left_out.items()]
    typer.echo(rows_text(FORMAT, ("place", "entries", "left_out"), rows, output is Output.JSON), nl=False)


def _day(text: str | None) -> dt.date | None:
    try:
        return None if text is None else dt.date.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"--date: got {text!r}; expected YYYY-MM-DD") from error


def _summary(entries: ImportedEntries, files: list[WrittenFile], catalogue: Path) -> list[str]:
    """What was imported into which files, what was left out, and how to use the catalogue."""
    prices = sum(len(price_list["rows"]) for price_list in entries.lists.values())
    counts = [(len(entries.instances), "machine"), (prices, "price")]
    content = ", ".join(plural(number, thing) for number, thing in counts if number)
    lines = [f"{entries.source.name}: {entries.importer}; {content}"]
    lines += [f"  {file.path}  {file.count:,}" for file in files[:MOST_FILES]]
    if len(files) > MOST_FILES:
        lines.append(f"  and {len(files) - MOST_FILES} more files")
    lines += _left_out(entries)
    return [*lines, f"use it: oltpsim --catalog {catalogue} COMMAND"]


def _left_out(entries: ImportedEntries) -> list[str]:
    """Entries that didn't become one of the catalogue, by reason; the first MOST_NAMES of each."""
    if not entries.left_out:
        return []
    lines = ["left out"]
    for reason, names in entries.left_out.items():
        lines.append(f"  {len(names):,}: {reason}: {shorten_list(names, MOST_NAMES)}")
    return lines
