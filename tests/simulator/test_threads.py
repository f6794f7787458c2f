"""Threads that slow each other down against the exact birth and death process, whose speed changes with every change.

The engines decide a burst's length when it starts; what that costs is the tolerance: 1.5 %, chance included.
"""

import dataclasses
from typing import Any

import numpy as np
import pytest

from oltpsim.simulator import analytic, kernel
from oltpsim.simulator.form import Assembler, Sharing, System
from tests.simulator.conftest import make_model

MS = 1_000_000
BURST_MS = 10
SIBLINGS = (1.0, 2 / 1.2)
FOUR_CORES = (1.0, 1.0, 1.0, 1.0, 5 / 4.2, 6 / 4.4, 7 / 4.6, 8 / 4.8)
BUS = (1.0, 1.09, 1.2, 1.333, 1.49, 1.68)


def exact_per_s(longer: tuple[float, ...], clients: int, think_ms: float) -> float:
    """Throughput of a closed network of thinking and processors, exponential times."""
    threads = len(longer)

    def per_ms(present: int) -> float:
        busy = min(present, threads)
        return busy / longer[busy - 1] / BURST_MS

    weights = [1.0]
    for present in range(1, clients + 1):
        weights.append(weights[-1] * (clients - present + 1) / think_ms / per_ms(present))
    return float(1000 * np.dot(weights[1:], [per_ms(n) for n in range(1, clients + 1)]) / sum(weights))


def model_of_threads(longer: tuple[float, ...], clients: int, think_ms: float, **parts: Any) -> System:
    asm = Assembler()
    asm.emit("think", asm.distribution("exponential", round(think_ms * MS)), asm.stream("think"))
    asm.emit("choose", asm.table("mix", [1.0]), asm.stream("mix"))
    asm.begin_class("work")
    asm.emit("work", asm.distribution("exponential", BURST_MS * MS), asm.stream("work"))
    asm.emit("touch", asm.reference("row", "row", asm.region("table", 1, 1, 1), asm.register("zero"), row=0), 1, 0)
    asm.emit("end")
    model = make_model(asm, clients=clients, **({"duration_s": 2000, "warm_up_s": 1} | parts))
    return dataclasses.replace(model, sharing=Sharing(tuple(round(each * 1e6) for each in longer)))


MACHINES = [
    (SIBLINGS, 3, 5), (SIBLINGS, 3, 50), (FOUR_CORES, 8, 5), (FOUR_CORES, 8, 20), (FOUR_CORES, 16, 5), (BUS, 8, 20),
]  # fmt: skip


@pytest.mark.parametrize(("longer", "clients", "think_ms"), MACHINES)
def test_a_burst_that_is_decided_at_its_start_is_long_enough(
    longer: tuple[float, ...], clients: int, think_ms: float
) -> None:
    exact = exact_per_s(longer, clients, think_ms)
    result = kernel.simulate(model_of_threads(longer, clients, think_ms), 1)
    assert result.transactions_per_s == pytest.approx(exact, rel=0.015)
    assert result.broken_laws == []


def test_threads_without_siblings_would_be_noticed() -> None:
    plain = kernel.simulate(model_of_threads((1.0,) * 8, 8, 5), 1)
    assert plain.transactions_per_s > 1.15 * exact_per_s(FOUR_CORES, 8, 5)


@pytest.mark.parametrize(("longer", "clients", "think_ms"), MACHINES)
def test_the_analytic_engine_is_near(longer: tuple[float, ...], clients: int, think_ms: float) -> None:
    """Its own error of a station with several servers comes on top."""
    exact = exact_per_s(longer, clients, think_ms)
    result = analytic.simulate(model_of_threads(longer, clients, think_ms), 1)
    assert result.transactions_per_s == pytest.approx(exact, rel=0.06)
    assert result.broken_laws == []


def test_shares_are_of_hardware_threads() -> None:
    """One client on a core with two threads keeps half of what the operating system counts busy, in every engine."""
    model = model_of_threads(SIBLINGS, 1, 1e-6, duration_s=20)
    for engine in (kernel, analytic):
        assert engine.simulate(model, 1).cpu.utilisation == pytest.approx(0.5, abs=1e-3)
