"""oltpsim runs: the run records at hand."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from oltpsim.calibration.records import RunRecord, check_record, load_record, record_path, records_in, shipped_records
from oltpsim.scenarios.commands.options import Output, OutputOption
from oltpsim.scenarios.show.run_record import (
    ROW_COLUMNS,
    finding_lines,
    record_headline,
    record_lines,
    record_row,
    records_csv,
    records_json,
)
from oltpsim.scenarios.show.table import rows_text

LIST_FORMAT, CHECK_FORMAT = "oltpsim-run-list-1", "oltpsim-run-check-1"
LAW_BROKEN = 1
"""exit status"""
app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="List, show and check records of measured runs.",
)
RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="A run record, or the name of one that comes with the program.")
]
FolderArgument = Annotated[
    Path | None, typer.Argument(metavar="FOLDER", help="Of this folder, instead of those that come with the program.")
]


@app.command("list")
def list_runs(folder: FolderArgument = None, output: OutputOption = Output.TABLE) -> None:
    """List records with their rates."""
    records = _records(folder)
    if output is not Output.TABLE:
        rows = [{"run": name, **record_row(record)} for name, record in records.items()]
        typer.echo(rows_text(LIST_FORMAT, ("run", *ROW_COLUMNS), rows, output is Output.JSON), nl=False)
        return
    for name, record in records.items():
        typer.echo(f"{name}: {record_headline(record)}")


@app.command()
def show(run: RunArgument, output: OutputOption = Output.TABLE) -> None:
    """Show a record: every figure with its source, the laws it was held against, what it lacks."""
    record = load_record(record_path(run))
    if output is not Output.TABLE:
        typer.echo((records_json if output is Output.JSON else records_csv)([record]), nl=False)
        return
    typer.echo("\n".join(record_lines(record)))


@app.command()
def check(
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN...", help="Records, or folders of them; those of the program if absent."),
    ] = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Check records against Little's law and others. Exit status 1 if one is broken, 2 if a record can't be read."""
    records: dict[str, RunRecord] = {}
    for text in runs or []:
        records |= _records(Path(text)) if Path(text).is_dir() else {text: load_record(record_path(text))}
    found = {name: check_record(record) for name, record in (records if runs else _records(None)).items()}
    if output is Output.TABLE:
        for name, findings in found.items():
            typer.echo("\n".join([name, *finding_lines(findings)]))
    else:
        rows = [{"run": name, **asdict(finding)} for name, findings in found.items() for finding in findings]
        typer.echo(rows_text(CHECK_FORMAT, ("run", "law", "holds", "text"), rows, output is Output.JSON), nl=False)
    if any(finding.holds is False for findings in found.values() for finding in findings):
        raise typer.Exit(LAW_BROKEN)


def _records(folder: Path | None) -> dict[str, RunRecord]:
    """By name: of a folder, or those that come with the program."""
    paths = shipped_records() if folder is None else {path.name: path for path in records_in(folder)}
    return {name: load_record(path) for name, path in paths.items()}
