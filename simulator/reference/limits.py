"""Rate limits of cloud volumes and of the machine that they hang on: when a request may start.

A limiter is two virtual clocks (generic cell rate algorithm, ITU-T I.371), in whole picoseconds. `next_ps`: the
earliest start of the next request, one burst interval behind the last. `full_at_ps`: when the bucket would be full if
nothing more came; each credit spent moves it on by one sustained interval. Credits are gone when it is the bucket's
whole refill time (`refill_ps`) ahead, and a request waits until it isn't:

    start = max(now, next, full_at - refill);  next = start + burst;  full_at = max(full_at, start) + sustained

So from any full bucket at most 1 + credits + per_s t requests start in a time t, and 1 + burst_per_s t anyway. A
request of several units starts like one, and those behind it wait the longer.
"""

from collections.abc import Sequence

from simulator.form import FS_PER_PS, PS_PER_NS, RateLimit


class RateLimiter:
    """A rate limit at work. `closed_ps`: for how long in all it would hold the next request.

    `out_since_ns`: when its credits ran out for the first time, None if they never did.
    """

    def __init__(self, limit: RateLimit) -> None:
        self.limit = limit
        self.next_ps, self.full_at_ps = 0, limit.full_at_ps
        self.closed_ps = 0
        self.out_since_ns: int | None = None

    @property
    def refilled_ps(self) -> int:
        """When there is a credit."""
        return self.full_at_ps - self.limit.refill_ps

    def start(self, start_ps: int, size_bytes: int) -> None:
        """A request starts: it takes its credits."""
        units = max(-(-size_bytes // self.limit.bytes_per_credit), 1)
        self.next_ps = start_ps + _whole_ps(units * self.limit.burst_fs)
        self.full_at_ps = max(self.full_at_ps, start_ps) + _whole_ps(units * self.limit.sustained_fs)
        self.closed_ps += max(self.next_ps, self.refilled_ps) - start_ps


def admit(limiters: Sequence[RateLimiter], size_bytes: int, now: int) -> int:
    """How long in ns a request that asks now has to wait for all of these limiters together; it takes its credits.

    Asked in order of arrival: whoever asks later starts later.
    """
    with_credits_ps = max([now * PS_PER_NS, *(limiter.next_ps for limiter in limiters)])
    for limiter in limiters:
        if limiter.refilled_ps > with_credits_ps and limiter.out_since_ns is None:
            limiter.out_since_ns = with_credits_ps // PS_PER_NS
    start_ps = max([with_credits_ps, *(limiter.refilled_ps for limiter in limiters)])
    for limiter in limiters:
        limiter.start(start_ps, size_bytes)
    return -(-(start_ps - now * PS_PER_NS) // PS_PER_NS)


def _whole_ps(time_fs: int) -> int:
    return (time_fs + FS_PER_PS // 2) // FS_PER_PS
