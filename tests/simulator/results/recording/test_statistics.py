"""Intervals against processes whose long run is known: they hold it as often as they say, or there is none."""

import math
import re
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy import signal, stats

from oltpsim.simulator.errors import InternalError
from oltpsim.simulator.results import NOT_STEADY, Estimate
from oltpsim.simulator.results.recording import CONFIDENCE_LEVEL, batch_means, mean_of_replications, student_t_factor
from oltpsim.simulator.results.recording.statistics import (
    autocorrelation,
    batch_length,
    detrended,
    has_trend,
    is_correlated,
    steady_from,
    whole_batch_means,
)

FloatArray = npt.NDArray[np.float64]
Interval = Callable[[FloatArray], Estimate]
SERIES, MEAN = 300, 50.0
WIDEST = 1.5
"""times the width that is needed: half widths beyond it are the fault that the old batches of 1/20 had"""


def autoregressive(phi: float, length: int, count: int = SERIES) -> FloatArray:
    """Stationary AR(1) series around MEAN with standard deviation 1, shape (count, length)."""
    noise = np.random.default_rng(7).normal(size=(count, length + 500))
    series: FloatArray = signal.lfilter([1.0], [1.0, -phi], noise, axis=1)[:, 500:]
    return MEAN + series * math.sqrt(1.0 - phi * phi)


def bursts(length: int, cycle: float, share: float, jitter: float = 0.0, phase: float | None = None) -> FloatArray:
    """Rates of 70 and 30 by turns, the lower one for a share of each cycle, with mean 70 - 40 share; one a second.

    The first cycle begins anywhere, or at a `phase`; `jitter`: standard deviation of a cycle. Noise of 2 a second.
    """
    rng, fine = np.random.default_rng(11), 10
    at = (np.arange(length * fine) + 0.5) / fine
    found = np.empty((SERIES, length))
    for row in found:
        cycles = cycle + jitter * rng.normal(size=int(length / cycle) + 8)
        begins = np.cumsum(cycles) - 3.0 * cycle - (rng.uniform(0, cycle) if phase is None else phase)
        since = at - begins[np.maximum(np.searchsorted(begins, at) - 1, 0)]
        row[:] = np.where(since < share * cycle, 30.0, 70.0).reshape(length, fine).mean(axis=1)
    return found + 2.0 * rng.normal(size=found.shape)


def twenty_batches(values: FloatArray) -> Estimate:
    """The interval that was printed before: 20 batches, whatever the cycles; its fault is shown beside."""
    parts = np.array([part.mean() for part in np.array_split(values, 20)])
    half = student_t_factor(19) * math.sqrt(float(np.square(np.diff(parts)).mean()) / 40)
    return Estimate(float(values.mean()), values.mean() - half, values.mean() + half, CONFIDENCE_LEVEL, "old")


def judged(series: FloatArray, mean: float, interval: Interval = batch_means) -> tuple[float, float, float]:
    """Share of series with an interval; of these the share that hold the mean; mean width by the needed one."""
    estimates = [interval(values) for values in series]
    steady = [each for each in estimates if each.low is not None and each.high is not None]
    if not steady:
        return 0.0, math.nan, math.nan
    held = [(each.low or 0.0) <= mean <= (each.high or 0.0) for each in steady]
    needed = float(np.quantile(np.abs(series.mean(axis=1) - mean), CONFIDENCE_LEVEL))
    return len(steady) / len(estimates), float(np.mean(held)), float(np.mean([e.half_width for e in steady])) / needed


@pytest.mark.parametrize(("phi", "length"), [(0.0, 15), (0.0, 60), (0.0, 360), (0.8, 1000)])
def test_intervals_hold_the_mean_as_often_as_they_say(phi: float, length: int) -> None:
    shown, held, width = judged(autoregressive(phi, length, 1000), MEAN)
    assert shown > 0.8
    assert 0.87 < held < 0.93
    assert width < 1.25


def test_what_is_correlated_for_a_tenth_of_the_run_has_mostly_no_interval() -> None:
    """AR(1) with 0.98 over 360 values is correlated over 50 of them; the old interval held 34 % of the means."""
    series = autoregressive(0.98, 360)
    assert judged(series, MEAN)[0] < 0.2
    shown, held, _ = judged(series, MEAN, twenty_batches)
    assert shown == 1.0
    assert held < 0.4


