"""Caps of cloud volumes and of the instance that they hang on: when a request may start. Both engines use it.

A limiter is two virtual clocks (generic cell rate algorithm, ITU-T I.371), in whole picoseconds. NEXT: the earliest
start of the next request, one burst interval behind the last. FULL_AT: when the bucket would be full if nothing more
came; each credit spent moves it on by one sustained interval. Credits are gone when it is the bucket's whole refill
time (TOLERANCE) ahead, and a request waits until it isn't:

    start = max(now, NEXT, FULL_AT - TOLERANCE);  NEXT = start + burst;  FULL_AT = max(FULL_AT, start) + sustained

So from any full bucket at most 1 + credits + per_s t requests start in a time t, and 1 + burst_per_s t anyway. A
request of several units starts like one, and those behind it wait the longer.
"""

# pyright: reportReturnType=false

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from simulator.form import PS_PER_NS, PS_PER_S, IntArray, RateLimit
from simulator.kernel.compiled import compiled

FS_PER_PS, FS_PER_S = 1000, 10**15
# Columns of a limiter: constants, then clocks, then what it counts
UNIT_BYTES, SUSTAINED_FS, BURST_FS, TOLERANCE_PS, NEXT_PS, FULL_AT_PS, CLOSED_PS, OUT_SINCE_NS = range(8)
NEVER = -1


def limiter_rows(limits: Sequence[RateLimit]) -> IntArray:
    """The limiters at time 0, (limit, column)."""
    return np.array([_row(limit) for limit in limits], dtype=np.int64).reshape(len(limits), OUT_SINCE_NS + 1)


def _row(limit: RateLimit) -> list[int]:
    unit_s = 1.0 / limit.units_of_rate
    spent_s = (limit.credits - limit.credits_at_start) / limit.per_s
    row = [0] * (OUT_SINCE_NS + 1)
    row[UNIT_BYTES] = limit.unit_bytes if limit.of == "requests" else 1
    row[SUSTAINED_FS] = round(unit_s / limit.per_s * FS_PER_S)
    row[BURST_FS] = round(unit_s / limit.burst_per_s * FS_PER_S)
    row[TOLERANCE_PS] = round(limit.credits / limit.per_s * PS_PER_S)
    row[FULL_AT_PS] = round(spent_s * PS_PER_S)
    row[OUT_SINCE_NS] = NEVER
    return row


@compiled
def admit(limits: IntArray, first: int, end: int, size_bytes: int, now: int) -> int:
    """How long in ns a request that asks now has to wait for the limiters `first` to `end` - 1; it takes its credits.

    Asked in order of arrival: whoever asks later starts later.
    """
    start = now * PS_PER_NS
    for i in range(first, end):
        start = max(start, limits[i, NEXT_PS])
    with_credits = start
    for i in range(first, end):
        refilled = limits[i, FULL_AT_PS] - limits[i, TOLERANCE_PS]
        if refilled > with_credits and limits[i, OUT_SINCE_NS] == NEVER:
            limits[i, OUT_SINCE_NS] = with_credits // PS_PER_NS
        start = max(start, refilled)
    for i in range(first, end):
        row = limits[i]
        units = max((size_bytes + row[UNIT_BYTES] - 1) // row[UNIT_BYTES], 1)
        row[NEXT_PS] = start + (units * row[BURST_FS] + FS_PER_PS // 2) // FS_PER_PS
        row[FULL_AT_PS] = max(row[FULL_AT_PS], start) + (units * row[SUSTAINED_FS] + FS_PER_PS // 2) // FS_PER_PS
        row[CLOSED_PS] += max(row[NEXT_PS], row[FULL_AT_PS] - row[TOLERANCE_PS]) - start
    return (start - now * PS_PER_NS + PS_PER_NS - 1) // PS_PER_NS


class Throttle(NamedTuple):
    """Limiters that a request passes together."""

    limits: IntArray
    stage: range

    def wait_ns(self, size_bytes: int, now: int) -> int:
        """As `admit`."""
        return int(admit(self.limits, self.stage.start, self.stage.stop, size_bytes, now))
