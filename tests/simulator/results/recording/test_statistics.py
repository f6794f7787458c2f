"""Intervals against processes whose spread is known: they cover the true mean as often as they say."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from simulator.errors import InternalError
from simulator.results import Estimate
from simulator.results.recording import batch_means, mean_of_replications, student_t_factor
from simulator.results.recording.statistics import steady_from

FloatArray = npt.NDArray[np.float64]
SERIES, LENGTH, MEAN = 1000, 2000, 50.0


def autoregressive(phi: float, length: int = LENGTH) -> FloatArray:
    """Stationary AR(1) series around MEAN, shape (SERIES, length)."""
    rng = np.random.default_rng(7)
    noise = rng.normal(size=(SERIES, length))
    series = np.empty_like(noise)
    series[:, 0] = noise[:, 0] / math.sqrt(1 - phi * phi)
    for i in range(1, length):
        series[:, i] = phi * series[:, i - 1] + noise[:, i]
    return series + MEAN


def coverage(series: FloatArray, interval: Callable[[FloatArray], Estimate]) -> float:
    """Share of the series whose interval holds the true mean."""
    estimates = [interval(values) for values in series]
    return sum(e.low <= MEAN <= e.high for e in estimates) / len(estimates)


def naive(values: FloatArray) -> Estimate:
    """The interval for independent values."""
    mean, half = float(values.mean()), 1.96 * float(values.std(ddof=1)) / math.sqrt(values.size)
    return Estimate(mean, mean - half, mean + half, 0.95, "naive")


@pytest.mark.parametrize("phi", [0.0, 0.8])
def test_batch_means_cover_as_often_as_they_say(phi: float) -> None:
    assert 0.92 < coverage(autoregressive(phi), batch_means) < 0.97


def test_an_interval_for_independent_values_covers_too_rarely() -> None:
    """AR(1) with 0.8: its spread is 3 times what independence says, so 95 % becomes 2 Phi(1.96 / 3) - 1 = 49 %."""
    found = coverage(autoregressive(0.8), naive)
    assert found == pytest.approx(2 * stats.norm.cdf(1.96 / 3) - 1, abs=0.05)
    assert found < 0.7


def test_batch_means_by_hand() -> None:
    """Four batches of two: means 1, 3, 2, 4; half the mean squared difference is 1.5."""
    found = batch_means([0.0, 2.0, 2.0, 4.0, 1.0, 3.0, 4.0, 4.0], batches=4)
    half = 3.182446 * math.sqrt(1.5 / 4)
    assert found.mean == 2.5
    assert (found.low, found.high) == pytest.approx((max(0.0, 2.5 - half), 2.5 + half), rel=1e-6)
    assert found.method == "batch means, 4 batches"


def test_a_ramp_is_no_noise() -> None:
    """A warm-up that counts moves the mean, not the interval; by a plain variance it is 8 times as wide."""
    rng = np.random.default_rng(1)
    ramp = np.linspace(90.0, 110.0, 2000) + rng.normal(size=2000)
    half = (batch_means(ramp).high - batch_means(ramp).low) / 2
    parts = ramp.reshape(20, 100).mean(axis=1)
    plain = student_t_factor(19) * float(parts.std(ddof=1)) / math.sqrt(20)
    assert half < plain / 4


@pytest.mark.parametrize("values", [[3.0], [3.0, 5.0, 4.0]])
def test_too_few_values_say_so(values: list[float]) -> None:
    found = batch_means(values)
    assert (found.low, found.high) == (0.0, 2 * found.mean)
    assert found.method == f"unknown: only {len(values)} values"
    with pytest.raises(InternalError, match="empty"):
        batch_means([])


def test_replications_cover_as_often_as_they_say() -> None:
    """Three runs: the t interval covers 95 % of the time; the normal one only 81 %."""
    runs = np.random.default_rng(2).normal(MEAN, 4.0, (4000, 3))
    assert coverage(runs, lambda values: mean_of_replications(values.tolist())) == pytest.approx(0.95, abs=0.015)
    assert coverage(runs, naive) < 0.85
    with pytest.raises(InternalError, match="two replications"):
        mean_of_replications([1.0])


def test_student_t_is_as_tabled() -> None:
    tabled = {1: 12.706, 2: 4.303, 5: 2.571, 19: 2.093, 1000: 1.962}
    assert {degrees: round(student_t_factor(degrees), 3) for degrees in tabled} == tabled


def test_transients_are_cut_off() -> None:
    """MSER finds where an exponential rise has died down, cuts little of a steady series, and never more than half."""
    rng = np.random.default_rng(3)
    steady = rng.normal(100.0, 2.0, 400)
    rising = steady - 80 * np.exp(-np.arange(400) / 20)
    assert 50 <= steady_from(rising) <= 150
    assert abs(rising[steady_from(rising) :].mean() - 100) < 0.5 < abs(rising.mean() - 100)
    assert steady_from(np.linspace(0, 1, 400)) <= 200
    assert [steady_from([]), steady_from([1.0]), steady_from([5.0] * 10)] == [0, 0, 0]
