"""What limits a result, and what must be said with it: pure functions of figures, for every engine."""

from __future__ import annotations

import math
from collections.abc import Sequence

from simulator.results import Bottleneck, ClassResult, CpuResult, DeviceResult, LockResult, StationResult

MOST_ERRORS = 5
"""standard errors of a Poisson count by which completions may lag behind arrivals before it's called overload"""


def bottleneck_of(
    cpu: CpuResult,
    devices: Sequence[DeviceResult],
    locks: Sequence[LockResult],
    stations: Sequence[StationResult],
    main: ClassResult,
) -> Bottleneck:
    """What is busiest. Row locks count with their share of the main class's response time."""
    shares = [(cpu.utilisation, "cpu"), *((device.utilisation, device.name) for device in devices)]
    shares += [(lock.utilisation, lock.name) for lock in locks if lock.name != "row locks"]
    shares += [(station.utilisation, station.name) for station in stations]
    if main.mean_s > 0:
        shares.append((main.time_by_s["row locks"] / main.mean_s, "row locks"))
    ordered = sorted(shares, key=lambda item: (-item[0], item[1]))
    return Bottleneck(ordered[0][1], ordered[0][0], ordered[1][1], ordered[1][0])


def overload(arrivals_per_s: float, completed: float, duration_s: float, connections: int) -> list[str]:
    """A sentence if open arrivals come faster than they are completed, by more than chance and a full house explain."""
    due = arrivals_per_s * duration_s
    if due - completed <= MOST_ERRORS * math.sqrt(due) + connections:
        return []
    come, go = f"{arrivals_per_s:,.4g}", f"{completed / duration_s:,.4g}"
    return [
        f"overloaded: of {come} transactions/s that arrive {go} are completed; response times grow with the duration"
    ]


def swapping(buffers_per_s: float) -> list[str]:
    """A sentence if buffers are read back from swap at all."""
    if not buffers_per_s:
        return []
    return [f"the machine swaps: {buffers_per_s:.1f} buffers/s are read back from swap; fewer buffers are faster"]
