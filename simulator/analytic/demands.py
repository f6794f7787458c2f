"""What one transaction of each class needs of the machine, whatever the queues."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.analytic.io_traffic import Traffic
from simulator.analytic.parameters import Parameters
from simulator.analytic.pool import PoolMisses
from simulator.analytic.queues import TINY
from simulator.analytic.workload import Workload
from simulator.form import FloatArray

BURST_VARIATION = 0.3
"""squared variation of the bursts of one class: the first one of a transaction is the longest (assumption)"""


@dataclass(frozen=True)
class Means:
    """Needs of one transaction of the mix, (configurations,)."""

    cpu_s: FloatArray
    section_s: FloatArray
    bursts: FloatArray
    reads: FloatArray
    victims: FloatArray
    faults: FloatArray
    burst_left_s: FloatArray
    """what is left of a burst of CPU when somebody arrives"""
    burst_variation: FloatArray
    """squared coefficient of variation of bursts"""
    section_left_s: FloatArray
    """what is left of a stay in a critical section when somebody arrives"""
    section_variation: FloatArray


@dataclass(frozen=True)
class Demands:
    """What one transaction of each class needs, whatever the queues: (configurations, classes) unless said."""

    cpu_s: FloatArray
    """critical sections left out"""
    section_s: FloatArray
    bursts: FloatArray
    """visits to the CPU"""
    reads: FloatArray
    victims: FloatArray
    """synchronous writes of dirty victims (direct I/O)"""
    faults: FloatArray
    background_cpu_s: FloatArray
    """per transaction of the mix, (configurations,)"""
    reads_before: FloatArray
    """disk reads before each lock is asked for, (configurations, locks)"""
    cpu_before_s: FloatArray
    mean: Means


def demands_of(w: Workload, p: Parameters, pool: PoolMisses, t: Traffic) -> Demands:
    """Needs of each class, once caches and writes are known."""
    classes, views = len(w.classes), w.groups.views
    misses = pool.missing * w.groups.read @ views.T
    new = pool.missing * (1.0 - w.groups.read) @ views.T
    reads = np.where(pool.misses > 0, t.reads / np.maximum(pool.misses, TINY), 1.0) * pool.missing * w.groups.read
    reads = reads @ views.T
    faults = (pool.faults / np.maximum(w.groups.references, TINY)) @ views.T
    brought = misses + new
    per_brought = t.dirty_victims / np.maximum((brought[:, :classes] * w.mix).sum(axis=1), TINY)
    victims = brought * np.minimum(per_brought, 1.0)[:, None]
    speed, direct = p.cpu_speed[:, None], p.direct[:, None] > 0

    def on(cost: FloatArray) -> FloatArray:
        return (cost / p.cpu_speed)[:, None]

    paging = misses * (on(p.read_cpu_s) + on(p.miss_cpu_s)) + new * on(p.miss_cpu_s) + reads * on(p.request_cpu_s)
    paging += np.where(direct, 0.0, victims * on(p.write_cpu_s))
    own, inside = p.path_s / speed, p.section_s / speed
    background = t.background * p.write_cpu_s + np.where(p.direct > 0, 0.0, t.written * p.request_cpu_s)
    sync = np.where(direct, victims, 0.0)
    cpu_s, section_s = own + paging[:, :classes], inside + np.zeros_like(own)
    bursts = 1.0 + reads[:, :classes] + sync[:, :classes] + w.entries.sum(axis=1) + w.visits.sum(axis=1)
    return Demands(
        cpu_s=cpu_s,
        section_s=section_s,
        bursts=bursts,
        reads=reads[:, :classes],
        victims=sync[:, :classes],
        faults=faults[:, :classes],
        background_cpu_s=background / p.cpu_speed,
        reads_before=(reads + sync + faults)[:, classes:],
        cpu_before_s=p.path_before_s / speed + paging[:, classes:],
        mean=_means(w, cpu_s, section_s, bursts, reads[:, :classes], sync[:, :classes], faults[:, :classes]),
    )


def _means(
    w: Workload,
    cpu_s: FloatArray,
    section_s: FloatArray,
    bursts: FloatArray,
    reads: FloatArray,
    victims: FloatArray,
    faults: FloatArray,
) -> Means:
    """Means over the mix, and how uneven bursts and stays in critical sections are."""
    mix = w.mix
    entered = max(float(w.entries.sum(axis=1) @ mix), TINY)
    cpu, section, many = cpu_s @ mix, section_s @ mix, bursts @ mix
    square = ((cpu_s + section_s) ** 2 / bursts) @ mix
    variation = (cpu_s**2 / bursts) @ mix * many / np.maximum(cpu**2, TINY) - 1.0 + BURST_VARIATION
    sections = section_s**2 @ mix
    left = square / np.maximum(2.0 * (cpu + section), TINY) * (1.0 + BURST_VARIATION)
    return Means(
        cpu_s=cpu,
        section_s=section,
        bursts=many,
        reads=reads @ mix,
        victims=victims @ mix,
        faults=faults @ mix,
        burst_left_s=np.minimum(left, 2.0 * (cpu + section) / many),
        burst_variation=np.clip(variation, 0.0, 3.0),
        section_left_s=sections / np.maximum(2.0 * section, TINY),
        section_variation=np.clip(sections * entered / np.maximum(section**2, TINY) - 1.0, 0.0, 1.0),
    )
