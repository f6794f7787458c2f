"""One module per format: `detect` says from a file's beginning whether it is one, `read` says what is in it."""

from calibration.importers.catalogue_disk import as_yaml, disk_entry, table_lines
from calibration.importers.directory import Found, find_runs
from calibration.importers.table import read_table

__all__ = ["Found", "as_yaml", "disk_entry", "find_runs", "read_table", "table_lines"]
