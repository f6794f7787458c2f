"""Scenario: machine, operating system, database, workload and interval as one spec."""

from oltpsim.models.scenario.scenario import FigureSpec, IntervalSpec, LeadInSpec, MeasuredSpec, ScenarioSpec
