"""Intervals of percentiles: as often right as they say, wider where times come in bursts, none of too few."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator.analytic import simulate as calculate
from oltpsim.simulator.form import FloatArray, IntArray
from oltpsim.simulator.kernel import simulate
from oltpsim.simulator.results import ClassRecorder, PercentileInterval, ResponseCounts, read_result, result_json
from oltpsim.simulator.results.recorder import HISTOGRAM_BUCKETS, bucket_ends_ns, histogram_bucket, quantile_bucket
from oltpsim.simulator.results.recording.percentiles import SHARES, percentile_interval, percentile_intervals
from oltpsim.simulator.results.result import TOO_FEW

TINY = Path(__file__).resolve().parents[3] / "scenarios" / "tiny.yaml"
FLASH = (
    "machine.disks={count: 1, disk: {kind: flash, name: small SSD, capacity_gib: 70, read_latency_us: 150, "
    "write_latency_us: 60, parallel_requests: 8, source: 'assumption: for tests'}}"
)
STEPS, PER_STEP = 180, 40
CYCLE, BURST, SLOWER = 14.3, 3, 3.0
MEDIAN_NS, SPREAD = 20e6, 0.6
RUNS = 150
NORMAL_95 = 1.645
"""quantile 0.95 of the normal distribution: half of a 90 % interval in standard deviations"""
BUCKET = math.log(65 / 64)
"""width of a histogram's bucket at the most; both ends of an interval are those of buckets"""
MOST_WIDTH = 1.6
"""of an interval over the spread of percentiles from run to run: few batches (Student's t), a rank more on each side"""


def times_of(rng: np.random.Generator, slower: float, steps: int, per_step: float) -> tuple[IntArray, FloatArray]:
    """Steps in which transactions end, and their times, ns: for 3 of every 14.3 steps so much slower."""
    ended = rng.poisson(per_step, steps)
    in_burst = (np.arange(steps) + rng.random() * CYCLE) % CYCLE < BURST
    step = np.repeat(np.arange(steps), ended)
    return step, np.where(in_burst, slower, 1.0)[step] * rng.lognormal(0.0, SPREAD, step.size) * MEDIAN_NS


def buckets_of(times_ns: FloatArray) -> IntArray:
    """As `histogram_bucket`, of many."""
    whole = times_ns.astype(np.int64)
    shift = np.maximum(np.floor(np.log2(whole)).astype(np.int64) - 6, 0)
    return shift * 64 + (whole >> shift)


def interval_of(share: float, step: IntArray, times_ns: FloatArray, steps: int = STEPS) -> PercentileInterval:
    buckets = buckets_of(times_ns)
    histogram = np.bincount(buckets, minlength=HISTOGRAM_BUCKETS)
    inside = buckets <= quantile_bucket(histogram, share)
    ended, within = (np.bincount(step[some], minlength=steps) for some in (np.full(len(step), True), inside))
    return percentile_interval(share, histogram, ended.astype(np.float64), within.astype(np.float64))


def as_if_independent(share: float, times_ns: FloatArray) -> PercentileInterval:
    """The twin: binomial ranks of all times, whatever they share."""
    ranks = scipy.stats.binom.ppf((0.05, 0.95), times_ns.size, share).astype(int)
    low_ns, high_ns = np.sort(times_ns)[[ranks[0], min(ranks[1] + 1, times_ns.size - 1)]]
    return PercentileInterval(low_ns / 1e9, high_ns / 1e9, "")


def true_s(share: float, slower: float) -> float:
    """Of the mixture of usual and slower times, by bisection."""
    part, low, high = BURST / CYCLE, math.log(MEDIAN_NS) - 9.0, math.log(MEDIAN_NS) + 9.0
    for _ in range(60):
        middle = (low + high) / 2.0
        usual = (middle - math.log(MEDIAN_NS)) / SPREAD
        late = usual - math.log(slower) / SPREAD
        found = (1.0 - part) * scipy.special.ndtr(usual) + part * scipy.special.ndtr(late)
        low, high = (middle, high) if found < share else (low, middle)
    return math.exp(low) / 1e9


