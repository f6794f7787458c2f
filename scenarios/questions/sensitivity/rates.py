"""The rate of a scenario at any values of some of its numbers, many points at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from models.reading import with_values
from models.scenario import ScenarioSpec
from scenarios.questions.explain import MachineSolver, for_analytic_engine, saturated
from scenarios.questions.sensitivity.ranges import Range
from simulator.errors import InputError
from simulator.form import FloatArray


class RateFunction:
    """New orders per minute of the warm machine by the analytic engine; NaN where there is no such machine."""

    def __init__(self, scenario: ScenarioSpec, ranges: Sequence[Range]) -> None:
        self._scenario, self._solver = saturated(for_analytic_engine(scenario)), MachineSolver()
        self._ranges = tuple(ranges)
        self.reasons: dict[int, str] = {}
        """why the last call's points have no machine"""

    def __call__(self, values: FloatArray) -> FloatArray:
        """Rates at values of shape (points, ranges)."""
        found = np.full(len(values), np.nan)
        self.reasons = {}
        machines: dict[int, ScenarioSpec] = {}
        for number, row in enumerate(values):
            changes = {
                each.key: int(value) if each.whole else float(value)
                for each, value in zip(self._ranges, row, strict=True)
            }
            try:
                machines[number] = with_values(self._scenario, changes)
            except InputError as error:
                self.reasons[number] = str(error)
        for number, machine in zip(machines, self._solver(*machines.values()), strict=True):
            found[number] = machine.rate_per_min
        return found
