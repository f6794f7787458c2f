"""Measuring of a database under load on this machine: a folder with what its importers read; Linux only."""

from calibration.measure.harness import terminal
from calibration.measure.measuring import DatabaseKind, KnownServer, Measurement, measure
from calibration.measure.mounts import MOUNT_TABLE, read_mounts
