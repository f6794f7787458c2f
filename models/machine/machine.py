"""The machine: its processors, memory, disks and network put together, and its price."""

from typing import Literal

from pydantic import Field

from oltpsim.models.input import Fraction, Gib, Microseconds, Name, Number, Spec, Text, WholeNumber
from oltpsim.models.machine.cpu import CpuSpec, Sessions, slowdowns
from oltpsim.models.machine.disk import DiskSpec
from oltpsim.models.machine.raid import DiskArraySpec
from oltpsim.models.machine.volume import RateLimitSpec
from oltpsim.simulator.form import PPM, Cpu, Sharing

QUOTA_PERIOD_NS = 100_000_000
"""cpu.cfs_period_us of Linux's control groups, by default"""


class NetworkSpec(Spec):
    """The way between clients and server. On the same machine the round trip is CPU time only."""

    clients_on_server: bool = True
    round_trip_us: Microseconds = Field(default=0.0, ge=0)
    source: Text = "assumption: clients run on the server"


class PriceSpec(Spec):
    """What a machine costs to buy, or to rent by the hour, in the money of its year."""

    usd: Number = Field(gt=0)
    usd_at_most: Number | None = Field(default=None, gt=0, description="the upper end, where a range is printed")
    per: Literal["machine", "hour"] = "machine"
    year: WholeNumber = Field(ge=1970, le=2100)
    source: Text


class MachineSpec(Spec):
    """One server. The log shares the first data disk unless `log_disk` is given; swap always does."""

    name: Name
    cpu: CpuSpec
    memory_gib: Gib = Field(gt=0, le=65536)
    disks: DiskArraySpec
    log_disk: DiskSpec | None = None
    log_disks: WholeNumber = Field(default=1, ge=1, le=1024)
    """disks that are striped for the log alone (RAID 0), each a `log_disk`"""
    volume_limits: tuple[RateLimitSpec, ...] = Field(default=(), max_length=4)
    """of a cloud instance: for its flash disks together, log disk included"""
    network: NetworkSpec = NetworkSpec()
    price: PriceSpec | None = None
    hardware_share_lost: Fraction = Field(default=0.0, ge=0, le=0.95)
    """CPU time lost to virtualisation (Xen: a little under 0.10)"""
    source: Text


def speed_of(machine: MachineSpec) -> float:
    """Speed of one core relative to the reference core, virtualisation taken off."""
    return machine.cpu.relative_speed * (1.0 - machine.hardware_share_lost)


def sharing_of(machine: MachineSpec, line_share: float = 0.0, sessions: Sessions | None = None) -> Sharing | None:
    """Factors, ppm, by which 1, 2, ... busy threads slow each other down; None of cores that don't.

    A hypervisor's guest knows no siblings.
    """
    cpu, by_cores = machine.cpu, machine.hardware_share_lost == 0 and machine.cpu.thread_placement != "by_chance"
    longer = slowdowns(cpu, placed_by_cores=by_cores, line_share=line_share, sessions=sessions)  # pyright: ignore[reportArgumentType]
    alike = bool((longer == 1.0).all()) and cpu.threads_per_core == 1
    return None if alike else Sharing(tuple(round(factor * PPM) for factor in longer))


def processors_of(machine: MachineSpec, set_aside: int, time_slice_ns: float) -> Cpu:
    """The cores that are not set aside, their quota, and the slices in which threads take turns."""
    quota_ns = round((machine.cpu.quota_cores or 0.0) * QUOTA_PERIOD_NS)
    return Cpu(machine.cpu.cores - set_aside, round(time_slice_ns), quota_ns, QUOTA_PERIOD_NS)
