"""Percentiles of response times from a solved machine's means, by class.

A transaction's time is a sum of stages, independent of each other. Whether it waits for a row's lock, how often it
waits for a disk (a Poisson number), and whether a heap or a batch of writes holds it up then, are known with their
chances: for each combination the sum is taken to be gamma distributed, so that all together it is a mixture. Clients
of a closed system who wait in one queue aren't in another: the queue's length varies as the number of those who are
elsewhere does, which is Gaussian with the variance (1 + c2) / 2 of their number, c2 that of services (diffusion limit
of the machine repairman: Iglehart, J. Appl. Prob. 2, 1965).
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from oltpsim.simulator.analytic.equations import Solution
from oltpsim.simulator.analytic.reading import Parameters, Workload
from oltpsim.simulator.form import FloatArray, IntArray, weighted_sum

ARM_VARIATION, FLUSH_VARIATION, PATH_VARIATION, BURST_VARIATION, PAUSE_VARIATION = 0.3, 0.1, 0.06, 0.3, 0.4
"""squared coefficients of variation: of an arm's service, of a commit's wait for the log's flushes, of the CPU time of
a class's transactions, of their bursts beyond that, of what a pause or a lock takes who meets it (assumptions)"""
COUNTED = 4
"""numbers of waits for disks that are told apart, from none on; more are taken together"""
STEPS, TAIL = 18, 40.0
"""halvings of percentiles' bounds on a logarithmic scale; the upper bound in standard deviations"""
LEAST_VARIATION, LEAST_CHANCE = 1e-6, 1e-9
TINY = 1e-150


