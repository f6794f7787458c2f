"""SSDs: flash behind an interface, with dies that read and program, and a buffer for writes."""

from dataclasses import dataclass
from typing import ClassVar

from oltpsim.simulator.form.device import DeviceRecord

SECTOR_BYTES = 4096
"""Unit of the flash translation: a write takes at least this; data sheets give latencies of this size."""
FLASH_PAGE_BYTES = 16_384
"""Stored on one die; a larger request is read from several dies at once."""


@dataclass(frozen=True)
class SsdDevice(DeviceRecord):
    """An SSD by its parts (simulator/reference/ssd.py): interface, dies, write buffer, flush.

    Times per MiB are whole nanoseconds; those of dies hold for all of them together where it says so.
    """

    read_ns: int
    """firmware and host, of a read: no part of the device is busy with it meanwhile"""
    write_ns: int
    """the same of a write, until it is acknowledged"""
    command_read_ns: int
    """the interface's time for a read's command, beside its data; one at a time"""
    command_write_ns: int
    read_mib_ns: int
    """the interface's time for a MiB to the host"""
    write_mib_ns: int
    dies: int
    die_ns: int
    """a die's time for a read of 4 KiB or less, with the way to the controller"""
    channel_mib_ns: int
    """time on that way for a MiB beyond the first 4 KiB, up to a flash page"""
    program_ns: int
    """a die's time to program, which a read that meets it waits for the rest of"""
    drain_mib_ns: int
    """all dies' time to program a MiB of scattered writes, write amplification included"""
    append_mib_ns: int
    """the same where each write begins at the end of the one before"""
    buffer_bytes: int
    flush_ns: int
    is_volatile: int
    """1: no power-loss protection: a flush waits until the buffer is programmed, and flushes come one at a time"""
    flushes_alone: int = 0
    """1: a flush begins when all requests are complete, and later ones wait for it, as SATA's, which isn't queued"""
    interrupted_ns: int = 0
    """a die's time that programs lose by a read which comes while there are some, beside its own"""
    kind: ClassVar[str] = "ssd"

    @property
    def needs_flush(self) -> bool:
        """Whether a flush makes anybody wait; Linux sends none to the others."""
        return bool(self.flush_ns or self.is_volatile or self.flushes_alone)
