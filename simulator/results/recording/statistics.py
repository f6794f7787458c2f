"""Intervals for figures of a run: batch means, replications, and where the steady part begins."""

import math
from collections.abc import Sequence

import numpy as np
import scipy

from simulator.errors import InternalError
from simulator.form import FloatArray
from simulator.results.result import Estimate

CONFIDENCE_LEVEL = 0.95
BATCHES = 20


def student_t_factor(degrees: int, confidence: float = CONFIDENCE_LEVEL) -> float:
    """Factor of a two-sided t interval."""
    return float(scipy.special.stdtrit(degrees, 0.5 + confidence / 2))


def batch_means(values: Sequence[float] | FloatArray, batches: int = BATCHES) -> Estimate:
    """Mean of a series with an interval from the means of `batches` equal parts.

    The variance is taken from differences of neighbouring batches (von Neumann), so that a warm-up that is part of
    the reported figure by definition doesn't count as noise. Too few values for batches give an infinite interval
    clipped to [0, 2 x mean] and say so. Source: von Neumann, Ann. Math. Stat. 12, 1941; Law, Simulation Modeling
    and Analysis, ch. 9.
    """
    series = np.asarray(values, dtype=np.float64)
    if series.size == 0:
        raise InternalError("an interval of an empty series")
    mean = float(series.mean())
    batches = min(batches, series.size)
    if batches < 4:
        return Estimate(mean, 0.0, 2 * mean, CONFIDENCE_LEVEL, f"unknown: only {series.size} values")
    parts = np.array([part.mean() for part in np.array_split(series, batches)])
    variance = float(np.square(np.diff(parts)).mean() / 2)
    half = student_t_factor(batches - 1) * math.sqrt(variance / batches)
    return Estimate(mean, max(0.0, mean - half), mean + half, CONFIDENCE_LEVEL, f"batch means, {batches} batches")


def mean_of_replications(values: Sequence[float]) -> Estimate:
    """Mean of independent runs with a t interval; at least two are needed."""
    if len(values) < 2:
        raise InternalError("an interval from fewer than two replications")
    series = np.asarray(values, dtype=np.float64)
    half = student_t_factor(len(values) - 1) * float(series.std(ddof=1)) / math.sqrt(len(values))
    mean = float(series.mean())
    return Estimate(mean, max(0.0, mean - half), mean + half, CONFIDENCE_LEVEL, f"{len(values)} replications")


def steady_from(values: Sequence[float] | FloatArray) -> int:
    """Index from which a series is steady: the truncation that minimises the standard error of the rest (MSER).

    At most half of the series is cut. Source: White, "An effective truncation heuristic", Simulation 69, 1997.
    """
    series = np.asarray(values, dtype=np.float64)
    best, best_score = 0, math.inf
    for cut in range(series.size // 2 + 1):
        steady = series[cut:]
        score = float(steady.var()) / steady.size if steady.size else math.inf
        if score < best_score:
            best, best_score = cut, score
    return best
