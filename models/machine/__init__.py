"""What is bought: processors, memory, disks, network."""

from models.machine.cpu import CpuSpec, cache_line_ns, slowdowns
from models.machine.disk import DiskSpec, FlashDiskSpec, RotatingDiskSpec
from models.machine.machine import MachineSpec, PriceSpec, processors_of, sharing_of, speed_of
from models.machine.raid import RAID_LAYOUTS, DiskArraySpec, controllers_of, data_devices, log_device
from models.machine.ssd import CHANNEL_MIB_PER_S, FIRMWARE_SHARE, SsdSpec
from models.machine.volume import RateLimitSpec, rate_limit_of
