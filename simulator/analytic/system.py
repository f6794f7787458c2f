"""Rate and residence times of whole machines: mean-value analysis, stations and caches in one fixed point.

With the rate of transactions given, everything else follows: how much is written, how long each queue is, and so the
response time. The rate of a closed system is the one at which clients = rate x (response + think time): a root in one
unknown, looked for in any number of configurations at once. Sources of the formulas: docs/model.md, section 7.
"""

from dataclasses import dataclass

import numpy as np

from simulator.analytic.balance import Balance, balanced
from simulator.analytic.configurations import rows, with_rows
from simulator.analytic.demands import Demands, Traffic, demands_of, traffic
from simulator.analytic.parameters import Parameters
from simulator.analytic.pool import PoolMisses, pool_of
from simulator.analytic.queues import TINY
from simulator.analytic.stations import Residence, at_stations
from simulator.analytic.workload import Workload
from simulator.form import FloatArray

ROUNDS = 30
"""at most; few machines need more than four"""
AGREED = 1e-3
"""how much a configuration's last round may change the logarithm of its rate"""
TOLERANCE, FINE = 1e-4, 1e-8
"""of a round's rate and of a solution's, relative"""
SLOPES = -8.0, -0.7
"""steepest and flattest that the change of a round goes with the rate: -1 if caches and writes don't depend on it"""
CHUNK = 2048
"""configurations solved together: more would not fit into the processor's cache"""


@dataclass(frozen=True)
class Solution:
    """Machines solved: rates in transactions of the whole mix per second."""

    rate: FloatArray
    residence: Residence
    pool: PoolMisses
    traffic: Traffic
    demands: Demands


def solve(w: Workload, p: Parameters, policy: str) -> Solution:
    """Solve all configurations together, so exactly that clients = rate x (response + think time); see also `rates`."""
    p = p.filled()
    last = _rounds(w, p, pool_of(w, w.table(policy), p), policy)
    rate = balanced(w, p, last.demands, last.traffic, FINE, last.found).rate
    residence = at_stations(w, p, last.demands, last.traffic, rate)
    return Solution(rate, residence, last.pool, last.traffic, last.demands)


def rates(w: Workload, p: Parameters, policy: str) -> FloatArray:
    """Transactions of the mix per second of each configuration, solved some at a time; `solve` is a little exacter."""
    found = []
    for begin in range(0, len(p), CHUNK):
        some = p.take(slice(begin, begin + CHUNK)).filled()
        found.append(_rounds(w, some, pool_of(w, w.table(policy), some), policy).found.rate)
    return np.concatenate(found)


@dataclass(frozen=True)
class _Round:
    """Configurations after a round: rates, caches and writes at them, and the rates that these allow."""

    p: Parameters
    pool: PoolMisses
    log_rate: FloatArray
    page_s: FloatArray
    traffic: Traffic
    demands: Demands
    found: Balance
    change: FloatArray
    """from the rate to the one found, as logarithms"""


def _round(
    w: Workload,
    p: Parameters,
    pool: PoolMisses,
    policy: str,
    log_rate: FloatArray,
    page_s: FloatArray,
    before: _Round | None = None,
) -> _Round:
    """Caches and writes at a rate, if writer and checkpoint take `page_s` for a page, and the rate that they allow."""
    rate = np.exp(log_rate)
    t = traffic(w, w.table(policy), p, pool, rate, page_s, None if before is None else before.traffic.cache_time)
    d = demands_of(w, p, pool, t)
    found = balanced(w, p, d, t, TOLERANCE, None if before is None else Balance(rate, before.found.slope))
    return _Round(p, pool, log_rate, page_s, t, d, found, np.log(found.rate) - log_rate)


def _rounds(w: Workload, p: Parameters, pool: PoolMisses, policy: str) -> _Round:
    """Each configuration's last round: when rate, caches and writes agree, or after `ROUNDS`.

    The first begins with the most that the processors can do, the second with what it has found; each later one where
    the change would be zero if it went on as from the last to this one (secant).
    """
    rate = p.clients / (w.think_s + TINY + p.path_s @ w.mix / p.cpu_speed)
    rate = np.where(p.arrivals_per_s > 0, np.minimum(p.arrivals_per_s, rate), rate)
    rate = np.where(p.terminals > 0, np.minimum(p.terminals / np.maximum(p.away_s, TINY), rate), rate)
    now = last = _round(w, p, pool, policy, np.log(np.maximum(rate, TINY)), np.zeros(len(p)))
    left, slope = np.arange(len(p)), np.full(len(p), -1.0)
    for number in range(1, ROUNDS):
        go_on = np.flatnonzero(np.abs(now.change) > AGREED)
        if not len(go_on):
            break
        if len(go_on) < len(left):
            now, left, slope = rows(now, go_on), left[go_on], slope[go_on]
        before, log_rate = now, now.log_rate - now.change / slope
        feasible = np.minimum(np.exp(log_rate), now.found.rate)
        page_s = at_stations(w, now.p, now.demands, now.traffic, feasible).page_s
        if number > 1:
            page_s = (now.page_s + page_s) / 2.0
        now = _round(w, now.p, now.pool, policy, log_rate, page_s, now)
        if number > 1:
            moved = log_rate - before.log_rate
            slope = np.clip((now.change - before.change) / np.where(moved == 0.0, np.inf, moved), *SLOPES)
        last = now if len(left) == len(last.change) else with_rows(last, left, now)
    return last
