"""Accumulators of a run: gauges, response times by activity, histograms. Bounded, whatever the run's length."""

from enum import IntEnum

import numpy as np

from oltpsim.simulator.form import IntArray


class Activity(IntEnum):
    """Part of a response time, in the order of every engine's accounts."""

    CPU = 0
    CPU_QUEUE = 1
    CRITICAL_SECTION = 2
    ROW_LOCKS = 3
    DISK_READ = 4
    PAGE_WAIT = 5
    SWAP = 6
    WRITE_THROTTLE = 7
    LOG = 8
    NETWORK = 9
    STATIONS = 10
    CONNECTION = 11


ACTIVITIES = tuple(activity.name.lower().replace("_", " ") for activity in Activity)
"""names of activities in results"""
HISTOGRAM_SUB_BUCKETS = 64
HISTOGRAM_BUCKETS = HISTOGRAM_SUB_BUCKETS * 48


class Gauge:
    """Piecewise constant number with its integral over time.

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
    """Number of customers present, with the sum of their arrival instants, which gives their ages."""

    __slots__ = ("since",)

    def __init__(self) -> None:
        super().__init__()
        self.since = 0

    def enter(self, now: int) -> None:
        """A customer arrives."""
        self.change(now, 1)
        self.since += now

    def leave(self, now: int, since: int) -> None:
        """A customer that arrived at `since` leaves."""
        self.change(now, -1)
        self.since -= since

    def ages_at(self, now: int) -> int:
        """Ages of those present, added up, ns."""
        return self.value * now - self.since


def histogram_bucket(time_ns: int) -> int:
    """The histogram bucket of a time: 64 per factor of two, so at most 1.6 % wide."""
    shift = max(0, time_ns.bit_length() - 7)
    return shift * HISTOGRAM_SUB_BUCKETS + (time_ns >> shift)


def _bucket_ns(bucket: int) -> float:
    """The middle of a bucket."""
    if bucket < 2 * HISTOGRAM_SUB_BUCKETS:
        return float(bucket)
    shift = bucket // HISTOGRAM_SUB_BUCKETS - 1
    return float(((bucket - shift * HISTOGRAM_SUB_BUCKETS) << shift) + ((1 << shift) >> 1))


def quantile_bucket(histogram: IntArray, share: float) -> int:
    """The first bucket up to which at least `share` of the histogram's entries lie."""
    sums = np.cumsum(histogram)
    return int(np.searchsorted(sums, share * int(sums[-1]), side="left"))


def histogram_quantile_ns(histogram: IntArray, share: float) -> float:
    """The time below which `share` of the histogram's entries lie; 0 for an empty one."""
    return _bucket_ns(quantile_bucket(histogram, share)) if histogram.any() else 0.0


def bucket_ends_ns(bucket: int) -> tuple[int, int]:
    """The least time in a bucket, and the least beyond it."""
    shift = max(bucket // HISTOGRAM_SUB_BUCKETS - 1, 0)
    first = bucket - shift * HISTOGRAM_SUB_BUCKETS
    return first << shift, (first + 1) << shift


def histogram_share_below(histogram: IntArray, time_ns: float) -> float:
    """The share of the histogram's entries below a time, of its own bucket in proportion; 0 for an empty one."""
    bucket = histogram_bucket(int(time_ns))
    shift = max(bucket // HISTOGRAM_SUB_BUCKETS - 1, 0)
    inside = (time_ns - ((bucket - shift * HISTOGRAM_SUB_BUCKETS) << shift)) / (1 << shift)
    below = int(histogram[:bucket].sum()) + inside * int(histogram[bucket])
    return below / max(int(histogram.sum()), 1)


class ResponseCounts:
    """Completions at an instant, by class and bucket of the response time; of the many empty buckets nothing is stored.

    `histograms`: (classes, buckets).
    """

    __slots__ = ("places", "sums")

    def __init__(self, histograms: IntArray) -> None:
        counts = histograms.ravel()
        self.places = np.flatnonzero(counts).astype(np.int32)
        self.sums = np.append(0, np.cumsum(counts[self.places]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ResponseCounts):
            return NotImplemented
        return np.array_equal(self.places, other.places) and np.array_equal(self.sums, other.sums)

    __hash__ = None  # type: ignore[assignment]

    def within(self, class_number: int, buckets: IntArray) -> IntArray:
        """Completions of a class in the buckets up to each of some."""
        first = class_number * HISTOGRAM_BUCKETS
        found: IntArray = self.sums[self.places.searchsorted(first + np.append(-1, buckets), side="right")]
        return found[1:] - found[0]


class ClassRecorder:
    """Completions of one transaction class in the measured interval."""

    __slots__ = ("completed", "histogram", "rolled_back", "spent_ns", "total_ns")

    def __init__(self) -> None:
        self.completed = 0
        self.rolled_back = 0
        self.total_ns = 0
        self.spent_ns = [0] * len(ACTIVITIES)
        self.histogram = [0] * (HISTOGRAM_BUCKETS)

    def record(self, response_ns: int, spent_ns: list[int], rolled_back: int) -> None:
        """Count one completion: response time in all and by activity, ns; whether it was rolled back (0 or 1)."""
        self.completed += 1
        self.rolled_back += rolled_back
        self.total_ns += response_ns
        self.histogram[histogram_bucket(response_ns)] += 1
        for activity, time_ns in enumerate(spent_ns):
            if time_ns:
                self.spent_ns[activity] += time_ns
