"""Machines at a rate: whether they take it, and how busy each part would have to be.

Nothing is searched for, so that many machines can be looked at; `system.solve` says what an overloaded one does.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simulator.analytic.configurations import rows
from simulator.analytic.demands import Demands, Traffic, demands_of, traffic
from simulator.analytic.parameters import Parameters
from simulator.analytic.pool import PoolMisses, pool_of
from simulator.analytic.stations import at_stations
from simulator.analytic.system import Solution
from simulator.analytic.workload import Workload
from simulator.form import FloatArray, IntArray

OF_TRAFFIC = (
    "buffers", "resident", "growing", "dirty_high", "dirty_low", "cache_pages", "cache_dirty_limit",
    "expire_s", "flush_s", "in_flight", "merged_pages", "free_behind", "direct", "read_factor", "write_factor",
    "checkpoint_s", "spread_s", "since_s", "turnovers", "reads_per_write",
)  # fmt: skip
"""what reads and writes depend on, beside what `_alike` adds"""


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


def loaded(w: Workload, p: Parameters, policy: str, rate: FloatArray) -> Loaded:
    """Machines at `rate` transactions of the mix per second, which arrive, or which clients make; (configurations,).

    Where an open machine fits at its arrivals the solution is `system.solve`'s; a closed one's rate is the highest at
    which it fits.
    """
    p = p.filled()
    pool = pool_of(w, w.table(policy), p)
    found = _once(w, p, policy, pool, rate, np.zeros(len(p)))
    if not (p.arrivals_per_s > 0).all():
        found = _once(w, p, policy, pool, rate, found.residence.page_s)
    fits: npt.NDArray[np.bool_] = rate * (found.residence.total @ w.mix + w.think_s) <= p.clients
    return Loaded(found, fits, _needs(p, found.demands, found.traffic, rate, found.residence.log_busy))


def _once(w: Workload, p: Parameters, policy: str, pool: PoolMisses, rate: FloatArray, page_s: FloatArray) -> Solution:
    """Machines at a rate, if writer and checkpoint take `page_s` for a page."""
    first, which = _alike(p, rate, page_s)
    t = traffic(w, w.table(policy), rows(p, first), rows(pool, first), rate[first], page_s[first])
    t = rows(t, which)
    d = demands_of(w, p, pool, t)
    return Solution(rate, at_stations(w, p, d, t, rate), pool, t, d)


def _alike(p: Parameters, rate: FloatArray, page_s: FloatArray) -> tuple[IntArray, IntArray]:
    """One machine of each kind that reads and writes the same, and which kind each machine is.

    How fast processors and disks are matters to that only where write-back has the turns that reads leave.
    """
    turns = np.where(p.reads_per_write > 0, p.data_devices * p.parallel / p.write_s[:, 0], 0.0)
    files, copies = p.data_devices / p.disks_per_file, p.disk_writes(np.ones(1))
    kinds = np.stack([rate, page_s, turns, files, copies, *(getattr(p, name) for name in OF_TRAFFIC)], axis=1)
    _, first, which = np.unique(kinds, axis=0, return_index=True, return_inverse=True)
    return first, which.ravel()


def _needs(p: Parameters, d: Demands, t: Traffic, rate: FloatArray, log: FloatArray) -> Needs:
    """By the work alone; disks sort what waits as well as they can."""
    m = d.mean
    cpu = rate * ((m.cpu_s + m.section_s) * p.slowdowns[:, -1] + d.background_cpu_s) / p.processors
    reads = rate * (m.reads + m.victims)
    writes = rate * t.requests * p.disk_writes(np.ones(1))
    at_once = np.minimum(p.parallel, np.where(p.parallel > 1, p.calls, np.inf)) * p.data_devices
    disks = (reads * p.read_s[:, -1] + writes * p.write_s[:, -1]) / at_once
    return Needs(cpu, disks, log, reads)
