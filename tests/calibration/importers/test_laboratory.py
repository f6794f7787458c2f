"""What a laboratory says of a run: how it began, and what was emulated."""

import json
from pathlib import Path
from typing import Any

import pytest

from oltpsim.calibration.importers.laboratory import FORMAT, detect, read
from oltpsim.models.input import SourceFile
from oltpsim.simulator.errors import InputError

COUNTERS = {"has_priority": True, "replies": 0, "late_s": 0.0, "latest_s": 0.0}
DOCUMENT: dict[str, Any] = {
    "format": FORMAT,
    "library": "laboratory/postgresql",
    "seed": 3,
    "cores_busy": {"database": 0.5, "driver": 0.25},
    "disks": {
        "data": {
            "before": COUNTERS,
            "after": {"has_priority": True, "replies": 1000, "late_s": 0.05, "latest_s": 0.004},
        }
    },
    "scenario": {
        "interval": {"start": "after_prewarm", "lead_in": {"transactions": 200, "speed": "full"}, "warm_up_s": 60},
        "workload": {"warehouses": 20, "arrivals": {"clients": 16}},
    },
}


def file_of(folder: Path, **changed: Any) -> SourceFile:
    path = folder / "laboratory.json"
    path.write_text(json.dumps(DOCUMENT | changed))
    return SourceFile(path, path.name)


def values(file: SourceFile) -> dict[str, Any]:
    leaves = read(file).values.items()
    return {".".join(map(str, key)): leaf["value"] if isinstance(leaf, dict) else leaf for key, leaf in leaves}


def test_start_and_size_are_read(tmp_path: Path) -> None:
    file = file_of(tmp_path)
    assert detect(file)
    assert values(file) == {
        "scenario": "laboratory/postgresql",
        "window.start": "after_prewarm",
        "window.lead_in_transactions": 200,
        "window.ramp_s": 60,
        "workload.warehouses": 20,
        "workload.clients": 16,
    }
    notes = " ".join(read(file).notes)
    assert "database 0.50, driver 0.25" in notes
    assert "emulated disk data: 1,000 replies, 50 us late in the mean, at most 4.0 ms" in notes


def test_rows_have_a_scale_and_no_warehouses(tmp_path: Path) -> None:
    workload = {"scale": 100, "arrivals": {"clients": 16}}
    found = values(file_of(tmp_path, scenario=DOCUMENT["scenario"] | {"workload": workload}))
    assert found["workload.scale"] == 100
    assert "workload.warehouses" not in found


def test_the_core_is_as_fast_as_it_was_undisturbed(tmp_path: Path) -> None:
    found = values(file_of(tmp_path, core_speeds_per_s=[2000.5, 2210.25]))
    assert found["environment.core_speed_per_s"] == 2210.25
    assert "environment.core_speed_per_s" not in values(file_of(tmp_path)), "documents before this have none"
    with pytest.raises(InputError, match="core_speeds_per_s"):
        read(file_of(tmp_path, core_speeds_per_s=["fast"]))


def test_a_core_that_is_shared_is_noted(tmp_path: Path) -> None:
    """And the twin: one that loses a twentieth isn't."""
    for shared, is_noted in ((2260.0, True), (3800.0, False)):
        file = file_of(tmp_path, core_speeds_per_s=[4000.0], shared_core_speed_per_s=shared)
        assert any("computes 44% less" in each for each in read(file).notes) == is_noted


def test_a_disk_without_priority_is_noted(tmp_path: Path) -> None:
    disks = {"data": {"before": COUNTERS, "after": COUNTERS | {"has_priority": False}}}
    assert any("without real-time priority" in note for note in read(file_of(tmp_path, disks=disks)).notes)
    assert not any("without real-time priority" in note for note in read(file_of(tmp_path)).notes)


def test_a_lead_in_by_its_length_and_a_scenario_of_no_library(tmp_path: Path) -> None:
    interval = {"start": "cold", "lead_in": {"duration_s": 30, "speed": "clients"}, "warm_up_s": 0}
    found = values(file_of(tmp_path, scenario=DOCUMENT["scenario"] | {"interval": interval}, library=None))
    assert found["window.lead_in_s"] == 30
    assert "scenario" not in found
    assert "window.lead_in_transactions" not in found


@pytest.mark.parametrize("changed", [{"scenario": {}}, {"disks": {"data": {}}}, {"cores_busy": None}])
def test_another_shape_is_refused(tmp_path: Path, changed: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"laboratory.json: got JSON of another shape"):
        read(file_of(tmp_path, **changed))
