"""Machines from one line: what each piece says, what is guessed, and what a wrong piece is told."""

from __future__ import annotations

from typing import Any

import pytest

from models.catalogue import catalogue_entry, catalogue_names
from models.reading import Description, continuous_value, read_description
from simulator.errors import InputError

KEYS = {
    "cpu": "machine.cpu.model", "cores": "machine.cpu.cores", "speed": "machine.cpu.relative_speed",
    "threads": "machine.cpu.threads_per_core", "gib": "machine.memory_gib", "disks": "machine.disks.count",
    "disk": "machine.disks.disk.name", "queue": "machine.disks.disk.queue_depth", "level": "machine.disks.level",
    "lost": "machine.hardware_share_lost", "os": "operating_system.name", "engine": "database.name",
    "buffers": "database.pool.buffers", "warehouses": "workload.warehouses", "clients": "workload.arrivals.clients",
    "start": "interval.start", "each": "interval.new_orders_per_client", "seconds": "interval.duration_s",
    "job": "job.kind", "name": "machine.name", "driver": "workload.name",
}  # fmt: skip
LINES: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "SunFire 440, 4 x UltraSPARC 1.6 GHz, 8 GB, 3 SCSI disks, Solaris 10, Virtuoso 5, 40 warehouses, 80 clients",
        {"name": "SunFire 440", "cores": 4, "speed": 0.592, "gib": 8, "disks": 3, "disk": "73 GB SCSI, 10,000 rpm",
         "os": "Solaris 10, UFS", "engine": "Virtuoso 5.0", "buffers": 480_000, "warehouses": 40, "clients": 80,
         "start": "after_load", "seconds": 3600},
    ),
    (
        "80 warehouses, 160 clients, Linux 64 bit, 4 SATA 7200 rpm, 8 GB RAM, 2 x dual-core Xeon 5130, Supermicro 7045",
        {"cpu": "2 x dual-core Xeon 5130, 2.0 GHz", "speed": 1.7, "disk": "SATA, 7,200 rpm", "queue": 1, "disks": 4,
         "os": "Linux 2.6, ext3", "warehouses": 80, "clients": 160},
    ),
    (
        "Mac mini, Core Duo 1.66 GHz, 2 GB, 1 x 5400 rpm SATA, Mac OS X",
        {"cores": 2, "speed": 1.162, "disk": "SATA 2.5 inch, 5,400 rpm", "os": "Mac OS X 10.4", "buffers": 120_000,
         "engine": "Virtuoso 5.0", "warehouses": 40, "clients": 80},
    ),
    (
        "2 x quad-core Xeon 5520, 2.26 GHz, 72 GB, load of 20 warehouses",
        {"cpu": "2 x quad-core Xeon 5520, 2.26 GHz", "threads": 2, "gib": 72, "job": "load", "warehouses": 20},
    ),
    (
        "2 x quad-core Xeon 5410 2.33 GHz, 32 GB, in memory, 20 clients, 10,000 new orders each, Virtuoso 6",
        {"cores": 8, "start": "warm", "each": 10_000, "seconds": None, "warehouses": 20, "clients": 20,
         "engine": "Virtuoso 6"},
    ),
    (
        "2 x quad-core Xeon 5520 with hyper-threading under Xen; 72 GB",
        {"threads": 2, "lost": 0.09, "cores": 8},
    ),
    ("2 x quad-core Xeon 5520, no hyper-threading, 72 GB", {"threads": 1, "lost": 0.0}),
    (
        "Dell, 4 x Pentium 3 700 MHz, 2 GB, SCSI RAID of 4, Windows 2000",
        {"cpu": "4 x Pentium 3, 0.7 GHz", "cores": 4, "level": "raid5", "disks": 4, "os": "Windows 2000, NTFS",
         "engine": "Virtuoso, before the 5.0 overhaul"},
    ),
    (
        "two Pentium III 600 MHz, 512 MB RAM, 4 SCSI 15k in RAID 10, Solaris 7, 43,000 buffers",
        {"cpu": "Pentium 3, 0.6 GHz", "gib": 0.5, "level": "raid10", "disk": "SAS, 15,000 rpm",
         "os": "Solaris 7 (x86), UFS", "buffers": 43_000},
    ),
    ("RAID 5 of 4 SCSI 10k, 8 GB, Opteron 2.4 GHz", {"level": "raid5", "disks": 4, "speed": 1.334, "cores": 1}),
    (
        "AMD64 generic PC, AMD64 2 GHz, 1 GB, 2 SATA, Fedora Core 4",
        {"name": "AMD64 generic PC", "cpu": "AMD64, 2.0 GHz", "queue": 1, "buffers": 60_000},
    ),
    ("dual-core AMD 5900, 2.9 GHz, 8 GB, 1 SATA, Linux 2.6.24", {"speed": 1.61, "cores": 2, "queue": 32}),
    (
        "PostgreSQL 15, shared buffers 2 GB, 8 GB memory, NVMe, 4 vCPU, Ubuntu 22.04, 100 warehouses, 30 min",
        {"engine": "PostgreSQL 15", "buffers": 256_689, "disk": "NVMe SSD", "cores": 2, "threads": 2,
         "os": "Linux, ext4", "seconds": 1800},
    ),
    ("4 virtual cores 1.2 GHz, 15 GB", {"cpu": "4 virtual cores of a cloud VM, 1.2 GHz", "cores": 4, "speed": 1.2}),
    (
        "SunFire V20z, 10 warehouses",
        {"cpu": "AMD Opteron 244, 1.8 GHz", "gib": 2, "disk": "73 GB SCSI, 10,000 rpm", "os": "Solaris 10, UFS",
         "clients": 20, "buffers": 120_000},
    ),
    ("2 SSD, 16 GB, Core 2 Duo 2.4 GHz, macOS, serial read", {"job": "scan", "disks": 2, "disk": "SATA SSD"}),
    ("16 GB, Xeon E5-2680 v3 2.5 GHz, log on 1 SSD, 2 x 600 GB SAS 15k", {"speed": 3.375, "disks": 2, "threads": 2}),
    ("PowerPC G5 2.0 GHz, 2 GB, core speed 1.3", {"speed": 1.3}),
    (
        "8 cores, 32 GB, SSD",
        {"cores": 8, "gib": 32, "disk": "SATA SSD", "os": "Linux, ext4", "engine": "PostgreSQL 15", "clients": 64,
         "driver": "TPC-C-like, go-tpc", "start": "warm"},
    ),
    (
        "8 cores, 32 GB, Virtuoso 6, 40 GB of data",
        {"disk": "SATA SSD", "engine": "Virtuoso 6", "driver": "TPC-C-like, Virtuoso's driver", "start": "warm"},
    ),
)  # fmt: skip


