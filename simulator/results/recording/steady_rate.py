"""A run's rate: judged for steadiness first, then with an interval."""

from collections.abc import Sequence
from dataclasses import replace

from oltpsim.simulator.form import FloatArray
from oltpsim.simulator.results.recording.balance import Imbalance
from oltpsim.simulator.results.recording.statistics import batch_means, steady_from, without_interval
from oltpsim.simulator.results.result import Estimate

LEAST_BIAS = 0.01
"""share of a rate from which on an imbalance matters, or half of what chance does, if that is more"""


def rate_estimates(
    rates: FloatArray, step_s: float, warm_up_s: float, exact: float, imbalances: Sequence[Imbalance]
) -> tuple[Estimate, Estimate, float | None]:
    """The counted rate, the rate once it is steady, and from when that is, in seconds.

    `rates`: of each step from time 0, warm-up included; `exact`: the mean of what is counted, by counts.
    """
    first = min(int(warm_up_s // step_s), len(rates) - 1)
    steady = steady_from(rates, first)
    counted = batch_means(rates[first:], step_s)
    if not counted.is_steady:
        rate = without_interval(exact, counted.reason)
    elif steady is None:
        rate = without_interval(exact, "the rate isn't the same in both halves of what is counted")
    elif steady > first:
        rate = without_interval(exact, f"the rate is another one from {steady * step_s:,.4g} s on")
    else:
        shift = exact - counted.mean
        low, high = (end or 0.0 for end in (counted.low, counted.high))
        rate = _balanced(replace(counted, mean=exact, low=max(0.0, low + shift), high=high + shift), imbalances)
    if steady is None:
        return rate, without_interval(counted.mean, "the rate isn't steady before the end"), None
    later = _balanced(batch_means(rates[steady:], step_s), imbalances)
    if later.is_steady or not rate.is_steady:
        return rate, later, steady * step_s if later.is_steady else None
    return rate, rate, first * step_s


def _balanced(rate: Estimate, imbalances: Sequence[Imbalance]) -> Estimate:
    """A rate, without its interval if the largest imbalance may move it by more than chance."""
    if not rate.is_steady or not imbalances:
        return rate
    largest = max(imbalances)
    chance = rate.half_width / rate.mean if rate.mean > 0 else 0.0
    return without_interval(rate.mean, largest.reason) if largest.rate_fraction > max(LEAST_BIAS, chance / 2) else rate
