"""Flash: several requests at a time, each for the latency of its kind."""

from collections import deque
from collections.abc import Sequence

from oltpsim.simulator.form import FlashDevice
from oltpsim.simulator.reference.device import REWRITE, DeviceStation, Request
from oltpsim.simulator.reference.limits import RateLimiter, admit
from oltpsim.simulator.reference.stations import Environment, Story


class FlashStation(DeviceStation):
    """Flash; those that find no server wait in order of arrival, or reads go first, so many for each waiting write.

    What it has taken in waits for its limits, and keeps its server, though the device is not busy with it.
    """

    def __init__(
        self, env: Environment, device: FlashDevice, calls: int, limits: Sequence[Sequence[RateLimiter]] = ()
    ) -> None:
        super().__init__(env, device, calls, limits)
        self.flash = device
        self.free = device.parallel
        self.waiting: deque[Request] = deque()
        self.waiting_writes: deque[Request] = deque()
        self.reads_ahead = 0

    def _enqueue(self, request: Request) -> None:
        if self.free:
            self.free -= 1
            self.busy.change(self.env.now, 1)
            self.env.process(self._serve(request))
        elif request.write and self.flash.reads_per_write:
            self.waiting_writes.append(request)
        else:
            self.waiting.append(request)

    def _next(self) -> Request | None:
        """A read, unless enough of them went ahead of a waiting write."""
        if self.waiting_writes:
            if not self.waiting or self.reads_ahead >= self.flash.reads_per_write:
                self.reads_ahead = 0
                return self.waiting_writes.popleft()
            self.reads_ahead += 1
        return self.waiting.popleft() if self.waiting else None

    def _serve(self, first: Request) -> Story:
        request: Request | None = first
        while request is not None:
            for stage in self.limits:
                wait_ns = admit(stage, request.size_bytes, self.env.now)
                if wait_ns:
                    self.busy.change(self.env.now, -1)
                    yield self.env.timeout(wait_ns)
                    self.busy.change(self.env.now, 1)
            service_ns = self.flash.write_ns if request.write else self.flash.read_ns
            if request.write == REWRITE:
                service_ns += self.flash.read_ns
            yield self.env.timeout(service_ns)
            self._complete(request, service_ns)
            request = self._next()
        self.free += 1
        self.busy.change(self.env.now, -1)
