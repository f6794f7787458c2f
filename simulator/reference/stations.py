"""Where a client waits for its turn: equal servers, and critical sections. SimPy processes and events; whole ns."""

from collections import deque
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, NamedTuple

import simpy
from simpy.events import URGENT

from oltpsim.simulator.form import Section
from oltpsim.simulator.results import Gauge

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

    def set_clock(self, now_ns: int) -> None:
        """Set the time, of an environment in which nothing has been scheduled."""
        self._now = now_ns

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

    def run(self, burst_ns: int, urgent: bool = False, slice_ns: int = 0) -> Story:
        """Occupy a server for `burst_ns`, `slice_ns` at a time unless that is 0; returns the time not served."""
        env, piece_ns = self.env, min(burst_ns, slice_ns or burst_ns)
        self.number.change(env.now, 1)
        if self.free:
            self.free -= 1
            self.busy.change(env.now, 1)
            waited_ns = yield self._serve(WaitingBurst(env.event(), piece_ns, env.now))
        else:
            waited_ns = yield self._enqueue(piece_ns, urgent)
        left_ns = burst_ns - piece_ns
        while left_ns > 0:
            piece_ns = min(left_ns, slice_ns)
            left_ns -= piece_ns
            if self.queue:
                turn = self._enqueue(piece_ns, urgent=False)
                self._serve(self.queue.popleft())
                waited_ns += yield turn
            else:
                waited_ns += yield self._serve(WaitingBurst(env.event(), piece_ns, env.now))
        self.served += 1
        self.number.change(env.now, -1)
        if self.queue:
            self._serve(self.queue.popleft())
        else:
            self.free += 1
            self.busy.change(env.now, -1)
        return waited_ns

    def _enqueue(self, burst_ns: int, urgent: bool) -> simpy.Event:
        turn = WaitingBurst(self.env.event(), burst_ns, self.env.now)
        if urgent:
            self.queue.appendleft(turn)
        else:
            self.queue.append(turn)
        return turn.done

    def _serve(self, turn: WaitingBurst) -> simpy.Event:
        """A server starts a burst; the event of its end has as value the time that it was not served, ns."""
        lasts_ns = self.lasts_ns(turn.burst_ns)
        stalled_ns = self.stalled_ns(lasts_ns)
        waited_ns = self.env.now - turn.arrived_ns + stalled_ns
        self.env.succeed_later(turn.done, stalled_ns + lasts_ns, waited_ns)
        return turn.done

    def lasts_ns(self, burst_ns: int) -> int:
        """How long a burst takes that starts now."""
        return burst_ns

    def stalled_ns(self, service_ns: int) -> int:
        """How long a service of this length waits on its server before it begins."""
        del service_ns
        return 0


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
