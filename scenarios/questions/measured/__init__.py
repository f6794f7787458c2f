"""Measured runs and large published systems, with the scenarios that they were measured on."""

from oltpsim.scenarios.questions.measured.runs import is_run, read_runs, scenario_of_run
from oltpsim.scenarios.questions.measured.systems import SYSTEMS_SEED, measured_systems, system_rows
