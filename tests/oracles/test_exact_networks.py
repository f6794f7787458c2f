"""Exact figures of queueing networks against Markov chains that know nothing of product forms."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

from oltpsim.simulator.errors import InternalError
from tests.oracles.exact_networks import exact
from tests.oracles.network import Floats, Network

TERMINALS, THINK_S, SERVERS = 857_000, 20.99, 40
DEMAND_S = 0.00096475


def rate(network: Network, station: int, present: int) -> float:
    """Work per second at a station, from the definition of servers and rates."""
    levels = np.ones(1) if network.rates is None else network.rates[station]
    return float(min(present, network.servers[station]) * levels[min(present, len(levels)) - 1])


def chain_queue(network: Network) -> Floats:
    """Mean queues (classes, stations) by the balance of every state; customers think, visit all stations and think.

    Stations share their rate among those present.
    """
    classes, stations = network.demands_s.shape
    of_class = [
        [split for split in itertools.product(range(int(n) + 1), repeat=stations + 1) if sum(split) == n]
        for n in network.populations
    ]
    states = [np.array(state) for state in itertools.product(*of_class)]
    number = {state.tobytes(): i for i, state in enumerate(states)}
    generator = np.zeros((len(states), len(states)))
    for i, state in enumerate(states):
        for r, place in itertools.product(range(classes), range(stations + 1)):
            if not state[r, place]:
                continue
            if place == 0:
                speed = state[r, 0] / network.think_s[r]
            else:
                present = int(state[:, place].sum())
                share = state[r, place] / present
                speed = rate(network, place - 1, present) * share / network.demands_s[r, place - 1]
            after = state.copy()
            after[r, place] -= 1
            after[r, (place + 1) % (stations + 1)] += 1
            generator[i, number[after.tobytes()]] += speed
            generator[i, i] -= speed
    equations = np.vstack([generator.T, np.ones(len(states))])
    chances = np.linalg.lstsq(equations, np.array([0.0] * len(states) + [1.0]), rcond=None)[0]
    mean = sum(chance * state for chance, state in zip(chances, states, strict=True))
    return np.asarray(mean)[:, 1:]


NETWORKS = {
    "single servers": Network([[0.3, 0.5]], [5], [1.0], [1, 1]),
    "several servers": Network([[0.9, 0.5]], [6], [1.0], [3, 1]),
    "speeds by queue": Network([[0.5, 0.4]], [6], [1.0], [1, 2], None, [[1.0, 1.5, 1.7], [1.0, 0.9, 0.8]]),
    "two classes": Network([[0.3, 0.6], [0.7, 0.2]], [3, 2], [1.0, 0.5], [1, 2]),
    "two classes, speeds": Network([[0.3, 0.6], [0.7, 0.2]], [2, 3], [1.0, 0.5], [2, 1], None, [[1.0, 0.8, 0.7]] * 2),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_exact_solves_the_markov_chain(name: str) -> None:
    """Mean queues are those of the chain; those of a network with one server more are refused."""
    network = NETWORKS[name]
    queue = chain_queue(network)
    solution = exact(network)
    np.testing.assert_allclose(solution.queue, queue, rtol=1e-9)
    thinking = network.populations - queue.sum(axis=1)
    np.testing.assert_allclose(solution.throughput_per_s, thinking / network.think_s, rtol=1e-9)
    other = dataclasses.replace(network, servers=network.servers + np.array([1, 0]))
    assert not np.allclose(exact(other).queue, queue, rtol=1e-3)


def repairman_s(terminals: int, think_s: float, demand_s: float, servers: int) -> float:
    """Response time of the machine repairman, by birth and death in logarithms."""
    present = np.arange(1, terminals + 1)
    steps = np.log((terminals - present + 1) / think_s) - np.log(np.minimum(present, servers) / demand_s)
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    chances = np.exp(logs - logs.max())
    chances /= chances.sum()
    levels = np.arange(terminals + 1)
    return float((chances @ levels) / (chances @ np.minimum(levels, servers)) * demand_s)


def textbook_s(terminals: int, think_s: float, demand_s: float, servers: int) -> float:
    """Response time by the recursion of textbooks, with P(0) as one minus a sum (Reiser & Lavenberg 1980)."""
    chances = np.zeros(servers)
    chances[0] = 1.0
    idle = servers - 1 - np.arange(servers - 1)
    queue, response_s = 0.0, demand_s
    for customers in range(1, terminals + 1):
        response_s = demand_s / servers * (1 + queue + float(idle @ chances[:-1]))
        throughput = customers / (think_s + response_s)
        queue = throughput * response_s
        chances[1:] = throughput * demand_s / np.arange(1, servers) * chances[:-1]
        busy = throughput * demand_s + (servers - np.arange(1, servers)) @ chances[1:]
        chances[0] = 1 - busy / servers
    return float(response_s)


def test_857_000_terminals() -> None:
    """2.35 ms by birth and death too; with one server less that is refused."""
    response_s = exact(Network([[DEMAND_S]], [TERMINALS], [THINK_S], [SERVERS])).residence_s[0, 0]
    assert response_s == pytest.approx(repairman_s(TERMINALS, THINK_S, DEMAND_S, SERVERS), rel=1e-8)
    assert response_s == pytest.approx(0.00235, rel=0.02)
    assert response_s != pytest.approx(repairman_s(TERMINALS, THINK_S, DEMAND_S, SERVERS - 1), rel=0.1)


def test_the_textbook_recursion_breaks_down() -> None:
    """It is right for few terminals, and wrong at the load at which the exact figures are right."""
    assert textbook_s(20, 1.0, 0.1, 4) == pytest.approx(repairman_s(20, 1.0, 0.1, 4), rel=1e-6)
    terminals = TERMINALS // 20
    think_s = THINK_S / 20
    right = repairman_s(terminals, think_s, DEMAND_S, SERVERS)
    assert exact(Network([[DEMAND_S]], [terminals], [think_s], [SERVERS])).residence_s[0, 0] == pytest.approx(right)
    assert abs(textbook_s(terminals, think_s, DEMAND_S, SERVERS) / right - 1) > 1


@pytest.mark.parametrize(("machines", "repairers"), [(1, 1), (10, 3), (300, 300), (2000, 700)])
def test_machine_repairman(machines: int, repairers: int) -> None:
    network = Network([[0.4]], [machines], [1.0], [repairers])
    assert exact(network).residence_s[0, 0] == pytest.approx(repairman_s(machines, 1.0, 0.4, repairers), rel=1e-9)
    assert exact(network).residence_s[0, 0] != pytest.approx(repairman_s(machines, 1.0, 0.5, repairers), rel=1e-3)


def erlang_waiting(servers: int, load: float) -> float:
    """Probability of waiting in M/M/c, by Erlang's C formula."""
    terms = [load**k / math.factorial(k) for k in range(servers)]
    last = load**servers / math.factorial(servers) * servers / (servers - load)
    return last / (sum(terms) + last)


