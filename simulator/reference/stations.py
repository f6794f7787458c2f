"""Where a client waits for its turn: equal servers, and critical sections. SimPy processes and events; whole ns."""

from collections import deque
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, NamedTuple

import simpy
from simpy.events import URGENT

from simulator.form import Section
from simulator.results import Gauge

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

    def run_until(self, end_ns: int, goes_on: Callable[[], bool]) -> None:
        """Process all events before `end_ns`, or until after the one from which on the run doesn't go on."""
        while goes_on() and self.peek() < end_ns:
            self.step()
        if goes_on():
            self._now = end_ns

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
    arrived_ns: int


class Servers:
    """Equal servers, one queue, first come first served; who is urgent goes to the front of it."""

    def __init__(self, env: Environment, servers: int) -> None:
        self.env = env
        self.free = servers
        self.queue: deque[WaitingBurst] = deque()
        self.busy, self.number = Gauge(), Gauge()
        self.served = 0

    def run(self, burst_ns: int, urgent: bool = False) -> Story:
        """Occupy a server for `burst_ns`; returns the time spent queueing."""
        env, arrived_ns = self.env, self.env.now
        self.number.change(arrived_ns, 1)
        if self.free:
            self.free -= 1
            self.busy.change(arrived_ns, 1)
            yield env.timeout(self.lasts_ns(burst_ns))
            waited = 0
        else:
            turn = WaitingBurst(env.event(), burst_ns, arrived_ns)
            if urgent:
                self.queue.appendleft(turn)
            else:
                self.queue.append(turn)
            waited = yield turn.done
        self.served += 1
        self.number.change(env.now, -1)
        if self.queue:
            following = self.queue.popleft()
            env.succeed_later(following.done, self.lasts_ns(following.burst_ns), env.now - following.arrived_ns)
        else:
            self.free += 1
            self.busy.change(env.now, -1)
        return waited

    def lasts_ns(self, burst_ns: int) -> int:
        """How long a burst takes that starts now."""
        return burst_ns


class SectionStation:
    """A critical section: one at a time, first come first served. Who is inside goes first on the CPU.

    An entry that found it taken is handed over: for `handover_ns` nobody is inside while the waiter wakes up.
    """

    def __init__(self, env: Environment, section: Section, cpu: Servers) -> None:
        self.env, self.section, self.cpu = env, section, cpu
        self.occupied = False
        self.queue: deque[simpy.Event] = deque()
        self.busy = Gauge()
        self.entries = self.waits = self.waited_ns = 0

    def run(self, hold_ns: int) -> Story:
        """Enter, run `hold_ns` of CPU inside, leave; returns how long a processor took for it."""
        self.entries += 1
        if self.occupied:
            arrived_ns = self.env.now
            turn = self.env.event()
            self.queue.append(turn)
            yield turn
            yield self.env.timeout(self.section.handover_ns)
            self.waits += 1
            self.waited_ns += self.env.now - arrived_ns
        else:
            self.occupied = True
            self.busy.change(self.env.now, 1)
        began = self.env.now
        queued = yield from self.cpu.run(hold_ns, urgent=True)
        if self.queue:
            self.queue.popleft().succeed()
        else:
            self.occupied = False
            self.busy.change(self.env.now, -1)
        return self.env.now - began - queued
