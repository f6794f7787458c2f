"""The difference of two scenarios from runs with the same seeds: paired, with Student's t interval.

Runs of one seed draw the same numbers from the same named streams, so that most of what chance does is in both and
not in their difference. Source: Law, Simulation Modeling and Analysis, 10.2.1 (paired t) and 11.2 (common random
numbers). The ratio's interval is that of the mean difference of logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulator.errors import InternalError
from simulator.results.recording import CONFIDENCE_LEVEL, student_t_factor

LEAST_FOR_CORRELATION = 3
"""two pairs always lie on a line"""


@dataclass(frozen=True)
class PairedInterval:
    """A mean and where it may lie."""

    mean: float
    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether a value lies in it."""
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Difference:
    """How another scenario's rate differs from the first one's; intervals are None of a single pair."""

    seeds: int
    confidence: float
    difference_per_min: float
    ratio: float
    difference_interval: PairedInterval | None
    ratio_interval: PairedInterval | None
    correlation: float | None
    """of the two scenarios' rates over the seeds; None of fewer than 3, or if one of them doesn't vary"""
    variance_reduction: float | None
    """variance of the difference with independent seeds over that with the same; None of fewer than 3, or if the
    difference has none"""

    @property
    def same(self) -> bool:
        """Whether every pair is equal, to the last bit."""
        return self.difference_interval == PairedInterval(0.0, 0.0, 0.0)

    @property
    def distinguishable(self) -> bool | None:
        """Whether the ratio's interval excludes 1; None of a single pair."""
        return None if self.ratio_interval is None else not self.ratio_interval.holds(1.0)

    @property
    def half_width(self) -> float:
        """Of the ratio's interval, as a share of the ratio; infinite of a single pair."""
        if self.ratio_interval is None:
            return math.inf
        return math.sqrt(self.ratio_interval.high / self.ratio_interval.low) - 1.0


def paired(first: Sequence[float], other: Sequence[float], comparisons: int = 1) -> Difference:
    """The difference `other` - `first` of rates by seed, all above 0.

    With several comparisons all intervals hold together at the usual confidence (Bonferroni).
    """
    if len(first) != len(other) or not first or min(*first, *other) <= 0:
        raise InternalError("a paired difference needs as many rates of both, all above 0")
    a, b = np.array(first), np.array(other)
    confidence = 1.0 - (1.0 - CONFIDENCE_LEVEL) / comparisons
    differences, logs = b - a, np.log(b) - np.log(a)
    mean, log = float(differences.mean()), float(logs.mean())
    single = len(a) < 2
    enough = len(a) >= LEAST_FOR_CORRELATION
    spread = 0.0 if single else float(differences.var(ddof=1))
    apart = 0.0 if single else float(a.var(ddof=1) + b.var(ddof=1))
    return Difference(
        seeds=len(a),
        confidence=confidence,
        difference_per_min=mean,
        ratio=math.exp(log),
        difference_interval=None if single else _around(mean, differences, confidence),
        ratio_interval=None if single else _exp(_around(log, logs, confidence)),
        correlation=float(np.corrcoef(a, b)[0, 1]) if enough and a.std() and b.std() else None,
        variance_reduction=apart / spread if enough and spread > 0 else None,
    )


def _around(mean: float, values: np.ndarray[tuple[int], np.dtype[np.float64]], confidence: float) -> PairedInterval:
    half = student_t_factor(len(values) - 1, confidence) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return PairedInterval(mean, mean - half, mean + half)


def _exp(of: PairedInterval) -> PairedInterval:
    return PairedInterval(math.exp(of.mean), math.exp(of.low), math.exp(of.high))
