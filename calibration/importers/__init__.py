"""One module per format: `detect` says from a file's beginning whether it is one, `read` says what is in it."""

from oltpsim.calibration.importers.directory import RunFiles, find_runs
from oltpsim.calibration.importers.recognition import MAPPING_REMEDY
from oltpsim.calibration.importers.table import read_run_table
