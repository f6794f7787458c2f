"""The reference engine's disks with arms: the operating system's scheduler, the drive's queue, its write cache."""

from bisect import insort
from collections import deque

import numpy as np
import simpy

from simulator.form import CachingDevice, RotatingDevice
from simulator.kernel import raid
from simulator.kernel.disk import WINDOW_ROWS, again_ns, geometry, pick, room_taken
from simulator.reference.stations import DeviceStation, Environment, Request, Story


class RotatingStation(DeviceStation):
    """One arm, two queues.

    The operating system hands requests to the drive in its scheduler's order; the drive, which holds up to
    `queue_depth` of them, takes the one with the shortest positioning time.
    """

    def __init__(self, env: Environment, device: RotatingDevice, calls: int) -> None:
        super().__init__(env, device, calls)
        self.scheduler = device.scheduler
        self.depth = device.queue_depth
        self.disk = geometry(device)
        self.arm_byte = 0
        self.upwards = True
        self.last_fed = 0
        self.sorted: list[tuple[int, int, Request]] = []
        self.arrivals: deque[Request] = deque()
        self.held: list[Request] = []
        self.window = np.zeros((WINDOW_ROWS, self.depth))
        self.idle: simpy.Event | None = None
        env.process(self._serve())

    def _enqueue(self, request: Request) -> None:
        self._line_up(request)
        self._wake()

    def _line_up(self, request: Request) -> None:
        if self.scheduler == "fcfs":
            self.arrivals.append(request)
        else:
            insort(self.sorted, (request.byte, self.arrived, request))

    def _wake(self) -> None:
        if self.idle is not None:
            self.idle.succeed()
            self.idle = None

    def _hold(self, request: Request) -> None:
        """The drive holds a request until the arm has served it."""
        self.window[:3, len(self.held)] = request.byte, request.size_bytes, self.env.now
        self.held.append(request)

    def _let_go(self, chosen: int) -> Request:
        """The arm has served one of the requests that are held: the last takes its place."""
        request, last = self.held[chosen], len(self.held) - 1
        self.held[chosen], self.window[:, chosen] = self.held[last], self.window[:, last]
        self.held.pop()
        self.arm_byte = request.byte + request.size_bytes
        return request

    def _next_fed(self) -> Request:
        """The operating system's choice of what the drive gets next."""
        if self.scheduler == "fcfs":
            return self.arrivals.popleft()
        position = _first_at_or_after(self.sorted, self.last_fed)
        if self.upwards and position == len(self.sorted):
            if self.scheduler == "look":
                self.upwards = False
            else:
                position = 0
        if not self.upwards:
            position = _first_at_or_after(self.sorted, self.last_fed + 1) - 1
            if position < 0:
                self.upwards, position = True, 0
        request = self.sorted.pop(position)[2]
        self.last_fed = request.byte
        return request

    def _serve(self) -> Story:
        env = self.env
        while True:
            while len(self.held) < self.depth and (self.sorted or self.arrivals):
                self._hold(self._next_fed())
            if not self.held:
                self.busy.change(env.now, -self.busy.value)
                self.idle = env.event()
                yield self.idle
                self.busy.change(env.now, 1)
                continue
            if not self.busy.value:
                self.busy.change(env.now, 1)
            chosen, service_ns = pick(self.disk, self.window, len(self.held), self.arm_byte, env.now)
            if self.held[chosen].write == raid.REWRITE:
                service_ns += again_ns(self.disk, self.held[chosen].size_bytes)
            yield env.timeout(service_ns)
            self._complete(self._let_go(chosen), service_ns)


