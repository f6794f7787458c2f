"""Systems at random: every kind in its turn, the same for the same number, and over what the schema can say."""

from collections import Counter

import pytest

from benchmarks.pools import POOLS_GIB, pool_system
from benchmarks.random_comparison import Compared, errors_of, tables
from benchmarks.random_systems import KINDS, random_system
from oltpsim.models.scenario import ScenarioSpec

FEW = 400


@pytest.fixture(scope="module")
def systems() -> list[ScenarioSpec]:
    return [random_system(number)[1] for number in range(FEW)]


def test_kinds_take_turns(systems: list[ScenarioSpec]) -> None:
    counted = Counter(scenario.name for scenario in systems)
    assert counted == dict.fromkeys(KINDS, FEW // len(KINDS))


def test_a_number_is_a_system_whatever_was_drawn_before(systems: list[ScenarioSpec]) -> None:
    for number in (399, 10, 0):
        assert random_system(number)[1] == systems[number]


def test_two_checkpoints_are_counted(systems: list[ScenarioSpec]) -> None:
    for scenario in systems:
        assert scenario.interval.duration_s == pytest.approx(2 * scenario.database.checkpoint.interval_s)


@pytest.mark.parametrize(
    "key",
    [
        "machine.disks.level",
        "machine.disks.disk.kind",
        "machine.cpu.threads_per_core",
        "operating_system.name",
        "operating_system.io_scheduler.kind",
        "database.io",
        "database.page_kib",
        "database.file_layout",
        "database.log.commit",
        "database.pool.replacement",
        "workload.arrivals.kind",
        "workload.tpcc.item_choice",
        "workload.tpcc.home_warehouse",
        "interval.start",
    ],
)
def test_a_choice_of_the_schema_is_made_often_each_way(systems: list[ScenarioSpec], key: str) -> None:
    counted: Counter[object] = Counter()
    for scenario in systems:
        value: object = scenario
        for name in key.split("."):
            value = getattr(value, name)
        counted[value] += 1
    assert len(counted) > 1
    assert min(counted.values()) >= 2


def test_limits_bursts_log_disks_and_write_caches_are_drawn(systems: list[ScenarioSpec]) -> None:
    limits = [limit for one in systems for limit in getattr(one.machine.disks.disk, "limits", ())]
    assert sum(limit.burst_per_s is not None for limit in limits) > 5
    assert sum(bool(one.machine.volume_limits) for one in systems) > 5
    assert sum(bool(one.machine.disks.controller_limits) for one in systems) >= 2
    assert 100 < sum(one.machine.log_disk is not None for one in systems) < 300
    assert sum(getattr(one.machine.disks.disk, "write_cache_mib", 0) > 0 for one in systems) > 20


def test_pools_differ_in_their_size_alone() -> None:
    pools = [pool_system(number)[1] for number in range(len(POOLS_GIB))]
    buffers = [one.database.pool.buffers for one in pools]
    assert buffers == sorted(buffers)
    bare = {one.model_copy(update={"name": "", "database": pools[0].database}) for one in pools}
    assert len(bare) == 1


def row(number: int, analytic: float, flags: list[str]) -> Compared:
    return Compared(
        kind="one",
        number=number,
        rate_per_min=(100.0, analytic),
        rate_error=analytic / 100.0 - 1.0,
        rate_interval=0.01,
        transactions_per_s=4.0,
        reads_per_s=(0.0, 0.1),
        writes_per_s=(8.0, 4.0),
        pool_hit_ratio=(0.9, 0.9),
        page_cache_hit_ratio=None,
        cpu_utilisation=(0.5, 0.6),
        data_utilisation=(0.5, 0.5),
        log_utilisation=None,
        p95_s=None,
        flags=flags,
        kernel_warnings=[],
        solved_ms=1.0,
        same_system=True,
    )


def test_tables_show_errors_and_what_is_beyond_the_fit() -> None:
    text = tables([row(1, 101.0, []), row(2, 140.0, []), row(3, 50.0, ["... Confirm with --engine kernel"])])
    assert "| one | 3 | 40.0 % | 48.0 % | 49.0 % | +1.0 % | 33 % |" in text


def test_what_is_next_to_nothing_counts_by_the_least_that_matters() -> None:
    errors = errors_of([row(1, 100.0, [])])
    assert errors["reads"] == pytest.approx([0.5])  # 0.1 of the 0.2 reads/s that 4 transactions/s would matter by
    assert errors["writes"] == pytest.approx([-0.5])
    assert errors["p95"] == []
