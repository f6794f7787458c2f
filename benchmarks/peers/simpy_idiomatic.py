"""The closed network as SimPy's documentation would write it."""

import random
import time
from collections.abc import Generator
from typing import Any

import simpy


class Network:
    def __init__(self, given: dict[str, Any]) -> None:
        self.env = simpy.Environment()
        self.random = random.Random(given["seed"])
        self.stations = [simpy.Resource(self.env, servers) for servers in given["servers"]]
        self.route = given["routes"][0]
        self.think_s, self.warm_up_s = given["think_s"], given["warm_up_s"]
        self.transactions = self.services = 0
        for _ in range(given["clients"]):
            self.env.process(self.client())

    def client(self) -> Generator[simpy.Event, Any, None]:
        while True:
            yield self.env.timeout(self.random.expovariate(1 / self.think_s))
            for station, mean_s in self.route:
                with self.stations[station].request() as request:
                    yield request
                    yield self.env.timeout(self.random.expovariate(1 / mean_s))
                self.services += 1
            self.transactions += self.env.now >= self.warm_up_s


def run(given: dict[str, Any]) -> dict[str, float]:
    network = Network(given)
    begin = time.process_time()
    network.env.run(until=given["warm_up_s"] + given["duration_s"])
    seconds = time.process_time() - begin
    return {"seconds": seconds, "transactions": network.transactions, "services": network.services}
