"""Percentiles of response times from their mean and variance. Approximate: only a simulation knows the distribution.

Each queue that a transaction goes to is taken for a random sum: a Poisson number of visits, each exponential. Whatever
doesn't wait is constant. Queues are independent, and their sum is taken to be gamma distributed.
"""

import math
from collections.abc import Iterable
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from simulator.analytic.solution import Solution
from simulator.analytic.workload import Workload
from simulator.form import FloatArray


class Stage(NamedTuple):
    """Mean time in one kind of queue, in s, over all visits of a transaction to it, by configuration."""

    residence_s: FloatArray
    visits: FloatArray


def response_quantile_s(w: Workload, solution: Solution, number: int, share: float) -> FloatArray:
    """The time that transactions of class `number` end within with probability `share`, (configurations,).

    The wait for a connection is not in it.
    """
    stages = stages_of(w, solution, number)
    return gamma_quantile(share, solution.total_s[:, number], variance_s2(stages))


def stages_of(w: Workload, solution: Solution, number: int) -> list[Stage]:
    """Queues that a class goes to, with its visits of each; only those to locks that have to wait count."""
    r, one = solution, np.ones(len(solution.rate))
    waits = 0.0 * one
    for k, lock in enumerate(w.locks):
        if lock.transaction_class == number:
            waits = waits + lock.acquisitions * r.lock_wait[:, k]
    stages = [
        (r.cpu_queue_s, r.bursts[:, number]),
        (r.section_queue_s, float(w.entries[number].sum()) * r.section_busy),
        (r.lock_s, waits),
        (r.read_s, r.disk_reads[:, number]),
        (r.victim_s, r.victims[:, number]),
        (r.fault_s, r.faults[:, number]),
        (r.log_s, float(w.commits[number]) * one),
        (r.station_s, float(np.sum(w.visits[number])) * one),
    ]
    return [Stage(times[:, number], visits) for times, visits in stages]


def variance_s2(stages: Iterable[Stage]) -> FloatArray:
    """Variance of the time in the stages: n visits of mean R / n, of mean square 2 (R / n)^2, make 2 R^2 / n."""
    total = np.zeros(1)
    for stage in stages:
        there = stage.visits > 0
        total = total + np.where(there, 2.0 * stage.residence_s**2 / np.where(there, stage.visits, 1.0), 0.0)
    return total


def gamma_quantile(share: float, mean: FloatArray, variance: FloatArray) -> FloatArray:
    """The value that a gamma distributed time stays below with probability `share`; 0 < share < 1, mean >= 0.

    Approximation by Wilson and Hilferty ("The distribution of chi-square", PNAS 17, 1931): the cube root is normal.
    Far below the mean of a skewed distribution it is too low or negative; there x^k / Gamma(k + 1), which no gamma
    distribution of shape k exceeds and which is exact near 0, gives a floor. Never negative, rises with `share`;
    within 3 % for the percentiles from 50 on of shapes from 1 on.
    """
    mean, variance = np.broadcast_arrays(mean, variance)
    spread = (mean > 0.0) & (variance > 0.0)
    mean_s, square = np.where(spread, mean, 1.0), np.where(spread, variance, 1.0)
    shape = mean_s * mean_s / square
    root = 1.0 - 1.0 / (9.0 * shape) + NormalDist().inv_cdf(share) / (3.0 * np.sqrt(shape))
    log_gamma = np.array([math.lgamma(each + 1.0) for each in shape.tolist()])
    floor = square / mean_s * np.exp((math.log(share) + log_gamma) / shape)
    found = np.maximum(mean_s * np.maximum(root, 0.0) ** 3, floor)
    return np.where(spread, found, np.maximum(mean, 0.0))
