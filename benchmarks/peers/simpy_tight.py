"""The closed network with as little of SimPy as possible: clients are processes, and each service is one event."""

import math
import random
import time
from collections import deque
from collections.abc import Generator
from typing import Any

import simpy
from simpy.events import Event, Timeout


class Network:
    def __init__(self, given: dict[str, Any]) -> None:
        self.env = simpy.Environment()
        self.draw = random.Random(given["seed"]).random
        self.free: list[int] = list(given["servers"])
        self.queues: list[deque[tuple[Event, float]]] = [deque() for _ in self.free]
        self.route = given["routes"][0]
        self.think_s, self.warm_up_s = given["think_s"], given["warm_up_s"]
        self.transactions = self.services = 0
        for _ in range(given["clients"]):
            self.env.process(self.client())

    def client(self) -> Generator[Event, Any, None]:
        env, draw, log, free, queues = self.env, self.draw, math.log, self.free, self.queues
        while True:
            yield Timeout(env, -log(1.0 - draw()) * self.think_s)
            for station, mean_s in self.route:
                queue, burst_s = queues[station], -log(1.0 - draw()) * mean_s
                if free[station]:
                    free[station] -= 1
                    yield Timeout(env, burst_s)
                else:
                    served = Event(env)
                    queue.append((served, burst_s))
                    yield served
                if queue:
                    following, its_burst_s = queue.popleft()
                    following._ok, following._value = True, None  # noqa: SLF001 - SimPy has no other way
                    env.schedule(following, delay=its_burst_s)
                else:
                    free[station] += 1
            self.services += len(self.route)
            self.transactions += env.now >= self.warm_up_s


def run(given: dict[str, Any]) -> dict[str, float]:
    network = Network(given)
    begin = time.process_time()
    network.env.run(until=given["warm_up_s"] + given["duration_s"])
    seconds = time.process_time() - begin
    return {"seconds": seconds, "transactions": network.transactions, "services": network.services}