@pytest.mark.parametrize(("length", "widest"), [(60, 1.7), (120, WIDEST), (300, WIDEST)])
@pytest.mark.parametrize("jitter", [0.0, 1.0])
def test_write_back_every_14_s(length: int, widest: float, jitter: float) -> None:
    """Bursts as write-back makes them: batches are whole cycles of them.

    In 60 s there are four: Student's t with three degrees is 1.43 times the normal quantile.
    """
    shown, held, width = judged(bursts(length, 14.3, 0.3, jitter), 70 - 40 * 0.3)
    assert shown > 0.75
    assert held > 0.86
    assert width < widest


@pytest.mark.parametrize(("length", "times"), [(60, 3.0), (120, 5.0)])
def test_batches_of_a_part_of_a_cycle_are_several_times_too_wide(length: int, times: float) -> None:
    assert judged(bursts(length, 14.3, 0.3), 58.0, twenty_batches)[2] > times


def test_checkpoints() -> None:
    """Six in a run: batches of one each. Fewer than four: no interval; before, one twice as wide as needed."""
    shown, held, width = judged(bursts(360, 60.0, 0.2), 62.0)
    assert shown > 0.85
    assert held > 0.86
    assert width < WIDEST
    few = bursts(140, 60.0, 0.2)
    assert judged(few, 62.0)[0] < 0.05
    assert judged(few, 62.0, twenty_batches)[2] > 1.9


def test_a_cycle_is_found_in_fractions_of_a_step() -> None:
    series = bursts(360, 14.3, 0.3)[0]
    length = batch_length(autocorrelation(detrended(series)), 25)
    assert length / round(length / 14.3) == pytest.approx(14.3, abs=0.1)
    assert whole_batch_means(np.arange(10.0), 2.5).tolist() == pytest.approx([0.8, 3.2, 5.8, 8.2])
    assert whole_batch_means(np.arange(10.0), 4.0).tolist() == pytest.approx([3.5, 7.5])


@pytest.mark.parametrize("rise", [0.5, 1.0])
def test_a_ramp_has_no_interval(rise: float) -> None:
    """With bursts on it, too. Before, it had one in every case, which held the end's rate hardly ever."""
    ramp = 1.0 - rise + rise * np.linspace(0.0, 1.0, 300)
    assert judged(bursts(300, 14.3, 0.3) * ramp, 58.0)[0] < 0.05
    shown, held, _ = judged(bursts(300, 14.3, 0.3) * ramp, 58.0, twenty_batches)
    assert shown == 1.0
    assert held < 0.1


def test_reasons() -> None:
    found = batch_means(np.arange(100.0) + np.random.default_rng(1).normal(size=100))
    assert (found.low, found.high, found.is_steady, found.half_width) == (None, None, False, math.inf)
    assert found.method == f"{NOT_STEADY}: it rises within what is counted"
    assert found.reason == "it rises within what is counted"
    assert "falls" in batch_means(-np.arange(100.0)).method
    assert batch_means([3.0, 5.0, 4.0]).reason == "too short to tell, 3 steps of the series where 10 are needed"
    swings = batch_means(np.sin(np.arange(100) * math.tau / 40) + 5.0, step_s=10.0)
    assert re.fullmatch(r"fewer than 4 swings of 4[01]0 s are within the 1,000 s", swings.reason)
    with pytest.raises(InternalError, match="empty"):
        batch_means([])


@pytest.mark.parametrize("value", [0.0, 3.0, 1e9 / 3])
def test_a_constant_is_steady_and_certain(value: float) -> None:
    found = batch_means([value] * 60)
    assert found.low is not None
    assert found.low == pytest.approx(value)
    assert found.half_width == pytest.approx(0.0, abs=1e-9 * value)
    assert steady_from([value] * 60) == 0


def test_batch_means_by_hand() -> None:
    """Ten values, a batch each: their variance over ten, nine degrees of freedom."""
    values = [4.0, 6.0, 5.0, 3.0, 7.0, 5.0, 6.0, 4.0, 5.0, 5.0]
    found = batch_means(values)
    half = stats.t.ppf(0.95, 9) * math.sqrt(float(np.var(values, ddof=1)) / 10)
    assert (found.low, found.high) == pytest.approx((5.0 - half, 5.0 + half), rel=1e-6)
    assert (found.confidence, found.method) == (0.9, "batch means, 10 of 1 s")


