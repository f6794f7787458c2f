"""What a run writes down while it goes: counters, time averages, histograms. Bounded, whatever the run's length."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

ACTIVITIES = (
    "cpu",
    "cpu queue",
    "critical section",
    "row locks",
    "disk read",
    "page wait",
    "swap",
    "write throttle",
    "log",
    "network",
    "stations",
    "connection",
)
(CPU, CPU_QUEUE, SECTION, ROW_LOCK, DISK_READ, PAGE_WAIT, SWAP, THROTTLE, LOG, NETWORK, STATION, CONNECTION) = range(
    len(ACTIVITIES)
)
SUB_BUCKETS = 64
OCTAVES = 48


class Gauge:
    """A number that changes at instants, with its integral over time.

    The integral until now is value x now, less every change times the instant at which it came.
    """

    __slots__ = ("changes", "value")

    def __init__(self) -> None:
        self.value = 0
        self.changes = 0

    def change(self, now: int, by: int) -> None:
        """Add `by` from now on."""
        self.changes += by * now
        self.value += by

    def area_until(self, now: int) -> int:
        """The integral from time 0 to now."""
        return self.value * now - self.changes


class Population(Gauge):
    """How many are inside, with the sum of the instants at which they came: so their ages are known."""

    __slots__ = ("since",)

    def __init__(self) -> None:
        super().__init__()
        self.since = 0

    def come(self, now: int) -> None:
        """One more is inside."""
        self.change(now, 1)
        self.since += now

    def go(self, now: int, since: int) -> None:
        """One that came at `since` has left."""
        self.change(now, -1)
        self.since -= since

    def ages_at(self, now: int) -> int:
        """How long those inside have been there, added up."""
        return self.value * now - self.since


def bucket_of(time_ns: int) -> int:
    """The histogram bucket of a time: 64 per factor of two, so at most 1.6 % wide."""
    shift = max(0, time_ns.bit_length() - 7)
    return shift * SUB_BUCKETS + (time_ns >> shift)


def bucket_ns(bucket: int) -> float:
    """The middle of a bucket."""
    if bucket < 2 * SUB_BUCKETS:
        return float(bucket)
    shift = bucket // SUB_BUCKETS - 1
    return float(((bucket - shift * SUB_BUCKETS) << shift) + ((1 << shift) >> 1))


def quantile_ns(histogram: npt.NDArray[np.int64], share: float) -> float:
    """The time below which `share` of the histogram's entries lie; 0 for an empty one."""
    total = int(histogram.sum())
    if total == 0:
        return 0.0
    return bucket_ns(int(np.searchsorted(np.cumsum(histogram), share * total, side="left")))


def share_below(histogram: npt.NDArray[np.int64], time_ns: float) -> float:
    """The share of the histogram's entries below a time, of its own bucket in proportion; 0 for an empty one."""
    bucket = bucket_of(int(time_ns))
    shift = max(bucket // SUB_BUCKETS - 1, 0)
    inside = (time_ns - ((bucket - shift * SUB_BUCKETS) << shift)) / (1 << shift)
    below = int(histogram[:bucket].sum()) + inside * int(histogram[bucket])
    return below / max(int(histogram.sum()), 1)


class ClassRecorder:
    """Completions of one transaction class in the measured interval."""

    __slots__ = ("completed", "histogram", "rolled_back", "spent_ns", "total_ns")

    def __init__(self) -> None:
        self.completed = 0
        self.rolled_back = 0
        self.total_ns = 0
        self.spent_ns = [0] * len(ACTIVITIES)
        self.histogram = [0] * (SUB_BUCKETS * OCTAVES)

    def record(self, response_ns: int, spent_ns: list[int], rolled_back: int) -> None:
        """One transaction ended."""
        self.completed += 1
        self.rolled_back += rolled_back
        self.total_ns += response_ns
        self.histogram[bucket_of(response_ns)] += 1
        own = self.spent_ns
        for activity, time_ns in enumerate(spent_ns):
            if time_ns:
                own[activity] += time_ns
