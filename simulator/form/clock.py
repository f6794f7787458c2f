"""Simulated time: integer nanoseconds (docs/decisions/0003-integer-nanoseconds.md)."""

import math

from oltpsim.simulator.errors import InternalError

NS_PER_S = 1_000_000_000
NS_PER_MS = 1_000_000
NS_PER_US = 1_000
PS_PER_NS = 1_000
PS_PER_S = PS_PER_NS * NS_PER_S
FS_PER_PS = 1_000
FS_PER_S = FS_PER_PS * PS_PER_S


def from_s(seconds: float) -> int:
    """Seconds to the nearest nanosecond. Raises InternalError for negative or non-finite times."""
    if not math.isfinite(seconds) or seconds < 0:
        raise InternalError(f"not a duration: {seconds!r} s")
    return round(seconds * NS_PER_S)


def to_s(nanoseconds: float) -> float:
    """Nanoseconds to seconds."""
    return nanoseconds / NS_PER_S
