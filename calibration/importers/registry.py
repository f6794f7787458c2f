"""All formats that are known, in the order in which they are asked."""

from __future__ import annotations

from calibration.importers import (
    fio,
    go_tpc,
    hammerdb_database,
    hammerdb_log,
    hammerdb_report,
    iostat,
    kernel_counters,
    mysql_status,
    postgres_views,
    sysstat_cpu,
    vmstat,
)
from calibration.reading import Importer, Reading
from calibration.source_file import SourceFile

IMPORTERS: tuple[Importer, ...] = (
    fio,
    go_tpc,
    hammerdb_database,
    hammerdb_report,
    hammerdb_log,
    iostat,
    kernel_counters,
    mysql_status,
    postgres_views,
    sysstat_cpu,
    vmstat,
)


def importer_of(file: SourceFile) -> Importer | None:
    """The format of a file, from its beginning; None if it is of none."""
    return next((importer for importer in IMPORTERS if importer.detect(file)), None)


def read_file(file: SourceFile) -> Reading | None:
    """All that a file says, or None if its format is not known. Raises InputError for a file of a known format with faults."""
    importer = importer_of(file)
    return None if importer is None else importer.read(file)
