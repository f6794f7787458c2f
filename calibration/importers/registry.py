"""Formats that are known, in the order in which they are tried."""

import csv
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from oltpsim.calibration.importers import (
    awr,
    benchbase,
    benchmarksql,
    blkparse,
    cockroach_workload,
    dbt2,
    dstat,
    file_summary,
    fio,
    fio_table,
    fio_text,
    go_tpc,
    hammerdb_database,
    hammerdb_log,
    hammerdb_parameters,
    hammerdb_profile,
    hammerdb_report,
    innodb_status,
    inventory,
    iostat,
    kernel_counters,
    laboratory,
    measured_series,
    mysql_status,
    oltpbench_tpcc,
    operator_series,
    pgbench,
    pgbench_log,
    postgres_views,
    server_settings,
    sysbench,
    sysstat_cpu,
    tpcc_kit,
    tpcc_mysql,
    vmstat,
    ycsb,
)
from oltpsim.calibration.importers.several_runs import RunMarks, split_runs
from oltpsim.calibration.records import FileReading, Importer
from oltpsim.models.input import SourceFile, short_text
from oltpsim.simulator.errors import InputError

MOST_MESSAGE = 600
OF_PYTHON = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
FOREIGN_SHAPE = (*OF_PYTHON, csv.Error, sqlite3.Error)
"""Exceptions of Python and its libraries that a file of another shape than its tool's can raise"""

IMPORTERS: tuple[Importer, ...] = (
    fio, fio_table, fio_text, go_tpc, hammerdb_database, hammerdb_report, hammerdb_profile, hammerdb_log,
    hammerdb_parameters, tpcc_kit, sysbench, benchmarksql, ycsb, pgbench, pgbench_log, benchbase, tpcc_mysql, dbt2,
    cockroach_workload, oltpbench_tpcc, operator_series,
    iostat, sysstat_cpu, vmstat, dstat, kernel_counters, postgres_views,
    server_settings, mysql_status, innodb_status, file_summary, awr, blkparse,
    measured_series, inventory, laboratory,
)  # fmt: skip

RUN_MARKS: dict[str, RunMarks] = {
    each.KIND: each.RUNS
    for each in (
        sysbench,
        pgbench,
        hammerdb_log,
        hammerdb_profile,
        tpcc_mysql,
        go_tpc,
        dbt2,
        benchmarksql,
        ycsb,
        cockroach_workload,
        oltpbench_tpcc,
    )
}
"""Formats of which one file may hold several runs"""


def read_runs(file: SourceFile) -> list[FileReading]:
    """Contents of a file, one for each run in it; none if its format isn't known. Raises InputError."""
    with one_door(file):
        importer = next((importer for importer in IMPORTERS if importer.detect(file)), None)
        if importer is None:
            return []
        if importer.KIND not in RUN_MARKS:
            return [importer.read(file)]
        parts, notes = split_runs(file, RUN_MARKS[importer.KIND])
        readings = [importer.read(part) for part in parts]
        readings[0].notes += notes
        return readings


def read_file(file: SourceFile) -> FileReading | None:
    """Contents of a file of one run, or None if its format isn't known. Raises InputError for a faulty file."""
    readings = read_runs(file)
    if len(readings) > 1:
        file.refuse("", f"{len(readings)} runs in one file", "one", f"choose one: {file.name}#1 is the first")
    return readings[0] if readings else None


@contextmanager
def one_door(file: SourceFile) -> Iterator[None]:
    """Turn what an importer raises, on purpose or by a file of another shape, into one sentence with the file."""
    try:
        yield
    except InputError as error:
        message = short_text(str(error), MOST_MESSAGE)
        raise error if message == str(error) else InputError(message) from error
    except FOREIGN_SHAPE as error:
        came = f"contents of another shape ({type(error).__name__}: {short_text(str(error))})"
        file.refuse("", came, "those of the tool that it looks like", "give the file as the tool wrote it")
