"""RAID sets: equal disks that are one device to the operating system."""

from dataclasses import dataclass
from typing import ClassVar

from oltpsim.simulator.form.device import DeviceRecord
from oltpsim.simulator.form.ssd import SsdDevice


@dataclass(frozen=True)
class RaidSet(DeviceRecord):
    """Equal disks behind a controller, one device to the operating system (simulator/reference/raid.py).

    Stripes of a unit on each disk. `copies` 2: disks in pairs that hold the same; `parities`: units of each stripe
    that are computed from the others. RAID 0: 1 and 0; RAID 1 and 10: 2 and 0; RAID 5: 1 and 1; RAID 6: 1 and 2.
    """

    disks: tuple[DeviceRecord, ...]
    unit_bytes: int
    copies: int = 1
    parities: int = 0
    kind: ClassVar[str] = "raid"

    @property
    def data_units(self) -> int:
        """Units of data in a stripe: disks' worth of capacity."""
        return len(self.disks) // self.copies - self.parities

    @property
    def needs_flush(self) -> bool:
        """Whether its disks are flushed behind a synced write."""
        return isinstance(self.disks[0], SsdDevice) and self.disks[0].needs_flush
