"""One module per format: `detect` says from a file's beginning whether it is one, `read` says what is in it."""

from calibration.importers.catalogue_disk import disk_entry, disk_entry_lines, tail_lines
from calibration.importers.directory import RunFiles, find_runs
from calibration.importers.table import read_run_table
