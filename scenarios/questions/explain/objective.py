"""What response time is asked for: a percentile of the new orders, and the time that it may take."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from scenarios.questions.explain.machines import SolvedMachine

Percentile = Literal["p95", "p99"]
LEAST_S = 1e-9


@dataclass(frozen=True)
class PercentileObjective:
    """So many per cent of the new orders end within a time."""

    percentile: Percentile
    within_s: float

    def margin(self, machine: SolvedMachine) -> float:
        """Logarithm of the time allowed over the time taken: not negative if the objective is met."""
        return math.log(self.within_s / max(machine.response_s(self.percentile), LEAST_S))
