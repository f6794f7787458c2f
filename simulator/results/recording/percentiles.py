"""Intervals of percentiles of response times that follow one after the other, and are alike within a burst.

Of independent times the interval lies between two of them, whose ranks are binomial. Those of a run are worth fewer:
as many as the swings of the share that is later than the percentile say, by batches of whole cycles.
"""

import math
from collections.abc import Sequence

import numpy as np
import scipy

from oltpsim.simulator.form import FloatArray, IntArray, to_s
from oltpsim.simulator.results.recorder import ClassRecorder, ResponseCounts, bucket_ends_ns, quantile_bucket
from oltpsim.simulator.results.recording.statistics import CONFIDENCE_LEVEL, LEAST_VALUES, batch_means
from oltpsim.simulator.results.result import TOO_FEW, PercentileInterval, PercentileIntervals

BEYOND = (1.0 - CONFIDENCE_LEVEL) / 2.0
"""chance with which a percentile lies beyond one end of its interval"""
SHARES = (0.5, 0.9, 0.95, 0.99, 0.999)
"""of the percentiles that a result has"""


def percentile_intervals(
    recorder: ClassRecorder, number: int, seen: Sequence[ResponseCounts], step_s: float
) -> PercentileIntervals:
    """Intervals of a class's percentiles. `seen`: what has ended at each step's end; `number`: of the class in it."""
    histogram = np.array(recorder.histogram, dtype=np.int64)
    buckets = np.array([*(quantile_bucket(histogram, share) for share in SHARES), histogram.size - 1])
    *within, ended = np.diff(np.array([each.within(number, buckets) for each in seen]), axis=0).T.astype(np.float64)
    return PercentileIntervals(
        *(
            percentile_interval(share, histogram, ended, below, step_s)
            for share, below in zip(SHARES, within, strict=True)
        )
    )


def percentile_interval(
    share: float, histogram: IntArray, ended: FloatArray, within: FloatArray, step_s: float = 1.0
) -> PercentileInterval:
    """Interval of the time within which `share` of all end.

    `histogram`: of all times; `ended`: how many did in each step; `within`: those of them in the buckets up to the
    percentile's.
    The ends are those of the buckets that hold the binomial ranks of so many independent times as these are worth
    (order statistics: David and Nagaraja, Order Statistics, 2003, 7.1; their effective number with Student's t for the
    normal: Korn and Graubard, Survey Methodology 24, 1998). Their worth is by `batch_means` of what is later than the
    percentile beyond the usual share, a linear ratio (Woodruff, J. Amer. Statist. Assoc. 47, 1952).
    """
    count, least = int(histogram.sum()), math.log(BEYOND) / math.log(share)
    if count < least:
        return _without_interval(f"{TOO_FEW}: {count:,}, where {math.ceil(least):,} are needed at least")
    if ended.size < LEAST_VALUES or ended.sum() == 0:
        return _without_interval(f"{TOO_FEW}: in {ended.size} steps of the series, where {LEAST_VALUES} are needed")
    swings = batch_means(within - ended * (within.sum() / ended.sum()), step_s)
    if not swings.is_steady:
        return _without_interval(swings.method)
    half_width = swings.half_width / float(ended.mean())
    worth = float(count)
    if half_width > 0:
        normal = float(scipy.special.ndtri(1.0 - BEYOND))
        worth = min(worth, share * (1.0 - share) * (normal / half_width) ** 2)
    if worth < least:
        return _without_interval(
            f"{TOO_FEW}: {count:,}, which come in bursts and are worth {worth:,.0f} independent ones, where "
            f"{math.ceil(least):,} are needed at least"
        )
    low, high = (scipy.special.bdtrik(chance, worth, share) for chance in (BEYOND, 1.0 - BEYOND))
    first, last = (math.floor(low) + 1.0) / worth, min((math.ceil(high) + 1.0) / worth, 1.0)
    low_ns, _ = bucket_ends_ns(quantile_bucket(histogram, first))
    _, high_ns = bucket_ends_ns(quantile_bucket(histogram, last))
    return PercentileInterval(to_s(low_ns), to_s(high_ns), "")


def _without_interval(reason: str) -> PercentileInterval:
    return PercentileInterval(None, None, reason)
