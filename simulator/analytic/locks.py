"""Waiting for row locks."""

from __future__ import annotations

import numpy as np

from simulator.analytic.demands import Demands
from simulator.analytic.parameters import Parameters
from simulator.analytic.queues import ENDLESS, TINY
from simulator.analytic.workload import Workload
from simulator.form import FloatArray

LOCK_RESIDUAL = 0.75
"""what is left of a lock's time when somebody asks for it: squared variation of 0.5 (assumption)"""


def lock_times(
    w: Workload, p: Parameters, d: Demands, x: FloatArray, cpu: FloatArray, paging: FloatArray, last: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Waiting for row locks, held from where they are taken to the commit: each row is a server of its own.

    Only clients of one warehouse meet at its rows; an arrival sees the queue without itself. `cpu`, `paging` and `last`
    (section and log) are the times of a transaction; the first two are over in part when a lock is asked for. The
    lock that is taken last is solved first, since others are held while waiting for it.
    """
    waits = np.zeros_like(cpu)
    shares = np.zeros((len(cpu), len(w.locks)))
    pages = np.maximum(d.reads + d.victims + d.faults, TINY)
    for kind in sorted({lock.kind for lock in w.locks}, reverse=True):
        users = [(k, lock) for k, lock in enumerate(w.locks) if lock.kind == kind]
        held, squares = np.zeros(len(x)), np.zeros(len(x))
        for k, lock in users:
            c = lock.transaction_class
            to_do = np.clip(1.0 - d.cpu_before_s[:, k] / np.maximum(d.cpu_s[:, c], TINY), 0.0, 1.0)
            to_read = np.clip(1.0 - d.reads_before[:, k] / pages[:, c], 0.0, 1.0)
            hold = to_do * cpu[:, c] + to_read * paging[:, c] + last[:, c] + waits[:, c]
            weight = x * w.mix[c] * lock.acquisitions / lock.rows
            held, squares = held + weight * hold, squares + weight * hold**2
        there = np.maximum(p.clients / users[0][1].apart, 1.0)
        seen = np.where(p.arrivals_per_s > 0, 1.0, (there - 1.0) / there)
        busy = seen * held
        left = squares / np.maximum(held, TINY) * LOCK_RESIDUAL
        wait = np.where(busy < 1.0, busy * left / np.maximum(1.0 - busy, TINY), ENDLESS)
        for k, lock in users:
            waits[:, lock.transaction_class] += lock.acquisitions * wait
            shares[:, k] = np.minimum(busy, 1.0)
    return waits, shares
