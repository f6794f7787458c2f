"""The rate at which as many clients as there are keep a machine busy, when its caches and writes are known."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simulator.analytic.configurations import rows
from simulator.analytic.demands import Demands, Traffic
from simulator.analytic.parameters import Parameters
from simulator.analytic.queues import ENDLESS, TINY
from simulator.analytic.roots import PLACES, root, root_among, secant
from simulator.analytic.stations import at_stations
from simulator.analytic.workload import Workload
from simulator.form import FloatArray

WIDE, CLOSE = 25.0, 0.2
"""how far below the highest rate the first search begins, and how far around a rate that is near others look first; as
logarithms, as all tolerances"""
ROUGH, ENOUGH = 1e-2, 0.9
"""tolerance of many configurations' first search, and the share of them that need to keep it"""
FIRST_SLOPE, STEPS, SURE = 20.0, 2, 100.0
"""slope to begin with; steps of later searches, and how many times the tolerance the last one may be: what is left is
about its square"""
FEW = 6
"""configurations that are each looked at with several rates at once, since that takes little longer than with one"""


@dataclass(frozen=True)
class Balance:
    """Rates, and the slopes of the functions that are zero there; (configurations,)."""

    rate: FloatArray
    slope: FloatArray


def balanced(
    w: Workload, p: Parameters, d: Demands, t: Traffic, tolerance: float, near: Balance | None = None
) -> Balance:
    """The rate at which clients = rate x (response + think time); an open system's is what arrives, if it can.

    `near`: a rate to look around first, with the slope that was there before. Without it many configurations' rates
    are found only roughly.
    """
    if (p.arrivals_per_s > 0).all():
        return _arriving(w, p, d, t, tolerance, near)
    rate, slope = _busy(w, p, d, t, tolerance, near)
    return Balance(np.where(p.arrivals_per_s > 0, np.minimum(p.arrivals_per_s, rate), rate), slope)


def _arriving(w: Workload, p: Parameters, d: Demands, t: Traffic, tolerance: float, near: Balance | None) -> Balance:
    """What arrives, where it takes no more clients than there are; only elsewhere is anything looked for."""
    rate, slope = p.arrivals_per_s.copy(), np.ones(len(p))
    over = np.flatnonzero(_too_many(w, p, d, t)(np.log(rate)) > 0.0)
    if len(over):
        few = None if near is None else rows(near, over)
        most, slope[over] = _busy(w, rows(p, over), rows(d, over), rows(t, over), tolerance, few)
        rate[over] = np.minimum(rate[over], most)
    return Balance(rate, slope)


def _busy(
    w: Workload, p: Parameters, d: Demands, t: Traffic, tolerance: float, near: Balance | None
) -> tuple[FloatArray, FloatArray]:
    """The rate that keeps all clients busy, and the slope there; arguments as of `balanced`."""
    fastest = w.think_s + d.mean.cpu_s + d.mean.section_s + float(w.network_s @ w.mix)
    most = np.log(p.clients / np.maximum(fastest, TINY)) + 1e-9
    start = most if near is None else np.minimum(np.log(near.rate), most)
    if len(p) <= FEW:
        each = np.repeat(np.arange(len(p)), PLACES)
        several = _too_many(w, rows(p, each), rows(d, each), rows(t, each))
        found = root_among(several, start, WIDE if near is None else CLOSE, most, tolerance)
        slope = np.ones(len(p))
    elif near is None:
        too_many = _too_many(w, p, d, t)
        found = root(too_many, most - WIDE, most, ROUGH, ENOUGH)
        found, slope, _ = secant(too_many, found, np.full(len(p), FIRST_SLOPE), most, 1)
    else:
        too_many = _too_many(w, p, d, t)
        found, slope, step = secant(too_many, start, near.slope, most, STEPS)
        doubtful = np.flatnonzero(step > SURE * tolerance)
        if len(doubtful):
            some = _too_many(w, rows(p, doubtful), rows(d, doubtful), rows(t, doubtful))
            found[doubtful] = _around(some, start[doubtful], most[doubtful], tolerance)
    return np.exp(found), slope


def _too_many(w: Workload, p: Parameters, d: Demands, t: Traffic) -> Callable[[FloatArray], FloatArray]:
    """Whether a rate (its log) takes more clients than there are: a function that rises from -1 to 1."""

    def function(log_rate: FloatArray) -> FloatArray:
        x = np.exp(log_rate).ravel()
        total = at_stations(w, p, d, t, x).total
        response, awaited = np.minimum(total @ w.mix, ENDLESS), np.minimum(total @ w.awaited, ENDLESS)
        taken = x * (response + w.think_s) / p.clients
        with_terminals = np.maximum(taken, x * (awaited + p.away_s) / np.maximum(p.terminals, 1.0))
        # in a form that is nearly straight on both sides of the knee
        return np.tanh(0.5 * np.log(np.where(p.terminals > 0, with_terminals, taken))).reshape(log_rate.shape)

    return function


def _around(
    too_many: Callable[[FloatArray], FloatArray], near: FloatArray, most: FloatArray, tolerance: float
) -> FloatArray:
    """Its zero, looked for between bounds: around what is near, or else anywhere."""
    low, high = near - CLOSE, np.minimum(near + CLOSE, most)
    low, high = np.where(too_many(low) > 0, most - WIDE, low), np.where(too_many(high) < 0, most, high)
    return root(too_many, low, high, tolerance)
