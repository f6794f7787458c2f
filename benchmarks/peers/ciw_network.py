"""The closed network in Ciw: the terminals are a station without queue, and the route never ends."""

# pyright: reportMissingImports=false

import time
from typing import Any

import ciw

TERMINALS = 1


class Round(ciw.routing.NetworkRouting):  # type: ignore[misc] # ships no types
    """From stop to stop, without end; each client remembers how far it is."""

    def __init__(self, stops: list[int]) -> None:
        self.stops = stops

    def initialise(self, simulation: Any) -> None:
        self.simulation = simulation

    def initialise_individual(self, ind: Any) -> None:
        ind.stop = 0

    def next_node(self, ind: Any, _: int) -> Any:
        ind.stop = (ind.stop + 1) % len(self.stops)
        return self.simulation.nodes[self.stops[ind.stop]]


def network_of(given: dict[str, Any]) -> Any:
    route, stations = given["routes"][0], len(given["servers"])
    means = dict(route)
    once = ciw.dists.Sequential([0.0, float("inf")])
    return ciw.create_network(
        arrival_distributions=[once] + [None] * stations,
        batching_distributions=[ciw.dists.Deterministic(given["clients"])] + [None] * stations,
        service_distributions=[ciw.dists.Exponential(1 / given["think_s"])]
        + [ciw.dists.Exponential(1 / means[station]) for station in range(stations)],
        number_of_servers=[float("inf"), *given["servers"]],
        routing=Round([TERMINALS] + [TERMINALS + 1 + station for station, _ in route]),
    )


def run(given: dict[str, Any]) -> dict[str, float]:
    ciw.seed(given["seed"])
    simulation = ciw.Simulation(network_of(given))
    begin = time.process_time()
    simulation.simulate_until_max_time(given["warm_up_s"] + given["duration_s"])
    seconds = time.process_time() - begin
    records = [record for record in simulation.get_all_records() if record.node > TERMINALS]
    last = TERMINALS + 1 + given["routes"][0][-1][0]
    transactions = sum(record.node == last and record.exit_date >= given["warm_up_s"] for record in records)
    return {"seconds": seconds, "transactions": transactions, "services": len(records)}
