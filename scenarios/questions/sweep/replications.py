"""How many replications a point gets: a fixed number, or as many as make the interval narrow enough.

The number depends on the rates of the seeds in their order alone, never on which run was finished first, nor on what a
store holds beyond them. It grows by rounds, each as long as the last interval says is needed, and at most doubles: few
looks at the interval keep its coverage near what it claims (Law, Simulation Modeling and Analysis, section 9.4.1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from simulator.errors import InputError
from simulator.results.recording import mean_of_replications
from simulator.results.result import Estimate

LEAST_UNTIL = 5
"""Fewer rates may lie close together by chance, and would stop the replications too early."""
MOST_UNTIL = 100


@dataclass(frozen=True)
class ReplicationRule:
    """`most` replications; with `until_fraction` fewer, once half the interval is at most this share of the mean."""

    most: int = 1
    until_fraction: float | None = None

    def __post_init__(self) -> None:
        if self.until_fraction is not None and self.most < LEAST_UNTIL:
            raise InputError(
                f"--replications: got {self.most}; with --until it is the most that are run, and an interval is "
                f"trusted from {LEAST_UNTIL} on: give {LEAST_UNTIL} or more, or leave it out for {MOST_UNTIL}"
            )

    @property
    def first(self) -> int:
        """How many are run before the first look."""
        return self.most if self.until_fraction is None else LEAST_UNTIL

    def wanted(self, rates: Sequence[float]) -> int:
        """How many replications there should be, given the rates of the first ones; their number if they suffice."""
        count = len(rates)
        if self.until_fraction is None or count >= self.most:
            return count
        share = half_width(interval(rates))
        if share <= self.until_fraction:
            return count
        needed = min(2 * count, max(count + 1, math.ceil(min(count * (share / self.until_fraction) ** 2, self.most))))
        return min(self.most, needed)

    def shortfall(self, rates: Sequence[float]) -> str:
        """What to warn of when the most replications left the interval too wide; empty if they didn't."""
        if self.until_fraction is None or half_width(interval(rates)) <= self.until_fraction:
            return ""
        return (
            f"after {len(rates)} replications the interval is still ±{half_width(interval(rates)):.2%} of the rate, "
            f"wider than ±{100 * self.until_fraction:.3g}%: allow more by --replications, or take longer runs"
        )


def interval(rates: Sequence[float]) -> Estimate:
    """The mean of the rates of replications, with its t interval."""
    return mean_of_replications(list(rates))


def half_width(estimate: Estimate) -> float:
    """Half the width of an interval as a share of the mean; 0 if all rates are 0."""
    half = estimate.high - estimate.mean
    return 0.0 if half == 0 else half / estimate.mean if estimate.mean > 0 else math.inf
