"""Scenarios side by side: the same seeds for all of them, so that what chance does to one it does to the others."""

from oltpsim.scenarios.questions.compare.comparison import (
    ComparedScenario,
    Comparer,
    Difference,
    ScenarioComparison,
    measured_comparison,
    read_sides,
)
