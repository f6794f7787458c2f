"""Covariance of what is missed of figures: runs of one machine are missed alike, repeats of one run the same.

What a model misses is no noise: a second run of the same machine misses it again (Kennedy and O'Hagan, J. R. Statist.
Soc. B 63 (2001), 425-464; Brynjarsdottir and O'Hagan, Inverse Problems 30 (2014), 114007). The same scenario measured
again shares all of it. Of runs of one machine an effect of the machine is shared, less the farther apart they are, and
less if something else limits them. Runs of different machines share nothing. So a fit takes up a shared error in its
parameters, a prediction near its runs is nearer than one far away, and a fourth repeat tells next to nothing.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.form import GIB, KIB, BoolArray, FloatArray

MACHINE_SHARE = 0.8
"""assumption: share of a discrepancy's variance that two runs of one machine have in common, were they next to each
other; the rest is each scenario's own"""
OTHER_REGIME = 0.8
"""assumption: of that, what two runs have in common that are limited by different parts"""
REACH = math.log(20.0)
"""assumption: logarithmic distance over which what is common falls to 37 %: twenty times the clients, or the pool"""
JOB = "job "
"""begins the regime of a job that isn't transactions: two of them have nothing in common"""


@dataclass(frozen=True)
class Circumstances:
    """What a figure's discrepancy depends on. `sizes`: logarithms of the machine's and the load's sizes."""

    machine: str
    """hardware and database by name"""
    setup: str
    """hash of the scenario without its interval: repeats have the same"""
    regime: str
    """what limits the run"""
    sizes: tuple[float, ...]


def setup_hash(scenario: ScenarioSpec) -> str:
    """Hash of what was measured: machine, system and load, however long and from which start."""
    left_out = {"measured": True, "notes": True, "name": True, "interval": True, "machine": {"price"}}
    data = scenario.model_dump(mode="json", exclude=left_out, exclude_defaults=True)  # type: ignore[arg-type]
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:20]


def circumstances_of(scenario: ScenarioSpec, regime: str) -> Circumstances:
    """Of a run of a scenario that is limited by `regime`."""
    database, workload = scenario.database, scenario.workload
    sizes = (
        workload.clients,
        workload.size,
        database.pool.buffers * database.page_kib * KIB / GIB,
        scenario.machine.memory_gib,
    )
    machine = ", ".join((scenario.machine.name, database.name))
    return Circumstances(machine, setup_hash(scenario), regime, tuple(math.log(max(size, 1e-9)) for size in sizes))


def shared_correlation(one: Circumstances, other: Circumstances) -> float:
    """Correlation of what is missed of two runs."""
    if one.setup == other.setup:
        return 1.0
    if one.machine != other.machine:
        return 0.0
    alike = 1.0
    if one.regime != other.regime:
        alike = 0.0 if one.regime.startswith(JOB) or other.regime.startswith(JOB) else OTHER_REGIME
    return MACHINE_SHARE * alike * math.exp(-math.dist(one.sizes, other.sizes) / REACH)


def figure_correlations(kinds: Sequence[str], where: Sequence[Circumstances], shares: BoolArray) -> FloatArray:
    """Correlations of what is missed of figures, (figures, figures): of one kind those of their runs, of others none.

    `where`: circumstances of each figure's run; `shares`: whether a figure has anything in common with others. A
    censored one doesn't: at its limit it says nothing of them.
    """
    places, by_kind = list(dict.fromkeys(where)), np.array(kinds)
    at = np.array([places.index(each) for each in where], dtype=np.int64)
    alike = (by_kind[:, None] == by_kind) & shares[:, None] & shares
    found: FloatArray = np.where(alike, shared_correlations(places, places)[np.ix_(at, at)], 0.0)
    np.fill_diagonal(found, 1.0)
    return found


def covariance_of(noise_sd: FloatArray, discrepancy_sd: FloatArray, shared: FloatArray | None) -> FloatArray:
    """Covariance of figures' logarithms: noise is each one's own, discrepancy is shared, or not if that is None."""
    covariance: FloatArray = np.diag(noise_sd**2)
    if shared is None:
        return covariance + np.diag(discrepancy_sd**2)
    return covariance + np.outer(discrepancy_sd, discrepancy_sd) * shared


def shared_correlations(some: Sequence[Circumstances], others: Sequence[Circumstances]) -> FloatArray:
    """Correlations of runs with other runs, (some, others)."""
    rows = [[shared_correlation(one, other) for other in others] for one in some]
    return np.array(rows).reshape(len(some), len(others))
