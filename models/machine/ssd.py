"""SSDs by their data sheets: what a sheet prints, and the parts that follow from it."""

from math import ceil
from typing import Literal, Self

from pydantic import Field, model_validator

from oltpsim.models.input import Fraction, Gib, Mib, MibPerSecond, Microseconds, Name, Number, Spec, Text, WholeNumber
from oltpsim.simulator.form import MIB, NS_PER_S, NS_PER_US, DeviceRecord, SsdDevice

SHEET_BYTES = 4096
"""of the requests that data sheets give latencies and rates of"""
FIRMWARE_SHARE = 1 / 3
"""of a lone read's latency, die and interface take the rest (NVMeVirt's 970 PRO: 21.5 of 64 us)"""
CHANNEL_MIB_PER_S = 800e6 / MIB
"""of the way from a die to the controller (NVMeVirt's 970 PRO: 800 MB/s)"""
LEAST_DIES = 16
"""NVMeVirt's 970 PRO: 8 channels with 2 dies each"""
KNEE = 1.2
"""what dies could do at a deep queue, relative to the sheet's full-depth rate: fitted to a FireCuda 530 at nine depths
(ezfio issue 62), whose rates rise towards 1.2 times the highest"""
BUFFER_MIB = 1.0
"""NVMeVirt's 970 PRO"""
PROTECTED_MIB = 8.0
"""assumption: what capacitors keep of a data-centre drive's buffer"""
FLUSH_US = 2000.0
"""of a drive without power-loss protection: 1 to 6 ms, a 950 PRO 2.0 to 2.2 ms whatever the size (FreeBSD, commit
321928), an 850 PRO 2.26 ms (github.com/TheJJ/ceph-diskbench)"""


