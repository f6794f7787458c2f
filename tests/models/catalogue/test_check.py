"""Entries against their kinds: every part is valid, has a source and a price; a faulty one is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from oltpsim.models.catalogue import (
    CATALOGUE_KINDS,
    catalogue_entry,
    catalogue_names,
    entry_faults,
    read_entry,
    without_price,
    without_shape,
)
from oltpsim.models.catalogue import check as catalogue_check
from oltpsim.models.catalogue.entries import FOLDER_VARIABLE
from oltpsim.scenarios.commands.cli import main


@pytest.mark.parametrize("kind", CATALOGUE_KINDS)
def test_every_part_is_valid_and_has_a_source(kind: str) -> None:
    assert [fault for name in catalogue_names(kind) for fault in entry_faults(kind, name)] == []
    short = [name for name in catalogue_names(kind) if len(catalogue_entry(kind, name)["source"].split()) < 3]
    assert short == [], "a source is more than a word"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"source": ""}, "models/catalogue/data/cpus/opteron-244.yaml: source: got ''; must not be empty"),
        (
            {"source": "  "},
            "models/catalogue/data/cpus/opteron-244.yaml: source: got '  '; say where the figures come from",
        ),
        ({"source": " TBD. "}, "source: got ' TBD. '; say where the figures come from"),
        ({"source": None}, "models/catalogue/data/cpus/opteron-244.yaml: source: got nothing; must be text"),
        ({"cores": 0}, "models/catalogue/data/cpus/opteron-244.yaml: cores: got 0; must be greater than or equal to 1"),
        (
            {"coers": 2},
            (
                "coers: unknown key (did you mean 'cores' or 'quota_cores'?); allowed: all_core_clock_fraction, "
                "cache_latency_ns, cache_line_ns, cache_mib, cores, memory_bus_share, memory_latency_ns, model, "
                "quota_cores, relative_speed, remote_cache_line_ns, remote_memory_factor, second_thread_gain, "
                "sockets, source, thread_placement, threads_per_core, tlb_entries"
            ),
        ),
    ],
)
def test_a_faulty_part_is_found(
    change: dict[str, object], fault: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def faulty(kind: str, name: str) -> dict[str, object]:
        entry = catalogue_entry(kind, name)
        return entry | change if name == "opteron-244" else entry

    monkeypatch.setattr(catalogue_check, "catalogue_entry", faulty)
    (found,) = entry_faults("cpus", "opteron-244")
    assert fault in found
    assert main(["catalog", "check"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: models/catalogue/data/cpus/opteron-244.yaml: ")
    assert err.count("\n") == 1


def test_a_part_without_any_source_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = catalogue_entry("disks", "nvme")
    del entry["source"]
    monkeypatch.setattr(catalogue_check, "catalogue_entry", lambda *_: entry)
    assert entry_faults("disks", "nvme") == [
        "models/catalogue/data/disks/nvme.yaml: source: missing; add 'source: ...'"
    ]


def test_a_machine_that_names_a_missing_part_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = catalogue_entry("machines", "sunfire-v20z") | {"cpu": "opteron"}
    monkeypatch.setattr(catalogue_check, "catalogue_entry", lambda *_: entry)
    (fault,) = entry_faults("machines", "sunfire-v20z")
    assert fault.startswith("models/catalogue/data/machines/sunfire-v20z.yaml: machine.cpu: unknown name 'opteron'")


def test_everything_for_sale_has_a_price_and_every_price_a_part() -> None:
    assert without_price() == []
    assert without_shape() == []
    priced = {row.part for name in catalogue_names("prices") for row in read_entry("prices", name).rows}
    assert not catalogue_check.UNPRICED & priced, "take it from UNPRICED"
    known = {f"volumes/{name}" for name in catalogue_names("volumes")}
    assert known >= catalogue_check.UNPRICED, "take it from UNPRICED"


def test_a_price_of_no_part_and_a_chassis_of_unknown_parts_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "prices").mkdir()
    (tmp_path / "chassis").mkdir()
    row = "{part: disks/nvm, amount: 1}"
    (tmp_path / "prices" / "mine.yaml").write_text(
        f"name: x\ndate: 2026-01-01\ncurrency: USD\nterm: purchase\nsource: mine\nrows: [{row}]\n"
    )
    chassis = catalogue_entry("chassis", "amd64-pc-2006")
    disks = str(chassis["disks"]).replace("sata-7200-2005", "sata-9000").replace("'", "")
    (tmp_path / "chassis" / "mine.yaml").write_text(
        f"name: x\nprocessors: [{{cpu: amd64-2000, cores_each: 1, pieces: [1]}}]\nsource: mine\ndisks: {disks}\n"
        "memory: [{module: ddr-1gib, gib_each: 1, pieces: [1]}]\n"
    )
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    (fault,) = entry_faults("prices", "mine")
    assert fault.startswith(f"{tmp_path}/prices/mine.yaml: disks/nvm: no such part (did you mean 'disks/nvme'")
    (fault,) = entry_faults("chassis", "mine")
    assert "unknown name 'sata-9000' in the catalogue of disks (did you mean" in fault
