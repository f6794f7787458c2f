"""Hardware threads and the memory bus: against enumeration, networks by hand, and laws."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.build import build
from models.machine import CpuSpec
from models.machine.cpu import slowdowns
from models.reading import load_scenario
from tests.simulator.tpcc_systems import TINY


def cpu(cores: int, threads_per_core: int = 1, gain: float = 0.2, bus: float = 0.0) -> CpuSpec:
    return CpuSpec(
        model="test", cores=cores, relative_speed=1.0, threads_per_core=threads_per_core, second_thread_gain=gain,
        memory_bus_share=bus, source="assumption: for tests",
    )  # fmt: skip


def test_plain_cores_do_not_slow_each_other_down() -> None:
    assert slowdowns(cpu(6)).tolist() == [1.0] * 6


def test_two_siblings_do_a_fifth_more_than_one() -> None:
    """1.2 times the work of one thread, so each takes 2 / 1.2 of its time alone."""
    assert slowdowns(cpu(1, 2)).tolist() == pytest.approx([1.0, 2 / 1.2])
    assert slowdowns(cpu(1, 2, gain=1.0)).tolist() == pytest.approx([1.0, 1.0])
    assert slowdowns(cpu(1, 2, gain=0.0)).tolist() == pytest.approx([1.0, 2.0])


def test_idle_cores_are_filled_first() -> None:
    """Four threads of two cores: nobody is slower until a third comes; then two of three share a core."""
    assert slowdowns(cpu(2, 2)).tolist() == pytest.approx([1.0, 1.0, 3 / 2.2, 4 / 2.4])


@pytest.mark.parametrize("cores", [1, 2, 3, 4])
def test_under_a_hypervisor_every_placement_is_as_likely(cores: int) -> None:
    """The mean work of all ways to put so many busy threads on the processors, counted one by one."""
    found = slowdowns(cpu(cores, 2, gain=0.3), placed_by_cores=False)
    for busy in range(1, 2 * cores + 1):
        work = []
        for places in combinations(range(2 * cores), busy):
            on_core = np.bincount([place // 2 for place in places], minlength=cores)
            work.append((on_core == 1).sum() + 1.3 * (on_core == 2).sum())
        assert found[busy - 1] == pytest.approx(busy / np.mean(work))


def test_the_bus_is_a_queue_that_the_cores_visit() -> None:
    """Two and three cores with 0.2 of their time at the bus, by hand: R = 0.2 (1 + Q), Q = n R / (0.8 + R)."""
    second = 0.2 * (1 + 0.2)
    third = 0.2 * (1 + 2 * second / (0.8 + second))
    assert slowdowns(cpu(3, bus=0.2)).tolist() == pytest.approx([1.0, 0.8 + second, 0.8 + third])


@pytest.mark.parametrize(("cores", "share"), [(2, 0.3), (5, 0.1), (8, 0.6)])
def test_the_bus_is_a_machine_repairman(cores: int, share: float) -> None:
    """Exact for exponential times: the stationary distribution of the birth and death process."""
    weights = [1.0]
    for waiting in range(cores):
        weights.append(weights[-1] * (cores - waiting) * share / (1.0 - share))
    idle = weights[0] / sum(weights)
    per_core = (1.0 - idle) / share / cores
    assert slowdowns(cpu(cores, bus=share))[-1] == pytest.approx(1.0 / per_core)
    assert slowdowns(cpu(cores, bus=share * 1.01))[-1] != pytest.approx(1.0 / per_core)


def test_a_bus_that_is_all_there_is_serves_one_at_a_time() -> None:
    assert slowdowns(cpu(4, bus=1.0)).tolist() == pytest.approx([1.0, 2.0, 3.0, 4.0])


processors = st.builds(cpu, st.integers(1, 24), st.integers(1, 2), st.floats(0, 1), st.floats(0, 1))


@given(processors, st.booleans())
def test_more_busy_threads_never_do_less(spec: CpuSpec, placed_by_cores: bool) -> None:
    longer = slowdowns(spec, placed_by_cores=placed_by_cores)
    assert longer[0] == pytest.approx(1.0)
    done = np.arange(1, len(longer) + 1) / longer
    assert (np.diff(done) >= -1e-9).all()
    assert (np.diff(longer) >= -1e-9).all()


@given(st.integers(1, 24), st.floats(0, 1), st.booleans())
def test_all_threads_together_do_the_cores_and_their_gain(cores: int, gain: float, placed_by_cores: bool) -> None:
    longer = slowdowns(cpu(cores, 2, gain), placed_by_cores=placed_by_cores)
    assert 2 * cores / longer[-1] == pytest.approx(cores * (1.0 + gain))


def test_a_model_has_threads_only_where_they_slow_each_other_down() -> None:
    def sharing(*settings: str) -> tuple[int, tuple[int, ...] | None]:
        model = build(load_scenario(TINY, [f"machine.cpu.{each}" for each in settings]))
        return model.processors, model.sharing.ppm if model.sharing else None

    assert sharing("cores=3") == (3, None)
    assert sharing("cores=1", "memory_bus_share=0.5") == (1, None)
    assert sharing("cores=2", "threads_per_core=2") == (4, (1_000_000, 1_000_000, 1_363_636, 1_666_667))
    threads = "machine.cpu={cores: 2, threads_per_core: 2}"
    under = build(load_scenario(TINY, [threads, "machine.hardware_share_lost=0.1"]))
    assert under.sharing is not None
    assert under.sharing.ppm[:2] == (1_000_000, round(1e6 * 2 / (2 - 2 / 3 + 1.2 / 3)))
