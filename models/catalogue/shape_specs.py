"""What can be bought or rented, apart from its price: cloud machines, their volumes, chassis with room for parts."""

from typing import Any

from pydantic import Field, ValidationInfo, field_validator

from oltpsim.models.input import (
    Fraction,
    Gib,
    Kib,
    MibPerSecond,
    Microseconds,
    Name,
    Number,
    Seconds,
    Spec,
    Text,
    WholeNumber,
)
from oltpsim.models.machine import CpuSpec, DiskArraySpec
from oltpsim.simulator.errors import InputError

VOLUME_UNIT_KIB = 256
"""what a cloud counts as one request to its volumes, if it is no larger (AWS's user guide of EBS)"""


class InstanceSpec(Spec):
    """A cloud machine as it is rented. The limits hold for all of its network volumes together; absent: not known."""

    name: Name
    provider: Name
    cpu: CpuSpec
    memory_gib: Gib = Field(gt=0, le=65536)
    local_disks: DiskArraySpec | None = Field(default=None, description="disks that come with it and go with it")
    volume_requests_per_s: Number | None = Field(default=None, gt=0)
    volume_burst_requests_per_s: Number | None = Field(default=None, gt=0)
    volume_mib_per_s: MibPerSecond | None = Field(default=None, gt=0)
    volume_burst_mib_per_s: MibPerSecond | None = Field(default=None, gt=0)
    volume_burst_s: Seconds | None = Field(default=None, gt=0)
    """how long a full bucket lasts at the burst's rate"""
    network_gbit_per_s: Number | None = Field(default=None, gt=0)
    hardware_share_lost: Fraction = Field(default=0.0, ge=0, le=0.95)
    source: Text

    @property
    def vcpus(self) -> int:
        """As clouds count: hardware threads."""
        return self.cpu.threads

    def volume_limits(self) -> list[dict[str, Any]]:
        """Caps of all network volumes together, as mappings for RateLimitSpec; nothing where nothing is known."""
        rates = {
            "requests": (self.volume_requests_per_s, self.volume_burst_requests_per_s),
            "mib": (self.volume_mib_per_s, self.volume_burst_mib_per_s),
        }
        return [
            _limit(kind, base, burst, (self.volume_burst_s or 0.0) * ((burst or base) - base), VOLUME_UNIT_KIB, self)
            for kind, (base, burst) in rates.items()
            if base is not None
        ]


class VolumeSpec(Spec):
    """A network volume: what one of a size does, and what more of it can be bought.

    What it does: the constant part and that of the size, between the least and the most, or what was bought.
    """

    name: Name
    provider: Name
    read_latency_us: Microseconds = Field(gt=0)
    write_latency_us: Microseconds = Field(gt=0)
    parallel_requests: WholeNumber = Field(ge=1, le=4096)
    least_gib: Gib = Field(gt=0)
    most_gib: Gib = Field(gt=0)
    requests_per_s: Number = Field(default=0.0, ge=0, description="whatever the size; the least that can be bought")
    requests_per_s_per_gib: Number = Field(default=0.0, ge=0)
    least_requests_per_s: Number = Field(default=0.0, ge=0)
    most_requests_per_s: Number = Field(gt=0, description="by size, or bought")
    bought_requests_per_s_per_gib: Number | None = Field(default=None, gt=0)
    """most that can be bought for each GiB; absent: none can be bought"""
    mib_per_s: MibPerSecond = Field(default=0.0, ge=0)
    mib_per_s_per_gib: Number = Field(default=0.0, ge=0)
    mib_per_s_per_request_per_s: Number = Field(default=0.0, ge=0, description="that come with each request/s")
    least_mib_per_s: MibPerSecond = Field(default=0.0, ge=0)
    most_mib_per_s: MibPerSecond = Field(gt=0)
    mib_per_s_is_bought: bool = False
    bought_mib_per_s_per_request_per_s: Number | None = Field(default=None, gt=0)
    """most that can be bought for each request/s"""
    burst_requests_per_s: Number | None = Field(default=None, gt=0)
    burst_requests_per_s_per_gib: Number | None = Field(default=None, gt=0)
    """up to most_requests_per_s, in place of one for all sizes"""
    burst_credits_requests: Number = Field(default=0.0, ge=0)
    burst_credits_requests_per_gib: Number = Field(default=0.0, ge=0)
    burst_mib_per_s: MibPerSecond | None = Field(default=None, gt=0)
    burst_credits_mib: Number = Field(default=0.0, ge=0)
    request_unit_kib: Kib = Field(gt=0, description="what counts as one request, if it is no larger")
    source: Text

    @field_validator("most_gib")
    @classmethod
    def _most_is_not_below_least(cls, most_gib: float, info: ValidationInfo) -> float:
        least_gib = info.data.get("least_gib", 0.0)
        if most_gib < least_gib:
            raise ValueError(f"at least least_gib, {least_gib:g}")
        return most_gib

    def disk(
        self, size_gib: float, requests_per_s: float | None = None, mib_per_s: float | None = None
    ) -> dict[str, Any]:
        """A volume of a size as keys of a disk, with its caps in `limits`; rates are in all, if some are bought.

        Raises InputError for a size or a rate that isn't for sale.
        """
        if not self.least_gib <= size_gib <= self.most_gib:
            raise InputError(
                f"{self.name}: a volume of {size_gib:g} GiB; allowed: {self.least_gib:g} to {self.most_gib:g} GiB"
            )
        requests = self._requests_per_s(size_gib, requests_per_s)
        mib = self._mib_per_s(size_gib, requests, mib_per_s)
        burst, growing = self.burst_requests_per_s, self.burst_requests_per_s_per_gib
        if growing is not None:
            burst = min(growing * size_gib, self.most_requests_per_s)
        burst_credits = self.burst_credits_requests + self.burst_credits_requests_per_gib * size_gib
        return {
            "kind": "flash",
            "name": f"{self.name}, {size_gib:g} GiB, {requests:g} requests/s, {mib:g} MiB/s",
            "capacity_gib": size_gib,
            "read_latency_us": self.read_latency_us,
            "write_latency_us": self.write_latency_us,
            "parallel_requests": self.parallel_requests,
            "limits": [
                _limit("requests", requests, burst, burst_credits, self.request_unit_kib, self),
                _limit("mib", mib, self.burst_mib_per_s, self.burst_credits_mib, self.request_unit_kib, self),
            ],
            "source": self.source,
        }

    def requests_for_sale(self, size_gib: float) -> tuple[float, float]:
        """Requests/s that a volume of a size has without buying any, and the most that it can be bought.

        The first of its kind, 3,000 for a gp3, is there at any size, also where the ratio to its size gives less.
        """
        free = self.requests_per_s + self.requests_per_s_per_gib * size_gib
        free = min(max(free, self.least_requests_per_s), self.most_requests_per_s)
        ratio = self.bought_requests_per_s_per_gib
        return free, free if ratio is None else max(min(self.most_requests_per_s, ratio * size_gib), free)

    def _requests_per_s(self, size_gib: float, bought: float | None) -> float:
        free, most = self.requests_for_sale(size_gib)
        return free if bought is None else self._bought("requests/s", bought, free, most, f"of {size_gib:g} GiB")

    def _mib_per_s(self, size_gib: float, requests_per_s: float, bought: float | None) -> float:
        free = self.mib_per_s + self.mib_per_s_per_gib * size_gib + self.mib_per_s_per_request_per_s * requests_per_s
        free = min(max(free, self.least_mib_per_s), self.most_mib_per_s)
        if bought is None:
            return free
        ratio = self.bought_mib_per_s_per_request_per_s
        most = self.most_mib_per_s if ratio is None else max(min(self.most_mib_per_s, ratio * requests_per_s), free)
        return self._bought(
            "MiB/s", bought, free, most if self.mib_per_s_is_bought else free, f"with {requests_per_s:g} requests/s"
        )

    def _bought(self, unit: str, bought: float, least: float, most: float, volume: str) -> float:
        if not least <= bought <= most:
            allowed = f"{least:g}" if least == most else f"{least:g} to {most:g}"
            raise InputError(f"{self.name}: {bought:g} {unit} for a volume {volume}; allowed: {allowed} {unit}")
        return bought


