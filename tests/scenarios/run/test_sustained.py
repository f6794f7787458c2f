"""Sustained rates: runs over whole cycles, on pages that stand for more, against plain long runs."""

from dataclasses import replace

import pytest

from oltpsim.models.machine import FlashDiskSpec
from oltpsim.models.reading import read_description
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build, even_fraction
from oltpsim.scenarios.run import SimulationTask, simulate, sustained
from oltpsim.scenarios.run.sustained import (
    CYCLES_BEFORE,
    CYCLES_COUNTED,
    longest_cycle_s,
    with_cycles,
    without_credits,
)
from oltpsim.scenarios.show.numbers import significant
from oltpsim.scenarios.show.summary import summary_text
from oltpsim.simulator.kernel import simulate as simulate_system
from oltpsim.simulator.results import read_result, result_json

CAPPED = "2 cores, 4 GB, gp3 100 GiB, PostgreSQL 16, pgbench, scale 50, 8 clients"
REDO = "4 cores, 8 GB, gp3 500 GiB, MySQL 8.0, 40 warehouses, 16 clients"
SMALL_LOG = ["database.checkpoint.most_log_gib=0.5"]


def described(line: str, settings: list[str]) -> ScenarioSpec:
    return read_description(line, settings).scenario


def plain(line: str, settings: list[str], warm_up_s: float, duration_s: float) -> ScenarioSpec:
    """The same line with a run of this length, all pages held."""
    length = ["interval.sustained=false", f"interval.warm_up_s={warm_up_s}", f"interval.duration_s={duration_s}"]
    return described(line, [*settings, *length])


def rate_of(scenario: ScenarioSpec) -> float:
    return simulate(SimulationTask(scenario, 1)).transactions_per_s


@pytest.mark.parametrize(
    ("line", "settings"), [(CAPPED, SMALL_LOG), (REDO, ["database.page_cleaner.redo_capacity_gib=0.1"])]
)
def test_a_sustained_rate_is_that_of_a_long_plain_run(line: str, settings: list[str]) -> None:
    assert rate_of(described(line, settings)) == pytest.approx(rate_of(plain(line, settings, 300, 900)), rel=0.06)


def test_a_run_without_the_checkpoint_has_a_higher_rate() -> None:
    """Twin: on a capped volume what comes before the first checkpoint isn't what the machine sustains."""
    without = ["database.checkpoint.interval_s=86400", "database.checkpoint.full_page_writes=false"]
    assert rate_of(plain(CAPPED, without, 20, 20)) > 1.2 * rate_of(described(CAPPED, SMALL_LOG))


def test_a_few_units_of_scale_stand_for_all() -> None:
    """Rate and log of a fifth of the pages, whose cycles are a fifth as long; twin: with a fifth of write-back."""
    line = "4 cores, 16 GB, gp3 500 GiB, PostgreSQL 16, pgbench, scale 100, 32 clients"
    settings = ["database.checkpoint.most_log_gib=1"]
    whole = simulate(SimulationTask(plain(line, settings, 100, 200), 1))
    scenario = plain(line, [*settings, "sampling_fraction=0.2"], 20, 40)
    few = simulate(SimulationTask(scenario, 1))
    assert few.transactions_per_s == pytest.approx(whole.transactions_per_s, rel=0.06)
    assert few.log.bytes_per_s / few.transactions_per_s == pytest.approx(
        whole.log.bytes_per_s / whole.transactions_per_s, rel=0.06
    )
    system = build(scenario)
    in_flight = system.page_cache.in_flight_pages // 5
    fewer = replace(system, page_cache=replace(system.page_cache, in_flight_pages=in_flight))
    assert simulate_system(fewer, 1).transactions_per_s > 1.15 * whole.transactions_per_s


def test_a_run_is_as_long_as_its_cycles_and_no_dearer_than_allowed() -> None:
    scenario = described(CAPPED, [])
    slow, fast = with_cycles(scenario, 300.0, 100.0), with_cycles(scenario, 300.0, 20_000.0)
    assert slow.sampling_fraction == 1.0
    assert slow.interval.duration_s == CYCLES_COUNTED * 300
    assert slow.interval.warm_up_s == CYCLES_BEFORE * 300
    assert fast.sampling_fraction < 0.1
    assert fast.interval.duration_s == pytest.approx(CYCLES_COUNTED * 300 * fast.sampling_fraction, abs=60)


def test_the_cycle_is_the_checkpoints_or_that_of_its_log() -> None:
    system = build(described(CAPPED, SMALL_LOG))
    limit = 0.5 * 2**30 / 1.9
    assert longest_cycle_s(system, limit / 60.0) == pytest.approx(60.0)
    assert longest_cycle_s(system, 1.0) == 900.0
    assert longest_cycle_s(system, 0.0) == 0.0


def test_credits_that_are_spent_are_not_there() -> None:
    """A burst volume asked for more than its base has that base for hours; twin: more while credits last."""
    line = "2 cores, 4 GB, gp2 50 GiB, PostgreSQL 16, pgbench, scale 150, 8 clients"
    burst, for_hours = plain(line, [], 20, 40), described(line, [])
    calculated = simulate(SimulationTask(for_hours.model_copy(update={"engine": "analytic"}), 1))
    assert any(limit.ran_out for limit in calculated.devices[0].limits)
    result = simulate(SimulationTask(for_hours, 1))
    device = result.devices[0]
    assert device.reads_per_s + device.writes_per_s < 1.1 * 150.0
    assert result.beginning is not None
    assert result.beginning.transactions_per_s > 2.0 * result.transactions_per_s
    assert f"first {significant(result.beginning.lasted_s / 60.0)} min" in summary_text(result, for_hours, 400)
    assert read_result(result_json(result)) == result
    assert simulate(SimulationTask(burst, 1)).beginning is None
    assert rate_of(burst) > 2.0 * result.transactions_per_s


def test_credits_of_the_logs_own_volume_are_spent_too() -> None:
    """Twin: those that last stay."""
    line = "4 cores, 8 GB, NVMe, log on gp2 20 GiB, PostgreSQL 16, pgbench, scale 50, 64 clients"
    scenario = described(line, ["engine=analytic"])
    result = simulate(SimulationTask(scenario, 1))
    assert any(limit.ran_out for limit in result.devices[-1].limits)
    log_disk = without_credits(scenario, result).machine.log_disk
    assert isinstance(log_disk, FlashDiskSpec)
    assert log_disk.limits[0].credits_at_start_fraction == 0.0
    lasting = [replace(one, limits=[replace(each, ran_out=False) for each in one.limits]) for one in result.devices]
    assert without_credits(scenario, replace(result, devices=lasting)) == scenario


def test_the_smallest_share_is_one_unit() -> None:
    """Twin: a larger share that is allowed is taken."""
    scenario = described("4 cores, 16 GB, SSD, PostgreSQL 16, 4 warehouses, 32 clients", [])
    assert [even_fraction(scenario, most) for most in (0.01, 0.6)] == [0.25, 0.5]


def test_a_run_that_is_shorter_than_its_cycle_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where even one unit's cycle takes too long; twin: with round trips enough it says nothing."""
    scenario = described(CAPPED.replace("scale 50", "scale 2"), SMALL_LOG)
    monkeypatch.setattr(sustained, "LEAST_S", 1.0)
    for messages, count in ((2_000, 1), (15_000_000, 0)):
        monkeypatch.setattr(sustained, "MESSAGES", messages)
        warnings = simulate(SimulationTask(scenario, 1)).warnings
        assert sum("of a cycle of checkpoints" in each for each in warnings) == count
