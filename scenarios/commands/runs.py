"""oltpsim runs: the run records at hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from calibration.records import RunRecord

LAW_BROKEN = 1
app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="List, show and check records of measured runs.")
RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="A run record, or the name of one that comes with the program.")
]
FolderArgument = Annotated[
    Path | None, typer.Argument(metavar="FOLDER", help="Of this folder, instead of those that come with the program.")
]


@app.command("list")
def list_runs(folder: FolderArgument = None) -> None:
    """List records with their rates."""
    from scenarios.show import record_headline

    for name, record in _records(folder).items():
        typer.echo(f"{name}: {record_headline(record)}")


@app.command()
def show(run: RunArgument) -> None:
    """Show a record: every figure with its source, the laws it was held against, what it lacks."""
    from calibration.records import load_record, record_path
    from scenarios.show import record_lines

    typer.echo("\n".join(record_lines(load_record(record_path(run)))))


@app.command()
def check(
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN...", help="Records, or folders of them; those of the program if absent."),
    ] = None,
) -> None:
    """Check records against Little's law and others. Exit status 1 if one is broken, 2 if a record can't be read."""
    from calibration.records import check as check_record
    from calibration.records import load_record, record_path
    from scenarios.show import finding_lines

    records: dict[str, RunRecord] = {}
    for text in runs or []:
        found = _records(Path(text)) if Path(text).is_dir() else {text: load_record(record_path(text))}
        records.update(found)
    broken = 0
    for name, record in (records if runs else _records(None)).items():
        findings = check_record(record)
        broken += sum(finding.holds is False for finding in findings)
        typer.echo("\n".join([name, *finding_lines(findings)]))
    if broken:
        raise typer.Exit(LAW_BROKEN)


def _records(folder: Path | None) -> dict[str, RunRecord]:
    from calibration.records import load_record, records_in, shipped

    paths = shipped() if folder is None else {path.name: path for path in records_in(folder)}
    return {name: load_record(path) for name, path in paths.items()}


def register(parent: typer.Typer) -> None:
    """Add the commands."""
    parent.add_typer(app, name="runs")
