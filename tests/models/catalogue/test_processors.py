"""Processors by a few words: the table's by their names, the others by families, which agree with the catalogue."""

from __future__ import annotations

import csv
import statistics
from pathlib import Path

import pytest

from oltpsim.models.catalogue import (
    catalogue_entry,
    catalogue_names,
    catalogued_cpu,
    nearest_processors,
    processor_families,
    processor_family,
    read_entry,
    read_processors,
    speed_factor,
)
from oltpsim.models.catalogue.entries import catalogue_values
from oltpsim.models.catalogue.families import EFFICIENT_SHARE, USUAL_TURBO
from oltpsim.models.reading import read_description
from oltpsim.simulator.errors import InputError

AS_WRITTEN = list(csv.DictReader((Path(__file__).parent / "processors_as_written.csv").read_text().splitlines()))
"""Names as lscpu and people write them, with cores and threads of a processor.

Those of lscpu are from elokwentnie/hpc-cpu-specification-api (cpu_specifications.csv @1f0a4494; without its E5-2609 v2,
E5-2618L v3, E5-2658A v3, Gold 5218 and 6314U, of which Intel's pages say something else) and
quattor/template-library-standard (hardware/cpu). The others are from memory of their makers' pages.
"""
TABLE = catalogue_values("cpus", "family")
NAMELESS = {"server-2020s", "cloud-vm-2009"}
"""processors that nobody sells under a name"""


@pytest.mark.parametrize("row", AS_WRITTEN, ids=[row["text"] for row in AS_WRITTEN])
def test_processors_as_people_write_them(row: dict[str, str]) -> None:
    phrase = read_processors(row["text"])
    assert phrase.says_so()
    name = catalogued_cpu(phrase)
    assert name is not None
    cpu = read_entry("cpus", name)
    assert (phrase.count or 1, cpu.cores, cpu.threads) == (
        int(row["processors"]),
        int(row["cores"]),
        int(row["threads"]),
    )


def test_the_list_is_long_and_each_processor_is_found_by_its_own_name() -> None:
    assert len(AS_WRITTEN) >= 150
    assert len(TABLE) >= 1300
    for name in TABLE:
        model = str(catalogue_entry("cpus", name)["model"])
        for text in (model, model.partition(",")[0], f"2 x {model.upper()}"):
            assert catalogued_cpu(read_processors(text)) == name, text
    own = set(catalogue_names("cpus")) - TABLE.keys() - NAMELESS
    assert all(catalogued_cpu(read_processors(str(catalogue_entry("cpus", name)["model"]))) == name for name in own)


@pytest.mark.parametrize(("text", "near"), [
    ("Xeon Gold 6231", "Xeon Gold 6230"), ("EPYC 7764", "EPYC 7763"), ("Ryzen 9 5951X", "Ryzen 9 5950X"),
    ("E5-2682 v2", "Xeon E5-2682 v"), ("i5-2600K", "Core i7-2600K"), ("Xeon Platinum 6230", "Xeon Gold 6230"),
    ("EPYC 9755F", "EPYC 9755"), ("Core i7-4791K", "Core i7-4790K"), ("Xeon E5-2683", "Xeon E5-2683 v3"),
])  # fmt: skip
def test_near_misses_are_no_processors_of_the_table_and_the_nearest_are_named(text: str, near: str) -> None:
    phrase = read_processors(text)
    assert catalogued_cpu(phrase) is None
    assert len(nearest_processors(phrase.words)) == 2
    with pytest.raises(
        InputError, match=r"add the clock, such as '2.0 GHz'; .* no such processor; nearest "
    ) as refused:
        read_description(f"{text}, 64 GB, SSD")
    assert near in str(refused.value)


@pytest.mark.parametrize("text", ["7763", "6230", "gold", "2018", "9", "sysbench 7", "PostgreSQL 16", "core", "v3"])
def test_what_is_no_processor(text: str) -> None:
    assert not read_processors(text).says_so()


def test_a_clock_beside_a_number_must_be_one_of_the_processors() -> None:
    for clock in ("2.1", "3.9", "3.0"):  # base, turbo, and what all cores hold
        assert catalogued_cpu(read_processors(f"Xeon Gold 6230 {clock} GHz")) == "xeon-gold-6230"
    assert catalogued_cpu(read_processors("Xeon Gold 6230 2.6 GHz")) is None
    assert catalogued_cpu(read_processors("EPYC 7763 3.5 GHz")) == "epyc-7763v", "Azure's, at its clock there"


