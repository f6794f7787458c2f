"""Limits of cloud volumes and storage controllers: rates, and credits for bursts."""

from typing import Literal, Self

from pydantic import Field, model_validator

from oltpsim.models.input import Fraction, Kib, Milliseconds, Number, Spec, Text
from oltpsim.simulator.form import KIB, NS_PER_MS, RateLimit

MOST_REFILL_S = 50 * 86_400
"""longest time in which a bucket of credits may fill: clocks in picoseconds know twice as much"""


class RateLimitSpec(Spec):
    """What a provider lets through to a volume, or from an instance to all its volumes; with credits for bursts.

    A request takes a credit for each `unit_kib` that it begins, or one for each MiB; credits come back at `per_s`.
    While there are some, requests start at `burst_per_s`, and without credits at `per_s`.
    """

    of: Literal["requests", "mib"] = Field(description="what is counted: requests or MiB")
    direction: Literal["both", "read", "write"] = "both"
    """of which requests: a cap for reads and another for writes, or one for both together"""
    per_s: Number = Field(ge=0.1, le=1e7, description="sustained rate, and what credits are refilled with")
    burst_per_s: Number | None = Field(default=None, ge=0.1, le=1e7)
    """most while credits last; per_s if absent: no bursts"""
    credits: Number = Field(default=0.0, ge=0, description="size of the bucket, in requests or MiB")
    credits_at_start_fraction: Fraction = Field(default=1.0, ge=0, le=1)
    """how full the bucket is at the start of a run, before its warm-up"""
    unit_kib: Kib = Field(default=256.0, ge=1, le=65536)
    """of requests: a larger one counts as several (256 KiB: Amazon EBS volumes with SSDs)"""
    slice_ms: Milliseconds = Field(default=0.0, ge=0, le=10_000)
    """what comes back within so long is there at its beginning (100 ms: Linux's io.max and blkio, HZ / 10 of
    block/blk-throttle.c); 0: all the time"""
    source: Text

    @model_validator(mode="after")
    def _bursts_have_credits(self) -> Self:
        burst = self.burst_per_s
        if burst is not None and burst < self.per_s:
            raise ValueError(f"burst_per_s: got {burst:g}; at least per_s, {self.per_s:g}")
        if burst is not None and burst > self.per_s and not self.credits:
            raise ValueError(
                f"credits: got 0 with a burst_per_s of {burst:g}, which nothing would be spent for; say how many"
            )
        if self.credits > self.per_s * MOST_REFILL_S:
            days = f"{self.credits / self.per_s / 86400:,.0f} days"
            raise ValueError(f"credits: got {self.credits:g}, which take {days} to come back at per_s; at most 50 days")
        return self


def rate_limit_of(limit: RateLimitSpec) -> RateLimit:
    """A limit as the engines know it."""
    return RateLimit(
        of=limit.of,
        per_s=limit.per_s,
        burst_per_s=limit.burst_per_s or limit.per_s,
        credits=limit.credits,
        credits_at_start=limit.credits * limit.credits_at_start_fraction,
        unit_bytes=round(limit.unit_kib * KIB),
        direction=limit.direction,
        slice_ns=round(limit.slice_ms * NS_PER_MS),
    )
