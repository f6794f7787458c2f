"""What the limits of cloud volumes leave a job, which reads or writes in order for as long as it takes."""

from __future__ import annotations

from models.machine import FlashDiskSpec, MachineSpec, rate_limit_of
from simulator.analytic import turn_of


def turn_s(machine: MachineSpec, size_bytes: float) -> float:
    """Seconds between requests of this size to one data disk, at sustained rates; 0 without limits."""
    disks = machine.disks
    own = disks.disk.limits if isinstance(disks.disk, FlashDiskSpec) else ()
    limits = [(rate_limit_of(one), one.per_s) for one in own]
    limits += [(rate_limit_of(one), one.per_s / disks.count) for one in machine.volume_limits]
    return turn_of(limits).of(size_bytes)
