"""Memory: shares that add up and floors that hold; references by hand, never dearer with nearer memory."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oltpsim.models.reading import load_scenario
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build, memory_plan
from oltpsim.models.wiring.memory import MemoryPlan, row_operation_ns
from oltpsim.models.wiring.paths import paths_of
from oltpsim.simulator.errors import Infeasible, InputError
from oltpsim.simulator.form import GIB, KIB, MIB

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
        ("database.pool.buffers=300000", r"at most \d+ buffers"),
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
    while of(1).workload.with_units(most + 1).file_pages * 8 * KIB <= disks * 2 * GIB:
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
        tiny("database.pool.buffers=300000")
    most = int(str(refused.value).rsplit("at most ", 1)[1].split()[0])
    assert tiny(f"database.pool.buffers={most}").database.pool.buffers == most
    with pytest.raises(Infeasible):
        tiny(f"database.pool.buffers={most + 1}")


def test_too_few_buffers_are_bad_input_not_a_small_machine() -> None:
    with pytest.raises(InputError, match="at least 110") as refused:
        tiny("database.pool.buffers=105", "workload.arrivals.clients=100")
    assert not isinstance(refused.value, Infeasible)


POOL_KIB = 2000 * 9
"""what tiny's buffers take"""


def scenario(references: float = 10.0, page_kib: float = 4.0, **cpu: float) -> ScenarioSpec:
    changes = [f"machine.cpu.{key}={value}" for key, value in cpu.items()]
    of_memory = [f"database.path.memory_references={references}", f"operating_system.memory_page_kib={page_kib}"]
    return load_scenario(TINY, [*of_memory, *changes])


def tlb_miss_ns(references: float = 10.0, page_kib: float = 4.0, **cpu: float) -> float:
    one = scenario(references, page_kib, **cpu)
    return row_operation_ns(one.machine, one.operating_system, one.database)


def test_by_hand() -> None:
    """1000 entries of 4 KiB reach 4000 of 18,000 KiB; the table has 4500 entries of 8 bytes, 9 KiB of them cached."""
    missing, table_kib = 1 - 4000 / POOL_KIB, POOL_KIB / 4 * 8 / 1024
    cached = 9 / table_kib
    walk = cached * 20 + (1 - cached) * 90
    cpu = {"tlb_entries": 1000, "cache_mib": 9 / 1024, "cache_latency_ns": 20, "memory_latency_ns": 90}
    assert tlb_miss_ns(**cpu) == pytest.approx(10 * missing * walk)
    assert tlb_miss_ns(**cpu) != pytest.approx(10 * walk, rel=0.1)


def test_other_sockets_memory_is_farther() -> None:
    """Of four sockets three quarters of the references, and of the walks that go to memory, take twice as long."""
    cpu = {"sockets": 4, "remote_memory_factor": 2, "memory_latency_ns": 90}
    assert tlb_miss_ns(**cpu) == pytest.approx(10 * 0.75 * 90)
    assert tlb_miss_ns(tlb_entries=1, **cpu) == pytest.approx(10 * (0.75 * 90 + (1 - 4 / POOL_KIB) * 1.75 * 90))


@pytest.mark.parametrize("cpu", [{}, {"sockets": 4}, {"remote_memory_factor": 3}, {"tlb_entries": 5000}])
def test_nothing_where_nothing_is_known_or_all_is_reached(cpu: dict[str, float]) -> None:
    assert tlb_miss_ns(**cpu) == 0
    assert tlb_miss_ns(0.0, tlb_entries=1, sockets=4, remote_memory_factor=3) == 0


