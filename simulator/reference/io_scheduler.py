"""The operating system's scheduler before a disk with an arm: in order of arrival, as an elevator, or reads first."""

from bisect import bisect_left, insort

from oltpsim.simulator.reference.device import READ, Request

BATCH = 16
"""requests of a batch (fifo_batch of Linux's deadline scheduler)"""
BATCHES_AHEAD = 2
"""batches of reads before one of writes that wait (its writes_starved)"""


class IoScheduler:
    """What waits for the drive: in one order, or reads and writes apart.

    `deadline`: a C-LOOK for reads and one for writes, served in batches of up to BATCH, each upwards; BATCHES_AHEAD of
    reads go before one of writes (block/deadline-iosched.c of Linux 2.6; its expiry of single requests is left out).
    """

    def __init__(self, order: str) -> None:
        self.is_deadline = order == "deadline"
        self.reads, self.writes = Elevator("c-look" if self.is_deadline else order), Elevator("c-look")
        """`reads` has all requests unless they are kept apart"""
        self.writing = False
        self.batched, self.read_batches = BATCH, 0

    def __len__(self) -> int:
        return len(self.reads) + len(self.writes)

    def add(self, request: Request) -> None:
        """A request arrives."""
        (self.writes if self.is_deadline and request.write != READ else self.reads).add(request)

    def take(self) -> Request:
        """What the drive gets next; there is at least one."""
        if not self.is_deadline:
            return self.reads.take()
        if self.batched == BATCH or not (self.writes if self.writing else self.reads).has_ahead:
            waiting = len(self.writes) > 0
            self.writing = not len(self.reads) or (waiting and self.read_batches == BATCHES_AHEAD)
            self.read_batches = self.read_batches + 1 if waiting and not self.writing else 0
            self.batched = 0
        self.batched += 1
        return (self.writes if self.writing else self.reads).take()


class Elevator:
    """Requests that wait for the drive to take them in, in its order.

    `fcfs`: first come first served. `look`: upwards by byte to the last request, then downwards to the last, of those
    for one byte the latest first. `c-look`: upwards, then from the lowest one again.
    """

    def __init__(self, order: str) -> None:
        self.order = order
        self.waiting: list[tuple[int, int, Request]] = []
        """(key, order of arrival, request), sorted; the key is the byte, or always 0"""
        self.arrived = self.last_fed = 0
        self.upwards = True

    def __len__(self) -> int:
        return len(self.waiting)

    @property
    def has_ahead(self) -> bool:
        """Whether one waits between the last one taken and the end of the disk."""
        return self._first_from(self.last_fed) < len(self.waiting)

    def add(self, request: Request) -> None:
        """A request arrives."""
        self.arrived += 1
        insort(self.waiting, (0 if self.order == "fcfs" else request.byte, self.arrived, request))

    def take(self) -> Request:
        """What the drive gets next; there is at least one."""
        place = self._first_from(self.last_fed)
        if self.upwards and place == len(self.waiting):
            place, self.upwards = 0, self.order != "look"
        if not self.upwards:
            place = self._first_from(self.last_fed + 1) - 1
            if place < 0:
                place, self.upwards = 0, True
        self.last_fed, _, request = self.waiting.pop(place)
        return request

    def _first_from(self, byte: int) -> int:
        return bisect_left(self.waiting, (byte,))
