"""Approximate solutions and bounds of queueing networks against exact ones; exact ones: see test_exact_networks."""

import dataclasses
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oltpsim.simulator.errors import InternalError
from tests.oracles.exact_networks import exact
from tests.oracles.network import Floats, Network, Solution
from tests.oracles.networks import Method, bounds, solve

NETWORKS = 50


@cache
def drawn(most_servers: int) -> list[tuple[Network, Solution]]:
    """Small networks at random and their exact solutions."""
    random = np.random.default_rng(20)
    networks = []
    for _ in range(NETWORKS):
        classes, stations = random.integers(1, 4), random.integers(1, 5)
        servers = random.integers(1, most_servers + 1, stations)
        demands_s = random.exponential(0.1, (classes, stations)) * servers
        populations = random.integers(1, (40, 12, 7)[classes - 1], classes)
        think_s = random.integers(0, 2) * random.exponential(1.0, classes)
        networks.append(Network(demands_s, populations, think_s, servers))
    return [(network, exact(network)) for network in networks]


def errors(most_servers: int, method: Method, change: float = 1.0) -> tuple[float, float]:
    """Median and 95 % quantile of the relative error of throughputs; with all demands times `change`."""
    found: list[float] = []
    for network, right in drawn(most_servers):
        changed = dataclasses.replace(network, demands_s=network.demands_s * change)
        solution = solve(changed, method)
        found += list(np.abs(solution.throughput_per_s / right.throughput_per_s - 1))
    return float(np.median(found)), float(np.quantile(found, 0.95))


@pytest.mark.parametrize(
    ("most_servers", "method", "median", "most"),
    [
        (1, "schweitzer", 0.02, 0.10),
        (1, "linearizer", 0.001, 0.01),
        (8, "schweitzer", 0.03, 0.10),
        (8, "linearizer", 0.002, 0.02),
    ],
)
def test_approximations_are_near_exact(most_servers: int, method: Method, median: float, most: float) -> None:
    """Errors stay below those stated; demands that are 10 % longer are refused."""
    middle, high = errors(most_servers, method)
    assert middle < median
    assert high < most
    assert errors(most_servers, method, 1.1)[0] > median


@pytest.mark.parametrize("method", ["schweitzer", "linearizer"])
def test_no_station_does_more_than_it_can(method: Method) -> None:
    random = np.random.default_rng(4)
    servers = random.integers(1, 33, (200, 4))
    demands_s = random.exponential(0.01, (200, 3, 4)) * servers[:, None, :]
    populations = np.exp(random.uniform(0, 9, (200, 3)))
    network = Network(demands_s, populations, random.exponential(2.0, (200, 3)), servers)
    solution = solve(network, method)
    assert solution.utilisation.max() <= 1 + 1e-9
    assert solution.utilisation.max() > 0.99
    total = solution.throughput_per_s * network.think_s + solution.queue.sum(axis=-1)
    np.testing.assert_allclose(total, populations, rtol=1e-9)
    assert not np.allclose(solution.queue.sum(axis=-1), populations, rtol=1e-9)
    assert np.median(solution.residual) < 1e-10


def test_schweitzer_with_one_server_is_the_published_equation() -> None:
    """R = D (1 + (N - 1) / N Q); that with N / N is refused."""
    network = Network([[0.2, 0.1]], [5.0], [1.0], [1, 1])
    solution = solve(network, "schweitzer")
    expected_s = network.demands_s * (1 + 4 / 5 * solution.queue)
    np.testing.assert_allclose(solution.residence_s, expected_s, rtol=1e-8)
    assert not np.allclose(solution.residence_s, network.demands_s * (1 + solution.queue), rtol=1e-3)


def test_a_batch_is_its_members() -> None:
    random = np.random.default_rng(5)
    demands_s, populations = random.exponential(0.1, (2, 3, 2, 4)), random.uniform(1, 50, (2, 3, 2))
    network = Network(demands_s, populations, [1.0, 2.0], [1, 2, 3, 4])
    together = solve(network)
    assert together.residence_s.shape == (2, 3, 2, 4)
    assert together.residual.shape == (2, 3)
    alone = solve(Network(demands_s[1, 2], populations[1, 2], [1.0, 2.0], [1, 2, 3, 4]))
    np.testing.assert_allclose(together.queue[1, 2], alone.queue, rtol=1e-7)
    assert not np.allclose(together.queue[1, 1], alone.queue, rtol=1e-2)


def test_throughput_has_no_jumps() -> None:
    """Second differences over populations and servers stay small; those of a curve with a jump do not."""
    populations = np.linspace(2, 40, 400)
    network = Network([[0.4, 0.1]], populations[:, None], [1.0], [4, 1])
    throughput = solve(network).throughput_per_s[:, 0]
    assert np.abs(np.diff(throughput, 2)).max() < 0.02
    assert np.all(np.diff(throughput) > -1e-6)
    jumping = throughput + 0.1 * (populations > 20)
    assert np.abs(np.diff(jumping, 2)).max() > 0.02


