"""Rate and residence times of whole machines: mean-value analysis, stations and caches in one fixed point.

With the rate of transactions given, everything else follows: how much is written, how long each queue is, and so the
response time. The rate of a closed system is the one at which clients = rate x (response + think time): a root in one
unknown, looked for in any number of configurations at once. Sources of the formulas: docs/model.md, section 7.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simulator.analytic.demands import Demands, demands_of
from simulator.analytic.parameters import Parameters
from simulator.analytic.pool import Pool, pool_of
from simulator.analytic.queues import ENDLESS, TINY
from simulator.analytic.roots import root
from simulator.analytic.stations import Residence, at_stations
from simulator.analytic.traffic import Traffic, traffic
from simulator.analytic.values import FloatArray
from simulator.analytic.workload import Workload

ROUNDS = 4
TOLERANCE = 1e-4
"""of the rate, relative; a round ends the search if it changes no rate by more than ten times as much"""
FINE, CLOSE, WIDE = 1e-8, 1e-3, 25.0
"""tolerance of a solution; how far around the rounds' rate to look for it first; how far below the highest rate the
first search begins; as logarithms"""
ROUGH, FIRST_STEP, SECANT_STEPS, LEAST_SLOPE = 1e-2, 0.2, 4, 0.4
"""the first round's tolerance; later ones' greatest step in the logarithm of the rate, their number, and least slope"""
CHUNK = 512
"""configurations solved together, so that their arrays stay in the processor's cache"""


@dataclass(frozen=True)
class Solution:
    """Machines solved: rates in transactions of the whole mix per second."""

    rate: FloatArray
    residence: Residence
    pool: Pool
    traffic: Traffic
    demands: Demands


def solve(w: Workload, p: Parameters, policy: str) -> Solution:
    """Solve all configurations together, so exactly that clients = rate x (response + think time); see also `rates`."""
    p = p.filled()
    near, pool, t, d = _rounds(w, p, policy)
    rate = _balanced(w, p, d, t, near, FINE)
    return Solution(rate, at_stations(w, p, d, t, rate), pool, t, d)


def rates(w: Workload, p: Parameters, policy: str) -> FloatArray:
    """Transactions of the mix per second of each configuration, solved some at a time.

    Within a few per mille of `solve` where caches and rate agree after `ROUNDS`; where they don't, by direct I/O on
    slow disks and with many clients, up to 8 % away.
    """
    count = len(p)
    return np.concatenate([_rounds(w, p.take(slice(i, i + CHUNK)).filled(), policy)[0] for i in range(0, count, CHUNK)])


def _rounds(w: Workload, p: Parameters, policy: str) -> tuple[FloatArray, Pool, Traffic, Demands]:
    """Rate, caches and writes in turn, until they agree."""
    table = w.table(policy)
    pool = pool_of(w, table, p)
    rate = p.clients / (w.think_s + TINY + (w.user_s + w.system_s) @ w.mix / p.cpu_speed)
    rate = np.where(p.arrivals_per_s > 0, np.minimum(p.arrivals_per_s, rate), rate)
    page_s, cache_time, number = np.zeros(len(p)), None, 0
    while True:
        t = traffic(w, table, p, pool, np.maximum(rate, TINY), page_s, cache_time)
        d = demands_of(w, p, pool, t)
        found = _balanced(w, p, d, t, rate if number else None)
        changed = np.abs(np.log(found / rate)).max() > 10.0 * TOLERANCE
        rate, number = np.sqrt(found * rate) if number else found, number + 1
        if not changed or number == ROUNDS:
            return found, pool, t, d
        page_s = (page_s + at_stations(w, p, d, t, found).page_s) / (2.0 if number > 1 else 1.0)
        cache_time = t.cache_time


def _balanced(
    w: Workload, p: Parameters, d: Demands, t: Traffic, near: FloatArray | None, tolerance: float | None = None
) -> FloatArray:
    """The rate at which clients = rate x (response + think time); an open system's is what arrives, if it can.

    `near`: the last round's rate, from which a few steps along the secant lead to this one's. With a tolerance it is
    found to within that, relative.
    """
    fastest = w.think_s + d.mean.cpu_s + d.mean.section_s + float(w.network_s @ w.mix)
    most = np.log(p.clients / np.maximum(fastest, TINY)) + 1e-9

    def too_many(log_rate: FloatArray) -> FloatArray:
        x = np.exp(log_rate)
        response = np.minimum(at_stations(w, p, d, t, x).total @ w.mix, ENDLESS)
        # in a form that is nearly straight on both sides of the knee
        return np.tanh(0.5 * np.log(x * (response + w.think_s) / p.clients))

    if near is None:
        found = root(too_many, most - WIDE, most, ROUGH)
    elif tolerance is None:
        found = _secant(too_many, np.minimum(np.log(near), most), most)
    else:
        low, high = np.log(near) - CLOSE, np.minimum(np.log(near) + CLOSE, most)
        low = np.where(too_many(low) > 0, most - WIDE, low)
        found = root(too_many, low, np.where(too_many(high) < 0, most, high), tolerance)
    found = np.exp(found)
    return np.where(p.arrivals_per_s > 0, np.minimum(p.arrivals_per_s, found), found)


def _secant(function: Callable[[FloatArray], FloatArray], start: FloatArray, most: FloatArray) -> FloatArray:
    """A zero of a rising function, from nearby; the best point seen."""
    here, at_here = start, function(start)
    there = here - np.copysign(np.minimum(0.5 * np.abs(at_here) + 1e-4, FIRST_STEP), at_here)
    best, at_best = here, np.abs(at_here)
    for _ in range(SECANT_STEPS):
        there = np.minimum(there, most)
        at_there = function(there)
        better = np.abs(at_there) < at_best
        best, at_best = np.where(better, there, best), np.minimum(at_best, np.abs(at_there))
        if (at_best < TOLERANCE).all():
            break
        slope = np.maximum((at_there - at_here) / np.where(there == here, TINY, there - here), LEAST_SLOPE)
        step = np.clip(-at_there / slope, -FIRST_STEP, FIRST_STEP)
        here, at_here, there = there, at_there, there + step
    return best
