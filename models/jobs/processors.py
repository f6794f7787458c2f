"""Threads of a job on the processors: a chain of states that finds how many do what."""

import numpy as np

from simulator.form import FloatArray

NS, US = 1e-9, 1e-6


def chances(up_per_s: FloatArray, down_per_s: FloatArray) -> FloatArray:
    """Chances of 0, 1, ... n in equilibrium, (n + 1,), from rates (n,) of k to k + 1 and of k + 1 to k.

    Each border is crossed as often up as down (Kleinrock, Queueing Systems I, 1975, section 3.1). Rates may be zero or
    infinite. Of two stations whose speeds depend on their own customers it is the product form of
    tests/oracles/exact_networks.py; here a state also says who has which processor.
    """
    with np.errstate(divide="ignore"):
        logs = np.concatenate([[0.0], np.cumsum(np.log(up_per_s) - np.log(down_per_s))])
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())
