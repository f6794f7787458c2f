"""Measured runs and large published systems, with the scenarios that they were measured on."""

from oltpsim.scenarios.questions.measured.runs import read_runs
from oltpsim.scenarios.questions.measured.systems import SYSTEMS_SEED, measured_systems, system_rows
