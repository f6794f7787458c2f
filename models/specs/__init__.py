"""Specs: frozen data that says what to simulate, with units in the names."""

from models.specs.scenario import IntervalSpec, MeasuredSpec, ScenarioSpec

__all__ = ["IntervalSpec", "MeasuredSpec", "ScenarioSpec"]
