"""Intervals for figures of a run: from batches longer than the run's own swings, or from replications."""

import math
from collections.abc import Sequence

import numpy as np
import scipy

from oltpsim.simulator.errors import InternalError
from oltpsim.simulator.form import FloatArray
from oltpsim.simulator.results.result import NOT_STEADY, Estimate

CONFIDENCE_LEVEL = 0.9
LEAST_VALUES = 10
MOST_BATCHES = (8, 6, 4)
"""batches that are tried, one after the other, until they are uncorrelated; fewer leave Student's t too wide"""
LEAST_BATCHES = MOST_BATCHES[-1]
CYCLE_CORRELATION = 0.3
"""autocorrelation from which on values that lie a cycle apart are called alike"""
SIGNIFICANT_ERRORS = 3.0
"""standard errors of an autocorrelation without a cycle, 1/sqrt(n), that such a cycle exceeds too"""
NEARLY_BEST = 0.85
"""share of the highest autocorrelation from which on the shorter cycle is preferred"""
NEARLY_LONG = 0.8
"""share of the shortest batch that a single cycle may have"""
MEMORY_BATCHES = 4
"""length of a batch by how long values stay correlated"""
BEGINNING_LEVEL = 0.01
"""chance with which a beginning that is like the rest is cut off; the cut was chosen for its difference"""
LATEST_CUT = 0.9
"""share of the latest cut there may be, beyond which the end is taken for what stopped it"""
CORRELATION_LEVEL, TREND_LEVEL = 0.05, 0.05
"""chance with which batches without a correlation, and without a trend, are said to have one"""


def student_t_factor(degrees: float, confidence: float = CONFIDENCE_LEVEL) -> float:
    """Factor of a two-sided t interval."""
    return float(scipy.special.stdtrit(degrees, 0.5 + confidence / 2))


def mean_of_replications(values: Sequence[float]) -> Estimate:
    """Mean of independent runs with a t interval; at least two are needed."""
    if len(values) < 2:
        raise InternalError("an interval from fewer than two replications")
    series = np.asarray(values, dtype=np.float64)
    half = student_t_factor(len(values) - 1) * float(series.std(ddof=1)) / math.sqrt(len(values))
    mean = float(series.mean())
    return Estimate(mean, max(0.0, mean - half), mean + half, CONFIDENCE_LEVEL, f"{len(values)} replications")


def batch_means(values: Sequence[float] | FloatArray, step_s: float = 1.0) -> Estimate:
    """Mean of a series with an interval from means of batches, or without one if the series isn't steady.

    A batch is a whole number of the series' cycles, if it has some, and several times as long as its values stay
    correlated; its length is a real number of steps. Batches are accepted when their residuals from a line pass von
    Neumann's test and the line doesn't rise or fall; otherwise fewer, longer ones are tried. What the last whole batch
    leaves over is a piece of a cycle that begins anywhere: it has the variance of all pieces of its length. Sources:
    von Neumann, Ann. Math. Stat. 12, 1941; Law, Simulation Modeling and Analysis, ch. 9; Tafazzoli and Wilson, "Skart",
    IIE Transactions 43, 2011 (tests before the interval).
    """
    series = np.asarray(values, dtype=np.float64)
    if series.size == 0:
        raise InternalError("an interval of an empty series")
    mean = float(series.mean())
    if series.size < LEAST_VALUES:
        return without_interval(
            mean, f"too short to tell, {series.size} steps of the series where {LEAST_VALUES} are needed"
        )
    correlation = autocorrelation(detrended(series))
    length = float(series.size)
    for most in MOST_BATCHES:
        length = batch_length(correlation, most)
        if length * LEAST_BATCHES > series.size + 1:
            break
        length = min(length, series.size / LEAST_BATCHES)
        batches = whole_batch_means(series, length)
        if is_correlated(batches):
            continue
        if has_trend(batches):
            return without_interval(mean, f"it {'rises' if _slope(batches) > 0 else 'falls'} within what is counted")
        half = student_t_factor(batches.size - 1) * math.sqrt(_variance_of_mean(series, batches, length))
        method = f"batch means, {batches.size} of {length * step_s:.3g} s"
        return Estimate(mean, max(0.0, mean - half), mean + half, CONFIDENCE_LEVEL, method)
    swings = f"swings of {length * step_s:,.4g} s"
    return without_interval(mean, f"fewer than {LEAST_BATCHES} {swings} are within the {series.size * step_s:,.4g} s")


