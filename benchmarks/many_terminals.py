"""Benchmark 2: a million new orders per minute without caches, where the memory of the terminals decides."""

from __future__ import annotations

from functools import cache
from math import sqrt

from benchmarks import others
from benchmarks.checkout import Options
from benchmarks.engines import run_engine
from benchmarks.network import Network, many_terminals_network, model_of
from benchmarks.page import Section, at_most, figure, table
from benchmarks.race import Contestant, Outcome, race

NEW_ORDER_SHARE = 0.45
MOST_ERRORS = 5.0
MOST_S_PER_S = 0.12


def engine(network: Network) -> Contestant:
    """The kernel; what is timed is what comes after the warm-up."""
    model = cache(lambda: model_of(network))

    def run(seed: int) -> Outcome:
        done = run_engine("kernel", model(), seed)
        rate = done.result.transactions_per_s
        return Outcome(done.run_s_after(network.warm_up_s), network.duration_s, rate)

    return Contestant("kernel", run)


def twin(network: Network, program: str) -> Contestant:
    """The same by hand in C++."""

    def run(seed: int) -> Outcome:
        said = others.run_program(program, network.as_words(seed))
        return Outcome(said["seconds_after_warm_up"], network.duration_s, said["transactions"] / network.duration_s)

    return Contestant("C++ twin", run)


def section(options: Options) -> Section:
    network = many_terminals_network(20.0 if options.full else 5.0)
    contestants, missing = [engine(network)], []
    try:
        contestants.append(twin(network, others.compiled("twin")))
    except others.NotThere as reason:
        missing.append(f"The C++ twin was left out: {reason}.")
    standings = race(contestants, 5 if options.full else 3)
    kernel = standings[0]
    for other in standings[1:]:
        # Transactions of a closed network vary less than a Poisson count.
        error = sqrt(2 * kernel.answer / network.duration_s / len(kernel.outcomes))
        if abs(other.answer - kernel.answer) > MOST_ERRORS * error:
            raise SystemExit(f"kernel and {other.name} differ: {kernel.answer:.0f}/s and {other.answer:.0f}/s")
    rows = [
        [
            standing.name,
            f"{1 / standing.rate:.3f}",
            figure(standing.answer * network.services_per_transaction * standing.rate),
            f"{kernel.times_faster_than(standing):.2f}",
            figure(standing.answer * NEW_ORDER_SHARE * 60),
        ]
        for standing in standings
    ]
    text = (
        f"{network.clients:,} terminals, a CPU of 40 cores, 264 SSDs, ten I/Os and "
        f"{network.services_per_transaction} services a transaction. The state of the terminals is larger than "
        "the processor's caches: that is what costs here. The time of the warm-up is not counted."
    )
    head = ["simulator", "CPU s per simulated s", "services/s", "kernel is faster by", "new orders per minute"]
    goal = at_most("CPU seconds per simulated second:", MOST_S_PER_S, 1 / kernel.rate)
    return Section("A million new orders per minute, without caches", [text, table(head, rows), *missing], [goal])
