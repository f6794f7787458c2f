"""How the threads of a job share the processors, and a chain of states that finds how many do what."""

from functools import lru_cache

import numpy as np

from models.machine import CpuSpec, MachineSpec, slowdowns
from simulator.form import FloatArray

NS, US = 1e-9, 1e-6


def slowed_by_busy(machine: MachineSpec) -> FloatArray:
    """How much longer work takes with 1, 2, ... hardware threads busy; a hypervisor's guest knows no siblings."""
    return _slowdowns(machine.cpu, machine.hardware_share_lost == 0.0)  # pyright: ignore[reportArgumentType]


@lru_cache(maxsize=64)
def _slowdowns(cpu: CpuSpec, placed_by_cores: bool) -> FloatArray:
    return slowdowns(cpu, placed_by_cores=placed_by_cores)


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