@pytest.mark.parametrize("count", [4, 6, 8, 20])
def test_tests_of_batches_err_as_often_as_they_say(count: int) -> None:
    batches = np.random.default_rng(5).normal(size=(2000, count))
    assert np.mean([has_trend(each) for each in batches]) == pytest.approx(0.05, abs=0.015)
    assert np.mean([is_correlated(each) for each in batches]) < 0.05


def test_replications_cover_as_often_as_they_say() -> None:
    """Three runs: the t interval holds the mean 90 % of the time; the normal one less than 80 %."""
    runs = np.random.default_rng(2).normal(MEAN, 4.0, (4000, 3))
    assert judged(runs, MEAN, lambda values: mean_of_replications(values.tolist()))[1] == pytest.approx(0.9, abs=0.015)

    def naive(values: FloatArray) -> Estimate:
        mean, half = float(values.mean()), 1.645 * float(values.std(ddof=1)) / math.sqrt(values.size)
        return Estimate(mean, mean - half, mean + half, 0.9, "naive")

    assert judged(runs, MEAN, naive)[1] < 0.8
    with pytest.raises(InternalError, match="two replications"):
        mean_of_replications([1.0])


def test_student_t_is_as_tabled() -> None:
    tabled = {1: 12.706, 2: 4.303, 5: 2.571, 19: 2.093, 1000: 1.962}
    assert {degrees: round(student_t_factor(degrees, 0.95), 3) for degrees in tabled} == tabled
    assert student_t_factor(7) == pytest.approx(stats.t.ppf(0.95, 7))


def test_transients_are_cut_off() -> None:
    """Where an exponential rise has died down; nothing of a steady series, but for what chance makes of 1 %."""
    rng = np.random.default_rng(3)
    noise = rng.normal(100.0, 2.0, (200, 400))
    rising = noise - 80 * np.exp(-np.arange(400) / 20)
    cuts = [steady_from(each) or 0 for each in rising]
    assert 50 <= min(cuts) <= max(cuts) <= 150
    assert np.mean([steady_from(each) == 0 for each in noise]) > 0.93
    assert [steady_from([]), steady_from([1.0]), steady_from([5.0] * 10)] == [None, None, 0]


def mser_of_steps(series: FloatArray) -> int:
    """The cut as it was found before: of single steps, however far apart bursts are."""
    return int(np.argmin([series[cut:].var() / (series.size - cut) for cut in range(series.size // 2 + 1)]))


def test_a_ramp_of_600_s_with_bursts_every_14_s() -> None:
    """The worst case of the old cut: steady after 0 s, as bursts hide the ramp from single steps."""
    ramp = 0.7 + 0.3 * np.minimum(np.arange(1800) / 600, 1.0)
    series = (bursts(1800, 14.3, 0.3) * ramp)[:60]
    cuts = [steady_from(each) for each in series]
    found = np.array([cut for cut in cuts if cut is not None])
    assert len(found) > 45
    assert 400 < np.quantile(found, 0.1) <= np.quantile(found, 0.9) < 760
    assert np.median([mser_of_steps(each) for each in series]) < 400


def test_what_gets_warm_until_the_end_is_never_steady() -> None:
    """A ramp that ends at 90 % of the run, and one that doesn't end: no cut, or a rest that has no interval."""
    for until in (330, 400):
        ramp = np.minimum(np.arange(360) / until, 1.0)
        for each in bursts(360, 14.3, 0.3)[:100] * ramp:
            cut = steady_from(each)
            assert cut is None or not batch_means(each[cut:]).is_steady


def test_a_long_warm_up_may_be_all_transient() -> None:
    """Half of what is counted may be cut off beside the warm-up, not half of everything."""
    ramp = np.minimum(np.arange(400) / 250, 1.0) * 100.0 + np.random.default_rng(4).normal(size=400)
    assert steady_from(ramp, 200) == pytest.approx(250, abs=12)
    assert steady_from(ramp) is None