class VolumeOrder(Spec):
    """A network volume in place of a machine's disk: `{volume: gp3, size_gib: 200, requests_per_s: 6000}`."""

    volume: Name
    size_gib: Gib = Field(gt=0)
    requests_per_s: Number | None = Field(default=None, gt=0, description="in all; absent: what it has without buying")
    mib_per_s: MibPerSecond | None = Field(default=None, gt=0)


def _limit(
    counted: str,
    per_s: float,
    burst_per_s: float | None,
    credits_held: float,
    unit_kib: float,
    shape: InstanceSpec | VolumeSpec,
) -> dict[str, Any]:
    """A cap as keys of RateLimitSpec: a burst only if it is more than the base."""
    source = f"{shape.provider} {shape.name}, as its entry in the catalogue says"
    limit: dict[str, Any] = {"of": counted, "per_s": per_s, "unit_kib": unit_kib, "source": source}
    if burst_per_s is not None and burst_per_s > per_s and credits_held > 0:
        limit |= {"burst_per_s": burst_per_s, "credits": credits_held, "credits_at_start_fraction": 1.0}
    return limit


class ProcessorChoice(Spec):
    """One kind of processor that goes into a chassis, and how many of them may."""

    cpu: Name = Field(description="entry of the catalogue of cpus")
    cores_each: WholeNumber = Field(ge=1)
    pieces: tuple[WholeNumber, ...] = Field(min_length=1)


class MemoryChoice(Spec):
    """One kind of memory module, and how many of it may be there."""

    module: Name = Field(description="its name in price lists, memory/NAME")
    gib_each: Gib = Field(gt=0)
    pieces: tuple[WholeNumber, ...] = Field(min_length=1)


class DiskChoice(Spec):
    """One kind of disk, and how many of it may be there."""

    disk: Name = Field(description="entry of the catalogue of disks")
    pieces: tuple[WholeNumber, ...] = Field(min_length=1)
    controller: Name | None = None
    """what they need to be connected, one of it; its name in price lists, controllers/NAME"""


class ChassisSpec(Spec):
    """A board in a box with room for parts: a machine is one choice of each kind. Its own price is without them."""

    name: Name
    processors: tuple[ProcessorChoice, ...] = Field(min_length=1)
    memory: tuple[MemoryChoice, ...] = Field(min_length=1)
    disks: tuple[DiskChoice, ...] = Field(min_length=1)
    log_disks: tuple[Name, ...] = Field(default=(), description="disks that may be there for the log alone, or none")
    watts: Number | None = Field(default=None, gt=0)
    source: Text