def test_speed_is_the_familys_at_the_turbo_clock_and_falls_to_what_all_cores_hold() -> None:
    cpu, family = read_entry("cpus", "xeon-gold-6230"), processor_families()["cascade-lake"]
    assert cpu.relative_speed == pytest.approx(family.speed_per_ghz * 3.9, rel=1e-3)
    assert cpu.relative_speed * cpu.all_core_clock_fraction == pytest.approx(family.speed_per_ghz * 3.0, rel=1e-3)
    assert speed_factor("xeon-gold-6230") == family.factor
    assert speed_factor("xeon-8375c") is None
    hybrid, fast = read_entry("cpus", "core-i7-12700k"), read_entry("cpus", "core-i5-12600")
    assert (hybrid.threads, fast.threads) == (12, 12), "an efficient core has one thread, and then a fast one as well"
    held = processor_families()["alder-lake"].held_share
    clock = (3.6 + held * 1.4) / 5.0
    assert hybrid.all_core_clock_fraction == pytest.approx(clock * (8 + 4 * EFFICIENT_SHARE) / 12, rel=1e-3)


def test_families_say_where_they_are_from_and_agree_with_the_catalogue() -> None:
    assert all(len(family.source) > 10 for family in processor_families().values())
    for name in set(catalogue_names("cpus")) - TABLE.keys():
        entry = catalogue_entry("cpus", name)
        processors = read_processors(str(entry["model"]))
        family = processor_family(processors.words)
        if family is None or processors.ghz is None:
            continue
        by_family = processor_families()[family].speed_per_ghz * processors.ghz
        assert by_family == pytest.approx(float(entry["relative_speed"]), rel=processor_families()[family].factor - 1)


def test_the_families_of_the_table_are_found_by_its_names() -> None:
    """A processor that the table lacks gets the family of its neighbours, but where a series has several."""
    base, turbo = catalogue_values("cpus", "base_ghz"), catalogue_values("cpus", "turbo_ghz")
    assert statistics.median(turbo[name] / base[name] for name in TABLE) == pytest.approx(USUAL_TURBO, rel=0.05)
    found = [processor_family(read_processors(str(catalogue_entry("cpus", name)["model"])).words) for name in TABLE]
    assert statistics.mean(mine == theirs for mine, theirs in zip(found, TABLE.values(), strict=True)) > 0.9


@pytest.mark.parametrize(("words", "family"), [
    ("Xeon 5160", "core"), ("Xeon 5060", "netburst"), ("Xeon", "xeon"), ("Xeon X5570", "nehalem"),
    ("Xeon E5-2670", "sandy-bridge"), ("Xeon E5-2680 v3", "haswell"), ("Xeon E5-2680 v4", "broadwell"),
    ("Xeon Gold 6130", "skylake"), ("Xeon Gold 6230", "cascade-lake"), ("Xeon Gold", "current"),
    ("Opteron 2356", "k10"), ("Opteron 250", "k8"), ("Core Duo", "core-duo"), ("Core 2 Duo", "core"),
    ("EPYC 7742", "zen-2"), ("EPYC 7F33", "zen-3"), ("EPYC", "current"), ("Ryzen 9 5951X", "zen-3"),
    ("UltraSPARC IIIi", "ultrasparc-3"), ("Pentium 4", "netburst"), ("Zuse Z3", None), ("Xeon 2018", "skylake"),
    ("Xeon 2021", "ice-lake"), ("Xeon 2007", "core"), ("Xeon Gold 2020", "cascade-lake"), ("EPYC 2020", "zen-2"),
    ("EPYC 2022", "zen-4"), ("Core i7 2016", "skylake"), ("Xeon 1999", "xeon"), ("Pentium 4 2004", "netburst"),
])  # fmt: skip
def test_families_by_name(words: str, family: str | None) -> None:
    assert processor_family(read_processors(words).words) == family


def test_a_clock_and_a_year_have_a_wider_interval_than_a_number() -> None:
    rows = {line: read_description(f"{line}, 64 GB, SSD").rows for line in ("Xeon Gold 6140", "Xeon 2.3 GHz 2018")}
    factors = {line: next(row.factor for row in of if row.key.endswith("relative_speed")) for line, of in rows.items()}
    named, dated = factors["Xeon Gold 6140"], factors["Xeon 2.3 GHz 2018"]
    assert named is not None
    assert dated is not None
    assert 1.1 < named < dated
    cpu = read_entry("cpus", "xeon-gold-6140")
    loaded = cpu.relative_speed * cpu.all_core_clock_fraction
    assert processor_families()["skylake"].at_clock(2.3)[0] == pytest.approx(loaded, rel=0.15)
