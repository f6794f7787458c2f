"""Benchmark 1: a small closed network of plain stations, on every simulator that can be had."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from math import sqrt
from statistics import stdev
from typing import Any

from benchmarks import others
from benchmarks.checkout import Options
from benchmarks.engines import run_engine
from benchmarks.network import Network, exact_throughput_per_s, model_of, small_network
from benchmarks.page import Goal, Section, at_least, at_most, figure, table
from benchmarks.race import Contestant, Outcome, Standing, race

MOST_ERRORS = 5.0
LONG_S = 6000.0
"""Simulated time of what is compiled: the time series, 360 snapshots at most, must not weigh in it"""
PYTHON_PEERS = (
    ("SimPy, written tightly", "simpy", "simpy_tight", 600.0),
    ("SimPy, idiomatic", "simpy", "simpy_idiomatic", 180.0),
    ("salabim", "salabim", "salabim_network", 60.0),
    ("Ciw", "ciw", "ciw_network", 60.0),
)
"""What it is called, package, file, and simulated time, s, after the warm-up in a quick run"""


def engine(name: str, network: Network) -> Contestant:
    """One of our engines. Making its state and its result (8 ms) is not counted, as with the peers."""
    model = model_of(network)

    def run(seed: int) -> Outcome:
        done = run_engine(name, model, seed)
        services = done.transactions * network.services_per_transaction
        return Outcome(done.run_s, services, done.result.transactions_per_s)

    return Contestant(name, run)


def peer(name: str, network: Network, ask: Callable[[int], dict[str, Any]]) -> Contestant:
    """A simulator of others'."""

    def run(seed: int) -> Outcome:
        said = ask(seed)
        return Outcome(said["seconds"], said["services"], said["transactions"] / network.duration_s)

    return Contestant(name, run)


def ask_program(program: str, network: Network, seed: int) -> dict[str, Any]:
    return others.run_program(program, network.as_words(seed))


def ask_python(module: str, network: Network, seed: int) -> dict[str, Any]:
    return others.run_python(module, network.as_json(seed))


def contestants(options: Options, until: ExitStack) -> tuple[list[tuple[Contestant, Network]], list[str]]:
    """Who takes part with which network, and a sentence for each who can't."""
    network = small_network(LONG_S)
    found: list[tuple[Contestant, Network]] = [(engine("kernel", network), network)]
    if options.beside:
        theirs = options.beside.contestant(
            f"closed_network.engine('kernel', network.small_network({LONG_S})).run(number)", until
        )
        found.append((theirs, network))
    slow = small_network(600.0 if options.full else 60.0)
    found.append((engine("reference", slow), slow))
    missing: list[str] = []
    for name, file, libraries in (("C++ twin", "twin", ()), ("ns-3", "ns3_network", ("-lns3-core",))):
        try:
            ask = partial(ask_program, others.compiled(file, *libraries), network)
            found.append((peer(name, network, ask), network))
        except others.NotThere as reason:
            missing.append(f"{name} was left out: {reason}.")
    for name, package, file, duration_s in PYTHON_PEERS:
        own = small_network(600.0 if options.full else duration_s)
        try:
            others.python()
            called = f"{name} ({others.version(package)})"
            found.append((peer(called, own, partial(ask_python, file, own)), own))
        except others.NotThere as reason:
            missing.append(f"{name} was left out: {reason}.")
    return found, missing


def spread_per_s(network: Network, runs: int = 20) -> float:
    """Standard deviation of the throughput that one run of the network finds, from runs of the kernel."""
    run = engine("kernel", network).run
    return stdev(run(seed).answer for seed in range(1000, 1000 + runs))


def errors_off(standing: Standing, network: Network, exact: float, spread_of_a_second: float) -> float:
    """How many standard errors a throughput is away from the exact one."""
    error = spread_of_a_second / sqrt(network.duration_s * len(standing.outcomes))
    return (standing.answer - exact) / error


def goals_of(standings: list[Standing]) -> list[Goal]:
    """What the kernel, the first of them, was to reach beside the others, if they are there."""

    def times_faster_than(name: str) -> float | None:
        ratios = [standings[0].times_faster_than(other) for other in standings if other.name.startswith(name)]
        return ratios[0] if ratios else None

    twin = times_faster_than("C++ twin")
    return [
        at_least("times faster than idiomatic SimPy:", 120, times_faster_than("SimPy, idiomatic")),
        at_least("times faster than ns-3:", 3, times_faster_than("ns-3")),
        at_most("CPU time by that of the C++ twin:", 0.75, None if twin is None else 1 / twin),
    ]


def section(options: Options) -> Section:
    """The benchmark's part of the page. Stops if a contestant simulates something else."""
    with ExitStack() as until:
        found, missing = contestants(options, until)
        standings = race([contestant for contestant, _ in found], 5 if options.full else 3)
    network = found[0][1]
    exact = exact_throughput_per_s(network)
    spread = spread_per_s(network) * sqrt(network.duration_s)
    rows = []
    for standing, (_, own) in zip(standings, found, strict=True):
        off = errors_off(standing, own, exact, spread)
        if abs(off) > MOST_ERRORS:
            raise SystemExit(f"{standing.name} simulates something else: {standing.answer:.2f}/s, exact {exact:.2f}/s")
        rows.append(
            [
                standing.name,
                f"{own.warm_up_s + own.duration_s:.0f}",
                f"{standing.seconds:.3g}",
                figure(standing.rate),
                f"{standings[0].times_faster_than(standing):.3g}",
                f"{standing.answer:.1f}",
                f"{off:+.1f}",
            ]
        )
    services = network.services_per_transaction
    text = (
        f"{network.clients} terminals think {network.think_s} s, then take {services} services in turn: a CPU of "
        "2 cores, 4 disks, a log. All times are exponential, so the exact throughput is known by mean value "
        f"analysis: {exact:.2f} transactions per second. The last column says how many standard errors each "
        "simulator is away from it. Making the model and the result is not counted for anybody; "
        "taking the time series is, for the kernels."
    )
    head = ["simulator", "simulated s", "CPU s", "services/s", "kernel is faster by", "transactions/s", "off by"]
    title = "A closed network of plain stations"
    return Section(title, [text, table(head, rows), *missing], goals_of(standings))
