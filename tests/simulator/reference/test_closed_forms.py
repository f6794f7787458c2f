"""The engine against queueing theory: means within their standard errors, and wrong formulas refused."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from oltpsim.simulator.form import System
from oltpsim.simulator.reference import simulate
from oltpsim.simulator.results import Result

MS = 1_000_000
Network = Callable[..., System]
RUNS = 6


def replications(model: System) -> list[Result]:
    """Independent runs."""
    return [simulate(model, seed) for seed in range(1, RUNS + 1)]


def measured(runs: list[Result], figure: Callable[[Result], float]) -> tuple[float, float]:
    """Mean and standard error of a figure over independent replications."""
    values = np.array([figure(run) for run in runs])
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(RUNS))


def z(runs: list[Result], figure: Callable[[Result], float], expected: float) -> float:
    """How many standard errors a figure is away from what theory says."""
    mean, error = measured(runs, figure)
    return abs(mean - expected) / error


def erlang_c(servers: int, load: float) -> float:
    """Probability of waiting in M/M/c with offered load `load`."""
    terms = [load**k / math.factorial(k) for k in range(servers)]
    last = load**servers / math.factorial(servers) * servers / (servers - load)
    return last / (sum(terms) + last)


def response_s(result: Result) -> float:
    """Mean response time."""
    return result.classes[0].mean_s


@pytest.mark.parametrize("servers", [1, 3])
def test_open_queue_of_exponential_servers(network: Network, servers: int) -> None:
    """M/M/c: mean response time by Erlang's C formula; that of a faster server is refused."""
    rate, service_s = 70.0 * servers, 0.010
    model = network(
        [("server", "exponential", 10 * MS, 0)],
        arrivals_per_s=rate, clients=400, servers={"server": servers}, warm_up_s=5, duration_s=120,
    )  # fmt: skip
    expected = service_s + erlang_c(servers, rate * service_s) * service_s / (servers - rate * service_s)
    runs = replications(model)
    assert z(runs, response_s, expected) < 4
    assert z(runs, response_s, 0.8 * expected) > 4


@pytest.mark.parametrize(("kind", "a", "b", "square"), [("uniform", 0, 20 * MS, 1 / 3), ("erlang", 10 * MS, 4, 1 / 4)])
def test_single_server_of_general_times(network: Network, kind: str, a: int, b: int, square: float) -> None:
    """M/G/1: Pollaczek-Khinchine with the squared coefficient of variation; that of exponential times is refused."""
    rate, service_s = 70.0, 0.010
    model = network([("server", kind, a, b)], arrivals_per_s=rate, clients=400, warm_up_s=5, duration_s=120)
    load = rate * service_s

    def expected(variation: float) -> float:
        return service_s * (1 + load * (1 + variation) / (2 * (1 - load)))

    runs = replications(model)
    assert z(runs, response_s, expected(square)) < 4
    assert z(runs, response_s, expected(1.0)) > 4


def repairman(machines: int, repairers: int, up_s: float, repair_s: float) -> float:
    """Rate of repairs of the machine repairman model, from its birth and death equations."""
    weights = [1.0]
    for broken in range(1, machines + 1):
        birth, death = (machines - broken + 1) / up_s, min(broken, repairers) / repair_s
        weights.append(weights[-1] * birth / death)
    total = sum(weights)
    return sum(w / total * min(k, repairers) / repair_s for k, w in enumerate(weights))


@pytest.mark.parametrize("repairers", [1, 2])
def test_machine_repairman(network: Network, repairers: int) -> None:
    """Closed clients that think, and c servers: throughput from the birth and death equations."""
    model = network(
        [("server", "exponential", 50 * MS, 0)], think_s=0.2, clients=6, servers={"server": repairers},
        warm_up_s=5, duration_s=200,
    )  # fmt: skip
    rate = repairman(6, repairers, 0.2, 0.05)
    runs = replications(model)
    assert z(runs, lambda r: r.transactions_per_s, rate) < 4
    assert z(runs, lambda r: r.transactions_per_s, 1.1 * rate) > 4
    assert z(runs, lambda r: r.stations[0].utilisation, rate * 0.05 / repairers) < 4


def mva(demands_s: list[float], clients: int, think_s: float) -> float:
    """Exact mean value analysis of a closed network of single servers: throughput."""
    queue = [0.0] * len(demands_s)
    rate = 0.0
    for n in range(1, clients + 1):
        residence = [d * (1 + q) for d, q in zip(demands_s, queue, strict=True)]
        rate = n / (think_s + sum(residence))
        queue = [rate * r for r in residence]
    return rate


@pytest.mark.parametrize("clients", [1, 4, 12])
def test_closed_network_is_mean_value_analysis(network: Network, clients: int) -> None:
    """Three exponential stations: throughput by exact MVA, below both asymptotes; a missing station is refused."""
    demands = [0.010, 0.014, 0.006]
    visits = [(f"station {i}", "exponential", round(d * 1000) * MS, 0) for i, d in enumerate(demands)]
    model = network(visits, think_s=0.05, clients=clients, warm_up_s=5, duration_s=480)
    rate = mva(demands, clients, 0.05)
    runs = replications(model)
    mean, error = measured(runs, lambda r: r.transactions_per_s)
    assert abs(mean - rate) < 4 * error
    assert abs(mean - mva(demands[:2], clients, 0.05)) > 4 * error
    assert rate <= min(1 / max(demands), clients / (sum(demands) + 0.05))
