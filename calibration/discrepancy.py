"""What the model misses of each kind of figure: the scatter of residuals beyond the runs' noise.

Known beforehand as a scaled inverse chi square with few degrees of freedom, and estimated from residuals as the
variance between studies is in a random-effects meta-analysis (Paule and Mandel 1982): the variance at which the sum of
squares is what its degrees of freedom expect. Few runs leave it where it was assumed, with the few degrees of freedom
that an assumption is worth. Why it belongs into every prediction: Kennedy and O'Hagan, J. R. Statist. Soc. B 63 (2001),
425-464.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibration.objective import Data
from calibration.observables import KINDS, RATE, READS, WRITES
from simulator.analytic.values import FloatArray

ASSUMED_OTHERS = 0.1
ASSUMED = {RATE: 0.05, READS: 0.15, WRITES: 0.3}
"""assumption: standard deviations of logarithms before any run is seen; of the other kinds `ASSUMED_OTHERS`"""
ASSUMED_FREEDOM = 3.0
"""assumption: runs that this is worth"""


@dataclass(frozen=True)
class Scatter:
    """Standard deviation of a logarithm, and the degrees of freedom that it is known with.

    `from_runs`: those of them that residuals have; the others are the assumption's.
    """

    sd: float
    freedom: float = ASSUMED_FREEDOM
    from_runs: float = 0.0


Discrepancy = Mapping[str, Scatter]
"""by kind of figure"""


def assumed() -> dict[str, Scatter]:
    """Before anything is fitted."""
    return {kind: Scatter(ASSUMED.get(kind, ASSUMED_OTHERS)) for kind in KINDS}


def over(data: Data, discrepancy: Discrepancy) -> Data:
    """The observations with it."""
    return replace(data, discrepancy=np.array([discrepancy[kind].sd for kind in data.kinds]))


def estimated(data: Data, said: FloatArray, slopes: FloatArray) -> dict[str, Scatter]:
    """From the residuals of a fit. `slopes`: derivatives over noise; the parameters take what they are told."""
    lengths = np.linalg.svd(slopes, compute_uv=False) ** 2
    taken = float((lengths / (1.0 + lengths)).sum())
    used = ~data.at_least
    left = max(1.0 - taken / max(int(used.sum()), 1), 0.0)
    distance = said + data.offset - data.measured
    found = assumed()
    for kind in set(data.kinds):
        some = used & (np.array(data.kinds) == kind)
        found[kind] = _between(distance[some] ** 2, data.sd[some] ** 2, float(some.sum()) * left, found[kind].sd)
    return found


def _between(squares: FloatArray, variance: FloatArray, freedom: float, before: float) -> Scatter:
    from scipy.optimize import brentq

    if freedom <= 0.0:
        return Scatter(before)

    def excess(more: float) -> float:
        own = float((squares / (variance + more)).sum()) - freedom
        return own + ASSUMED_FREEDOM * (before**2 / more - 1.0)

    low, high = before**2 * ASSUMED_FREEDOM / (ASSUMED_FREEDOM + freedom) / 2.0, before**2 + float(squares.sum()) + 1.0
    root: Any = brentq(excess, low, high, xtol=1e-10)
    return Scatter(float(root) ** 0.5, ASSUMED_FREEDOM + freedom, freedom)