def without_interval(mean: float, reason: str) -> Estimate:
    """A mean without an interval, and why."""
    return Estimate(mean, None, None, CONFIDENCE_LEVEL, f"{NOT_STEADY}: {reason}")


def autocorrelation(series: FloatArray) -> FloatArray:
    """Autocorrelation by lag, each of a mean over the pairs that there are; zeros if the series is constant."""
    deviations = series - series.mean()
    spectrum = np.fft.rfft(deviations, 2 * series.size)
    sums = np.fft.irfft(spectrum * spectrum.conj())[: series.size]
    if sums[0] <= _rounding(series):
        return np.zeros(series.size)
    return sums / sums[0] * series.size / np.arange(series.size, 0, -1)


def detrended(series: FloatArray) -> FloatArray:
    """What a series has beside its regression line through time."""
    residuals = series - series.mean() - _slope(series) * _centred(series.size)
    return residuals if _squares(residuals) > _rounding(series) else np.zeros(series.size)


def batch_length(correlation: FloatArray, most: int) -> float:
    """Length for at most so many batches, in steps, by a series' autocorrelation.

    A cycle is a peak of the autocorrelation behind a dip. One that is too long for enough batches is the answer too.
    """
    steps = correlation.size
    low, longest = max(1, steps // most), steps // LEAST_BATCHES
    lasts = int(np.argmax(np.append(correlation, 0.0) < 2.0 / math.sqrt(steps)))
    by_memory = float(max(low, 1 + MEMORY_BATCHES * (lasts - 1)))
    lags = np.arange(1, steps // 2)
    inner, before, after = correlation[lags], correlation[lags - 1], correlation[lags + 1]
    alike = inner > np.maximum(CYCLE_CORRELATION, SIGNIFICANT_ERRORS / np.sqrt(steps - lags))
    peaks = lags[alike & (inner >= before) & (inner > after) & (lags > lasts)]
    peaks = peaks[correlation[peaks] > np.minimum.accumulate(correlation)[peaks] + CYCLE_CORRELATION]
    if not peaks.size:
        return by_memory
    fitting, longer = peaks[(peaks >= NEARLY_LONG * low) & (peaks <= longest)], peaks[peaks > longest]
    if not fitting.size and peaks[0] < low:
        cycle = _vertex_near(correlation, int(peaks[0]))
        return cycle * math.ceil(by_memory / cycle)
    best = float(correlation[fitting].max(initial=0.0))
    if best < correlation[longer].max(initial=0.0) - CYCLE_CORRELATION / 2:
        return float(longer[np.argmax(correlation[longer])])
    return _vertex_near(correlation, int(fitting[np.argmax(correlation[fitting] >= NEARLY_BEST * best)]))


def _vertex_near(correlation: FloatArray, lag: int) -> float:
    return lag + _vertex(*correlation[lag - 1 : lag + 2].tolist())


def _vertex(before: float, at: float, after: float) -> float:
    """Where a parabola through three neighbouring values is highest, from the middle one, in steps."""
    bend = before - 2.0 * at + after
    return 0.5 * (before - after) / bend if bend < 0 else 0.0


def whole_batch_means(series: FloatArray, length: float) -> FloatArray:
    """Means of the whole batches that end with the series; values are even over their steps."""
    count = int(series.size / length + 1e-9)
    ends = series.size - length * np.arange(count, -1, -1)
    sums = np.interp(ends, np.arange(series.size + 1), np.append(0.0, np.cumsum(series)))
    return np.array(np.diff(sums) / length, dtype=np.float64)


def is_correlated(batches: FloatArray) -> bool:
    """Whether neighbouring batches are more alike than chance makes them, by residuals from a line."""
    residuals = detrended(batches)
    squares = _squares(residuals)
    if squares == 0.0:
        return False
    alike = 1.0 - float(np.square(np.diff(residuals)).sum()) / (2.0 * squares)
    spread = math.sqrt((batches.size - 2) / (batches.size**2 - 1))
    return alike > float(scipy.special.ndtri(1.0 - CORRELATION_LEVEL)) * spread


def has_trend(batches: FloatArray) -> bool:
    """Whether the regression line through batches rises or falls, by a t test."""
    centred, slope = _centred(batches.size), _slope(batches)
    residuals = detrended(batches)
    explained, squares = slope**2 * _squares(centred), _squares(residuals)
    if explained <= _rounding(batches):
        return False
    degrees = batches.size - 2
    return explained * degrees > student_t_factor(degrees, 1.0 - TREND_LEVEL) ** 2 * squares


def _slope(series: FloatArray) -> float:
    centred = _centred(series.size)
    return float((centred * series).sum()) / max(_squares(centred), 1.0)


def _centred(size: int) -> FloatArray:
    return np.arange(size, dtype=np.float64) - (size - 1) / 2


def _squares(series: FloatArray) -> float:
    return float(np.square(series).sum())


def _rounding(series: FloatArray) -> float:
    """Sum of squares below which nothing but rounding varies."""
    return 1e-20 * _squares(series)


def _variance_of_mean(series: FloatArray, batches: FloatArray, length: float) -> float:
    """Variance of a series' mean: of its whole batches, and of the piece of one that they leave over."""
    whole = length * batches.size / series.size
    variance = whole**2 * float(batches.var(ddof=1)) / batches.size
    left = series.size - length * batches.size
    return variance + (1.0 - whole) ** 2 * _mean_square_of(series, left) if left > 0.5 else variance


def _mean_square_of(series: FloatArray, length: float) -> float:
    """Mean square by which pieces of a length, one beginning at each step, lie off the series' mean."""
    sums, places = np.append(0.0, np.cumsum(series)), np.arange(series.size + 1)
    begins = np.arange(int(series.size - length + 1e-9) + 1)
    pieces = (np.interp(begins + length, places, sums) - sums[begins]) / length
    return float(np.square(pieces - series.mean()).mean())


def steady_from(values: Sequence[float] | FloatArray, counted_from: int = 0) -> int | None:
    """Index from which a series is steady; None if it isn't within half of what is counted from an index on.

    A beginning is cut off where that makes the standard error of the rest least (MSER), in batches of whole cycles of
    the series' second half, if the beginning differs from the rest by more than chance. Sources: White, Cobb and
    Spratt, "A comparison of five steady-state truncation heuristics", WSC 2000; Hoad, Robinson and Davies, "Automating
    warm-up length estimation", J. Oper. Res. Soc. 61, 2010 (batches; no answer where the cut is in the last half).
    """
    series = np.asarray(values, dtype=np.float64)
    most = counted_from + (series.size - counted_from) // 2
    if series.size - counted_from < LEAST_VALUES:
        return None
    rest = series[most:]
    length = batch_length(autocorrelation(detrended(rest)), max(rest.size // 2, 1))
    length = min(length, rest.size / LEAST_BATCHES)
    batches = whole_batch_means(series, length)
    first = series.size - length * batches.size
    cuts = range(int((most - first) / length) + 1)
    scores = [float(batches[cut:].var()) / (batches.size - cut) for cut in cuts]
    best = int(np.argmin(scores))
    if not _differs(batches[:best], batches[best:]):
        return 0
    return None if best > LATEST_CUT * cuts[-1] else math.ceil(first + best * length)


def _differs(head: FloatArray, tail: FloatArray) -> bool:
    """Whether a beginning has another mean than the rest, by a t test."""
    if not head.size:
        return False
    errors = float(tail.var(ddof=1)) * (1.0 / head.size + 1.0 / tail.size)
    difference = float(head.mean() - tail.mean())
    if difference**2 <= 1e-20 * float(tail.mean()) ** 2:
        return False
    return difference**2 > student_t_factor(tail.size - 1, 1.0 - BEGINNING_LEVEL) ** 2 * errors
