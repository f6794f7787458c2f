"""One machine under a load as a person would script it with SimPy: processors, disks and a log, nothing cached."""

from __future__ import annotations

import random
import time
from collections.abc import Generator
from typing import Any

import simpy


class Machine:
    def __init__(self, given: dict[str, Any]) -> None:
        self.env = simpy.Environment()
        self.random = random.Random(given["seed"])
        self.given = given
        self.cpu = simpy.Resource(self.env, given["processors"])
        self.disks = [simpy.Resource(self.env, given["parallel"]) for _ in range(given["disks"])]
        self.log = simpy.Resource(self.env, 1)
        self.times: list[float] = []
        self.env.process(self.arrivals())

    def arrivals(self) -> Generator[simpy.Event, Any, None]:
        while True:
            yield self.env.timeout(self.random.expovariate(self.given["per_s"]))
            self.env.process(self.transaction())

    def transaction(self) -> Generator[simpy.Event, Any, None]:
        began, given = self.env.now, self.given
        reads = sum(self.random.random() < given["missing"] for _ in range(given["pages"]))
        for number in range(reads + 1):
            yield from self.use(self.cpu, given["cpu_s"] / (reads + 1))
            if number < reads:
                yield from self.use(self.random.choice(self.disks), given["read_s"])
        yield from self.use(self.log, given["log_s"])
        self.times.append(self.env.now - began)

    def use(self, station: simpy.Resource, mean_s: float) -> Generator[simpy.Event, Any, None]:
        with station.request() as request:
            yield request
            yield self.env.timeout(self.random.expovariate(1 / mean_s))


def run(given: dict[str, Any]) -> dict[str, float]:
    machine = Machine(given)
    begin = time.perf_counter()
    machine.env.run(until=given["transactions"] / given["per_s"])
    seconds = time.perf_counter() - begin
    times = sorted(machine.times)
    return {"seconds": seconds, "transactions": len(times), "p95_s": times[int(0.95 * len(times))]}
