"""Processors by a few words: families agree with the catalogue, and are found by their names."""

from __future__ import annotations

import pytest

from oltpsim.models.catalogue import (
    catalogue_entry,
    catalogue_names,
    processor_families,
    processor_family,
    read_processors,
)


def test_families_say_where_they_are_from_and_agree_with_the_catalogue() -> None:
    assert all(len(family.source) > 10 for family in processor_families().values())
    for name in catalogue_names("cpus"):
        entry = catalogue_entry("cpus", name)
        processors = read_processors(str(entry["model"]))
        family = processor_family(processors.words)
        if family is None or processors.ghz is None:
            continue
        by_family = processor_families()[family].speed_per_ghz * processors.ghz
        assert by_family == pytest.approx(float(entry["relative_speed"]), rel=processor_families()[family].factor - 1)


@pytest.mark.parametrize(("words", "family"), [
    ("Xeon 5160", "core"), ("Xeon 5060", "netburst"), ("Xeon", "xeon"), ("Xeon X5570", "nehalem"),
    ("Xeon E5-2670", "sandy-bridge"), ("Xeon E5-2680 v4", "haswell"), ("Xeon Gold 6130", "current"),
    ("Opteron 2356", "k10"), ("Opteron 250", "k8"), ("Core Duo", "core-duo"), ("Core 2 Duo", "core"),
    ("EPYC 7742", "current"), ("UltraSPARC IIIi", "ultrasparc-3"), ("Pentium 4", "netburst"), ("Zuse Z3", None),
])  # fmt: skip
def test_families_by_name(words: str, family: str | None) -> None:
    assert processor_family(read_processors(words).words) == family
