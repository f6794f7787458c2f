"""Waiting for one of several equal servers."""

import numpy as np

from simulator.form import FloatArray

TINY = 1e-12
ENDLESS = 1e9
"""seconds that stand for a queue without end"""
SHARP, KNEE = 0.01, 64
"""how near to its capacity a station stops, and from where on that is felt"""


def all_busy(load: FloatArray, servers: FloatArray) -> FloatArray:
    """Probability that all servers are busy (Sakasegawa 1977, for M/M/c); `load` per server."""
    return np.clip(load, 0.0, 1.0) ** (np.sqrt(2.0 * (servers + 1.0)) - 1.0)


def overfull(load: FloatArray) -> FloatArray:
    """What keeps a closed station from serving more than it can, in services: nothing until it is all but full.

    Where an arrival finds less than a whole service left, mean-value analysis of few clients would let it.
    """
    return SHARP * np.minimum(load, 1.0) ** KNEE / np.maximum(1.0 - load, TINY)


def waiting(
    seen: FloatArray, service: FloatArray, servers: FloatArray, rate: FloatArray, load: FloatArray, left: FloatArray
) -> FloatArray:
    """Mean wait for one of several servers at `rate` visits per second, of which an arrival sees the share `seen`.

    `left`: mean time that a service still lasts when somebody arrives; half the service for constant times.
    """
    used = rate * service / servers
    room = np.maximum(1.0 - seen * used, TINY)
    return left / servers * all_busy(seen * load, servers) / room + service / servers * overfull(used)
