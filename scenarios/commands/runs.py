"""oltpsim runs: the run records at hand."""

from pathlib import Path
from typing import Annotated

import typer

from calibration.records import RunRecord, check_record, load_record, record_path, records_in, shipped_records
from scenarios.show.run_record import finding_lines, record_headline, record_lines

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
def list_runs(folder: FolderArgument = None) -> None:
    """List records with their rates."""
    for name, record in _records(folder).items():
        typer.echo(f"{name}: {record_headline(record)}")


@app.command()
def show(run: RunArgument) -> None:
    """Show a record: every figure with its source, the laws it was held against, what it lacks."""
    typer.echo("\n".join(record_lines(load_record(record_path(run)))))


@app.command()
def check(
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN...", help="Records, or folders of them; those of the program if absent."),
    ] = None,
) -> None:
    """Check records against Little's law and others. Exit status 1 if one is broken, 2 if a record can't be read."""
    records: dict[str, RunRecord] = {}
    for text in runs or []:
        records |= _records(Path(text)) if Path(text).is_dir() else {text: load_record(record_path(text))}
    broken = 0
    for name, record in (records if runs else _records(None)).items():
        findings = check_record(record)
        broken += sum(finding.holds is False for finding in findings)
        typer.echo("\n".join([name, *finding_lines(findings)]))
    if broken:
        raise typer.Exit(LAW_BROKEN)


def _records(folder: Path | None) -> dict[str, RunRecord]:
    """By name: of a folder, or those that come with the program."""
    paths = shipped_records() if folder is None else {path.name: path for path in records_in(folder)}
    return {name: load_record(path) for name, path in paths.items()}
