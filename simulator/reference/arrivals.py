"""Transactions that come from outside, and the queue in which they wait for a free connection."""

from collections import deque
from typing import NamedTuple

import simpy

from oltpsim.simulator.form import NS_PER_S
from oltpsim.simulator.reference.client import Client
from oltpsim.simulator.reference.stations import Environment, Story
from oltpsim.simulator.reference.streams import streams_of
from oltpsim.simulator.results import Population


class Arrival(NamedTuple):
    """A transaction that has come. `terminal`: whose it is, if there are any, and then of which class."""

    began_ns: int
    terminal: int = -1
    transaction_class: int = -1


class ArrivalQueue:
    """First come first served; the clients are the connections. `in_system`: all transactions that have begun.

    `tier_ns`: how long before it gets here a transaction has begun.
    """

    tier_ns = 0

    def __init__(self, env: Environment, in_system: Population) -> None:
        self.env, self.in_system = env, in_system
        self.waiting: deque[Arrival] = deque()
        self.idle: deque[simpy.Event] = deque()

    def join(self, arrival: Arrival) -> None:
        """A transaction goes to a free connection, or waits for one."""
        if self.idle:
            self.idle.popleft().succeed(arrival)
        else:
            self.waiting.append(arrival)

    def take(self, client: Client) -> Story:
        """A client waits for its next transaction; returns when that began."""
        if self.waiting:
            arrival = self.waiting.popleft()
        else:
            turn = self.env.event()
            self.idle.append(turn)
            arrival = yield turn
        self.seat(client, arrival)
        return arrival.began_ns

    def seat(self, client: Client, arrival: Arrival) -> None:
        """A client takes up a transaction."""

    def end(self, client: Client) -> None:
        """A client's transaction has ended."""


class PoissonArrivals(ArrivalQueue):
    """Arrivals at a rate, whatever becomes of those before."""

    def __init__(self, env: Environment, in_system: Population, per_s: float, seed: int) -> None:
        super().__init__(env, in_system)
        self.mean_ns = round(NS_PER_S / per_s)
        [self.stream] = streams_of(seed, "arrivals", 1)
        env.process(self._arrive())

    def _arrive(self) -> Story:
        while True:
            yield self.env.timeout(self.stream.exponential_ns(self.mean_ns))
            self.in_system.enter(self.env.now)
            self.join(Arrival(self.env.now))
