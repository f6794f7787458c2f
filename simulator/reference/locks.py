"""Row locks: exclusive, held to the end of a transaction, and handed over in the order in which they were asked for."""

from collections import deque
from typing import NamedTuple

import simpy

from oltpsim.simulator.reference.client import Client
from oltpsim.simulator.reference.stations import Environment, Story


class LockWait(NamedTuple):
    """A client that waits for a row lock."""

    client: Client
    turn: simpy.Event


class RowLocks:
    """All row locks by number. `owners`: of those that are held."""

    def __init__(self, env: Environment) -> None:
        self.env = env
        self.owners: dict[int, Client] = {}
        self.queues: dict[int, deque[LockWait]] = {}
        self.waits = self.waited_ns = self.acquired = 0

    def grant(self, lock: int, client: Client) -> None:
        """The lock is a client's."""
        self.owners[lock] = client
        client.locks_held.append(lock)

    def wait(self, lock: int, client: Client) -> Story:
        """Wait until the lock has been handed to `client`."""
        arrived_ns = self.env.now
        turn = self.env.event()
        self.queues.setdefault(lock, deque()).append(LockWait(client, turn))
        yield turn
        self.waits += 1
        self.waited_ns += self.env.now - arrived_ns

    def release_all(self, client: Client) -> None:
        """The transaction is over: each of its locks goes to the one who has waited longest for it."""
        self.acquired += len(client.locks_held)
        for lock in client.locks_held:
            self.owners.pop(lock, None)
            if lock in self.queues:
                waiter = self.queues[lock].popleft()
                if not self.queues[lock]:
                    del self.queues[lock]
                self.grant(lock, waiter.client)
                waiter.turn.succeed()
        client.locks_held = []
