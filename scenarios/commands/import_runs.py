"""oltpsim import: from what a load generator and its monitors wrote to run records."""

from pathlib import Path
from typing import Annotated

import typer

from calibration.importers import disk_entry, disk_entry_lines, disk_entry_yaml, find_runs, read_run_table
from calibration.records import DiskPoint, RunRecord, check_record, merge_readings, save_records
from models.input import document_text
from scenarios.commands.options import Output, OutputOption
from scenarios.commands.output_files import check_places, check_store
from scenarios.show.run_record import file_lines, record_lines, records_csv, records_json
from simulator.errors import InputError

DISK_FORMAT = "oltpsim-disk-1"
LAW_BROKEN = 1


def import_(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="Folders of runs, or the files of one run, of fio, or of a table."),
    ],
    save: Annotated[
        Path | None,
        typer.Option(metavar="PLACE", help="Write the record to FILE.yaml or FILE.json; several into a folder."),
    ] = None,
    mapping: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.yaml", help="PATH is a CSV table with a run in each row; this says what its columns are."
        ),
    ] = None,
    capacity: Annotated[
        str | None, typer.Option(metavar="GIB", help="Capacity of the disk that fio measured, such as 931GiB.")
    ] = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Read runs of load generators, with what monitors saw beside them.

    A folder is one run if a result of HammerDB, sysbench, pgbench, BenchBase, go-tpc, tpcc-mysql or DBT-2 lies in it.
    iostat, sar, mpstat, vmstat, /proc counters, PostgreSQL's views, MySQL's status, an AWR report and blkparse are
    found by their contents and brought together by time. Snapshots of counters need start and end (or before and
    after) in their names. Results of fio become a disk for the catalogue. Exit status 1 if a run breaks a law, such as
    Little's.
    """
    if save is not None:
        (check_places if save.suffix else check_store)(save)
    if mapping is not None:
        if len(paths) != 1:
            raise InputError(f"import --mapping: got {len(paths)} paths; expected one CSV table")
        _give(read_run_table(paths[0], mapping), {}, save, output)
        return
    found = find_runs(paths)
    points = [point for each in found for reading in each.readings for point in reading.disk]
    if points and not any(each.has_result for each in found):
        _disk(points, found[0].name, capacity, save, output)
        return

    merged = [merge_readings(each.name, each.readings) for each in found]
    _give([each.record for each in merged], {each.name: file_lines(each) for each in found}, save, output)


def _give(records: list[RunRecord], files: dict[str, list[str]], save: Path | None, output: Output) -> None:
    saved = save_records(records, save) if save is not None else []
    if output is Output.JSON:
        typer.echo(records_json(records), nl=False)
    elif output is Output.CSV:
        typer.echo(records_csv(records), nl=False)
    else:
        for record in records:
            title, *rest = record_lines(record)
            typer.echo("\n".join([title, *files.get(record.name, []), *rest]))
    for path in saved:
        typer.echo(f"written: {path}", err=True)
    if any(finding.holds is False for record in records for finding in check_record(record)):
        raise typer.Exit(LAW_BROKEN)


def _disk(points: list[DiskPoint], name: str, capacity: str | None, save: Path | None, output: Output) -> None:
    if save is not None and not save.suffix:
        raise InputError(f"{save}: is a folder; a disk is one file: give FILE.yaml")
    entry = disk_entry(points, name, capacity)
    if save is not None:
        save.write_text(disk_entry_yaml(entry), encoding="utf-8")
    if output is Output.JSON:
        typer.echo(document_text(DISK_FORMAT, entry.spec.model_dump(mode="json")), nl=False)
        return
    typer.echo("\n".join(disk_entry_lines(entry)))
    typer.echo(disk_entry_yaml(entry), nl=False)
