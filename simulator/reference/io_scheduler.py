"""The operating system's schedulers before a disk with an arm: in order of arrival, or as an elevator."""

from abc import ABC, abstractmethod
from bisect import bisect_left, insort
from collections import deque

from simulator.reference.device import Request


class IoScheduler(ABC):
    """Requests that wait for the drive to take them in."""

    @abstractmethod
    def add(self, request: Request) -> None:
        """A request arrives."""

    @abstractmethod
    def take(self) -> Request:
        """What the drive gets next; there is at least one."""

    @abstractmethod
    def __len__(self) -> int: ...


class Fcfs(IoScheduler):
    """First come first served."""

    def __init__(self) -> None:
        self.waiting: deque[Request] = deque()

    def add(self, request: Request) -> None:
        """A request arrives."""
        self.waiting.append(request)

    def take(self) -> Request:
        """The one that came first."""
        return self.waiting.popleft()

    def __len__(self) -> int:
        return len(self.waiting)


class CLook(IoScheduler):
    """Upwards by byte from the request that was fed last, then from the lowest one again."""

    def __init__(self) -> None:
        self.waiting: list[tuple[int, int, Request]] = []
        """(byte, order of arrival, request), sorted"""
        self.arrived = self.last_fed = 0

    def add(self, request: Request) -> None:
        """A request arrives."""
        self.arrived += 1
        insort(self.waiting, (request.byte, self.arrived, request))

    def take(self) -> Request:
        """The next one upwards."""
        place = self._ahead()
        return self._feed(place if place < len(self.waiting) else 0)

    def _ahead(self, behind_last: int = 0) -> int:
        """The place of the first request at the byte that was fed last or, if that is passed over, beyond it."""
        return bisect_left(self.waiting, (self.last_fed + behind_last,))

    def _feed(self, place: int) -> Request:
        self.last_fed, _, request = self.waiting.pop(place)
        return request

    def __len__(self) -> int:
        return len(self.waiting)


class Look(CLook):
    """Upwards to the last request, then downwards to the last, of requests for one byte the latest first."""

    def __init__(self) -> None:
        super().__init__()
        self.upwards = True

    def take(self) -> Request:
        """The next one in the direction in which the arm goes, or else in the other one."""
        place = self._ahead()
        if self.upwards and place < len(self.waiting):
            return self._feed(place)
        self.upwards = False
        place = self._ahead(behind_last=1) - 1
        if place >= 0:
            return self._feed(place)
        self.upwards = True
        return self._feed(0)


SCHEDULERS: dict[str, type[IoScheduler]] = {"fcfs": Fcfs, "look": Look, "c-look": CLook}
