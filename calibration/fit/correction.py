"""From the analytic engine to the kernel: what the kernel's runs have shown of each regime, for those not simulated.

One regime's corrections scatter around a mean of their own; both are known beforehand by the errors of the engine on
random machines, half of whose variance is taken to be the regime's and half each machine's. With nothing simulated a
correction is 1 and known as well as the engine is.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

ASSUMED_FREEDOM = 3.0
"""assumption: degrees of freedom that the engine's scatter within a regime is worth"""


@dataclass(frozen=True)
class RegimeCorrection:
    """Logarithm to be added to the analytic engine's figure, and the standard deviation of what that leaves out."""

    log: float
    sd: float
    runs: int


def regime_correction(engine_sd: float, logs: Iterable[float]) -> RegimeCorrection:
    """Correction of runs that weren't simulated. `logs`: kernel over analytic engine, of simulated runs of the regime.

    `engine_sd`: model error of the figure, a standard deviation of its logarithm.
    """
    some = list(logs)
    half = engine_sd**2 / 2.0
    mean = sum(some) / (len(some) + 1)
    within = (ASSUMED_FREEDOM * half + sum((log - mean) ** 2 for log in some)) / (ASSUMED_FREEDOM + len(some))
    return RegimeCorrection(mean, math.sqrt(within * (1.0 + 1.0 / (len(some) + 1))), len(some))
