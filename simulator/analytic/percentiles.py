"""Percentiles of response times from their mean and variance. Approximate: only a simulation knows the distribution.

A transaction goes through stages, independent of each other; their sum is taken to be gamma distributed. A stage of
which a transaction has so many visits by chance is a random sum: a Poisson number of visits. In a closed system those
who wait in one stage are not in others: where most clients wait in one queue its length hardly varies.
"""

import math
from collections.abc import Iterable
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from simulator.analytic.parameters import Parameters
from simulator.analytic.solution import Solution
from simulator.analytic.workload import Workload
from simulator.form import FloatArray

ARM_VARIATION, FLUSH_VARIATION, PATH_VARIATION = 0.3, 0.1, 0.06
"""squared coefficients of variation: of an arm's service, of a commit's wait for the log's flushes, of the CPU time of
the transactions of one class (assumptions)"""


class Stage(NamedTuple):
    """Mean time in one stage over all visits of a transaction, s, and its variance, s2; by machine."""

    residence_s: FloatArray
    variance_s2: FloatArray


def response_quantile_s(w: Workload, p: Parameters, solution: Solution, number: int, share: float) -> FloatArray:
    """The time that transactions of class `number` end within with probability `share`, (machines,).

    The wait for a connection is not in it.
    """
    stages = stages_of(w, p, solution, number)
    return gamma_quantile(share, solution.total_s[:, number], variance_s2(stages))


def stages_of(w: Workload, p: Parameters, solution: Solution, number: int) -> list[Stage]:
    """Stages of a class; of visits to locks only those count that have to wait."""
    r, one = solution, np.ones(len(solution.rate))
    waits = 0.0 * one
    for k, lock in enumerate(w.locks):
        if lock.transaction_class == number:
            waits = waits + lock.acquisitions * r.lock_wait[:, k]
    flash = p.flash > 0
    alone_s = np.where(flash, p.read_s[:, 0], 0.0)
    queued = np.maximum(r.disk_read_s - alone_s, 0.0) / np.maximum(r.disk_read_s, 1e-300)
    of_disk = np.where(flash, queued**2, np.maximum(ARM_VARIATION, queued**2))

    def stage(times_s: FloatArray, visits: FloatArray, variation: FloatArray, *, by_chance: bool = True) -> Stage:
        """`variation`: squared, of one visit; `by_chance`: whether the number of visits varies, as in queues.

        In a closed system a queue of q clients varies as the N - q elsewhere do, about N of them in its square.
        """
        mean_s = times_s[:, number]
        waiting = r.rate * (times_s @ w.mix)
        closed = np.minimum(1.0, p.clients / np.maximum(waiting, 1e-9) ** 2)
        even = np.where((p.arrivals_per_s > 0) | (not by_chance), 1.0, closed)
        return Stage(mean_s, even * sum_variance_s2(mean_s, visits, variation, by_chance=by_chance))

    return [
        stage(r.cpu_s + r.section_s, one, PATH_VARIATION * one, by_chance=False),
        stage(r.cpu_queue_s, r.bursts[:, number], one),
        stage(r.section_queue_s, float(w.entries[number].sum()) * r.section_busy, one),
        stage(r.lock_s, waits, one),
        stage(r.read_s, r.disk_reads[:, number], of_disk),
        stage(r.victim_s, r.victims[:, number], of_disk),
        stage(r.fault_s, r.faults[:, number], of_disk),
        stage(r.log_s, float(w.commits[number]) * one, FLUSH_VARIATION * one, by_chance=False),
        stage(r.station_s, float(np.sum(w.visits[number])) * one, one),
    ]


def sum_variance_s2(mean_s: FloatArray, visits: FloatArray, variation: FloatArray, *, by_chance: bool) -> FloatArray:
    """Variance of the sum of visits, of mean `mean_s`, which have this squared coefficient of variation each.

    `visits`: mean of a Poisson number, or with `by_chance` false their number.
    """
    there = visits > 0
    each = np.where(there, mean_s**2 / np.where(there, visits, 1.0), 0.0)
    return np.asarray(each * (variation + float(by_chance)))


def variance_s2(stages: Iterable[Stage]) -> FloatArray:
    """Variance of the time in all stages."""
    total = np.zeros(1)
    for stage in stages:
        total = total + stage.variance_s2
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