@dataclass(frozen=True)
class Mixture:
    """Gamma distributions with their chances, which sum to 1; (machines, classes, terms)."""

    chance: FloatArray
    mean_s: FloatArray
    variance_s2: FloatArray

    def below(self, times_s: FloatArray) -> FloatArray:
        """Chance of ending within each time, (machines, classes, times).

        The cube root of a gamma distributed time is taken to be normal (Wilson and Hilferty, PNAS 17, 1931): within
        3 % for the percentiles from 50 on of shapes from 1 on.
        """
        mean_s, centre, sd = self._roots
        within = _normal_below((np.cbrt(times_s[..., None] / mean_s) - centre) / sd)
        return np.asarray((self.chance[..., None, :] * within).sum(axis=-1))

    @cached_property
    def _roots(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Means of the terms; of the cube roots of times by these, mean and standard deviation."""
        mean_s = np.maximum(self.mean_s, TINY)[..., None, :]
        sd = np.sqrt(np.maximum(self.variance_s2[..., None, :] / mean_s**2, LEAST_VARIATION)) / 3.0
        return mean_s, 1.0 - sd**2, sd

    def quantiles(self, shares: FloatArray) -> FloatArray:
        """The times that these shares end within, (machines, classes, shares)."""
        there = self.chance > LEAST_CHANCE
        most = np.where(there, self.mean_s + TAIL * np.sqrt(self.variance_s2), 0.0).max(axis=-1)
        low = np.where(there, self.mean_s, np.inf).min(axis=-1) * 1e-3
        low, high = (
            np.repeat(np.log(np.maximum(each, 1e-12))[..., None], len(shares), axis=-1) for each in (low, most)
        )
        for _ in range(STEPS):
            middle = (low + high) / 2.0
            more = self.below(np.exp(middle)) < shares
            low, high = np.where(more, middle, low), np.where(more, high, middle)
        return np.asarray(np.exp((low + high) / 2.0))


def response_quantiles_s(w: Workload, p: Parameters, r: Solution, classes: IntArray, shares: FloatArray) -> FloatArray:
    """Times that transactions of these classes end within with probability `shares`, (machines, classes, shares).

    The wait for a connection is not in them, nor the middle tier.
    """
    return mixture(w, p, r, classes).quantiles(shares) + p.clients.network_s[:, classes][..., None]


def _normal_below(sigmas: FloatArray) -> FloatArray:
    """Normal distribution function within 1e-7: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.17."""
    t = 1.0 / (1.0 + 0.2316419 * np.abs(sigmas))
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    beyond = series * np.exp(-np.minimum(sigmas**2, 1e3) / 2.0) / math.sqrt(2.0 * math.pi)
    return np.where(sigmas > 0.0, 1.0 - beyond, beyond)


def _column(of_machines: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return of_machines[:, None]


def _log_at_disks(p: Parameters) -> npt.NDArray[np.bool_]:
    return _column((p.log.has_own_device <= 0) & (p.log.is_durable > 0))


def _waits(r: Solution, classes: IntArray) -> FloatArray:
    """Of a transaction for disks."""
    return np.maximum((r.classes.disk_reads + r.classes.victims + r.classes.faults)[:, classes], 0.0)


def _stalled_s(r: Solution) -> FloatArray:
    return np.where(r.disks.pause_s > 0, np.minimum(r.disks.stalled_s, r.disks.read_s), 0.0)


def mixture(w: Workload, p: Parameters, r: Solution, classes: IntArray) -> Mixture:
    """Response times of classes without the network's."""
    others = p.clients.number - r.rate * weighted_sum(r.classes.lock_s, w.mix)

    def queue(mean_s: FloatArray, of_all_s: FloatArray, services: FloatArray) -> FloatArray:
        """Variance of one wait there. `of_all_s`: of a transaction of each class; `services`: squared variation."""
        length = np.maximum(r.rate * weighted_sum(of_all_s, w.mix), 1e-9)
        closed = np.maximum(others - length, 0.0) * (1.0 + np.minimum(services, 1.0)) / 2.0 / length**2
        of_length = np.where(p.clients.arrivals_per_s > 0, 1.0, np.minimum(closed, 1.0))
        return mean_s**2 * _column(of_length + services / np.maximum(length, 1.0))

    waits, entries = _waits(r, classes), np.maximum(w.entries.sum(axis=1)[classes], 1e-9)
    turn_s = r.classes.cpu_queue_s[:, classes] / np.maximum(r.classes.bursts[:, classes], 1e-9)
    turn_s2 = queue(turn_s, r.classes.cpu_queue_s, _variation(p.cpu.path_s, w) + PATH_VARIATION + BURST_VARIATION)
    turns = np.maximum(r.classes.bursts[:, classes] - waits, 0.0)
    own_s = (r.classes.cpu_s + r.classes.section_s)[:, classes]
    inside_s = r.classes.section_queue_s[:, classes] / entries
    held_up_s, at_disks = _stalled_s(r), _log_at_disks(p) & _column(p.storage.is_flash <= 0)
    log_s = r.classes.log_s[:, classes]
    log_pause_s = np.where(at_disks, np.minimum(_column(held_up_s) * w.commits[classes], log_s), 0.0)
    log_s = log_s - log_pause_s
    station_s = r.classes.station_s[:, classes]
    mean_s = own_s + turns * turn_s + entries * inside_s + log_s + station_s
    # who computes for longer queues up again more often
    stretch = 1.0 + r.classes.slices[:, classes] * turn_s / np.maximum(own_s, TINY)
    drawn_s2 = p.cpu.drawn_s2[:, classes] * _column(r.cpu.slowdown / p.cpu.speed) ** 2
    variance = (PATH_VARIATION * own_s**2 + drawn_s2) * stretch**2 + turns * turn_s2
    variance = variance + np.where(at_disks, ARM_VARIATION, FLUSH_VARIATION) * log_s**2
    variance = variance + entries * queue(inside_s, r.classes.section_queue_s, _variation(p.cpu.section_s, w))
    variance = variance + station_s**2 / np.maximum(w.visits.sum(axis=1)[classes], 1.0)

    disk_s = np.maximum((r.classes.read_s + r.classes.victim_s + r.classes.fault_s)[:, classes], 0.0) / np.maximum(
        waits, 1e-9
    )
    paused_s = disk_s * _column(held_up_s / np.maximum(r.disks.read_s, TINY))
    alone_s = disk_s - paused_s
    queued = np.maximum(alone_s - p.storage.read_s[:, :1], 0.0) / np.maximum(alone_s, TINY)
    of_disk = np.maximum(np.where(_column(p.storage.is_flash > 0), 0.0, ARM_VARIATION), queued**2)
    each_s, each_s2 = alone_s + turn_s, of_disk * alone_s**2 + turn_s2

    free = np.ones((len(r.rate), len(w.classes)))
    for k, lock in enumerate(w.locks):
        free[:, lock.transaction_class] *= (1.0 - np.minimum(r.locks.waiting[:, k], 1.0)) ** lock.acquisitions
    locked = 1.0 - free[:, classes]
    lock_s = r.classes.lock_s[:, classes] / np.maximum(locked, 1e-12)

    terms = []
    for chance, many, many2 in _poisson(waits):
        pause_s = many * paused_s + log_pause_s
        hit = -np.expm1(-pause_s / np.maximum(_column(r.disks.pause_s), TINY))
        pause_s = pause_s / np.maximum(hit, TINY)
        for met, stop_s in ((1.0 - hit, 0.0), (hit, pause_s)):
            for waited, wait_s in ((1.0 - locked, 0.0), (locked, lock_s)):
                more = many * each_s2 + many2 * each_s**2 + PAUSE_VARIATION * (np.square(stop_s) + np.square(wait_s))
                terms.append((chance * met * waited, mean_s + many * each_s + stop_s + wait_s, variance + more))
    return Mixture(*(np.stack(np.broadcast_arrays(*each), axis=-1) for each in zip(*terms, strict=True)))


def _variation(of_class: FloatArray, w: Workload) -> FloatArray:
    """Squared coefficient of variation over the mix, (machines,)."""
    mean = weighted_sum(of_class, w.mix)
    square = np.where(mean > 0, mean, 1.0) ** 2
    return np.where(mean > 0, np.maximum(weighted_sum(of_class**2, w.mix) / square - 1.0, 0.0), 0.0)


def _poisson(mean: FloatArray) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
    """Numbers with this mean: chance, mean and variance of each of the first, then of all others together."""
    terms, first, square, chance = [], 0.0 * mean, 0.0 * mean, np.exp(-mean)
    left = np.ones_like(mean)
    for many in range(COUNTED):
        terms.append((chance, np.full_like(mean, many), 0.0 * mean))
        left, first, square = left - chance, first + many * chance, square + many * many * chance
        chance = chance * mean / (many + 1)
    left = np.maximum(left, 0.0)
    rest = np.where(left > LEAST_CHANCE, (mean - first) / np.maximum(left, LEAST_CHANCE), COUNTED)
    rest2 = (mean + mean**2 - square) / np.maximum(left, LEAST_CHANCE) - rest**2
    return [*terms, (left, rest, np.where(left > LEAST_CHANCE, np.maximum(rest2, 0.0), 0.0))]