class SsdSpec(Spec):
    """An SSD: an interface, dies, a write buffer and a flush, from the figures of its data sheet (docs/model.md)."""

    kind: Literal["ssd"] = "ssd"
    name: Name
    capacity_gib: Gib = Field(gt=0)
    read_latency_us: Microseconds = Field(ge=0.1, description="a read of 4 KiB at random, one at a time")
    write_latency_us: Microseconds = Field(ge=0.1, description="a write of 4 KiB into the buffer, one at a time")
    reads_per_s: Number = Field(ge=1, le=1e8, description="random reads of 4 KiB at full depth")
    writes_per_s: Number = Field(ge=1, le=1e8, description="random writes of 4 KiB at full depth")
    sustained_writes_per_s: Number | None = Field(
        default=None,
        ge=1,
        le=1e8,
        description="random writes of 4 KiB once the buffer is full and old pages must be cleaned; writes_per_s if "
        "absent: sheets of data-centre drives give the sustained rate, those of others that of a fresh drive",
    )
    filled_fraction: Fraction = Field(
        default=1.0,
        gt=0,
        le=1,
        description="of the capacity, what holds data: written and not trimmed since; 1, as data sheets' sustained "
        "rates are measured. An emptier drive cleans less: scattered writes come nearer to write_mib_per_s",
    )
    read_mib_per_s: MibPerSecond = Field(ge=0.1, description="sequential reads")
    write_mib_per_s: MibPerSecond = Field(ge=0.1, description="sequential writes")
    power_loss_protection: bool = Field(
        default=True, description="capacitors: what is in the buffer counts as written (assumption: a server's drive)"
    )
    flush_us: Microseconds | None = Field(
        default=None,
        ge=0,
        description="of a cache flush beyond the write before it: 0 with power-loss protection (Linux sends none to a "
        "write-through drive), else 2 ms, one at a time and after the buffer is programmed",
    )
    flushes_alone: bool = Field(
        default=False,
        description="whether a flush begins when all requests are complete and later ones wait for it: SATA's FLUSH "
        "CACHE isn't queued (ATA command set; Linux's libata defers it, and what comes after it)",
    )
    buffer_mib: Mib | None = Field(
        default=None,
        gt=0,
        le=65536,
        description="writes that the drive holds before they are programmed; 1 MiB if absent, as NVMeVirt's 970 PRO, "
        "or 8 MiB with power-loss protection (assumption)",
    )
    dies: WholeNumber | None = Field(
        default=None,
        ge=1,
        le=65536,
        description="reads at once; if absent as many as could do 1.2 times reads_per_s, and at least 16",
    )
    program_us: Microseconds = Field(default=560.0, ge=1)
    """of a die, which a read that meets it waits for the rest of (NVMeVirt: TLC 561 us, MLC 185 us)"""
    interrupted_us: Microseconds = Field(
        default=0.0,
        ge=0,
        le=1e6,
        description="of a die, which programs lose by a read that comes while there are some, beside its own: 160 by "
        "the sheet of a Micron 9550 (640,000 requests/s at 70/30, where 3,000,000 reads or 540,000 writes alone leave "
        "room for twice as many); 0: none, since few sheets say",
    )
    source: Text

    @model_validator(mode="after")
    def _rates_fit_latencies(self) -> Self:
        if self.interface_read_us >= self.read_latency_us:
            raise ValueError(
                f"reads_per_s: got {self.reads_per_s:g}, at full depth; must be more than one by one, with "
                f"read_latency_us {self.read_latency_us:g} (and read_mib_per_s {self.read_mib_per_s:g} enough for them)"
            )
        if self.interface_write_us >= self.write_latency_us:
            raise ValueError(
                f"write_latency_us: got {self.write_latency_us:g}; must be more than the interface takes for a write, "
                f"{self.interface_write_us:g} us by writes_per_s and write_mib_per_s"
            )
        if (self.sustained_writes_per_s or 0) > self.writes_per_s:
            raise ValueError(
                f"sustained_writes_per_s: got {self.sustained_writes_per_s:g}; at most writes_per_s, "
                f"{self.writes_per_s:g}"
            )
        return self

    @property
    def interface_read_us(self) -> float:
        """Time of the interface for a read of 4 KiB, us: one by the full-depth rate, but at least that of its bytes."""
        return max(1e6 / self.reads_per_s, SHEET_BYTES / MIB / self.read_mib_per_s * 1e6)

    @property
    def interface_write_us(self) -> float:
        """Time of the interface for a write of 4 KiB, us; at most a read's where writes_per_s is what dies sustain."""
        rate_us = 1e6 / self.writes_per_s
        if self.sustained_writes_per_s is None:
            rate_us = min(rate_us, self.interface_read_us)
        return max(rate_us, SHEET_BYTES / MIB / self.write_mib_per_s * 1e6)

    @property
    def programmed_mib_per_s(self) -> float:
        """Scattered writes that the dies can program, at `filled_fraction`.

        Write amplification of a drive with r times as much spare room as data is (1 + r) / 2 r, at least 1 (Agarwal and
        Marrow, "A closed-form expression for write amplification in NAND flash", GLOBECOM 2010 workshops). That of the
        full drive, sequential over sustained rate, gives the room that its maker has set aside.
        """
        full = (self.sustained_writes_per_s or self.writes_per_s) * SHEET_BYTES / MIB
        amplification = self.write_mib_per_s / full
        if amplification <= 1.0 or self.filled_fraction == 1.0:
            return full
        physical = 1.0 + 1.0 / (2.0 * amplification - 1.0)
        spare = physical / self.filled_fraction - 1.0
        return self.write_mib_per_s / max((1.0 + spare) / (2.0 * spare), 1.0)

    def device(self, name: str) -> DeviceRecord:
        """The disk as the engines know it."""
        after_us = self.read_latency_us - self.interface_read_us
        firmware_us = min(self.read_latency_us * FIRMWARE_SHARE, after_us / 2)
        die_us = after_us - firmware_us
        dies = self.dies or max(ceil(KNEE * self.reads_per_s * die_us / 1e6), LEAST_DIES)
        buffer_mib = self.buffer_mib or (PROTECTED_MIB if self.power_loss_protection else BUFFER_MIB)
        flush_us = self.flush_us if self.flush_us is not None else 0.0 if self.power_loss_protection else FLUSH_US

        def command_ns(request_us: float, mib_per_s: float) -> int:
            return round(request_us * NS_PER_US - SHEET_BYTES / MIB / mib_per_s * NS_PER_S)

        def mib_ns(mib_per_s: float) -> int:
            return round(NS_PER_S / mib_per_s)

        return SsdDevice(
            name=name,
            read_ns=round(firmware_us * NS_PER_US),
            write_ns=round((self.write_latency_us - self.interface_write_us) * NS_PER_US),
            command_read_ns=command_ns(self.interface_read_us, self.read_mib_per_s),
            command_write_ns=command_ns(self.interface_write_us, self.write_mib_per_s),
            read_mib_ns=mib_ns(self.read_mib_per_s),
            write_mib_ns=mib_ns(self.write_mib_per_s),
            dies=dies,
            die_ns=round(die_us * NS_PER_US),
            channel_mib_ns=mib_ns(CHANNEL_MIB_PER_S),
            program_ns=round(self.program_us * NS_PER_US),
            drain_mib_ns=mib_ns(self.programmed_mib_per_s),
            append_mib_ns=mib_ns(max(self.write_mib_per_s, self.programmed_mib_per_s)),
            buffer_bytes=round(buffer_mib * MIB),
            flush_ns=round(flush_us * NS_PER_US),
            is_volatile=int(not self.power_loss_protection),
            flushes_alone=int(self.flushes_alone),
            interrupted_ns=round(self.interrupted_us * NS_PER_US),
        )
