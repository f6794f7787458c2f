"""Contestants do the same work: the same throughput within its statistical error, the same hits. No time counts here.

Peers that are not on this machine are skipped; the environment of those in Python is not made for a test.
"""

import json
from dataclasses import replace
from functools import partial
from math import factorial, sqrt
from pathlib import Path

import numpy as np
import pytest

from benchmarks import others
from benchmarks.closed_network import ask_program, ask_python, engine, peer
from benchmarks.network import Network, exact_throughput_per_s, many_terminals_network, model_of, small_network
from benchmarks.race import Contestant, Outcome
from benchmarks.replacement import TRACE, own_lru

MOST_ERRORS = 5.0
SEED = 7


def errors_off(outcome: Outcome, network: Network, expected_per_s: float) -> float:
    """By how many standard errors a throughput is off, taking those of a Poisson count: a closed network has less."""
    return (outcome.answer - expected_per_s) / sqrt(expected_per_s / network.duration_s)


def cpp(file: str, network: Network, *libraries: str) -> Contestant:
    try:
        program = others.compiled(file, *libraries)
    except others.NotThere as reason:
        pytest.skip(str(reason))
    return peer(file, network, partial(ask_program, program, network))


def in_python(file: str, network: Network) -> Contestant:
    if not others.python_is_there():
        pytest.skip("the peers' environment is not there: `make bench` makes it")
    return peer(file, network, partial(ask_python, file, network))


def check(contestant: Contestant, network: Network) -> None:
    outcome, expected = contestant.run(SEED), exact_throughput_per_s(network)
    assert abs(errors_off(outcome, network, expected)) < MOST_ERRORS
    services = (network.warm_up_s + network.duration_s) * expected * network.services_per_transaction
    assert outcome.work == pytest.approx(services, rel=5 * MOST_ERRORS / sqrt(services))


def test_kernel_does_what_theory_says() -> None:
    network = small_network(600)
    check(engine("kernel", network), network)


def test_another_model_is_found_out() -> None:
    network = small_network(600)
    outcome = engine("kernel", replace(network, think_s=1.05 * network.think_s)).run(SEED)
    assert abs(errors_off(outcome, network, exact_throughput_per_s(network))) > MOST_ERRORS


def test_reference_does_what_theory_says() -> None:
    network = small_network(60)
    check(engine("reference", network), network)


@pytest.mark.parametrize(("file", "libraries"), [("twin", ()), ("ns3_network", ("-lns3-core",))])
def test_peer_in_cpp_does_what_theory_says(file: str, libraries: tuple[str, ...]) -> None:
    network = small_network(600)
    check(cpp(file, network, *libraries), network)


@pytest.mark.parametrize("file", ["simpy_tight", "simpy_idiomatic", "salabim_network", "ciw_network"])
def test_peer_in_python_does_what_theory_says(file: str) -> None:
    network = small_network(30)
    check(in_python(file, network), network)


def test_kernel_and_twin_agree_where_routes_differ() -> None:
    """A thousandth of the many terminals: with that few there is no queue, so the time of a round trip is known."""
    network = replace(many_terminals_network(200.0), clients=857)
    twin = cpp("twin", network).run(SEED)
    kernel = engine("kernel", network).run(SEED)
    expected = network.clients / (network.think_s + sum(mean_s for _, mean_s in network.routes[0]))
    for outcome in (kernel, twin):
        assert abs(errors_off(outcome, network, expected)) < MOST_ERRORS
        assert outcome.work == pytest.approx(
            expected * (network.warm_up_s + network.duration_s) * network.services_per_transaction, rel=0.07
        )


def test_every_route_of_the_many_terminals_is_taken() -> None:
    network = many_terminals_network(1.0)
    program = model_of(replace(network, clients=1)).program
    assert len(program.classes) == len(network.routes) == 264
    visited = {station for route in network.routes for station, _ in route}
    assert visited == set(range(265))


@pytest.mark.parametrize("clients", [1, 2, 5, 20])
def test_mean_value_analysis_of_one_server(clients: int) -> None:
    """Machine repairman: the closed form is Erlang's loss formula in the ratio of think time to service."""
    service_s, think_s = 0.01, 0.05
    network = Network(clients, think_s, (1,), (((0, service_s),),), 0.0, 1.0)
    ratio = think_s / service_s
    idle = ratio**clients / factorial(clients) / sum(ratio**k / factorial(k) for k in range(clients + 1))
    assert exact_throughput_per_s(network) == pytest.approx((1 - idle) / service_s)


@pytest.fixture(scope="module")
def stream() -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """References to 5,000 pages, some far more popular than others."""
    return (5000 * np.random.default_rng(SEED).random(100_000) ** 4).astype(np.int32)


def plain_lru_hits(stream: np.ndarray[tuple[int], np.dtype[np.int32]], capacity: int) -> int:
    held: dict[int, None] = {}
    hits = 0
    for page in stream.tolist():
        if page in held:
            hits += 1
            del held[page]
        elif len(held) == capacity:
            del held[next(iter(held))]
        held[page] = None
    return hits


def test_all_lrus_have_the_same_hits(stream: np.ndarray[tuple[int], np.dtype[np.int32]], tmp_path: Path) -> None:
    capacity = 400
    hits = plain_lru_hits(stream, capacity)
    assert 0.3 * len(stream) < hits < 0.9 * len(stream)
    assert own_lru(stream, 5000, capacity, "lru").run(SEED).answer == hits
    try:
        program = others.compiled("lru")
    except others.NotThere as reason:
        pytest.skip(str(reason))
    stream.tofile(tmp_path / "pages")
    assert others.run_program(program, f"{tmp_path / 'pages'} 5000 {capacity}")["hits"] == hits


def test_libcachesim_has_the_same_hits(stream: np.ndarray[tuple[int], np.dtype[np.int32]], tmp_path: Path) -> None:
    if not others.python_is_there():
        pytest.skip("the peers' environment is not there: `make bench` makes it")
    capacity = 400
    records = np.zeros(len(stream), dtype=TRACE)
    records["time"], records["page"], records["size"] = np.arange(len(stream)), stream + 1, 1
    trace = tmp_path / "trace.oracleGeneral.bin"
    records.tofile(trace)
    given = json.dumps({"trace": str(trace), "capacity": capacity, "references": len(stream)})
    assert others.run_python("libcachesim_lru", given)["hits"] == plain_lru_hits(stream, capacity)