class CachingStation(RotatingStation):
    """An arm whose drive has a write cache that is on.

    A write is done when it is in the cache; if there is no room it waits, and keeps one of the drive's `queue_depth`
    commands. The arm serves reads before it writes what is in the cache (destages it); while a write waits for room,
    in turns. What has to be read before it is written is read first, and then is a write like others.
    """

    def __init__(self, env: Environment, device: CachingDevice, calls: int) -> None:
        super().__init__(env, device, calls)
        self.caching = device
        self.cache_used = 0
        self.in_transfer = 0
        self.waiting_writes: deque[Request] = deque()
        self.destaging = np.zeros((WINDOW_ROWS, device.destages_among))
        self.choosing = 0
        self.cached: deque[tuple[int, int]] = deque()
        self.destages = False

    def _enqueue(self, request: Request) -> None:
        self._line_up(request)
        self._feed()

    def _feed(self) -> None:
        """The drive takes in requests as long as it has commands free."""
        while self._commands() < self.depth and (self.sorted or self.arrivals):
            request = self._next_fed()
            if request.write == raid.WRITE:
                self._take_write(request)
            else:
                self._hold(request)
        if self.held or self.choosing:
            self._wake()

    def _commands(self) -> int:
        return len(self.held) + len(self.waiting_writes) + self.in_transfer

    def _take_write(self, request: Request) -> None:
        self.waiting_writes.append(request)
        self._fill_cache()

    def _fill_cache(self) -> None:
        """Writes get room in order of arrival; one larger than the cache waits until that is empty."""
        while self.waiting_writes:
            room = room_taken(self.waiting_writes[0].size_bytes)
            if self.cache_used and self.cache_used + room > self.caching.cache_bytes:
                break
            self.cache_used += room
            self.in_transfer += 1
            self.env.timeout(self.caching.overhead_ns, self.waiting_writes.popleft()).callbacks.append(
                lambda transfer: self._finish_transfer(transfer.value)
            )

    def _finish_transfer(self, request: Request) -> None:
        self.in_transfer -= 1
        self.cached.append((request.byte, request.size_bytes))
        self._choose_among()
        self._complete(request, 0)
        self._feed()

    def _choose_among(self) -> None:
        """The oldest cached writes are those that the drive chooses among. Nobody waits for them: none is overdue."""
        while self.choosing < self.caching.destages_among and self.cached:
            self.destaging[:3, self.choosing] = *self.cached.popleft(), np.inf
            self.choosing += 1

    def _serve(self) -> Story:
        env = self.env
        while True:
            if not self.held and not self.choosing:
                self.busy.change(env.now, -self.busy.value)
                self.idle = env.event()
                yield self.idle
                continue
            self.busy.change(env.now, 1 - self.busy.value)
            turn = not self.held or (bool(self.waiting_writes) and not self.destages)
            self.destages = self.choosing > 0 and turn
            window, count = (self.destaging, self.choosing) if self.destages else (self.window, len(self.held))
            chosen, service_ns = pick(self.disk, window, count, self.arm_byte, env.now)
            yield env.timeout(service_ns)
            if self.destages:
                self._end_destaging(chosen, service_ns)
            else:
                self._end_read(chosen, service_ns)
            self._feed()

    def _end_read(self, chosen: int, service_ns: int) -> None:
        request = self._let_go(chosen)
        if request.write == raid.REWRITE:
            self.service_ns += service_ns
            request.write = raid.WRITE
            self._take_write(request)
        else:
            self._complete(request, service_ns)

    def _end_destaging(self, chosen: int, service_ns: int) -> None:
        byte, size = (int(value) for value in self.destaging[:2, chosen])
        self.arm_byte = byte + size
        self.choosing -= 1
        self.destaging[:, chosen] = self.destaging[:, self.choosing]
        self._choose_among()
        self.cache_used -= room_taken(size)
        self.service_ns += service_ns
        self._fill_cache()


def _first_at_or_after(requests: list[tuple[int, int, Request]], byte: int) -> int:
    low, high = 0, len(requests)
    while low < high:
        middle = (low + high) // 2
        if requests[middle][0] < byte:
            low = middle + 1
        else:
            high = middle
    return low
