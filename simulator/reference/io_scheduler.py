"""The operating system's scheduler before a disk with an arm: in order of arrival, or as an elevator."""

from bisect import bisect_left, insort

from simulator.reference.device import Request


class IoScheduler:
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