def held(found: list[PercentileInterval], true: float) -> float:
    """Share of the intervals that hold the truth, of those that there are: at least a half."""
    ends = [(each.low_s, each.high_s) for each in found if each.low_s is not None and each.high_s is not None]
    assert len(ends) >= len(found) / 2
    return sum(low <= true <= high for low, high in ends) / len(ends)


def is_narrow(found: list[PercentileInterval], percentiles_s: list[float]) -> bool:
    """Whether intervals are little wider than what their percentiles differ by from run to run, on a log scale."""
    ends = [(each.low_s, each.high_s) for each in found if each.low_s is not None and each.high_s is not None]
    half_width = float(np.mean([math.log(high / low) / 2.0 for low, high in ends]))
    return half_width <= MOST_WIDTH * NORMAL_95 * float(np.std(np.log(percentiles_s), ddof=1)) + BUCKET


@pytest.mark.parametrize("share", [0.5, 0.95, 0.99])
@pytest.mark.parametrize("slower", [1.0, SLOWER])
def test_intervals_hold_as_often_as_they_say_and_are_no_wider_than_that_needs(slower: float, share: float) -> None:
    """The twin: intervals twice as wide hold still more often, which the first assertion can't find wrong."""
    rng = np.random.default_rng(1)
    runs = [times_of(rng, slower, STEPS, PER_STEP) for _ in range(RUNS)]
    found = [interval_of(share, *run) for run in runs]
    percentiles_s = [float(np.quantile(times_ns, share)) / 1e9 for _, times_ns in runs]
    assert held(found, true_s(share, slower)) >= 0.87
    assert is_narrow(found, percentiles_s)
    twice = [
        replace(each, low_s=each.low_s * math.sqrt(each.low_s / each.high_s), high_s=each.high_s**1.5 / each.low_s**0.5)
        for each in found
        if each.low_s is not None and each.high_s is not None
    ]
    assert held(twice, true_s(share, slower)) >= 0.97
    assert not is_narrow(twice, percentiles_s)


def test_as_if_independent_they_hold_less_often_where_times_come_in_bursts() -> None:
    """Half a burst more or less in a short run; without bursts the same twin holds."""
    rng = np.random.default_rng(1)
    steps = 60
    runs = [times_of(rng, SLOWER, steps, 4 * PER_STEP) for _ in range(RUNS)]
    true = true_s(0.95, SLOWER)
    assert held([as_if_independent(0.95, times) for _, times in runs], true) < 0.75
    assert held([interval_of(0.95, *run, steps) for run in runs], true) >= 0.87
    even = [times_of(rng, 1.0, steps, 4 * PER_STEP)[1] for _ in range(RUNS)]
    assert held([as_if_independent(0.95, times) for times in even], true_s(0.95, 1.0)) >= 0.85


@pytest.mark.parametrize(
    ("share", "count", "needed"), [(0.999, 1000, "2,995"), (0.99, 298, "299"), (0.95, 58, "59"), (0.5, 4, "5")]
)
def test_none_of_too_few(share: float, count: int, needed: str) -> None:
    """The highest time is beyond the percentile with 95 % if share^count is at most 5 %; one more is enough."""
    times_ns = np.full(count, MEDIAN_NS)
    found = interval_of(share, np.arange(count) % 20, times_ns, 20)
    assert found == PercentileInterval(None, None, f"{TOO_FEW}: {count:,}, where {needed} are needed at least")
    enough = int(needed.replace(",", ""))
    assert interval_of(share, np.arange(enough) % 20, np.full(enough, MEDIAN_NS), 20).low_s is not None


def test_many_in_few_bursts_are_few() -> None:
    """In two steps of 20 all are slow: of 2,000 the percentile 92 is no better known than by a few steps."""
    step, rng = np.repeat(np.arange(20), 100), np.random.default_rng(1)
    times_ns = np.where(np.isin(step, (2, 9)), 10.0, 1.0) * rng.lognormal(0.0, 0.1, 2000) * MEDIAN_NS
    reason = interval_of(0.92, step, times_ns, 20).reason
    assert reason.startswith(f"{TOO_FEW}: 2,000, which come in bursts and are worth 23 independent ones")
    assert interval_of(0.92, rng.permutation(step), times_ns, 20).low_s is not None


