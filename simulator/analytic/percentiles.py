"""Percentiles of response times from their mean and variance. Approximate: only a simulation knows the distribution.

Each queue that a transaction goes to is taken for a random sum: a Poisson number of visits, each exponential. Whatever
doesn't wait is constant. Queues are independent, and their sum is taken to be gamma distributed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import NormalDist
from typing import NamedTuple


class Stage(NamedTuple):
    """Mean time in one kind of queue, in s, over all visits of a transaction to it."""

    residence_s: float
    visits: float


def variance_s2(stages: Iterable[Stage]) -> float:
    """Variance of the time in the stages: n visits of mean R / n, of mean square 2 (R / n)^2, make 2 R^2 / n."""
    return sum(2.0 * stage.residence_s**2 / stage.visits for stage in stages if stage.visits > 0)


def gamma_quantile(share: float, mean: float, variance: float) -> float:
    """The value that a gamma distributed time stays below with probability `share`; 0 < share < 1, mean >= 0.

    Approximation by Wilson and Hilferty ("The distribution of chi-square", PNAS 17, 1931): the cube root is normal.
    Far below the mean of a skewed distribution it is too low or negative; there x^k / Gamma(k + 1), which no gamma
    distribution of shape k exceeds and which is exact near 0, gives a floor. Never negative, rises with `share`;
    within 3 % for the percentiles from 50 on of shapes from 1 on.
    """
    if mean <= 0.0 or variance <= 0.0:
        return max(mean, 0.0)
    shape = mean * mean / variance
    scale = variance / mean
    root = 1.0 - 1.0 / (9.0 * shape) + NormalDist().inv_cdf(share) / (3.0 * math.sqrt(shape))
    floor = math.exp((math.log(share) + math.lgamma(shape + 1.0)) / shape)
    return max(mean * max(root, 0.0) ** 3, scale * floor)
