"""RAID sets: where their bytes lie on their disks, and the controller that hands requests to these.

A set's bytes go round its disks in units; a stripe is one unit on each. Disks in pairs hold the same (RAID 1, 10).
With parity the units of a stripe that hold it wander: from the last place back by one with each stripe, the data behind
them, round the disks (left-symmetric, the default of Linux's md). RAID 6 has two next to each other.

A small write with parity reads what it changes, data and parity, and writes both (read-modify-write): on an arm the
same sectors come around once more. A write of whole stripes need not read.

What disks hold in volatile buffers is flushed by all of them: none knows which of them has a write's bytes, or whether
it still has others. So a synced write is followed, once its parts are done, by a flush of each disk, and done with the
last (Linux, drivers/md/md.c, submit_flushes). Disks that need no flush get none. Such a set keeps the stripes that it
wrote last (drivers/md/raid5.c, stripe cache): the log's write that goes on in the page where the one before ended need
not read.
Source: Patterson, Gibson, Katz, "A case for redundant arrays of inexpensive disks", SIGMOD 1988; layout: Lee,
Katz, "Performance consequences of parity placement in disk arrays", ASPLOS 1991.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import simpy

from oltpsim.simulator.form import RaidSet, SsdDevice
from oltpsim.simulator.reference.device import FLUSH, READ, REWRITE, DeviceStation, Request
from oltpsim.simulator.reference.limits import RateLimiter
from oltpsim.simulator.reference.stations import Environment

LOG_PAGE_BYTES = 8192
"""Databases write their log in whole pages, the last one again and again (PostgreSQL's XLOG_BLCKSZ, InnoDB's
innodb_log_write_ahead_size)"""


class StripeLayout(NamedTuple):
    """Stripes over `places`, each of which is a disk or a pair that holds the same."""

    places: int
    parities: int
    unit_bytes: int

    @property
    def data_bytes(self) -> int:
        """Data in a stripe."""
        return (self.places - self.parities) * self.unit_bytes

    def part_at(self, place: int, byte: int, size_bytes: int, write: int) -> tuple[int, int]:
        """First byte and end, on the disk or the pair at a place of the stripe, of what a request touches there.

        (0, 0) if nothing. Bytes between two pieces belong to the part: a controller asks for them with one request.
        Parity is touched by writes: as much of it as the data of one unit, or else all.
        """
        width, unit = self.data_bytes, self.unit_bytes
        low = high = 0
        for stripe in range(byte // width, (byte + size_bytes - 1) // width + 1):
            start, end = max(byte - stripe * width, 0), min(byte + size_bytes - stripe * width, width)
            column = self._column(place, stripe)
            if column >= 0:
                begin, stop = max(start - column * unit, 0), min(end - column * unit, unit)
            elif write == READ:
                begin, stop = 0, 0
            elif start // unit == (end - 1) // unit:
                begin, stop = start % unit, (end - 1) % unit + 1
            else:
                begin, stop = 0, unit
            if stop > begin:
                low = stripe * unit + begin if high == 0 else low
                high = stripe * unit + stop
        return low, high

    def _column(self, place: int, stripe: int) -> int:
        """Which unit of a stripe's data lies at a place; below 0 for parity."""
        if not self.parities:
            return place
        first_parity = self.places - 1 - stripe % self.places
        return (place - first_parity) % self.places - self.parities

    def asked_of_disks(self, byte: int, size_bytes: int, write: int) -> int:
        """READ, WRITE, or REWRITE where parity must be computed from what lies there."""
        whole_stripes = byte % self.data_bytes == 0 and size_bytes % self.data_bytes == 0
        return REWRITE if write and self.parities and not whole_stripes else write


class RaidStation(DeviceStation):
    """A controller: it hands each request to the disks where its bytes lie; the request is done with the last part."""

    def __init__(
        self, env: Environment, device: RaidSet, calls: int, limits: Sequence[Sequence[RateLimiter]] = ()
    ) -> None:
        super().__init__(env, device, calls, limits)
        self.copies = device.copies
        self.layout = StripeLayout(len(device.disks) // device.copies, device.parities, device.unit_bytes)
        self.disks: list[DeviceStation] = []
        self.log_end = -1
        """the byte behind the log's last write"""
        first = device.disks[0]
        self.flushes = isinstance(first, SsdDevice) and first.needs_flush

    def _enqueue(self, request: Request) -> None:
        def flush() -> None:
            _after_all([disk.submit(0, 0, FLUSH, request.purpose) for disk in self.disks], done)

        def done() -> None:
            self._complete(request, 0)

        if request.write == FLUSH:
            flush()
            return
        size = max(request.size_bytes, 1)  # a flush of the log whose bytes another one took along still goes somewhere
        goes_on = self._goes_on_in_page(request)
        kind = request.write if goes_on else self.layout.asked_of_disks(request.byte, size, request.write)
        parts, synced = [], request.synced and not self.flushes
        for place in range(self.layout.places):
            low, high = self.layout.part_at(place, request.byte, size, request.write)
            if high:
                disks = self._disks_asked(place, low, kind)
                parts += [disk.submit(low, high - low, kind, request.purpose, synced) for disk in disks]
        _after_all(parts, flush if request.synced and self.flushes else done)

    def _goes_on_in_page(self, request: Request) -> bool:
        """Whether a write goes on in a page that the log's write before has brought, and stays in it."""
        if not self.flushes or request.purpose != "log":
            return False
        byte, is_next = request.byte, request.byte == self.log_end
        self.log_end = byte + request.size_bytes
        last = byte + max(request.size_bytes, 1) - 1
        return is_next and byte % LOG_PAGE_BYTES > 0 and byte // LOG_PAGE_BYTES == last // LOG_PAGE_BYTES

    def _disks_asked(self, place: int, byte: int, kind: int) -> list[DeviceStation]:
        """All copies of a write; for a read the one with the shorter queue, by every other unit if they are equal."""
        copies = self.disks[place * self.copies : (place + 1) * self.copies]
        if kind != READ:
            return copies
        first = copies[byte // self.layout.unit_bytes % self.copies]
        return [min([first, *copies], key=lambda disk: disk.queue_length.value)]


def _after_all(parts: Sequence[simpy.Event], then: Callable[[], None]) -> None:
    """Call a function when the last of some events comes."""
    left = len(parts)

    def one_less(_: simpy.Event) -> None:
        nonlocal left
        left -= 1
        if not left:
            then()

    for part in parts:
        part.callbacks.append(one_less)
