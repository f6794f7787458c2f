"""How much slower a processor's threads get when more of them are busy: siblings of a core, and a shared memory bus."""

from __future__ import annotations

import numpy as np

from models.machine.machine import CpuSpec
from simulator.form import FloatArray


def slowdowns(cpu: CpuSpec, *, placed_by_cores: bool = True) -> FloatArray:
    """How much longer a piece of work takes with 1, 2, ... all hardware threads busy than alone, (threads,).

    Two busy threads of one core do `1 + second_thread_gain` times the work of one. `placed_by_cores`: the operating
    system fills idle cores first; under a hypervisor, whose guests don't know which processors are siblings, it is
    chance. What is no core's own work waits for the memory bus, one customer at a time: each busy core is a customer
    of a closed network that has the bus as its only queue (exact mean-value analysis, Reiser and Lavenberg 1980).
    """
    threads = cpu.threads
    busy = np.arange(1, threads + 1, dtype=np.float64)
    pairs = np.zeros(threads)
    if cpu.threads_per_core == 2:
        pairs = np.maximum(busy - cpu.cores, 0.0) if placed_by_cores else busy * (busy - 1.0) / (2.0 * (threads - 1.0))
    own = busy / (busy - 2.0 * pairs + pairs * (1.0 + cpu.second_thread_gain))
    share = cpu.memory_bus_share
    found = np.empty(threads)
    for row, core in enumerate(own * (1.0 - share)):
        at_bus, bus = 0.0, share
        for customers in range(1, row + 2):
            bus = share * (1.0 + at_bus)
            at_bus = customers * bus / (core + bus)
        found[row] = core + bus
    return found
