"""The stations of the reference engine: where a client waits. SimPy processes and events; integer nanoseconds."""

from collections import deque
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, NamedTuple

import simpy
from simpy.core import StopSimulation
from simpy.events import URGENT

from simulator.form import Device, FlashDevice, Section, Sharing
from simulator.kernel import raid
from simulator.kernel.rate_limits import Throttle
from simulator.results import Gauge, Population

PPM = 1_000_000
Story = Generator[simpy.Event, Any, Any]


class Environment(simpy.Environment):
    """SimPy's environment. All delays are whole nanoseconds, so the time is an integer."""

    if TYPE_CHECKING:

        @property
        def now(self) -> int:
            """The simulated time in ns."""
            raise NotImplementedError

    def succeed_later(self, event: simpy.Event, delay_ns: int, value: int) -> None:
        """Trigger an event with a value, to be processed after a delay: what SimPy's own Timeout does."""
        event._ok, event._value = True, value  # noqa: SLF001 - there is no public way
        self.schedule(event, delay=delay_ns)

    def end_run(self) -> None:
        """Let `run` return after the present event."""
        self.urgently(StopSimulation.callback)

    def urgently(self, then: Callable[[simpy.Event], None]) -> None:
        """Let something happen at this instant, before everything but earlier urgent events."""
        event = self.event()
        event._ok, event._value = True, None  # noqa: SLF001 - there is no public way
        event.callbacks.append(then)
        self.schedule(event, URGENT)


class WaitingBurst(NamedTuple):
    """Somebody who waits for a server."""

    done: simpy.Event
    burst_ns: int
    asked_ns: int


class Servers:
    """Equal servers, one queue, first come first served: the CPU's hardware threads, or a plain station.

    On the CPU, holders of a critical section are urgent: they go to the front of the queue. How much the threads slow
    each other down is decided when a burst starts: the others may change until it ends, but bursts are short.
    """

    def __init__(self, env: Environment, servers: int, sharing: Sharing | None = None) -> None:
        self.env = env
        self.free = servers
        self.longer_ppm = sharing.ppm if sharing else (PPM,) * servers
        self.queue: deque[WaitingBurst] = deque()
        self.busy, self.number = Gauge(), Gauge()
        self.served = 0

    def run(self, burst_ns: int, urgent: bool = False) -> Story:
        """Occupy a server for `burst_ns`; returns the time spent queueing."""
        env, asked = self.env, self.env.now
        self.number.change(asked, 1)
        if self.free:
            self.free -= 1
            self.busy.change(asked, 1)
            yield env.timeout(self.lasts_ns(burst_ns))
            waited = 0
        else:
            turn = WaitingBurst(env.event(), burst_ns, asked)
            if urgent:
                self.queue.appendleft(turn)
            else:
                self.queue.append(turn)
            waited = yield turn.done
        self.served += 1
        self.number.change(env.now, -1)
        if self.queue:
            following = self.queue.popleft()
            env.succeed_later(following.done, self.lasts_ns(following.burst_ns), env.now - following.asked_ns)
        else:
            self.free += 1
            self.busy.change(env.now, -1)
        return waited

    def lasts_ns(self, burst_ns: int) -> int:
        """How long a burst takes that starts now, beside so many busy servers."""
        return burst_ns * self.longer_ppm[self.busy.value - 1] // PPM


class SectionStation:
    """A critical section: one at a time, first come first served.

    An entry that found it taken is handed over: for `handover_ns` nobody is inside while the waiter wakes up.
    """

    def __init__(self, env: Environment, section: Section, cpu: Servers) -> None:
        self.env, self.section, self.cpu = env, section, cpu
        self.taken = False
        self.queue: deque[simpy.Event] = deque()
        self.busy = Gauge()
        self.entries = self.waits = self.waited_ns = 0

    def run(self, hold_ns: int) -> Story:
        """Enter, run `hold_ns` of CPU inside, leave; returns how long a processor took for it."""
        self.entries += 1
        if self.taken:
            asked = self.env.now
            turn = self.env.event()
            self.queue.append(turn)
            yield turn
            yield self.env.timeout(self.section.handover_ns)
            self.waits += 1
            self.waited_ns += self.env.now - asked
        else:
            self.taken = True
            self.busy.change(self.env.now, 1)
        began = self.env.now
        queued = yield from self.cpu.run(hold_ns, urgent=True)
        if self.queue:
            self.queue.popleft().succeed()
        else:
            self.taken = False
            self.busy.change(self.env.now, -1)
        return self.env.now - began - queued


class LockWait(NamedTuple):
    """A client that waits for a row lock."""

    client: int
    turn: simpy.Event


