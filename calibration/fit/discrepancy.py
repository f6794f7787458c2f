"""Model discrepancy of each kind of figure: the scatter of residuals beyond the runs' noise.

Before any run is seen it is an assumption: so much for each kind, with the analytic engine's own error where no kernel
corrects it. The runs scale it: the scale's square is known beforehand as an inverse chi square with few degrees of
freedom, and estimated as the variance between studies is in a random-effects meta-analysis (Paule and Mandel 1982), the
one at which the sum of squares is what its degrees of freedom expect. Few runs leave it where it was. Why it belongs
into every prediction: Kennedy and O'Hagan, J. R. Statist. Soc. B 63 (2001), 425-464.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from calibration.fit.objective import FitData
from calibration.fit.observables import FigureKind
from simulator.form import FloatArray

ASSUMED_FREEDOM = 3.0
"""assumption: degrees of freedom that a kind's `missed_sd` is worth"""


@dataclass(frozen=True)
class Scatter:
    """Model discrepancy as a multiple of the assumption, and the degrees of freedom that it is known with.

    `from_runs`: those of them that residuals have; the others are the assumption's.
    """

    scale: float = 1.0
    freedom: float = ASSUMED_FREEDOM
    from_runs: float = 0.0


Discrepancy = Mapping[FigureKind, Scatter]
"""by kind of figure"""


def assumed() -> dict[FigureKind, Scatter]:
    """Before anything is fitted."""
    return dict.fromkeys(FigureKind, Scatter())


def assumed_sd(kind: FigureKind, left_out_sd: float, missing: float) -> float:
    """Assumed sd of a figure's logarithm. `left_out_sd`: what its correction leaves out; `missing`: see `FitTask`."""
    return float(np.hypot(kind.missed_sd * missing, left_out_sd))


def over(data: FitData, discrepancy: Discrepancy, left_out_sd: Sequence[float], missing: float) -> FitData:
    """The observations with it. `left_out_sd`: of each."""
    pairs = zip(data.kinds, left_out_sd, strict=True)
    sd = [assumed_sd(kind, left_out, missing) * discrepancy[kind].scale for kind, left_out in pairs]
    return replace(data, discrepancy=np.array(sd))


def estimated(data: FitData, logs: FloatArray, slopes: FloatArray) -> dict[FigureKind, Scatter]:
    """From the residuals of a fit whose data have the assumed discrepancy.

    `slopes`: derivatives over noise; the parameters take the degrees of freedom that they are told.
    """
    lengths = np.linalg.svd(slopes, compute_uv=False) ** 2
    taken = float((lengths / (1.0 + lengths)).sum())
    used = ~data.at_least
    left = max(1.0 - taken / max(int(used.sum()), 1), 0.0)
    squares = (logs + data.offset - data.measured) ** 2
    found = assumed()
    for kind in set(data.kinds):
        some = used & (np.array(data.kinds) == kind) & (data.discrepancy > 0.0)
        freedom = float(some.sum()) * left
        if freedom > 0.0:
            scale = _scale(squares[some], data.sd[some] ** 2, data.discrepancy[some] ** 2, freedom)
            found[kind] = Scatter(scale, ASSUMED_FREEDOM + freedom, freedom)
    return found


def _scale(squares: FloatArray, noise: FloatArray, assumed: FloatArray, freedom: float) -> float:
    def excess(scale: float) -> float:
        own = float((squares / (noise + scale * assumed)).sum()) - freedom
        return own + ASSUMED_FREEDOM * (1.0 / scale - 1.0)

    low = ASSUMED_FREEDOM / (ASSUMED_FREEDOM + freedom) / 2.0
    high = 1.0 + float((squares / assumed).sum())
    root: Any = scipy.optimize.brentq(excess, low, high, xtol=1e-10)
    return float(np.sqrt(root))
