"""Measuring of a database under load on this machine: a folder with what its importers read; Linux only."""

from oltpsim.calibration.measure.harness import terminal
from oltpsim.calibration.measure.measuring import DatabaseKind, KnownServer, Measurement, measure
from oltpsim.calibration.measure.mounts import MOUNT_TABLE, read_mounts