def test_open_classes_alone_are_erlangs() -> None:
    """Also of many servers; with one server more that is refused."""
    for servers, load in ((1, 0.7), (4, 3.0), (60, 55.0)):
        found = exact(Network([[0.5]], [0], [0.0], [servers], [load / 0.5])).residence_s[0, 0]
        assert found == pytest.approx(0.5 * (1 + erlang_waiting(servers, load) / (servers - load)), rel=1e-10)
        assert found != pytest.approx(0.5 * (1 + erlang_waiting(servers + 1, load) / (servers + 1 - load)), rel=1e-4)


def test_open_classes_inflate_the_demands_of_closed_ones() -> None:
    mixed = exact(Network([[0.2, 0.1], [0.1, 0.2]], [6, 0], [1.0, 0.0], [1, 1], [0.0, 3.0]))
    closed = exact(Network([[0.2 / 0.7, 0.1 / 0.4]], [6], [1.0], [1, 1]))
    np.testing.assert_allclose(mixed.residence_s[0], closed.residence_s[0], rtol=1e-12)
    np.testing.assert_allclose(mixed.residence_s[1], (1 + closed.queue[0]) * [0.1 / 0.7, 0.2 / 0.4], rtol=1e-12)
    assert not np.allclose(mixed.residence_s[0], exact(Network([[0.2, 0.1]], [6], [1.0], [1, 1])).residence_s[0])


def test_mixed_networks_of_several_servers_solve_the_markov_chain() -> None:
    """One station of two servers, closed customers who think, and Poisson arrivals, cut off at 60."""
    closed, think_s, demands_s, open_per_s, most = 3, 1.0, (0.5, 0.4), 2.0, 60
    size = (closed + 1) * (most + 1)
    generator = np.zeros((size, size))
    for a, b in itertools.product(range(closed + 1), range(most + 1)):
        here, total = a * (most + 1) + b, a + b
        ways = [
            (a + 1, b, (closed - a) / think_s),
            (a, b + 1, open_per_s),
            (a - 1, b, min(total, 2) * a / max(total, 1) / demands_s[0]),
            (a, b - 1, min(total, 2) * b / max(total, 1) / demands_s[1]),
        ]
        for to_a, to_b, speed in ways:
            if 0 <= to_a <= closed and 0 <= to_b <= most:
                generator[here, to_a * (most + 1) + to_b] += speed
                generator[here, here] -= speed
    chances = np.linalg.lstsq(np.vstack([generator.T, np.ones(size)]), np.eye(size + 1)[-1], rcond=None)[0]
    chances = chances.reshape(closed + 1, most + 1)
    expected = [chances.sum(axis=1) @ np.arange(closed + 1), chances.sum(axis=0) @ np.arange(most + 1)]
    network = Network([[0.5], [0.4]], [closed, 0], [think_s, 0.0], [2], [0.0, open_per_s])
    np.testing.assert_allclose(exact(network).queue[:, 0], expected, rtol=1e-7)
    three = Network([[0.5], [0.4]], [closed, 0], [think_s, 0.0], [3], [0.0, open_per_s])
    assert not np.allclose(exact(three).queue[:, 0], expected, rtol=1e-2)


def test_plain_networks_agree_with_line() -> None:
    line = pytest.importorskip("line_solver")
    model = line.Network("plain")
    think, disk = line.Delay(model, "think"), line.Queue(model, "disk", line.SchedStrategy.PS)
    customers = line.ClosedClass(model, "customers", 8, think)
    think.setService(customers, line.Exp(1.0))
    disk.setService(customers, line.Exp(5.0))
    model.link(line.Network.serial_routing(think, disk))
    throughput = line.MVA(model, method="exact").getAvgTable()["Tput"].iloc[0]
    assert exact(Network([[0.2]], [8], [1.0], [1])).throughput_per_s[0] == pytest.approx(throughput, rel=1e-4)
    assert exact(Network([[0.3]], [8], [1.0], [1])).throughput_per_s[0] != pytest.approx(throughput, rel=1e-2)


@pytest.mark.parametrize(
    ("message", "network"),
    [
        ("one network", Network([[[0.1]]], [1.0], [1.0], [1])),
        ("whole", Network([[0.1]], [1.5], [1.0], [1])),
        ("too many", Network([[0.1]] * 2, [1e4, 1e4], [1.0, 1.0], [1])),
    ],
)
def test_misuse_is_refused(message: str, network: Network) -> None:
    with pytest.raises(InternalError, match=message):
        exact(network)
