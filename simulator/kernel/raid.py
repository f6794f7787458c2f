"""Where the bytes of a RAID set lie on its disks.

A set's bytes go round its disks in units; a stripe is one unit on each. Disks in pairs hold the same (RAID 1, 10).
With parity the units of a stripe that hold it wander: from the last place back by one with each stripe, the data behind
them, round the disks (left-symmetric, the default of Linux's md). RAID 6 has two next to each other.

A small write with parity reads what it changes, data and parity, and writes both (read-modify-write): on an arm the
same sectors come around once more. A write of whole stripes need not read.
Source: Patterson, Gibson, Katz, "A case for redundant arrays of inexpensive disks", SIGMETRICS 1988; layout: Lee,
Katz, "Performance consequences of parity placement in disk arrays", ASPLOS 1991.
"""

# pyright: reportReturnType=false

from simulator.kernel.compiled import compiled

READ, WRITE, REWRITE = range(3)
"""What is asked of a disk; REWRITE reads the place and then writes it."""


@compiled
def part_at(place: int, places: int, parities: int, unit: int, byte: int, size: int, write: int) -> tuple[int, int]:
    """First byte and end, on the disk or the pair at a place of the stripe, of what a request touches there.

    (0, 0) if nothing. Bytes between two pieces belong to the part: a controller asks for them with one request.
    Parity is touched by writes: as much of it as the data of one unit, or else all.
    """
    width = (places - parities) * unit
    low = high = 0
    for stripe in range(byte // width, (byte + size - 1) // width + 1):
        start, end = max(byte - stripe * width, 0), min(byte + size - stripe * width, width)
        column = place - parities
        if parities:
            column = (place - (places - 1 - stripe % places)) % places - parities
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


@compiled
def asked_of_disks(places: int, parities: int, unit: int, byte: int, size: int, write: int) -> int:
    """READ, WRITE, or REWRITE where parity must be computed from what lies there."""
    width = (places - parities) * unit
    return REWRITE if write and parities and (byte % width or size % width) else write


@compiled
def first_copy(copies: int, unit: int, byte: int) -> int:
    """Which of equally busy copies is read: every other unit the other one."""
    return byte // unit % copies
