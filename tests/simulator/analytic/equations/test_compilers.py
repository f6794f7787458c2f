"""The same figures, byte for byte, by g++ and by clang++, with and without optimisation."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.random_machines import REGIMES, random_machine
from oltpsim.models.wiring import build
from oltpsim.simulator.analytic import Parameters, Workload, parameters_of, read_workload, solve, stacked
from oltpsim.simulator.analytic.equations.compiled import LIBRARY
from oltpsim.simulator.analytic.equations.solution import at_rate
from oltpsim.simulator.analytic.reading import columns
from tests.simulator.analytic.columns import with_columns
from tests.simulator.builds import OTHER_BUILDS, builds_of

NUMBER = 3001


@pytest.fixture(scope="module")
def libraries() -> dict[str, Path]:
    """The equations by each compiler."""
    return builds_of(LIBRARY)


def machines(regime: str) -> tuple[Workload, Parameters, str]:
    """A random machine, one that is half as fast, one of twice the clients, and one with too little memory."""
    model = build(random_machine(regime, NUMBER))
    workload = read_workload(model)
    p = parameters_of(model, workload).filled()
    variants = (
        with_columns(p, cpu_speed=p.cpu.speed / 2),
        with_columns(p, clients_number=p.clients.number * 2),
        with_columns(p, pool_resident=p.pool.buffers / 2),
    )
    return workload, stacked([p, *variants]), model.pool.replacement


def outcome(workload: Workload, p: Parameters, policy: str, library: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """All figures of the machines solved, and at a rate that they may not reach."""
    loaded = LIBRARY.load_from(library)
    monkeypatch.setattr("oltpsim.simulator.analytic.equations.compiled.LIBRARY", SimpleNamespace(load=lambda: loaded))
    anew = replace(workload)
    found = [solve(anew, p, policy), at_rate(anew, p, policy, np.full(len(p), 100.0))]
    return b"".join(value.tobytes() for each in found for value in columns(each))


@pytest.mark.parametrize("regime", REGIMES)
def test_every_compiler_makes_the_same_bytes(
    regime: str, libraries: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    of = machines(regime)
    outcomes = {name: outcome(*of, library, monkeypatch) for name, library in libraries.items()}
    assert len(outcomes["g++-O3"]) > 8 * 1000
    assert [name for name in OTHER_BUILDS if outcomes[name] != outcomes["g++-O3"]] == []
