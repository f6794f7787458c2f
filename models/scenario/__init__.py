"""Specs: frozen data that says what to simulate, with units in the names."""

from models.scenario.scenario import FigureSpec, IntervalSpec, ScenarioSpec