def test_open_classes_inflate_the_demands_of_closed_ones() -> None:
    """At stations of one server, 1 / (1 - open load); the square of it is refused."""
    open_per_s, open_demand_s = 3.0, np.array([0.1, 0.2])
    mixed = Network(np.array([[0.2, 0.1], open_demand_s]), [6, 0], [1.0, 0.0], [1, 1], [0.0, open_per_s])
    room = 1 - open_per_s * open_demand_s
    closed = Network([[0.2, 0.1] / room], [6], [1.0], [1, 1])
    wrong = Network([[0.2, 0.1] / room**2], [6], [1.0], [1, 1])
    methods: list[tuple[Method, float]] = [("schweitzer", 1e-7), ("linearizer", 5e-3)]
    for method, tolerance in methods:
        found = solve(mixed, method)
        expected = solve(closed, method)
        np.testing.assert_allclose(found.residence_s[0], expected.residence_s[0], rtol=1e-7)
        np.testing.assert_allclose(found.residence_s[1], open_demand_s * (1 + expected.queue[0]) / room, rtol=tolerance)
        assert not np.allclose(found.residence_s[0], solve(wrong).residence_s[0], rtol=0.01)


def test_mixed_networks_with_several_servers_are_near_exact() -> None:
    network = Network([[0.5, 0.3], [0.4, 0.2]], [8, 0], [1.0, 0.0], [4, 2], [0.0, 3.0])
    right, found = exact(network), solve(network)
    np.testing.assert_allclose(found.residence_s, right.residence_s, rtol=0.03)
    without = solve(Network([[0.5, 0.3]], [8], [1.0], [4, 2]))
    assert not np.allclose(without.residence_s[0], right.residence_s[0], rtol=0.03)


def test_speeds_by_queue_length_are_near_exact() -> None:
    """A disk that gets faster and one that gets slower with its queue; constant speeds are refused."""
    for rates, tolerance in (([1.0, 1.2, 1.35, 1.45, 1.5], 0.03), ([1.0, 0.9, 0.85, 0.8], 0.03)):
        network = Network([[0.2]], [12], [2.0], [1], None, [rates])
        right = exact(network).throughput_per_s
        assert abs(solve(network).throughput_per_s / right - 1) < tolerance
        assert abs(solve(Network([[0.2]], [12], [2.0], [1])).throughput_per_s / right - 1) > tolerance


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_bounds_enclose_the_exact_throughput(data: st.DataObject) -> None:
    """And do not when they are of half or of twice as fast stations and thinking."""
    stations = data.draw(st.integers(1, 4))
    demands_s = np.array(data.draw(st.lists(st.floats(0.01, 1.0), min_size=stations, max_size=stations)))
    servers = np.array(data.draw(st.lists(st.integers(1, 6), min_size=stations, max_size=stations)))
    think_s, customers = data.draw(st.floats(0.0, 5.0)), data.draw(st.integers(1, 60))
    right = exact(Network(demands_s[None], [customers], [think_s], servers)).throughput_per_s[0]
    lower, upper = bounds(demands_s, think_s, servers, customers)
    assert lower <= right * (1 + 1e-9)
    assert right <= upper * (1 + 1e-9)
    assert bounds(demands_s * 100, think_s * 100, servers, customers)[1] < right
    assert bounds(demands_s / 100, think_s / 100, servers, customers)[0] > right


def test_bounds_take_batches() -> None:
    lower, upper = bounds([[0.1, 0.2], [0.3, 0.4]], 1.0, [1, 2], np.arange(1, 6)[:, None])
    assert lower.shape == upper.shape == (5, 2)
    with pytest.raises(InternalError, match="at least one customer"):
        bounds([0.1], 1.0, [1], 0.5)


WRONG: list[tuple[str, dict[str, object]]] = [
    ("not negative", {"demands_s": [[-0.1]]}),
    ("not negative", {"populations": [np.nan]}),
    ("at least one server", {"servers": [0.5]}),
    ("rates are positive", {"rates": [[2.0, 1.0]]}),
    ("either closed or open", {"open_per_s": [1.0]}),
    ("more than a station can do", {"open_per_s": [20.0], "populations": [0]}),
    ("does not end in", {"think_s": [1.0, 2.0]}),
    ("leading shapes", {"think_s": [[1.0]] * 2, "populations": [[1.0]] * 3}),
    ("thinks or asks", {"think_s": [0.0], "demands_s": [[0.0]]}),
]


@pytest.mark.parametrize(("message", "change"), WRONG)
def test_misuse_is_refused(message: str, change: dict[str, Floats]) -> None:
    right = Network([[0.1]], [4.0], [1.0], [1])
    with pytest.raises(InternalError, match=message):
        dataclasses.replace(right, **change)
