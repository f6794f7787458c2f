"""Formats that are known, in the order in which they are tried."""

from oltpsim.calibration.importers import (
    awr,
    benchbase,
    blkparse,
    dbt2,
    file_summary,
    fio,
    fio_table,
    go_tpc,
    hammerdb_database,
    hammerdb_log,
    hammerdb_parameters,
    hammerdb_report,
    innodb_status,
    inventory,
    iostat,
    kernel_counters,
    laboratory,
    measured_series,
    mysql_settings,
    mysql_status,
    pgbench,
    pgbench_log,
    postgres_views,
    sysbench,
    sysstat_cpu,
    tpcc_kit,
    tpcc_mysql,
    vmstat,
)
from oltpsim.calibration.records import FileReading, Importer
from oltpsim.models.input import SourceFile

IMPORTERS: tuple[Importer, ...] = (
    fio, fio_table, go_tpc, hammerdb_database, hammerdb_report, hammerdb_log, hammerdb_parameters, tpcc_kit, sysbench,
    pgbench, pgbench_log, benchbase, tpcc_mysql, dbt2, iostat, sysstat_cpu, vmstat, kernel_counters, postgres_views,
    mysql_settings, mysql_status, innodb_status, file_summary, awr, blkparse,
    measured_series, inventory, laboratory,
)  # fmt: skip


def read_file(file: SourceFile) -> FileReading | None:
    """Contents of a file, or None if its format is not known. Raises InputError for a faulty file."""
    importer = next((importer for importer in IMPORTERS if importer.detect(file)), None)
    return None if importer is None else importer.read(file)
