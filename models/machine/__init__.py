"""What is bought: processors, memory, disks, network."""

from models.machine.cpu import CpuSpec
from models.machine.disk import DiskSpec, FlashDiskSpec, RotatingDiskSpec
from models.machine.machine import MachineSpec, PriceSpec, sharing_of, speed_of
from models.machine.raid import DiskArraySpec, controllers_of, data_devices, log_device
from models.machine.volume import RateLimitSpec, rate_limit_of
