"""Flash devices, and cloud volumes, which are flash behind rate limits."""

from dataclasses import dataclass
from typing import ClassVar

from oltpsim.simulator.form.device import DeviceRecord
from oltpsim.simulator.form.limits import RateLimit


@dataclass(frozen=True)
class FlashDevice(DeviceRecord):
    """`parallel` requests at a time, each for its latency; while both wait so many reads go first for each write.

    `reads_per_write` 0: in order of arrival.
    """

    read_ns: int
    write_ns: int
    parallel: int
    reads_per_write: int = 0
    limits: tuple[RateLimit, ...] = ()
    """of a cloud volume: its provider lets no more through than each of them says"""
    kind: ClassVar[str] = "flash"

    @property
    def servers(self) -> int:
        """Its channels."""
        return self.parallel
