"""What people measured, with the scenarios that it was measured on: run records, and large published systems."""

from scenarios.questions.measured.runs import read_runs
from scenarios.questions.measured.systems import SYSTEMS_SEED, measured_systems, system_rows

__all__ = ["SYSTEMS_SEED", "measured_systems", "read_runs", "system_rows"]
