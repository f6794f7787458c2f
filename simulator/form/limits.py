"""Rate limits of cloud volumes, and of controllers and machines in front of many devices."""

from dataclasses import dataclass
from typing import Annotated

from oltpsim.simulator.form.clock import FS_PER_S, PS_PER_NS, PS_PER_S

DIRECTIONS = ("both", "read", "write")
"""what a limit counts"""
Direction = Annotated[str, DIRECTIONS]


@dataclass(frozen=True)
class RateLimit:
    """A cap on requests or MiB per second, with a bucket of credits above it (simulator/reference/limits.py).

    A request takes a credit for each `unit_bytes` of its size that it begins (`of` "requests"), or one for each MiB.
    Credits come back at `per_s`, up to `credits`. While there are some, requests start at `burst_per_s`. With a
    `slice_ns` what comes in within a slice is there at the slice's beginning. `direction`: what the cap is for, "read"
    or "write", or "both" together; a write that reads first counts as either.
    """

    of: str
    per_s: float
    burst_per_s: float
    credits: float = 0.0
    credits_at_start: float = 0.0
    unit_bytes: int = 1 << 18
    direction: Direction = "both"
    slice_ns: int = 0

    @property
    def units_of_rate(self) -> int:
        """Units that one request or one MiB of the rates is: a byte is the unit of MiB."""
        return 1 << 20 if self.of == "mib" else 1

    @property
    def bytes_per_credit(self) -> int:
        """Bytes of a request for which it takes one credit; it takes one more for what is left over."""
        return self.unit_bytes if self.of == "requests" else 1

    @property
    def sustained_fs(self) -> int:
        """Time in which one credit comes back."""
        return round(1.0 / self.units_of_rate / self.per_s * FS_PER_S)

    @property
    def burst_fs(self) -> int:
        """Time between the credits of two requests that start one after the other, at least."""
        return round(1.0 / self.units_of_rate / self.burst_per_s * FS_PER_S)

    @property
    def refill_ps(self) -> int:
        """Time in which an empty bucket fills."""
        return round(self.credits / self.per_s * PS_PER_S)

    @property
    def full_at_ps(self) -> int:
        """When the bucket would be full if no request came."""
        return round((self.credits - self.credits_at_start) / self.per_s * PS_PER_S)

    @property
    def slice_ps(self) -> int:
        """Length of a slice; 1 where credits come back all the time."""
        return max(self.slice_ns * PS_PER_NS, 1)

    def counts(self, write: bool) -> bool:
        """Whether reads, or writes, are counted."""
        return self.direction in ("both", "write" if write else "read")

    def label(self, owner: str) -> str:
        """The cap by name, as bottlenecks are listed: disk 1 (cap of 3,000 requests/s)."""
        most = f"{self.per_s:,.6g}" + (f" to {self.burst_per_s:,.6g}" if self.burst_per_s > self.per_s else "")
        counted = {"both": "requests", "read": "reads", "write": "writes"}[self.direction]
        if self.of == "mib":
            return f"{owner} (cap of {most} MiB/s{'' if self.direction == 'both' else f' of {counted}'})"
        return f"{owner} (cap of {most} {counted}/s)"


@dataclass(frozen=True)
class Controllers:
    """Equal controllers in front of the data disks: the data devices go to them in equal parts, in order.

    Each lets no more requests of its disks through than each of its `limits` says.
    """

    count: int
    limits: tuple[RateLimit, ...]

    def number_of(self, device: int, data_devices: int) -> int:
        """The controller of one of so many data devices."""
        return device * self.count // data_devices
