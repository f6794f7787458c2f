"""What the model misses: the scatter of residuals beyond the runs' noise.

Estimated as the variance between studies is in a random-effects meta-analysis: the variance that, added to each
observation's own, makes the sum of squares what its degrees of freedom expect (Paule and Mandel 1982). Why it belongs
into every prediction: Kennedy and O'Hagan, J. R. Statist. Soc. B 63 (2001), 425-464.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from calibration.objective import Data
from simulator.analytic.values import FloatArray

ASSUMED_RATE, ASSUMED_OTHERS = 0.05, 0.1
"""assumption: standard deviations of logarithms, where the runs are too few to tell"""
LEAST_FREEDOM = 2.0


@dataclass(frozen=True)
class Discrepancy:
    """Standard deviations of logarithms; degrees of freedom that they are estimated from, 0 if they are assumed."""

    rate: float
    rate_freedom: float
    others: float
    others_freedom: float

    def over(self, data: Data) -> Data:
        """The observations with it."""
        return replace(data, discrepancy=np.where(data.is_rate, self.rate, self.others))


def assumed() -> Discrepancy:
    """Before anything is fitted."""
    return Discrepancy(ASSUMED_RATE, 0.0, ASSUMED_OTHERS, 0.0)


def estimated(data: Data, said: FloatArray, slopes: FloatArray) -> Discrepancy:
    """From the residuals of a fit. `slopes`: derivatives over noise; the parameters take what they are told."""
    lengths = np.linalg.svd(slopes, compute_uv=False) ** 2
    taken = float((lengths / (1.0 + lengths)).sum())
    used = ~data.at_least
    left = max(1.0 - taken / max(int(used.sum()), 1), 0.0)
    distance = said + data.offset - data.measured
    rate, rate_freedom = _between(distance, data.sd, used & data.is_rate, left)
    others, others_freedom = _between(distance, data.sd, used & ~data.is_rate, left)
    return Discrepancy(
        rate if rate_freedom else ASSUMED_RATE, rate_freedom, others if others_freedom else ASSUMED_OTHERS,
        others_freedom,
    )  # fmt: skip


def _between(distance: FloatArray, sd: FloatArray, some: npt.NDArray[np.bool_], left: float) -> tuple[float, float]:
    from scipy.optimize import brentq

    freedom = float(some.sum()) * left
    if freedom < LEAST_FREEDOM:
        return 0.0, 0.0
    squares, variance = distance[some] ** 2, sd[some] ** 2

    def excess(more: float) -> float:
        return float((squares / (variance + more)).sum()) - freedom

    if excess(0.0) <= 0.0:
        return 0.0, freedom
    root: Any = brentq(excess, 0.0, float(squares.sum()) + 1.0, xtol=1e-10)
    return float(root) ** 0.5, freedom
