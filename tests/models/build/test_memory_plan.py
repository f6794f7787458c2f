"""Who gets the machine's memory: shares that add up, floors that hold, and asks that cannot be met."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.build import MemoryPlan, build, memory_plan
from models.reading import load_scenario
from models.scenario import ScenarioSpec
from models.workloads.tpcc import file_pages
from simulator.errors import Infeasible, InputError
from simulator.form import GIB, KIB, MIB

TINY = Path(__file__).parents[2] / "scenarios" / "tiny.yaml"


def tiny(*overrides: str) -> ScenarioSpec:
    return load_scenario(TINY, overrides)


def others_bytes(scenario: ScenarioSpec) -> float:
    """Kernel, server process and two client programs."""
    fixed = scenario.operating_system.reserved_memory_gib + scenario.database.process_memory_gib
    return fixed * GIB + 2 * scenario.operating_system.memory_per_client_mib * MIB


def shared_out_bytes(scenario: ScenarioSpec, plan: MemoryPlan) -> float:
    buffers = plan.resident_buffers * scenario.database.pool.memory_per_buffer_kib * KIB
    return others_bytes(scenario) + buffers + plan.page_cache_pages * scenario.database.page_kib * KIB


@given(memory_mib=st.integers(400, 4096), buffers=st.integers(100, 20_000), floor=st.floats(0.01, 0.2))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_shares_add_up_to_the_memory(memory_mib: int, buffers: int, floor: float) -> None:
    """To the last page and buffer; the page cache keeps its floor, and swapped-out buffers are what is missing."""
    scenario = tiny(
        f"machine.memory_gib={memory_mib / 1024}",
        f"database.pool.buffers={buffers}",
        f"operating_system.page_cache.floor_fraction={floor}",
    )
    plan, total = memory_plan(scenario), memory_mib * MIB
    shared = shared_out_bytes(scenario, plan)
    assert total - (8 + 9) * KIB <= shared <= total + 1
    assert plan.page_cache_pages >= int(floor * total / (8 * KIB))
    fits = plan.pool_bytes + floor * total <= plan.free_bytes
    assert (plan.resident_buffers == buffers) == fits
    assert build(scenario).pool.resident_pages == plan.resident_buffers


def test_a_pool_beyond_the_floor_is_swapped_out() -> None:
    """Of 800 MiB, 638 are free: at 9 KiB a buffer 72,589; a floor of 80 MiB leaves 63,488 of 70,000 in memory."""
    settings_ = ("machine.memory_gib=0.78125", "database.pool.buffers=70000")
    plan = memory_plan(tiny(*settings_))
    assert plan.free_bytes / MIB == pytest.approx(800 - 0.15 * 1024 - 8)
    assert plan.resident_buffers == int((plan.free_bytes - 80 * MIB) / (9 * KIB)) < 70_000
    assert plan.page_cache_pages == 80 * MIB // (8 * KIB)
    lower = memory_plan(tiny(*settings_, "operating_system.page_cache.floor_fraction=0.01"))
    assert lower.resident_buffers == 70_000
    assert lower.page_cache_pages < plan.page_cache_pages


def test_direct_io_needs_no_page_cache() -> None:
    assert memory_plan(tiny("database.io=direct")).page_cache_pages == 1
    assert memory_plan(tiny()).page_cache_pages > 10_000


def test_remote_clients_take_no_memory() -> None:
    here, away = memory_plan(tiny()), memory_plan(tiny("machine.network={clients_on_server: false}"))
    assert away.free_bytes - here.free_bytes == pytest.approx(2 * 4 * MIB)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("database.pool.buffers=200000", r"at most \d+ buffers"),
        ("machine.memory_gib=0.15", "machine.memory_gib"),
        ("operating_system.memory_per_client_mib=600", "machine.memory_gib"),
        ("workload.warehouses=2000", "warehouses are .* GiB of data"),
        ("machine.memory_gib=69.5", r"capacity_gib: 70 GiB; log and swap, as large as memory, take 70\.5 GiB of each"),
    ],
)
def test_a_machine_too_small_says_why(setting: str, said: str) -> None:
    with pytest.raises(Infeasible, match=rf"^tiny\.yaml: .*{said}"):
        tiny(setting)


@pytest.mark.parametrize("disks", [1, 3])
def test_the_last_page_of_a_machine_that_is_accepted_lies_on_its_disk(disks: int) -> None:
    """Swap and log are left free on every disk, and what the append-only tables grow into is there."""

    def of(warehouses: int) -> ScenarioSpec:
        return tiny(f"machine.disks.count={disks}", "machine.memory_gib=67", f"workload.warehouses={warehouses}")

    most = 0
    while file_pages(of(1).workload.layout, most + 1) * 8 * KIB <= disks * 2 * GIB:
        most += 1
    storage, program = build(of(most)).storage, build(of(most)).program
    used_bytes = storage.data_start_bytes + -(-program.pages // disks) * storage.page_bytes
    assert 69.8 * GIB < used_bytes <= 70 * GIB
    with pytest.raises(Infeasible, match=rf"{disks} disks of 70 GiB, of which .* 68 GiB each, hold {2 * disks} GiB"):
        of(most + 1)


def test_flash_keeps_no_place_for_swap_that_nobody_needs() -> None:
    settings_ = ("machine.disks.disk=sata-ssd", "machine.memory_gib=500")
    assert tiny(*settings_).machine.memory_gib == 500
    with pytest.raises(Infeasible, match="capacity_gib: 447 GiB; log and swap"):
        tiny(*settings_, "database.pool.buffers=57000000")


def test_the_most_buffers_that_are_offered_do_fit() -> None:
    """The number in the message is the limit: it loads, and one more does not."""
    with pytest.raises(Infeasible) as refused:
        tiny("database.pool.buffers=200000")
    most = int(str(refused.value).rsplit("at most ", 1)[1].split()[0])
    assert tiny(f"database.pool.buffers={most}").database.pool.buffers == most
    with pytest.raises(Infeasible):
        tiny(f"database.pool.buffers={most + 1}")


def test_too_few_buffers_are_bad_input_not_a_small_machine() -> None:
    with pytest.raises(InputError, match="at least 110") as refused:
        tiny("database.pool.buffers=105", "workload.arrivals.clients=100")
    assert not isinstance(refused.value, Infeasible)
