"""What is bought: processors, memory, disks, network."""

from models.machine.machine import (
    CpuSpec,
    DiskArraySpec,
    DiskSpec,
    FlashDiskSpec,
    MachineSpec,
    PriceSpec,
    RateLimitSpec,
    RotatingDiskSpec,
)
from models.machine.processors import slowdowns

__all__ = [
    "CpuSpec",
    "DiskArraySpec",
    "DiskSpec",
    "FlashDiskSpec",
    "MachineSpec",
    "PriceSpec",
    "RateLimitSpec",
    "RotatingDiskSpec",
    "slowdowns",
]
