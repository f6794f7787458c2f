"""What is bought: processors, memory, disks, network."""

from oltpsim.models.machine.cpu import CpuSpec, Sessions, cache_line_ns, slowdowns
from oltpsim.models.machine.disk import DiskSpec, FlashDiskSpec, RotatingDiskSpec
from oltpsim.models.machine.machine import MachineSpec, PriceSpec, processors_of, sharing_of, speed_of
from oltpsim.models.machine.raid import RAID_LAYOUTS, DiskArraySpec, controllers_of, data_devices, log_device
from oltpsim.models.machine.ssd import CHANNEL_MIB_PER_S, FIRMWARE_SHARE, SsdSpec
from oltpsim.models.machine.volume import RateLimitSpec, rate_limit_of
