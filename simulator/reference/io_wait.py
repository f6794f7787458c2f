"""Idle processors that wait for I/O, as Linux counts them: those on which a task last ran that sleeps for block I/O.

Tasks last ran on any processor (assumption: they are spread evenly). Of `n` tasks asleep none belongs to a given one of
`c` processors with chance (1 - 1/c)^n, so that idle time counts as waiting with the complement of it. A task asleep: a
client that waits for a read, for the write of a dirty victim or for a buffer from swap, and the log's writer.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from simulator.reference.engine import ReferenceEngine

SHARE_BITS = 12
"""shares of idle time are whole 4096ths, so that engines add up integers"""


def waiting_shares(processors: int) -> npt.NDArray[np.int64]:
    """By number of tasks asleep: the share of idle time that counts as waiting. The last entry is for all above."""
    one = 1 << SHARE_BITS
    if processors == 1:
        return np.array([0, one], dtype=np.int64)
    most = math.ceil(math.log(2 * one) / -math.log1p(-1 / processors)) + 1
    return np.rint(one * -np.expm1(np.arange(most) * math.log1p(-1 / processors))).astype(np.int64)


class IoWait:
    """Idle CPU time that counts as waiting, as an integral. The reference engine's; kernel/io_wait.py is its twin."""

    def __init__(self, engine: ReferenceEngine) -> None:
        self.engine = engine
        self.shares = waiting_shares(engine.model.processors).tolist()
        self.asleep = self.area = self.since_ns = self.busy_then = 0

    def change(self, by: int) -> None:
        """So many more tasks sleep in block I/O from now on, or fewer."""
        now = self.engine.env.now
        self.area = self.area_until(now)
        self.asleep += by
        self.since_ns, self.busy_then = now, self.engine.cpu.busy.area_until(now)

    def area_until(self, now: int) -> int:
        """The integral from time 0 to now, in core-nanoseconds."""
        busy = self.engine.cpu.busy.area_until(now) - self.busy_then
        idle = self.engine.model.processors * (now - self.since_ns) - busy
        return self.area + (idle * self.shares[min(self.asleep, len(self.shares) - 1)] >> SHARE_BITS)
