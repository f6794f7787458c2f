"""Disks of a job that reads or writes in order: what the formulas know of them, and what they don't."""

from collections.abc import Iterator

from models.machine import FlashDiskSpec, MachineSpec, rate_limit_of
from models.scenario import ScenarioSpec
from models.workloads import ScanSpec
from simulator.analytic import turn_of


def turn_s(machine: MachineSpec, size_bytes: float) -> float:
    """Seconds between requests of this size to one data disk, at sustained rates; 0 without limits."""
    disks = machine.disks
    of_disk = disks.disk.limits if isinstance(disks.disk, FlashDiskSpec) else ()
    limits = [(rate_limit_of(one), one.per_s) for one in of_disk]
    limits += [(rate_limit_of(one), one.per_s / disks.count) for one in machine.volume_limits]
    return turn_of(limits).of(size_bytes)


def disk_faults(scenario: ScenarioSpec) -> Iterator[str]:
    """RAID sets and controllers, which would get the time of independent disks; a line each."""
    job, disks = scenario.job, scenario.machine.disks
    if not isinstance(job, ScanSpec):
        return
    formula = f"with job.kind: {job.kind}, whose time is calculated for independent disks alone"
    if disks.layout:
        yield (
            f"machine.disks.level: got {disks.level!r} {formula}: a {disks.level_name} set would get the time of none; "
            "allowed: independent; set it, or leave the job out"
        )
    if disks.controller_limits:
        yield f"machine.disks.controller_limits: given {formula}; take them out with controllers, or leave the job out"
