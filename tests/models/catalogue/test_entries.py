"""The catalogue: every part is valid, says where its figures come from, and is found by its name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from models.catalogue import (
    CATALOGUED,
    catalogue_entry,
    catalogue_kinds,
    catalogue_names,
    compose,
    describe,
    entry_faults,
)
from models.catalogue import check as catalogue_check
from models.catalogue import entries as catalogue
from models.catalogue.check import SPECS
from models.catalogue.entries import FOR_SALE, PARTS
from models.input import nearest
from models.reading import load_scenario
from scenarios.commands.cli import main
from simulator.errors import InputError

LIBRARY = Path(__file__).resolve().parents[3] / "scenarios" / "library"
KEYING_AND_THINK_S = {
    "new_order": (18, 12),
    "payment": (3, 12),
    "order_status": (2, 10),
    "delivery": (2, 5),
    "stock_level": (2, 5),
}
"""TPC-C specification 5.11, clause 5.2.5.7."""
ENTRIES = [(kind, name) for kind in catalogue_kinds() for name in catalogue_names(kind)]


@pytest.mark.parametrize(("kind", "name"), ENTRIES)
def test_every_part_is_valid_and_has_a_source(kind: str, name: str) -> None:
    assert entry_faults(kind, name) == []
    source = catalogue_entry(kind, name)["source"]
    assert len(source.split()) >= 3, "a source is more than a word"


def test_the_specifications_think_time_is_the_mean_over_its_mix() -> None:
    """With 10 terminals a warehouse can't do more than the 12.86 new orders per minute that the specification names."""
    workload = compose("tpcc-specification", "here", "workload")
    mean_s = sum(workload["mix"][name] * sum(times) for name, times in KEYING_AND_THINK_S.items())
    assert workload["arrivals"]["think_time_s"] == pytest.approx(mean_s, abs=0.005)
    assert f"{mean_s:.2f} s)" in workload["source"]
    assert 60 * 10 * workload["mix"]["new_order"] / mean_s == pytest.approx(12.86, abs=0.005)
    arrivals = load_scenario(LIBRARY / "million-orders.yaml").workload.arrivals
    assert arrivals.kind == "terminals"
    times = (arrivals.keying_time_s.model_dump(), arrivals.think_time_s.model_dump())
    assert {name: tuple(each[name] for each in times) for name in times[0]} == KEYING_AND_THINK_S


def test_every_kind_has_entries_and_a_place_in_a_scenario() -> None:
    assert set(SPECS) == set(catalogue_kinds()) == set(PARTS) | set(FOR_SALE)
    assert set(PARTS) == set(CATALOGUED.values())
    assert all(catalogue_names(kind) for kind in catalogue_kinds())
    plain = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
    cloud = re.compile(r"[a-z0-9-]+\.[a-z0-9-]+")  # as its provider writes it
    assert all(plain.fullmatch(name) or (kind == "instances" and cloud.fullmatch(name)) for kind, name in ENTRIES)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"source": ""}, "catalog/cpus/opteron-244.yaml: source: got ''; must not be empty"),
        ({"source": "  "}, "catalog/cpus/opteron-244.yaml: source: got '  '; say where the figures come from"),
        ({"source": " TBD. "}, "source: got ' TBD. '; say where the figures come from"),
        ({"source": None}, "catalog/cpus/opteron-244.yaml: source: got nothing; must be text"),
        ({"cores": 0}, "catalog/cpus/opteron-244.yaml: cores: got 0; must be greater than or equal to 1"),
        (
            {"coers": 2},
            (
                "coers: unknown key (did you mean 'cores'?); allowed: cache_latency_ns, cache_mib, cores, "
                "memory_bus_share, memory_latency_ns, model, relative_speed, remote_memory_factor, second_thread_gain, "
                "sockets, source, threads_per_core, tlb_entries"
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
    assert err.startswith("error: catalog/cpus/opteron-244.yaml: ")
    assert err.count("\n") == 1


def test_a_part_without_any_source_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = catalogue_entry("disks", "nvme")
    del entry["source"]
    monkeypatch.setattr(catalogue_check, "catalogue_entry", lambda *_: entry)
    assert entry_faults("disks", "nvme") == ["catalog/disks/nvme.yaml: source: missing; add 'source: ...'"]


def test_a_machine_that_names_a_missing_part_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = catalogue_entry("machines", "sunfire-v20z") | {"cpu": "opteron"}
    monkeypatch.setattr(catalogue_check, "catalogue_entry", lambda *_: entry)
    (fault,) = entry_faults("machines", "sunfire-v20z")
    assert fault.startswith("catalog/machines/sunfire-v20z.yaml: machine.cpu: unknown name 'opteron'")


def test_a_description_shows_every_figure_and_ends_with_the_source() -> None:
    text = describe("databases", "virtuoso-4")
    assert text.startswith("databases/virtuoso-4\n")
    assert "\n    buffers: 120000\n" in text
    assert text.rstrip().endswith(f"  source: {catalogue_entry('databases', 'virtuoso-4')['source']}".rstrip())


def test_unknown_names_and_kinds() -> None:
    with pytest.raises(InputError, match=r"unknown kind 'disk' \(did you mean 'disks'\?\); known: machines, cpus"):
        catalogue_names("disk")
    with pytest.raises(InputError, match=r"unknown name 'nvm' in the catalogue of disks \(did you mean 'nvme'\?\)"):
        catalogue_entry("disks", "nvm")


def test_nearest_names() -> None:
    assert nearest("coers", ["cores", "model"]) == " (did you mean 'cores'?)"
    assert nearest("zzz", ["cores", "model"]) == ""
    assert nearest("x" * 100_000, catalogue.KINDS) == ""


def test_an_entry_is_its_readers_own() -> None:
    whole = catalogue_entry("databases", "virtuoso-4")
    pool = dict(whole["pool"])
    whole["pool"].clear()
    assert catalogue_entry("databases", "virtuoso-4")["pool"] == pool != {}