def test_what_grows_within_the_run_has_none() -> None:
    """The tail grows while the median doesn't: the percentile is no one number."""
    rng = np.random.default_rng(1)
    step = np.repeat(np.arange(STEPS), PER_STEP)
    slow = rng.random(step.size) < 0.2 * step / STEPS
    times_ns = np.where(slow, 10.0, 1.0) * rng.lognormal(0.0, 0.1, step.size) * MEDIAN_NS
    assert interval_of(0.95, step, times_ns).reason.startswith("not steady: ")
    assert interval_of(0.95, rng.permutation(step), times_ns).low_s is not None


def test_ends_are_the_buckets_of_the_binomial_ranks() -> None:
    """Of 1,000 equal batches nothing but the ranks decides: 475th to 527th of the median, as tabled."""
    times_ns = np.arange(1, 1001) * 1e6
    step = np.random.default_rng(1).permutation(np.arange(1000) % 100)
    histogram = np.bincount(buckets_of(times_ns), minlength=HISTOGRAM_BUCKETS)
    ended = np.bincount(step, minlength=100).astype(np.float64)
    found = percentile_interval(0.5, histogram, ended, ended / 2.0)  # just half of each step's are within
    ends_s = (
        bucket_ends_ns(histogram_bucket(475_000_000))[0] / 1e9,
        bucket_ends_ns(histogram_bucket(527_000_000))[1] / 1e9,
    )
    assert (found.low_s, found.high_s) == ends_s


@pytest.mark.parametrize("time_ns", [0, 1, 63, 64, 127, 128, 129, 1_000_003, 5_000_000_000])
def test_a_bucket_holds_its_times_and_ends_where_the_next_begins(time_ns: int) -> None:
    bucket = histogram_bucket(time_ns)
    low, high = bucket_ends_ns(bucket)
    assert low <= time_ns < high
    assert bucket_ends_ns(bucket + 1)[0] == high
    assert (histogram_bucket(low), histogram_bucket(high - 1)) == (bucket, bucket)


def test_counts_by_class_and_bucket_are_those_of_the_histograms() -> None:
    histograms = np.random.default_rng(1).poisson(0.01, (3, HISTOGRAM_BUCKETS)).astype(np.int64)
    counts, buckets = ResponseCounts(histograms), np.array([0, 100, 1500, HISTOGRAM_BUCKETS - 1])
    for number in range(3):
        assert counts.within(number, buckets).tolist() == np.cumsum(histograms[number])[buckets].tolist()
    assert counts == ResponseCounts(histograms.copy())
    assert counts != ResponseCounts(histograms[::-1])


def test_a_class_that_never_ended_has_no_interval() -> None:
    seen = [ResponseCounts(np.zeros((1, HISTOGRAM_BUCKETS), dtype=np.int64))] * 20
    found = percentile_intervals(ClassRecorder(), 0, seen, 1.0)
    assert {each.reason.partition(":")[0] for each in vars(found).values()} == {TOO_FEW}


def test_a_run_and_a_calculation_have_them_in_their_results_and_an_unsteady_run_has_none() -> None:
    system = build(load_scenario(TINY, ["interval={start: warm, warm_up_s: 5, duration_s: 60}", FLASH]))
    result = simulate(system, 1)
    assert result.rate_per_min.is_steady
    main = result.classes[0]
    assert main.intervals is not None
    for name, share in zip(("p50", "p90", "p95", "p99", "p999"), SHARES, strict=True):
        time_s, interval = getattr(main, f"{name}_s"), getattr(main.intervals, name)
        assert interval.low_s < time_s < interval.high_s, share
    assert read_result(result_json(result)) == result
    older = replace(main, intervals=None)
    assert '"intervals"' not in result_json(replace(result, classes=[older] * 5))
    calculated = calculate(system, 1)
    assert calculated.classes[0].intervals is not None, "the model error's"
    assert read_result(result_json(calculated)) == calculated
    cold = build(load_scenario(TINY, ["interval={start: cold, warm_up_s: 0, duration_s: 20}"]))
    unsteady = simulate(cold, 1)
    assert not unsteady.rate_per_min.is_steady
    assert all(one.intervals is None for one in unsteady.classes)
