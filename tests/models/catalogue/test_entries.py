"""The catalogue: every kind has entries, found by their names, the user's before the program's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from oltpsim.models.catalogue import (
    CATALOGUE_KINDS,
    CATALOGUED_KEYS,
    catalogue_entry,
    catalogue_names,
    catalogue_places,
    expand_names,
    read_entry,
    shadowed_names,
)
from oltpsim.models.catalogue.check import SPECS
from oltpsim.models.catalogue.entries import FOLDER_VARIABLE, FOR_SALE, PARTS
from oltpsim.models.machine import SsdSpec
from oltpsim.models.reading import load_scenario
from oltpsim.simulator.errors import InputError

LIBRARY = Path(__file__).resolve().parents[3] / "scenarios" / "library"
KEYING_AND_THINK_S = {
    "new_order": (18, 12),
    "payment": (3, 12),
    "order_status": (2, 10),
    "delivery": (2, 5),
    "stock_level": (2, 5),
}
"""TPC-C specification 5.11, clause 5.2.5.7."""
ENTRIES = [(kind, name) for kind in CATALOGUE_KINDS for name in catalogue_names(kind)]


def test_the_specifications_think_time_is_the_mean_over_its_mix() -> None:
    """With 10 terminals a warehouse can't do more than the 12.86 new orders per minute that the specification names."""
    workload = expand_names("tpcc-specification", "here", "workload")
    mean_s = sum(workload["mix"][name] * sum(times) for name, times in KEYING_AND_THINK_S.items())
    assert workload["arrivals"]["think_time_s"] == pytest.approx(mean_s, abs=0.005)
    assert f"{mean_s:.2f} s)" in workload["source"]
    assert 60 * 10 * workload["mix"]["new_order"] / mean_s == pytest.approx(12.86, abs=0.005)
    arrivals = load_scenario(LIBRARY / "million-orders.yaml").workload.arrivals
    assert arrivals.kind == "terminals"
    times = (arrivals.keying_time_s.model_dump(), arrivals.think_time_s.model_dump())
    assert {name: tuple(each[name] for each in times) for name in times[0]} == KEYING_AND_THINK_S


def test_every_kind_has_entries_and_a_place_in_a_scenario() -> None:
    assert set(SPECS) == set(CATALOGUE_KINDS) == set(PARTS) | set(FOR_SALE)
    assert set(PARTS) == set(CATALOGUED_KEYS.values())
    assert all(catalogue_names(kind) for kind in CATALOGUE_KINDS)
    plain = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
    cloud = re.compile(r"[a-z0-9-]+\.[a-z0-9-]+|Standard_[DEFL]\d+[a-z]+_v\d")  # as its provider writes it
    assert all(plain.fullmatch(name) or (kind == "instances" and cloud.fullmatch(name)) for kind, name in ENTRIES)


def test_unknown_names_and_kinds() -> None:
    with pytest.raises(InputError, match=r"unknown kind 'disk' \(did you mean 'disks'\?\); known: machines, cpus"):
        catalogue_names("disk")
    with pytest.raises(InputError, match=r"unknown name 'nvm' in the catalogue of disks \(did you mean 'nvme'\?\)"):
        catalogue_entry("disks", "nvm")


def test_an_entry_is_its_readers_own() -> None:
    whole = catalogue_entry("databases", "virtuoso-4")
    pool = dict(whole["pool"])
    whole["pool"].clear()
    assert catalogue_entry("databases", "virtuoso-4")["pool"] == pool != {}


def test_a_users_entries_go_before_the_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "disks").mkdir()
    file = tmp_path / "disks" / "nvme.yaml"
    file.write_text("{base: sata-ssd, capacity_gib: 1000, source: mine}\n")
    assert shadowed_names("disks") == []
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert shadowed_names("disks") == ["nvme"]
    assert catalogue_places("disks")["nvme"].own
    mine: SsdSpec = read_entry("disks", "nvme")
    assert (mine.capacity_gib, mine.name) == (1000, "SATA SSD")
    file.write_text("{base: sata-ssd, capacity_gib: 2000, source: mine}\n")
    assert read_entry("disks", "nvme").capacity_gib == 2000, "a changed file is read again"
    file.write_text("{base: nvme, capacity_gib: 2000, source: mine}\n")
    with pytest.raises(InputError, match="entries of disks name each other in a circle: nvme -> nvme"):
        read_entry("disks", "nvme")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "elsewhere"))
    with pytest.raises(InputError, match="elsewhere: no such folder; expected one with folders such as instances"):
        catalogue_names("disks")


def test_two_tables_with_one_machine_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "instances").mkdir()
    for name in ("one", "two"):
        (tmp_path / "instances" / f"{name}.csv").write_text("name,memory_gib\nm9.large,1\n")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    with pytest.raises(InputError, match=r"two.csv: m9.large: is in .*one.csv too; keep one of them"):
        catalogue_names("instances")