@given(
    page_kib=st.sampled_from([4.0, 16.0, 64.0, 2048.0]), entries=st.integers(1, 5000), cache_mib=st.floats(0, 1),
    sockets=st.integers(1, 8), factor=st.floats(1, 4),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_more_is_never_dearer(page_kib: float, entries: int, cache_mib: float, sockets: int, factor: float) -> None:
    cpu = {"tlb_entries": entries, "cache_mib": cache_mib, "sockets": sockets, "remote_memory_factor": factor}
    here = tlb_miss_ns(page_kib=page_kib, **cpu) * (1 + 1e-12)
    assert tlb_miss_ns(page_kib=4 * page_kib, **cpu) <= here
    for key, better in (("tlb_entries", entries + 1), ("cache_mib", cache_mib + 0.1), ("sockets", max(sockets - 1, 1))):
        assert tlb_miss_ns(page_kib=page_kib, **(cpu | {key: better})) <= here
    assert tlb_miss_ns(page_kib=page_kib, **(cpu | {"remote_memory_factor": 1.0})) <= here


def test_rows_take_longer_by_it_whatever_the_cores_speed() -> None:
    def rows_ns(**more: float) -> int:
        one = scenario(**more)
        return paths_of(one.machine, one.operating_system, one.database).row_ns

    share = 0.1  # tiny's critical section
    for speed in (1, 2):
        longer = rows_ns(tlb_entries=1, relative_speed=speed) - rows_ns(references=0, relative_speed=speed)
        assert longer == pytest.approx(tlb_miss_ns(tlb_entries=1) * (1 - share), abs=1)


def test_connections_have_memory_and_page_tables_of_the_pool() -> None:
    """Two processes of 3 MiB each, with 8 bytes for each 4 KiB of 2000 buffers; with huge pages next to none."""
    none = memory_plan(tiny()).free_bytes
    words = ("database.memory_per_connection_mib=3", "database.connections_map_pool=true")
    tables = 2 * 2000 * 9 * KIB / (4 * KIB) * 8
    assert none - memory_plan(tiny(*words)).free_bytes == pytest.approx(6 * MIB + tables)
    huge = memory_plan(tiny(*words, "operating_system.memory_page_kib=2048")).free_bytes
    assert none - huge == pytest.approx(6 * MIB + tables / 512)
    assert none - memory_plan(tiny(words[0])).free_bytes == 6 * MIB


def test_a_pool_larger_than_memory_runs_until_swap_is_full() -> None:
    """Of 1 GiB 862 MiB are free and swap has as much as memory, or what it is said to have."""
    assert tiny("database.pool.buffers=200000").database.pool.buffers == 200_000
    with pytest.raises(Infeasible, match=r"are free and swap has 1: at most 214630 buffers"):
        tiny("database.pool.buffers=215000")
    with pytest.raises(Infeasible, match=r"are free and swap has 0: at most 98121 buffers"):
        tiny("database.pool.buffers=98200", "operating_system.swap.size_gib=0")
    assert tiny("database.pool.buffers=98000", "operating_system.swap.size_gib=0").machine.memory_gib == 1


def test_other_files_take_their_share_of_the_page_cache() -> None:
    """Of the cache, never of the pool."""
    whole = memory_plan(tiny())
    shared = memory_plan(tiny("operating_system.page_cache.other_files_fraction=0.25"))
    assert shared.page_cache_pages == pytest.approx(0.75 * whole.page_cache_pages, abs=1)
    assert shared.resident_buffers == whole.resident_buffers


def test_linux_shares_memory_of_small_pages_alone() -> None:
    """Pool and page cache together; not by direct I/O, nor huge pages, which are never swapped, nor without the key."""
    shared = "operating_system.reclaim={swappiness: 30}"
    model = build(tiny(shared))
    assert model.reclaim is not None
    assert model.reclaim.pages == model.pool.resident_pages + model.page_cache.pages
    assert (model.reclaim.swappiness, model.reclaim.batch_pages, model.reclaim.figures_ns) == (30, 16, 0)
    assert build(tiny()).reclaim is None
    assert build(tiny(shared, "database.io=direct")).reclaim is None
    without_swap = build(tiny(shared, "operating_system.swap.size_gib=0")).reclaim
    assert without_swap is not None
    assert without_swap.swappiness == 0
    contained = build(tiny("operating_system.reclaim={in_container: true}")).reclaim
    assert contained is not None
    assert contained.figures_ns == 2_000_000_000


def test_huge_pages_are_never_swapped() -> None:
    """A pool beyond the floor keeps its memory; one that memory hasn't is refused, which in small pages is swapped."""
    beyond = "machine.memory_gib=0.78125", "operating_system.reclaim={swappiness: 60}"
    huge = "operating_system.memory_page_kib=2048"
    model = build(tiny(*beyond, huge, "database.pool.buffers=70000"))
    assert model.reclaim is None
    assert model.pool.resident_pages == model.pool.pages
    assert build(tiny(*beyond, "database.pool.buffers=80000")).pool.resident_pages < 80_000
    with pytest.raises((InputError, Infeasible), match="at most"):
        tiny(*beyond, huge, "database.pool.buffers=80000")
