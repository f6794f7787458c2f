"""TLB misses and remote memory: by hand, and never dearer with larger pages, more entries or nearer memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.build.memory import row_operation_ns
from models.build.paths import paths_of
from models.reading import load_scenario
from models.scenario import ScenarioSpec

TINY = Path(__file__).parents[2] / "scenarios" / "tiny.yaml"
POOL_KIB = 2000 * 9
"""what tiny's buffers take"""


def scenario(references: float = 10.0, page_kib: float = 4.0, **cpu: float) -> ScenarioSpec:
    changes = [f"machine.cpu.{key}={value}" for key, value in cpu.items()]
    of_memory = [f"database.path.memory_references={references}", f"operating_system.memory_page_kib={page_kib}"]
    return load_scenario(TINY, [*of_memory, *changes])


def found_ns(references: float = 10.0, page_kib: float = 4.0, **cpu: float) -> float:
    one = scenario(references, page_kib, **cpu)
    return row_operation_ns(one.machine, one.operating_system, one.database)


def test_by_hand() -> None:
    """1000 entries of 4 KiB reach 4000 of 18,000 KiB; the table has 4500 entries of 8 bytes, 9 KiB of them cached."""
    missing, table_kib = 1 - 4000 / POOL_KIB, POOL_KIB / 4 * 8 / 1024
    cached = 9 / table_kib
    walk = cached * 20 + (1 - cached) * 90
    cpu = {"tlb_entries": 1000, "cache_mib": 9 / 1024, "cache_latency_ns": 20, "memory_latency_ns": 90}
    assert found_ns(**cpu) == pytest.approx(10 * missing * walk)
    assert found_ns(**cpu) != pytest.approx(10 * walk, rel=0.1)


def test_other_sockets_memory_is_farther() -> None:
    """Of four sockets three quarters of the references, and of the walks that go to memory, take twice as long."""
    cpu = {"sockets": 4, "remote_memory_factor": 2, "memory_latency_ns": 90}
    assert found_ns(**cpu) == pytest.approx(10 * 0.75 * 90)
    assert found_ns(tlb_entries=1, **cpu) == pytest.approx(10 * (0.75 * 90 + (1 - 4 / POOL_KIB) * 1.75 * 90))


@pytest.mark.parametrize("cpu", [{}, {"sockets": 4}, {"remote_memory_factor": 3}, {"tlb_entries": 5000}])
def test_nothing_where_nothing_is_known_or_all_is_reached(cpu: dict[str, float]) -> None:
    assert found_ns(**cpu) == 0
    assert found_ns(0.0, tlb_entries=1, sockets=4, remote_memory_factor=3) == 0


@given(
    page_kib=st.sampled_from([4.0, 16.0, 64.0, 2048.0]), entries=st.integers(1, 5000), cache_mib=st.floats(0, 1),
    sockets=st.integers(1, 8), factor=st.floats(1, 4),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_more_is_never_dearer(page_kib: float, entries: int, cache_mib: float, sockets: int, factor: float) -> None:
    cpu = {"tlb_entries": entries, "cache_mib": cache_mib, "sockets": sockets, "remote_memory_factor": factor}
    here = found_ns(page_kib=page_kib, **cpu) * (1 + 1e-12)
    assert found_ns(page_kib=4 * page_kib, **cpu) <= here
    for key, better in (("tlb_entries", entries + 1), ("cache_mib", cache_mib + 0.1), ("sockets", max(sockets - 1, 1))):
        assert found_ns(page_kib=page_kib, **(cpu | {key: better})) <= here
    assert found_ns(page_kib=page_kib, **(cpu | {"remote_memory_factor": 1.0})) <= here


def test_rows_take_longer_by_it_whatever_the_cores_speed() -> None:
    def rows_ns(**more: float) -> int:
        one = scenario(**more)
        return paths_of(one.machine, one.operating_system, one.database).row_ns

    share = 0.1  # tiny's critical section
    for speed in (1, 2):
        longer = rows_ns(tlb_entries=1, relative_speed=speed) - rows_ns(references=0, relative_speed=speed)
        assert longer == pytest.approx(found_ns(tlb_entries=1) * (1 - share), abs=1)
