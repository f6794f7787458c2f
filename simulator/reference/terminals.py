"""The reference engine's terminals, and the queue in which their transactions wait for a connection."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import simpy

from simulator.kernel.terminals import (
    AWAY,
    CLASS_BITS,
    COUNT,
    DEFERRED,
    DEFERRED_INSIDE,
    TIER_NS,
    TerminalState,
    first_arrival_ns,
    next_arrival_ns,
    seat,
)
from simulator.reference.stations import Story

if TYPE_CHECKING:
    from simulator.reference.engine import ReferenceEngine


class TerminalQueue:
    """First come first served. A transaction has begun when its terminal sent it, the middle tier's time before."""

    def __init__(self, engine: ReferenceEngine, terminals: TerminalState) -> None:
        self.engine, self.terminals = engine, terminals
        self.tier_ns, self.deferred = int(terminals.facts[TIER_NS]), int(terminals.facts[DEFERRED])
        self.waiting: deque[tuple[int, int]] = deque()
        self.idle: deque[simpy.Event] = deque()
        self.seated = [0] * len(engine.model.client_registers)
        for number in range(int(terminals.facts[COUNT])):
            self._comes_after(first_arrival_ns(terminals, number), number)

    def _comes_after(self, delay_ns: int, number: int) -> None:
        arrival = self.engine.env.timeout(delay_ns)
        arrival.callbacks.append(lambda _: self._come(number))

    def _come(self, number: int) -> None:
        """A terminal's transaction joins the queue; of a deferred one the terminal has its answer already."""
        began, chosen = self.engine.env.now - self.tier_ns, int(self.terminals.classes[number])
        self.engine.in_system.enter(began)
        self.terminals.facts[AWAY] -= 1
        whose = number << CLASS_BITS | chosen
        if self.idle:
            self.idle.popleft().succeed((began, whose))
        else:
            self.waiting.append((began, whose))
        if chosen == self.deferred:
            self.terminals.facts[DEFERRED_INSIDE] += 1
            self._leave(number, chosen)

    def _leave(self, number: int, ended: int) -> None:
        """A terminal has its answer: it thinks, and types the next transaction."""
        self.terminals.facts[AWAY] += 1
        self._comes_after(next_arrival_ns(self.terminals, number, ended), number)

    def take(self, client: int) -> Story:
        """The next transaction is the client's, or the client waits for it; returns when it began."""
        if self.waiting:
            began, whose = self.waiting.popleft()
        else:
            turn = self.engine.env.event()
            self.idle.append(turn)
            began, whose = yield turn
        self.seated[client] = whose
        seat(self.terminals, self.engine.state, client, whose)
        return began

    def end(self, client: int, transaction_class: int) -> None:
        """A client's transaction has ended; its terminal has been waiting for that, if it was not deferred."""
        if transaction_class == self.deferred:
            self.terminals.facts[DEFERRED_INSIDE] -= 1
        else:
            self._leave(self.seated[client] >> CLASS_BITS, transaction_class)
