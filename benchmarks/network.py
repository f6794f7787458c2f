"""Closed networks of plain stations: one description that every engine and every peer is given.

A terminal thinks, then visits the stations of a route one after the other, and thinks again. All times are
exponential, so the exact throughput is known (mean value analysis) and each simulator can be held against it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

import numpy as np

from oltpsim.simulator.form import (
    Assembler,
    Costs,
    Cpu,
    FlashDevice,
    Interval,
    Log,
    PageCache,
    Pool,
    Program,
    Station,
    Storage,
    System,
    from_s,
)


@dataclass(frozen=True)
class Network:
    """`routes`: (station, mean service in s) of each visit; a transaction takes one of them, all equally likely."""

    clients: int
    think_s: float
    servers: tuple[int, ...]
    routes: tuple[tuple[tuple[int, float], ...], ...]
    warm_up_s: float
    duration_s: float

    @property
    def services_per_transaction(self) -> int:
        return len(self.routes[0])

    def as_json(self, seed: int) -> str:
        """What a peer written in Python reads."""
        return json.dumps({**asdict(self), "seed": seed})

    def as_words(self, seed: int) -> str:
        """What a peer written in C++ reads: numbers with spaces between them, times in whole nanoseconds."""
        words = [seed, from_s(self.warm_up_s), from_s(self.warm_up_s + self.duration_s), self.clients]
        words += [from_s(self.think_s), len(self.servers), *self.servers, len(self.routes), len(self.routes[0])]
        words += [value for route in self.routes for station, mean_s in route for value in (station, from_s(mean_s))]
        return " ".join(map(str, words))


def small_network(duration_s: float = 600.0) -> Network:
    """80 terminals, a CPU of 2 cores, 4 disks, a log: 10 services a transaction, 1.1 million in 660 s."""
    cpu, log = 0, 5
    route = [visit for disk in (1, 2, 3, 4) for visit in ((cpu, 0.0012), (disk, 0.0045))]
    route += [(cpu, 0.0012), (log, 0.0020)]
    return Network(80, 0.43, (2, 1, 1, 1, 1, 1), (tuple(route),), 60.0, duration_s)


def many_terminals_network(duration_s: float) -> Network:
    """A million new orders per minute: 857,000 terminals, 40 cores, 264 SSDs, ten I/Os a transaction, no caches.

    37,000 transactions per second, 45 in 100 of them new orders. Route k begins at SSD k and goes on in strides.
    """
    ssds, cpu = 264, (0, 75e-6)
    routes = []
    for first in range(ssds):
        reads = [(1 + (first + 27 * number) % ssds, 350e-6) for number in range(10)]
        routes.append((*(visit for read in reads for visit in (cpu, read)), cpu))
    return Network(857_000, 23.1, (40, *[1] * ssds), tuple(routes), 2.0, duration_s)


def model_of(network: Network) -> System:
    """The network as a program of the simulator."""
    asm = Assembler()
    names = [f"station {number}" for number in range(len(network.servers))]
    numbers = [asm.station(name) for name in names]
    asm.emit("think", asm.distribution("exponential", from_s(network.think_s)), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0] * len(network.routes)), asm.stream("mix"))
    times = {mean: asm.distribution("exponential", from_s(mean)) for route in network.routes for _, mean in route}
    service = asm.stream("service")
    for number, route in enumerate(network.routes):
        asm.begin_class(f"route {number}")
        for station, mean_s in route:
            asm.emit("visit", numbers[station], times[mean_s], service)
        asm.emit("end")
    return system_without_data(
        "closed network",
        asm.finish("route 0"),
        network.clients,
        Interval("cold", from_s(network.warm_up_s), from_s(network.duration_s)),
        Cpu(1),
        tuple(map(Station, names, network.servers)),
    )


def system_without_data(
    name: str, program: Program, clients: int, interval: Interval, cpu: Cpu, stations: tuple[Station, ...] = ()
) -> System:
    """A system whose clients refer to no page and log nothing: caches, disk and log are there, and unused."""
    return System(
        name=name,
        program=program,
        client_registers=np.zeros((clients, 1), dtype=np.int64),
        arrivals_per_s=0.0,
        cpu=cpu,
        sections=(),
        stations=stations,
        pool=Pool(1, "lru", 1),
        page_cache=PageCache(1, 1, 64, free_behind=False),
        storage=Storage((FlashDevice("unused", 1, 1, 1),), 1, 0, 8192, 0, 0, 1 << 20, 0, 1, 1, 16),
        log=Log(durable=False, flush_overhead_ns=0),
        costs=Costs(0, 0, 0, 0),
        direct_io=False,
        interval=interval,
    )


def exact_throughput_per_s(network: Network) -> float:
    """Transactions per second by mean value analysis with load-dependent stations; for networks of one route.

    Source: Reiser, Lavenberg, "Mean-value analysis of closed multichain queueing networks", JACM 27(2), 1980.
    """
    demand = np.zeros(len(network.servers))
    for station, mean_s in network.routes[0]:
        demand[station] += mean_s
    chance = np.zeros((len(demand), network.clients + 1))  # of n clients at a station, with one client fewer in all
    chance[:, 0] = 1.0
    speed = np.minimum.outer(np.array(network.servers), np.arange(1, network.clients + 1))
    throughput = 0.0
    for clients in range(1, network.clients + 1):
        n = np.arange(1, clients + 1)
        residence = demand * (n / speed[:, :clients] * chance[:, :clients]).sum(axis=1)
        throughput = clients / (network.think_s + residence.sum())
        chance[:, 1 : clients + 1] = throughput * demand[:, None] / speed[:, :clients] * chance[:, :clients]
        chance[:, 0] = 1.0 - chance[:, 1 : clients + 1].sum(axis=1)
    return float(throughput)
