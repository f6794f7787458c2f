"""Scenario: machine, operating system, database, workload and interval as one spec."""

from models.scenario.scenario import FigureSpec, IntervalSpec, LeadInSpec, ScenarioSpec
