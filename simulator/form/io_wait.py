"""Idle processors that wait for I/O, as Linux counts them: those on which a task last ran that sleeps for block I/O.

Tasks last ran on any processor (assumption: they are spread evenly). Of `n` tasks asleep none belongs to a given one of
`c` processors with chance (1 - 1/c)^n, so that idle time counts as waiting with the complement of it. A task asleep: a
client that waits for a read, for the write of a dirty victim or for a buffer from swap, and the log's writer.
"""

import math

import numpy as np

from oltpsim.simulator.form.arrays import IntArray

IO_WAIT_SHARE_BITS = 12
"""shares of idle time are whole 4096ths, so that engines add up integers"""


def io_wait_shares(processors: int) -> IntArray:
    """By number of tasks asleep: the share of idle time that counts as waiting. The last entry is for all above."""
    one = 1 << IO_WAIT_SHARE_BITS
    if processors == 1:
        return np.array([0, one], dtype=np.int64)
    most = math.ceil(math.log(2 * one) / -math.log1p(-1 / processors)) + 1
    return np.rint(one * -np.expm1(np.arange(most) * math.log1p(-1 / processors))).astype(np.int64)
