"""Drives of described machines: as full as database and log make them, unless a line or a setting says it."""

from __future__ import annotations

import pytest

from oltpsim.models.input import parse_yaml, value_at, yaml_text
from oltpsim.models.reading import read_description, scenario_from_mapping
from oltpsim.models.reading.one_line.fullness import KEY, MOST_FILLED
from oltpsim.models.wiring import build
from oltpsim.simulator.analytic import simulate
from oltpsim.simulator.form import GIB, KIB

LINE = "PostgreSQL, 8 cores, 32 GB, NVMe, 100 warehouses"


def filled(line: str, *settings: str) -> float | None:
    """Share of the drive that holds data, as the line's scenario has it."""
    return value_at(read_description(line, settings).scenario, KEY)


def test_a_drive_holds_files_and_log() -> None:
    scenario = read_description(LINE).scenario
    files_gib = scenario.workload.file_pages * scenario.database.page_kib * KIB / GIB
    assert filled(LINE) == pytest.approx((files_gib + 8) / 931, abs=1e-4)
    assert filled(f"{LINE}, log on 1 SSD") == pytest.approx(files_gib / 931, abs=1e-4)


@pytest.mark.parametrize(
    ("disks", "times"),
    [("2 NVMe in RAID 1", 1), ("2 NVMe in RAID 0", 1 / 2), ("4 NVMe in RAID 10", 1 / 2), ("2 NVMe", 1 / 2)],
)
def test_a_set_holds_it_together(disks: str, times: float) -> None:
    alone, together = filled(LINE), filled(LINE.replace("NVMe", disks))
    assert alone is not None
    assert together == pytest.approx(times * alone, abs=1e-3)


@pytest.mark.parametrize("disks", ["4 SATA", "r6i.2xlarge + gp3 500 GiB"])
def test_disks_with_an_arm_and_volumes_have_no_such_share(disks: str) -> None:
    line = f"PostgreSQL on {disks}, 100 warehouses"
    assert filled(line) is None
    assert KEY not in {row.key for row in read_description(line).rows}


def test_the_share_follows_what_is_changed_and_a_said_one_does_not() -> None:
    described, said = read_description(LINE), read_description(LINE, [f"{KEY}=0.5"])
    (row,) = [row for row in described.rows if row.key == KEY]
    assert row.others == (f"{KEY}={MOST_FILLED}",)
    changed = [each.changed("workload.warehouses=1000").machine.disks.disk for each in (described, said)]
    shares = [value_at(each, "filled_fraction") for each in changed]
    assert shares[0] > 3 * (filled(LINE) or 1)
    assert shares[1] == 0.5
    assert [row.piece for row in said.rows if row.key == KEY] == [f"--set {KEY}=0.5"]


def test_its_file_has_it_and_is_the_same_machine() -> None:
    for line in (LINE, "PostgreSQL on i4i.2xlarge, 100 warehouses"):
        described = read_description(line)
        data = parse_yaml(yaml_text(described.data), "file")
        assert data["machine"]["disks"]["disk"]["filled_fraction"] == filled(line)
        assert scenario_from_mapping(data, "file") == described.scenario


def test_another_kind_of_drive_keeps_nothing_of_the_one_before() -> None:
    """A SATA SSD's flush of 0.1 ms is none of an NVMe drive's; a mapping changes what it says and no more."""
    described = read_description(LINE.replace("NVMe", "SSD"))
    disk = described.changed("machine.disks.disk=nvme").machine.disks.disk
    assert disk == read_description(LINE).scenario.machine.disks.disk
    assert value_at(described.changed("machine.disks.disk={read_latency_us: 50}"), "machine.disks.disk.flush_us") == 100


def test_updates_of_an_almost_empty_drive_are_faster_than_of_a_full_one() -> None:
    """A large NVMe drive that was almost empty made 58,736 updates/s, where a full one is at its sustained rate."""
    line = "MySQL 8.4, 32 cores, 64 GB, NVMe, sysbench update index, 8 tables of 10M rows, 128 clients, pool 4 GB"
    empty, full = (
        simulate(build(read_description(line, settings).scenario), 1).rate_per_min.mean
        for settings in ((), (f"{KEY}=1",))
    )
    assert empty > 1.2 * full
