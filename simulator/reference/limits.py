"""Rate limits of cloud volumes and of the machine that they hang on: when a request may start.

A limiter is two virtual clocks (generic cell rate algorithm, ITU-T I.371), in whole picoseconds. `next_ps`: the
earliest start of the next request, one burst interval behind the last. `full_at_ps`: when the bucket would be full if
nothing more came; each credit spent moves it on by one sustained interval. Credits are gone when it is the bucket's
whole refill time (`refill_ps`) ahead, and a request waits until it isn't:

    start = max(now, next, full_at - refill);  next = start + burst;  full_at = max(full_at, start) + sustained

So from any full bucket at most 1 + credits + per_s t requests start in a time t, and 1 + burst_per_s t anyway. A
request of several units starts like one, and those behind it wait the longer.

With slices (Linux's block/blk-throttle.c) what comes back within a slice is there at its beginning: the clocks count
from the beginnings of slices, and a request waits for that of the slice in which the clocks let it start.
"""

from collections.abc import Collection, Sequence

from oltpsim.simulator.form import FS_PER_PS, PS_PER_NS, RateLimit


class RateLimiter:
    """A rate limit at work.

    `closed_ps`: for how long in all it would hold the next request; with slices, whose credits hold nobody up before
    they are gone, the time in which what was taken comes back. `out_since_ns`: when its credits ran out for the first
    time, None if they never did.
    """

    def __init__(self, limit: RateLimit) -> None:
        self.limit = limit
        self.next_ps, self.full_at_ps = 0, limit.full_at_ps
        self.closed_ps = 0
        self.out_since_ns: int | None = None

    @property
    def refilled_ps(self) -> int:
        """When there is a credit, ps."""
        return self.slice_start_ps(max(self.full_at_ps - self.limit.refill_ps, 0))

    @property
    def next_start_ps(self) -> int:
        """When the next request may start, by its distance to the last one; credits aside."""
        return self.slice_start_ps(self.next_ps)

    def slice_start_ps(self, ps: int) -> int:
        """The beginning of the slice that a time lies in."""
        return ps - ps % self.limit.slice_ps

    def start(self, start_ps: int, size_bytes: int) -> None:
        """A request starts: it takes its credits."""
        units = max(-(-size_bytes // self.limit.bytes_per_credit), 1)
        slice_ps = self.slice_start_ps(start_ps)
        self.next_ps = max(self.next_ps, slice_ps) + _whole_ps(units * self.limit.burst_fs)
        self.full_at_ps = max(self.full_at_ps, slice_ps) + _whole_ps(units * self.limit.sustained_fs)
        if self.limit.slice_ps > 1:
            gone = self.limit.refill_ps > 0 and self.refilled_ps >= slice_ps
            self.closed_ps += _whole_ps(units * (self.limit.sustained_fs if gone else self.limit.burst_fs))
        else:
            self.closed_ps += max(self.next_start_ps - start_ps, self.refilled_ps - start_ps, 0)


def admit(stage: Sequence[RateLimiter], size_bytes: int, now: int, directions: Collection[str] = ("both",)) -> int:
    """How long in ns a request that asks now has to wait for all limiters of these directions together.

    It takes its credits. Asked in order of arrival: whoever asks later starts later.
    """
    limiters = [limiter for limiter in stage if limiter.limit.direction in directions]
    with_credits_ps = max([now * PS_PER_NS, *(limiter.next_start_ps for limiter in limiters)])
    for limiter in limiters:
        if limiter.refilled_ps > with_credits_ps and limiter.out_since_ns is None:
            limiter.out_since_ns = with_credits_ps // PS_PER_NS
    start_ps = max([with_credits_ps, *(limiter.refilled_ps for limiter in limiters)])
    for limiter in limiters:
        limiter.start(start_ps, size_bytes)
    return -(-(start_ps - now * PS_PER_NS) // PS_PER_NS)


def _whole_ps(time_fs: int) -> int:
    return (time_fs + FS_PER_PS // 2) // FS_PER_PS