def said(description: Description, key: str) -> Any:
    """What stands at a dotted key of the scenario, None if there is nothing."""
    found: Any = description.scenario
    for word in key.split("."):
        found = getattr(found, word, None)
    return found


@pytest.mark.parametrize(("line", "expected"), LINES, ids=[line for line, _ in LINES])
def test_lines(line: str, expected: dict[str, Any]) -> None:
    description = read_description(line)
    assert {key: said(description, KEYS[key]) for key in expected} == expected


@pytest.mark.parametrize("line", [line for line, _ in LINES])
def test_pieces_may_stand_in_any_order(line: str) -> None:
    pieces = line.replace("; ", ", ").split(", ")
    other = read_description(", ".join(reversed(pieces))).scenario
    assert other.model_dump(exclude={"notes"}) == read_description(line).scenario.model_dump(exclude={"notes"})


@pytest.mark.parametrize(("line", "words"), [
    ("8 GB, 16 GB, Xeon 5130", "'8 GB' and '16 GB' both say how much memory there is; keep one of them"),
    ("8 GB, Xeon 5130, 4 SATA, 3 SATA", "'4 SATA' and '3 SATA' both say how many disks there are"),
    ("8 GB, Xeon 5130, Solaris 10, Windows 2000", "both say the operating system"),
    ("8 GB, Xeon 5130, Opteron 244", "both say which processors"),
    ("8 GB, Xeon 5130, 1000 buffers, buffer pool 2 GB", "both say how large the pool is"),
    ("8 cores, 8 GB, 4 GB data, 40 warehouses", "'40 warehouses' and '4 GB data' both say how much data there is"),
    ("8 GB, Xeon 5130, 30 min, 1000 new orders each", "both say how long the run is"),
    ("8 GB, Xeon 5130, load of 20 warehouses, 20 clients", "a load ends when it is done"),
    ("8 GB, Xeon 5130, NVMe 7200 rpm", "flash doesn't turn"),
    ("8 GB, Xeon 5130, 40 warehosues", "'40 warehosues': not understood (did you mean 'warehouses'?)"),
    ("8 GB, Xeon 5130, Virtuso 5", "'Virtuso 5': not understood (did you mean 'Virtuoso'?)"),
    ("8 GB, Xeon 5130, one box, another box", "'another box': not understood; the machine's name is already 'one box'"),
    ("8 GB, Xeon 5130, 99 red balloons", "'99 red balloons': not understood; pieces are like '2 x quad-core"),
    ("8 GB, Zuse 3.0 GHz", "'Zuse 3.0 GHz': no processor of a known family"),
    ("8 GB, Opteron", "'Opteron': add the clock"),
    ("8 GB", "the line doesn't say which processors"),
    ("Xeon 5130", "the line doesn't say how much memory"),
    ("0 GB, Xeon 5130", "'0 GB': got 0; must be greater than 0"),
    ("-4 GB, Xeon 5130", "'-4 GB': not understood"),
    ("8 GB, Xeon 5130, 2.5 warehouses", "'2.5 warehouses': got 2.5; must be a whole number"),
    ("8 GB, Xeon 5130, 0 x SATA", "'0 x SATA': got 0; must be greater than 0"),
    ("8 GB, Xeon 5130, 5 SATA in RAID 10", "RAID 10 takes pairs of disks"),
    ("8 GB, Xeon 5130, 3000 rpm SATA", "no such SATA disk in the catalogue; it has 5,400, 7,200, 10,000 rpm"),
    ("8 GB, Xeon 5130, 2,000,000 buffers", "database.pool.buffers"),
    ("", "got an empty line"),
    ("8 GB\n, Xeon 5130", "a line of printable text"),
    ("x" * 1001, "of at most 1,000 letters"),
])  # fmt: skip
def test_wrong_pieces_are_named(line: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read_description(line)
    assert words in str(caught.value)
    assert str(caught.value).startswith("machine: ")


def test_saying_the_same_thing_twice_is_no_contradiction() -> None:
    assert read_description("8 GB, Xeon 5130, 8 GB").scenario.machine.memory_gib == 8


def test_every_guess_has_a_source_and_what_is_said_is_no_guess() -> None:
    description = read_description("Mac mini, Core Duo 1.66 GHz, 2 GB, 1 x 5400 rpm SATA, Mac OS X")
    assert all(row.source for row in description.rows if row.piece is None)
    guessed = {row.key for row in description.rows if row.piece is None}
    assert {"machine.cpu.relative_speed", "database.pool.buffers", "database", "workload.clients"} - guessed == {
        "workload.clients"
    }
    told = read_description(
        "Mac mini, Core Duo 1.66 GHz, 2 GB, 1 x 5400 rpm SATA, Mac OS X, 90,000 buffers, Virtuoso 5"
    )
    assert not {"database.pool.buffers", "database"} & {row.key for row in told.rows if row.piece is None}


def test_every_uncertain_row_has_numbers_or_settings_of_its_scenario() -> None:
    for line, _ in LINES:
        description = read_description(line)
        for row in description.rows:
            assert row.factor is None or row.factor > 1
            assert row.factor is None or said(description, row.key) > 0
            changed = [description.changed(other) for other in row.others if "scsi" not in other]
            assert all(each != description.scenario for each in changed)


def test_a_catalogues_processor_keeps_its_name_and_a_family_has_its_own() -> None:
    known = read_description("2 x dual-core Xeon 5130 2.0 GHz, 8 GB").scenario
    key = "machine.cpu.relative_speed@2 x dual-core Xeon 5130, 2.0 GHz"
    assert continuous_value(known, key) == 1.7
    assert continuous_value(read_description("2 x dual-core Xeon 5140 2.33 GHz, 8 GB").scenario, key) is None
    half = read_description("1 x dual-core Xeon 5130 2.0 GHz, 8 GB").scenario.machine.cpu
    assert (half.model, half.cores, half.relative_speed) == ("1 x dual-core Xeon 5130, 2.0 GHz", 2, 1.7)


@pytest.mark.parametrize("name", [name for name in catalogue_names("cpus") if name != "server-2020s"])
def test_every_processor_of_the_catalogue_is_found_by_its_own_name(name: str) -> None:
    entry = catalogue_entry("cpus", name)
    cpu = read_description(
        f"{entry['model']}, 72 GB".replace(" of a cloud VM", ""), ["machine.disks.count=4"]
    ).scenario.machine.cpu
    assert (cpu.model, cpu.relative_speed) == (entry["model"], float(entry["relative_speed"]))


def test_overrides_are_no_guesses() -> None:
    description = read_description("Xeon 5130, 8 GB", ["database.pool.buffers=90000"])
    assert description.scenario.database.pool.buffers == 90_000
    (row,) = [row for row in description.rows if row.key == "database.pool.buffers"]
    assert (row.piece, row.factor) == ("--set database.pool.buffers=90000", None)


def test_data_are_as_many_warehouses_as_the_engines_rows_take() -> None:
    """A warehouse is about 100 MB (measured: 40 warehouses of go-tpc in PostgreSQL 15 are 4,024 MB)."""
    of_40_gb = read_description("8 cores, 32 GB, SSD, 40 GB data").scenario.workload
    of_memory = read_description("8 cores, 40 GB, SSD").scenario.workload
    assert of_40_gb.warehouses == of_memory.warehouses == pytest.approx(40 * 40 * 1024 / (4024e6 / 2**20), rel=0.1)
    assert read_description("8 cores, 32 GB, SSD, 40 warehouses").scenario.workload.warehouses == 40
