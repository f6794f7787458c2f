"""What the reader of a result is told of its scenario."""

from __future__ import annotations

from dataclasses import replace

import pytest

from models.build import scenario_remarks
from scenarios.library import library_files, load_scenario_file
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
