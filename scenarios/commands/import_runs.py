"""oltpsim import: from what a load generator and its monitors wrote to run records."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from oltpsim.calibration.fit import disk_capacity_gib, disk_table, fit_table, fitted_entry
from oltpsim.calibration.importers import MAPPING_REMEDY, RunFiles, find_runs, read_run_table
from oltpsim.calibration.records import DiskPoint, RunRecord, check_record, merge_readings, save_records
from oltpsim.models.input import did_you_mean, document_text, leaves, repeated_name, write_whole, yaml_text
from oltpsim.scenarios.commands.options import Output, OutputOption, QuietOption
from oltpsim.scenarios.commands.output_files import check_places, check_store
from oltpsim.scenarios.commands.runs import LAW_BROKEN
from oltpsim.scenarios.show.fitted_disk import fitted_disk_fields, fitted_disk_lines, fitted_entry_lines, tail_lines
from oltpsim.scenarios.show.run_record import file_lines, record_lines, records_csv, records_json
from oltpsim.scenarios.show.table import csv_text
from oltpsim.simulator.errors import InputError

DISK_FORMAT = "oltpsim-disk-1"
DEFAULT_RPM = 7200


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
    device: Annotated[
        str | None, typer.Option(metavar="NAME", help="Device of a table that has several, or a part of its name.")
    ] = None,
    rpm: Annotated[
        int, typer.Option(min=1000, max=30000, help="Turns of the disk that fio measured, if it has arms.")
    ] = DEFAULT_RPM,
    output: OutputOption = Output.TABLE,
    quiet: QuietOption = False,
) -> None:
    """Read runs of load generators, with what monitors saw beside them.

    A folder is one run if a result of HammerDB, sysbench, pgbench, BenchBase, BenchmarkSQL, go-tpc, tpcc-mysql, DBT-2
    or YCSB lies in it. Several results in a folder or in one file are several runs; FILE#2 is the second run of a file.
    iostat, sar, mpstat, vmstat, /proc counters, PostgreSQL's views, MySQL's status, an AWR report and blkparse are
    found by their contents and brought together by time. Snapshots of counters need start and end (or before and
    after) in their names. Results of fio, JSON or a CSV table of depths, sizes and mixes, become an entry of a disk:
    the kind that fits best, with 90 % intervals. Exit status 1 if a run breaks a law, such as Little's, or
    if a file looks like a result and isn't read.
    """
    if save is not None:
        (check_places if save.suffix else check_store)(save)
    if mapping is not None:
        if len(paths) != 1:
            raise InputError(f"import --mapping: got {len(paths)} paths; expected one CSV table")
        _give(read_run_table(paths[0], mapping), {}, save, output, quiet)
        return
    found = find_runs(paths)
    points = [point for each in found for reading in each.readings for point in reading.disk]
    if points and not any(each.has_result for each in found):
        _check_names(reading.disk[0].file for each in found for reading in each.readings if reading.disk)
        points = _points_of_chosen_device(points, device)
        _disk(points, points[0].device or found[0].name, capacity, rpm, save, output)
        return

    if give_runs(found, save, output, quiet):
        raise typer.Exit(LAW_BROKEN)


def give_runs(found: list[RunFiles], save: Path | None, output: Output, quiet: bool) -> list[str]:
    """Write the records of runs and show them with what each file was taken for; returns what looks like a result.

    That isn't read, and each is said. Raises InputError; typer.Exit.
    """
    merged = [merge_readings(each.name, each.readings) for each in found]
    _give([each.record for each in merged], {each.name: file_lines(each) for each in found}, save, output, quiet)
    unread = list(dict.fromkeys(line for each in found for line in each.unread_results))
    if unread:
        typer.echo("\n".join(f"not read: {line}; {MAPPING_REMEDY}" for line in unread), err=True)
    return unread


def _give(
    records: list[RunRecord], files: dict[str, list[str]], save: Path | None, output: Output, quiet: bool
) -> None:
    saved = save_records(records, save) if save is not None else []
    if output is Output.JSON:
        typer.echo(records_json(records), nl=False)
    elif output is Output.CSV:
        typer.echo(records_csv(records), nl=False)
    else:
        for record in records:
            title, *rest = record_lines(record)
            typer.echo("\n".join([title, *files.get(record.name, []), *rest]))
    for path in [] if quiet else saved:
        typer.echo(f"written: {path}", err=True)
    if any(finding.holds is False for record in records for finding in check_record(record)):
        raise typer.Exit(LAW_BROKEN)


def _check_names(files: Iterable[str]) -> None:
    """Refuse files of one name: points are told apart by it, reads and writes of one would become a mix."""
    if twice := repeated_name(file.partition(",")[0] for file in files):
        raise InputError(f"import: got two files called {twice}; expected names that differ; rename one")


def _points_of_chosen_device(points: list[DiskPoint], device: str | None) -> list[DiskPoint]:
    """Points of the device that was chosen, or of all files if they name none."""
    names = list(dict.fromkeys(point.device for point in points))
    if device is None and len(names) == 1:
        return points
    chosen = [name for name in names if device and device.casefold() in name.casefold()]
    if device in names:
        chosen = [device]
    if not any(names):
        raise InputError(f"import: got --device {device}; the files name no device: leave --device out")
    if len(chosen) != 1:
        hint = did_you_mean(device, names) if device else ""
        came = "no --device" if device is None else f"--device {device}{hint}"
        raise InputError(f"import: got {came}; expected one of {', '.join(chosen or names)}, or a part of its name")
    return [point for point in points if point.device == chosen[0]]


def _disk(
    points: list[DiskPoint], name: str, capacity: str | None, rpm: int, save: Path | None, output: Output
) -> None:
    if save is not None and not save.suffix:
        raise InputError(f"{save}: is a folder; a disk is one file: give FILE.yaml")
    table = disk_table(points, rpm)
    capacity_gib = disk_capacity_gib(table, capacity)
    fits = fit_table(table)
    if output is Output.TABLE:
        typer.echo("\n".join([*tail_lines(points), *fitted_disk_lines(fits)]))
    entry = fitted_entry(fits[0], name, capacity_gib)
    text, fields = yaml_text(entry.keys()), {**entry.keys(), "fit": fitted_disk_fields(fits)}
    if save is not None:
        write_whole(save, text)
    if output is Output.TABLE:
        typer.echo("\n".join([*fitted_entry_lines(entry), text]), nl=False)
    elif output is Output.JSON:
        typer.echo(document_text(DISK_FORMAT, fields), nl=False)
    else:
        typer.echo(csv_text(("key", "value"), leaves(fields)), nl=False)