class RowLocks:
    """Exclusive row locks with first-come-first-served queues; who owns a free lock is in the state's array."""

    def __init__(self, env: Environment) -> None:
        self.env = env
        self.queues: dict[int, deque[LockWait]] = {}
        self.waits = self.waited_ns = self.acquired = 0

    def wait(self, lock: int, client: int) -> Story:
        """Wait until the lock has been handed to `client`."""
        asked = self.env.now
        turn = self.env.event()
        self.queues.setdefault(lock, deque()).append(LockWait(client, turn))
        yield turn
        self.waits += 1
        self.waited_ns += self.env.now - asked

    def next_owner(self, lock: int) -> LockWait | None:
        """Take the longest waiting client off the queue of a lock that is being released."""
        queue = self.queues.get(lock)
        if queue is None:
            return None
        waiter = queue.popleft()
        if not queue:
            del self.queues[lock]
        return waiter


class Request:
    """One device request; `done` is triggered at its completion."""

    __slots__ = ("byte", "done", "purpose", "size_bytes", "submitted_ns", "write")

    def __init__(self, byte: int, size_bytes: int, write: int, purpose: str, done: simpy.Event, now: int) -> None:
        self.byte, self.size_bytes, self.write = byte, size_bytes, write
        self.purpose, self.done, self.submitted_ns = purpose, done, now


class DeviceStation:
    """What all devices share: counters, queue length, and the limit of pending calls on the database's file.

    `take_in`: what a request comes to, the device itself or a scheduler before it.
    """

    def __init__(self, env: Environment, device: Device, calls: int) -> None:
        self.env, self.device = env, device
        self.calls_free = calls
        self.calls_waiting: deque[simpy.Event] = deque()
        self.queue_length, self.busy, self.occupied = Population(), Gauge(), Gauge()
        self.reads = self.writes = self.service_ns = self.response_ns = self.arrived = 0
        self.by_purpose: dict[str, int] = {}
        self.take_in = self._enqueue

    def submit(self, byte: int, size_bytes: int, write: int, purpose: str) -> simpy.Event:
        """Queue a request (`write`: raid.READ, WRITE or REWRITE); the event returned is triggered when it is done."""
        env = self.env
        request = Request(byte, size_bytes, write, purpose, env.event(), env.now)
        self.arrived += 1
        if not self.queue_length.value:
            self.occupied.change(env.now, 1)
        self.queue_length.enter(env.now)
        self.take_in(request)
        return request.done

    def call(self, byte: int, size_bytes: int, write: bool, purpose: str) -> Story:
        """A request by the database through one of its file descriptors: waits for a free one, then for the device."""
        if self.calls_free:
            self.calls_free -= 1
        else:
            turn = self.env.event()
            self.calls_waiting.append(turn)
            yield turn
        yield self.submit(byte, size_bytes, write, purpose)
        if self.calls_waiting:
            self.calls_waiting.popleft().succeed()
        else:
            self.calls_free += 1

    def _complete(self, request: Request, service_ns: int) -> None:
        now = self.env.now
        if request.write:
            self.writes += 1
        else:
            self.reads += 1
        self.by_purpose[request.purpose] = self.by_purpose.get(request.purpose, 0) + 1
        self.service_ns += service_ns
        self.response_ns += now - request.submitted_ns
        self.queue_length.leave(now, request.submitted_ns)
        if not self.queue_length.value:
            self.occupied.change(now, -1)
        request.done.succeed()

    def _enqueue(self, request: Request) -> None:
        raise NotImplementedError


class FlashStation(DeviceStation):
    """Several requests at a time, each for the latency of its kind.

    The others wait in order of arrival; or reads go first, so many for each write that waits. What a volume has taken
    in passes its throttles before it is served; it is not busy with a request that waits there.
    """

    def __init__(self, env: Environment, device: FlashDevice, calls: int, throttles: tuple[Throttle, ...] = ()) -> None:
        super().__init__(env, device, calls)
        self.flash, self.throttles = device, throttles
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

    def _serve(self, request: Request | None) -> Story:
        while request is not None:
            for throttle in self.throttles:
                wait_ns = throttle.wait_ns(request.size_bytes, self.env.now)
                if wait_ns:
                    self.busy.change(self.env.now, -1)
                    yield self.env.timeout(wait_ns)
                    self.busy.change(self.env.now, 1)
            service_ns = self.flash.write_ns if request.write else self.flash.read_ns
            if request.write == raid.REWRITE:
                service_ns += self.flash.read_ns
            yield self.env.timeout(service_ns)
            self._complete(request, service_ns)
            request = self._next()
        self.free += 1
        self.busy.change(self.env.now, -1)
