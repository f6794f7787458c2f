"""What all devices have in common: requests, counters, and the limit of pending calls on the database's file."""

from collections import deque
from collections.abc import Sequence

import simpy

from oltpsim.simulator.form import DeviceRecord
from oltpsim.simulator.reference.limits import RateLimiter
from oltpsim.simulator.reference.stations import Environment, Story
from oltpsim.simulator.results import Gauge, Population

READ, WRITE, REWRITE, FLUSH = range(4)
"""What is asked of a device; REWRITE reads the place and then writes it, FLUSH is one of a RAID set's disk: it has no
bytes, and isn't counted as a request."""
DOUBLEWRITE = "doublewrite"
"""Purpose of copies that are written before the pages, over and over into one area in order."""


class Request:
    """One request; `write`: what is asked, `synced`: then a flush; `done` is triggered at its completion."""

    __slots__ = ("byte", "done", "purpose", "size_bytes", "submitted_ns", "synced", "write")

    def __init__(
        self, byte: int, size_bytes: int, write: int, purpose: str, done: simpy.Event, now: int, synced: bool = False
    ) -> None:
        self.byte, self.size_bytes, self.write = byte, size_bytes, write
        self.purpose, self.done, self.submitted_ns, self.synced = purpose, done, now, synced


class DeviceStation:
    """A device. `take_in`: what a request comes to, the device itself or a scheduler before it.

    `limits`: what a cloud volume's requests pass before they are served, one stage after the other.
    """

    def __init__(
        self, env: Environment, device: DeviceRecord, calls: int, limits: Sequence[Sequence[RateLimiter]] = ()
    ) -> None:
        self.env, self.device, self.limits = env, device, limits
        self.calls_free = calls
        self.calls_waiting: deque[simpy.Event] = deque()
        self.queue_length, self.busy, self.occupied = Population(), Gauge(), Gauge()
        self.reads = self.writes = self.service_ns = self.response_ns = self.arrived = 0
        self.by_purpose: dict[str, int] = {}
        self.take_in = self._enqueue

    def submit(self, byte: int, size_bytes: int, write: int, purpose: str, synced: bool = False) -> simpy.Event:
        """Queue a request, a `synced` one with a flush; the event returned is triggered when it is done."""
        env = self.env
        request = Request(byte, size_bytes, write, purpose, env.event(), env.now, synced)
        self.arrived += write != FLUSH
        if not self.queue_length.value:
            self.occupied.change(env.now, 1)
        self.queue_length.enter(env.now)
        self.take_in(request)
        return request.done

    def call(self, byte: int, size_bytes: int, write: int, purpose: str, synced: bool = False) -> Story:
        """A request by the database through one of its file descriptors: waits for a free one, then for the device."""
        if self.calls_free:
            self.calls_free -= 1
        else:
            turn = self.env.event()
            self.calls_waiting.append(turn)
            yield turn
        yield self.submit(byte, size_bytes, write, purpose, synced)
        if self.calls_waiting:
            self.calls_waiting.popleft().succeed()
        else:
            self.calls_free += 1

    def _complete(self, request: Request, service_ns: int) -> None:
        now = self.env.now
        if request.write != FLUSH:
            self.reads += request.write == READ
            self.writes += request.write != READ
            self.by_purpose[request.purpose] = self.by_purpose.get(request.purpose, 0) + 1
        self.service_ns += service_ns
        self.response_ns += now - request.submitted_ns
        self.queue_length.leave(now, request.submitted_ns)
        if not self.queue_length.value:
            self.occupied.change(now, -1)
        request.done.succeed()

    def busy_ns(self, now: int) -> int:
        """Time until now in which its servers were busy, added up."""
        return self.busy.area_until(now)

    def _enqueue(self, request: Request) -> None:
        raise NotImplementedError
