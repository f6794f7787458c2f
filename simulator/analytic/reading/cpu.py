"""Processors as the equations take them: speed, hardware threads that slow each other down, CPU times."""

from dataclasses import dataclass

import numpy as np

from oltpsim.simulator.analytic.reading.record_columns import (
    SHARING_POINTS,
    ByChance,
    ByClass,
    ByLock,
    MachineColumn,
    column,
    column_s,
)
from oltpsim.simulator.analytic.reading.workload import Workload
from oltpsim.simulator.form import FloatArray, System, weighted_sum


@dataclass(frozen=True)
class CpuNumbers:
    """Numbers of processors and of the work that they do."""

    speed: MachineColumn
    """speed relative to the machine that the workload was read for"""
    processors: MachineColumn
    """hardware threads"""
    most_busy_others: MachineColumn
    """other threads that may be busy when a burst starts, at most"""
    slowdowns: ByChance
    """time of a burst relative to one alone, by the chance that each other thread is busy"""
    handover_s: MachineColumn
    """hand-over of a contended critical section"""
    slice_s: MachineColumn
    """CPU time after which a client's burst queues up again; infinite if it doesn't"""
    page_read_s: MachineColumn
    """CPU time of a page that is read into the pool"""
    page_write_s: MachineColumn
    """CPU time of a page that is written out of the pool"""
    page_miss_s: MachineColumn
    """CPU time of a page that comes into the pool"""
    request_s: MachineColumn
    """CPU time of a request to a device"""
    path_s: ByClass
    """CPU time of a transaction, page calls and critical sections left out"""
    drawn_s2: ByClass
    """variance of `path_s` as far as the program draws it"""
    section_s: ByClass
    """CPU time inside critical sections"""
    path_before_s: ByLock
    """CPU time as in `path_s` before a lock is asked for"""


def cpu_numbers(system: System, workload: Workload) -> CpuNumbers:
    """Numbers of a system's processors."""
    costs = system.costs
    return CpuNumbers(
        speed=column(1.0),
        processors=column(system.processors),
        most_busy_others=column(_most_busy_others(system)),
        slowdowns=_slowdowns(system),
        handover_s=column_s(max((section.handover_ns for section in system.sections), default=0)),
        slice_s=column_s(system.cpu.slice_ns) if system.cpu.slice_ns else column(np.inf),
        page_read_s=column_s(costs.read_ns),
        page_write_s=column_s(costs.write_ns),
        page_miss_s=column_s(costs.miss_ns),
        request_s=column_s(costs.request_ns),
        path_s=(workload.user_s + workload.system_s + workload.client_s)[None],
        drawn_s2=workload.drawn_s2[None],
        section_s=workload.inside_s.sum(axis=1)[None],
        path_before_s=np.array([[lock.cpu_s for lock in workload.locks]]),
    )


def _most_busy_others(system: System) -> int:
    clients = len(system.client_registers)
    return (system.processors if system.arrivals_per_s else min(system.processors, clients)) - 1


def _slowdowns(system: System) -> FloatArray:
    """Time of a burst relative to one alone if each other thread is busy with chance 0 .. 1.

    Independently of each other: a binomial number of them. What a quota lets through is spread over its periods evenly.
    """
    if system.sharing is None and not system.cpu.quota_ns:
        return np.ones((1, SHARING_POINTS))
    others = _most_busy_others(system)
    busy, chance = np.arange(others + 1.0), np.linspace(0.0, 1.0, SHARING_POINTS)[1:-1, None]
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, others + 1.0)))])
    ways = factorials[-1] - factorials - factorials[::-1]
    longer = np.array(system.sharing.ppm[: others + 1]) / 1e6 if system.sharing else np.ones(others + 1)
    longer = longer * np.maximum((busy + 1.0) / system.cpu.allowed_servers, 1.0) if system.cpu.quota_ns else longer
    chances = np.exp(ways + busy * np.log(chance) + (others - busy) * np.log1p(-chance))
    between = weighted_sum(chances, longer)
    return np.concatenate([longer[:1], between, longer[-1:]])[None]
