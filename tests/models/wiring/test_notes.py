"""What the reader of a result is told of its scenario."""

from dataclasses import replace

import pytest

from oltpsim.models.reading import read_description
from oltpsim.models.wiring import scenario_error, scenario_remarks
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.simulator.errors import SMALLER_SYSTEM, Infeasible, InputError
from tests.scenarios.example_result import example_result

INNODB = library_files()["innodb/hammerdb-80-users"]


@pytest.mark.parametrize(
    ("start", "utilisation", "told"),
    [("warm", 0.97, True), ("warm", 0.5, False), ("after_prewarm", 0.97, False)],
)
def test_a_flood_of_dirty_pages_after_a_warm_start_is_told(start: str, utilisation: float, told: bool) -> None:
    scenario = load_scenario_file(INNODB, (f"interval.start={start}", "sampling_fraction=1"))
    result = example_result()
    devices = [replace(device, utilisation=utilisation) for device in result.devices]
    remarks = scenario_remarks(scenario, replace(result, devices=devices))
    assert any("this flood" in text for text in remarks) == told


def test_a_database_without_page_cleaners_has_no_such_flood() -> None:
    scenario = load_scenario_file(library_files()["postgresql-15"], ("interval.start=warm",))
    result = example_result()
    devices = [replace(device, utilisation=0.97) for device in result.devices]
    assert not any("this flood" in text for text in scenario_remarks(scenario, replace(result, devices=devices)))


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("postgresql-15", "simulate a share of the warehouses (sampling_fraction)"),
        ("pgbench/select-only-250", "give fewer units of scale (workload.scale)"),
    ],
)
def test_an_engines_refusal_is_told_in_the_scenarios_words(name: str, remedy: str) -> None:
    scenario = load_scenario_file(library_files()[name])
    assert str(scenario_error(scenario, InputError(f"too large: {SMALLER_SYSTEM}, or wait"))) == (
        f"too large: {remedy}, or wait"
    )
    work = scenario_error(scenario, Infeasible("work.main_per_client: got 3"))
    assert (type(work), str(work)) == (Infeasible, "interval.new_orders_per_client: got 3")
    assert str(scenario_error(scenario, InputError("pool.pages: got 3"))) == "pool.pages: got 3"


def _remarks(line: str, settings: tuple[str, ...], utilisation: float) -> list[str]:
    result = example_result()
    devices = [replace(device, utilisation=utilisation) for device in result.devices]
    return scenario_remarks(read_description(line, settings).scenario, replace(result, devices=devices))


@pytest.mark.parametrize(
    ("line", "pages", "utilisation", "told"),
    [
        ("r6i.2xlarge + gp3 500 GiB 3000 IOPS", 2048, 0.97, True),
        ("r6i.2xlarge + gp3 500 GiB 3000 IOPS", 32, 0.97, False),
        ("r6i.2xlarge + gp3 500 GiB 3000 IOPS", 2048, 0.5, False),
        ("r6i.2xlarge + gp3 500 GiB 3000 IOPS, log on SSD", 2048, 0.97, False),
        ("r6i.2xlarge + 8 x gp3 500 GiB 3000 IOPS", 2048, 0.97, False),
        ("8 cores, 32 GB, SSD", 2048, 0.97, False),
    ],
)
def test_a_log_behind_write_back_at_a_capped_volume_is_told(
    line: str, pages: int, utilisation: float, told: bool
) -> None:
    remarks = _remarks(line, (f"operating_system.page_cache.in_flight_pages={pages}",), utilisation)
    assert any("behind the 2,048 pages" in text for text in remarks) == told


@pytest.mark.parametrize(
    ("line", "is_on", "utilisation", "told"),
    [
        ("8 cores, 32 GB, SSD", "false", 0.6, True),
        ("8 cores, 32 GB, SSD", "true", 0.6, False),
        ("8 cores, 32 GB, SSD", "false", 0.4, False),
        ("8 cores, 32 GB, SSD, log on NVMe", "false", 0.6, False),
    ],
)
def test_postgresql_without_full_page_writes_on_a_busy_disk_is_told(
    line: str, is_on: str, utilisation: float, told: bool
) -> None:
    remarks = _remarks(line, (f"database.checkpoint.full_page_writes={is_on}",), utilisation)
    assert any("the rate may be much lower where" in text for text in remarks) == told


@pytest.mark.parametrize(
    ("name", "settings", "told"),
    [
        ("postgresql-15", ("workload.tpcc.statement_us=280",), True),
        ("postgresql-15", (), False),
        ("innodb/sysbench-tpcc-io1", (), False),
    ],
)
def test_texts_that_another_database_than_mysql_parses_are_told(
    name: str, settings: tuple[str, ...], told: bool
) -> None:
    scenario = load_scenario_file(library_files()[name], settings)
    assert any("workload.tpcc.statement_us" in text for text in scenario_remarks(scenario, example_result())) == told


@pytest.mark.parametrize("on_server", [True, False])
def test_a_round_trip_that_nobody_makes_is_told(on_server: bool) -> None:
    network = f"machine.network={{clients_on_server: {str(on_server).lower()}, round_trip_us: 200}}"
    scenario = load_scenario_file(library_files()["postgresql-15"], [network])
    assert any("round_trip_us" in text for text in scenario_remarks(scenario, example_result())) == on_server


def test_sysbench_tpcc_sends_texts() -> None:
    assert load_scenario_file(library_files()["innodb/sysbench-tpcc-io1"]).workload.text_statement_us > 0


def test_a_change_buffer_by_buffered_io_is_said_to_have_no_merges_in_the_background() -> None:
    name, off = library_files()["innodb/sysbench-tpcc-gp2"], "database.page_cleaner.background_merge_fraction=0"

    def change_buffer_remarks(*settings: str) -> list[str]:
        remarks = scenario_remarks(load_scenario_file(name, settings), example_result())
        return [text for text in remarks if "put aside" in text]

    assert change_buffer_remarks() == change_buffer_remarks("database.io=buffered", off) == []
    [found] = change_buffer_remarks("database.io=buffered")
    assert found.endswith(
        "10 pages a second that InnoDB would read and change are left out (background_merge_fraction)"
    )
