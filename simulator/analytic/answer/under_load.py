"""Machines at a rate: whether they take it, and how busy each part would have to be.

Nothing is searched for, so that many machines can be looked at; `solve` says what an overloaded one does.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from oltpsim.simulator.analytic.equations import Solution, at_rate
from oltpsim.simulator.analytic.reading import Parameters, Workload
from oltpsim.simulator.form import FloatArray


@dataclass(frozen=True)
class Needs:
    """How busy parts would be at the load, above 1 if they can't be; (configurations,)."""

    cpu: FloatArray
    disks: FloatArray
    log: FloatArray
    """a device of its own, or 0"""
    reads_per_s: FloatArray
    """of all data devices"""


@dataclass(frozen=True)
class Loaded:
    """Machines at a rate. Where `fits` is false the times are no more than signs of an endless queue."""

    solution: Solution
    fits: npt.NDArray[np.bool_]
    """whether no more clients are busy than there are"""
    needs: Needs


def loaded(w: Workload, p: Parameters, policy: str, per_s: FloatArray) -> Loaded:
    """Machines at rates of transactions of the mix, which arrive, or which clients make; (configurations,).

    Where an open machine fits at its arrivals the solution is `solve`'s; a closed one's rate is the highest at which it
    fits.
    """
    p = p.filled()
    found = at_rate(w, p, policy, per_s)
    return Loaded(found, found.population <= 1.0, _needs(p, found))


def _needs(p: Parameters, s: Solution) -> Needs:
    """By the work alone; disks sort what waits as well as they can."""
    cpu = s.rate * ((s.cpu_mean_s + s.section_mean_s) * p.slowdowns[:, -1] + s.background_cpu_s) / p.processors
    reads = s.rate * (s.reads_mean + s.victims_mean + s.merged)
    writes = s.rate * s.requests * p.disk_writes(np.ones(1))
    at_once = np.minimum(p.parallel, np.where(p.parallel > 1, p.calls, np.inf)) * p.data_devices
    read_s = np.where(p.dies > 0, p.die_s / np.maximum(p.dies, 1.0), p.read_s[:, -1])
    apart_s = s.rate * (s.reads_mean + s.merged + (1.0 + p.doubled) * s.written) * p.apart_page_s
    disks = np.maximum(reads * read_s + writes * p.write_s[:, -1], apart_s) / at_once
    return Needs(cpu, disks, s.log_busy, reads)
