"""Hardware threads that slow each other down: how much longer a burst of CPU takes at a rate of transactions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simulator.analytic.demands import Demands
from simulator.analytic.parameters import SHARING_POINTS, Parameters
from simulator.analytic.queues import TINY
from simulator.form import FloatArray


def slowdown(p: Parameters, d: Demands, x: FloatArray, seen: FloatArray) -> FloatArray:
    """How much longer bursts take at `x` transactions/s, of which an arrival sees the share `seen`, (configurations,).

    Busy threads = rate x demand x slowdown, and the slowdown follows from them: read from a table of what the threads
    do at each number busy, which never falls. Beyond the most that they can do, all are busy.
    """
    if np.all(p.slowdowns == 1.0):
        return np.ones(len(p))
    asked = x * (d.mean.cpu_s + d.mean.section_s + d.background_cpu_s)
    chance = np.linspace(0.0, 1.0, SHARING_POINTS)
    table = p.slowdowns + np.zeros((len(p), 1))
    busy = chance * (np.maximum(p.beside, 1.0) / np.maximum(seen, TINY))[:, None]
    done = busy / table
    at = np.clip((done <= asked[:, None]).sum(axis=1) - 1, 0, SHARING_POINTS - 2)
    row = np.arange(len(p))
    part = (asked - done[row, at]) / np.maximum(done[row, at + 1] - done[row, at], TINY)
    return table[row, at] + np.minimum(part, 1.0) * (table[row, at + 1] - table[row, at])


def slowed(d: Demands, longer: FloatArray) -> Demands:
    """The same needs with every CPU time so much longer."""
    if np.all(longer == 1.0):
        return d
    each, mean = longer[:, None], d.mean
    return replace(
        d,
        cpu_s=d.cpu_s * each,
        section_s=d.section_s * each,
        background_cpu_s=d.background_cpu_s * longer,
        cpu_before_s=d.cpu_before_s * each,
        mean=replace(
            mean,
            cpu_s=mean.cpu_s * longer,
            section_s=mean.section_s * longer,
            burst_left_s=mean.burst_left_s * longer,
            section_left_s=mean.section_left_s * longer,
        ),
    )
