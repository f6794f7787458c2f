"""Machines from one line: what each piece says, what is guessed, and what a wrong piece is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from oltpsim.models.catalogue import catalogue_entry, catalogue_names
from oltpsim.models.input import validated, value_at
from oltpsim.models.reading import Description, numeric_value, read_description
from oltpsim.models.reading.drivers import gib_per_warehouse
from oltpsim.models.workloads import LayoutSpec
from oltpsim.simulator.errors import InputError

KEYS = {
    "cpu": "machine.cpu.model", "cores": "machine.cpu.cores", "speed": "machine.cpu.relative_speed",
    "threads": "machine.cpu.threads_per_core", "gib": "machine.memory_gib", "disks": "machine.disks.count",
    "disk": "machine.disks.disk.name", "queue": "machine.disks.disk.queue_depth", "level": "machine.disks.level",
    "lost": "machine.hardware_share_lost", "os": "operating_system.name", "engine": "database.name",
    "buffers": "database.pool.buffers", "warehouses": "workload.warehouses", "clients": "workload.arrivals.clients",
    "start": "interval.start", "each": "interval.new_orders_per_client", "seconds": "interval.duration_s",
    "sustained": "interval.sustained", "job": "job.kind", "name": "machine.name", "driver": "workload.name",
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
        {"cpu": "2 x dual-core Xeon 5130, 2.0 GHz", "speed": 1.7,
         "disk": "SATA, 7,200 rpm, without command queueing", "queue": 1, "disks": 4,
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
    ("16 GB, Xeon E5-2680 v3 2.5 GHz, log on 1 SSD, 2 x 600 GB SAS 15k", {"speed": 4.455, "disks": 2, "threads": 2}),
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
    ("8 GB, Xeon 5130, one box, another box", "'one box' and 'another box' both say the machine's name"),
    ("8 GB, Xeon 5130, 99 red balloons", "'99 red balloons': not understood"),
    ("8 GB, Xeon 5130, NVNe", "'NVNe': not understood (did you mean 'NVMe'?)"),
    ("8 GB, Xeon 5130, postgers 16", "'postgers 16': not understood (did you mean 'orders' or 'PostgreSQL'?)"),
    ("8 GB, Xeon 5130, blue", "'blue': not understood"),
    ("8 GB, Xeon 5130, IBM DB2", "'DB2': the catalogue has no such release; nearest: PostgreSQL 15, MySQL 8.4"),
    ("8 GB, Xeon 5130, name blue, called red", "'name blue' and 'called red' both say the machine's name"),
    ("8 GB, Zuse 3.0 GHz", "'Zuse 3.0 GHz': no processor of a known family"),
    ("8 GB, Opteron", "'Opteron': add the clock"),
    ("one box", "'one box': nothing here says what the machine is"),
    ("r6i.3xlarge", "'r6i.3xlarge': not in the catalogue; nearest r6i.2xlarge, r6i.4xlarge"),
    ("m7g.4xlrge, gp3", "'m7g.4xlrge': not in the catalogue; nearest m7g.4xlarge"),
    ("Standard_E7ds_v5", "nearest Standard_E4ds_v5, Standard_E8ds_v5"),
    ("n2-standard-10 + pd-ssd", "'n2-standard-10': not in the catalogue; nearest n2-standard-8, n2-standard-16"),
    ("r6i.2xlarge + gp4", "'gp4': no volume gp4 in the catalogue; nearest gp"),
    ("r6i.2xlarge, 32 GB", "'32 GB' and 'r6i.2xlarge': r6i.2xlarge has 64 GiB of memory; leave one of them out"),
    ("r6i.2xlarge, 16 cores", "'16 cores' and 'r6i.2xlarge': r6i.2xlarge has 8 vCPUs"),
    ("r6i.2xlarge, Xeon 5130", "'Xeon 5130' and 'r6i.2xlarge': r6i.2xlarge has Xeon Platinum 8375C"),
    ("r6i.2xlarge on m6i.large", "'r6i.2xlarge' and 'm6i.large' both say which machine it is"),
    ("r6i.2xlarge, NVMe", "'NVMe': r6i.2xlarge has no such disks of its own; name a volume"),
    ("r6i.2xlarge + gp3 500 GiB, NVMe", "'NVMe' and 'gp3 500 GiB': a volume is no such disk"),
    ("r6i.2xlarge + gp3 500 GiB + io2 500 GiB", "both say which volume it has"),
    ("r6i.2xlarge + gp3 500 GiB 900000 IOPS", "allowed: 3000 to 80000 requests/s"),
    ("r6i.2xlarge + gp3 99 TiB", "allowed: 1 to 65536 GiB"),
    ("i4i.2xlarge, 3000 IOPS", "'3000 IOPS' and 'i4i.2xlarge': its own disks are 1 x"),
    ("i4i.2xlarge, 2 NVMe", "its own disks are 1 x"),
    ("Standard_E8ds_v5 + gp3", "a volume of aws and a machine of azure; its own is azure-premium-ssd-v2"),
    ("Standard_E8ds_v5 + Premium SSD", "add its tier or its size"),
    ("8 cores, SSD, 3000 IOPS", "requests/s are bought with a volume"),
    ("r6i.2xlarge, local NVMe", "r6i.2xlarge has no such disks of its own"),
    ("MySQL 4 on r6i.2xlarge + gp3", "'MySQL 4': the catalogue has no such release; nearest: MySQL 9, MySQL 8.4"),
    ("r6i.2xlarge + gp3 500", "'gp3 500': 500 of what? write 'gp3 500 GiB', or '3000 IOPS'"),
    ("32 cores 256GB RAM NVNe", "'NVNe': not understood (did you mean 'NVMe'?)"),
    ("16 vCPU of blue", "'blue': not understood"),
    ("SQL Server 2022 on 8 cores", "nearest: PostgreSQL 15, MySQL 8.4"),
    ("0 GB, Xeon 5130", "'0 GB': got 0; must be greater than 0"),
    ("-4 GB, Xeon 5130", "'-4 GB': not understood"),
    ("8 GB, Xeon 5130, 2.5 warehouses", "'2.5 warehouses': got 2.5; must be a whole number"),
    ("8 GB, Xeon 5130, 0 x SATA", "'0 x SATA': got 0; must be greater than 0"),
    ("8 GB, Xeon 5130, 5 SATA in RAID 10", "RAID 10 takes pairs of disks"),
    ("8 GB, Xeon 5130, 3000 rpm SATA", "no such SATA disk in the catalogue; it has 5,400, 7,200, 10,000 rpm"),
    ("8 GB, Xeon 5130, 2,000,000 buffers", "database.pool.buffers"),
    ("", "nothing here says what the machine is"),
    (", ,", "got an empty line"),
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
    assert numeric_value(known, key) == 1.7
    assert numeric_value(read_description("2 x dual-core Xeon 5140 2.33 GHz, 8 GB").scenario, key) is None
    half = read_description("1 x dual-core Xeon 5130 2.0 GHz, 8 GB").scenario.machine.cpu
    assert (half.model, half.cores, half.relative_speed) == ("1 x dual-core Xeon 5130, 2.0 GHz", 2, 1.7)


NAMELESS = {"server-2020s", "xeon-gcp-n2"}
"""processors that nobody sells under a name"""


@pytest.mark.parametrize("name", [name for name in catalogue_names("cpus") if name not in NAMELESS][::25])
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


@pytest.mark.parametrize(
    ("line", "setting"),
    [
        ("8 cores, NVMe", "machine.disks.disk.read_latency_us=50"),
        ("Xeon 5130, 8 GB", "machine.cpu.cores=3"),
        ("MySQL 8.4, 8 cores", "operating_system.reserved_memory_gib=0.2"),
        ("8 cores, NVMe, log on 1 SSD", "machine.log_disk.flush_us=30"),
    ],
)
def test_a_key_below_a_part_of_the_catalogue_can_be_set(line: str, setting: str) -> None:
    key, _, value = setting.partition("=")
    assert value_at(read_description(line, [setting]).scenario, key) == float(value)
    assert value_at(read_description(line).scenario, key) != float(value)


def test_data_are_as_many_warehouses_as_the_engines_rows_take() -> None:
    """A warehouse is about 100 MB (measured: 40 warehouses of go-tpc in PostgreSQL 15 are 4,024 MB)."""
    of_40_gb = read_description("8 cores, 32 GB, SSD, 40 GiB data").scenario.workload
    of_memory = read_description("8 cores, 40 GB, SSD").scenario.workload
    assert of_40_gb.warehouses == of_memory.warehouses == pytest.approx(40 * 40 * 1024 / (4024e6 / 2**20), rel=0.1)
    assert read_description("8 cores, 32 GB, SSD, 40 warehouses").scenario.workload.warehouses == 40
    decimal = read_description("8 cores, 32 GB, SSD, 40 GB data").scenario.workload.warehouses
    assert decimal == pytest.approx(of_40_gb.warehouses * 1e9 / 2**30, abs=1), "a GB of data has 10^9 bytes"


CLOUD: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "r6i.2xlarge + gp3 500 GiB 3000 IOPS",
        {"name": "r6i.2xlarge", "cpu": "Xeon Platinum 8375C, 3.5 GHz", "cores": 4, "threads": 2, "gib": 64, "disks": 1,
         "disk": "gp3, 500 GiB, 3000 requests/s, 125 MiB/s", "engine": "PostgreSQL 15", "driver": "TPC-C-like, go-tpc"},
    ),
    ("r6i.2xlarge with gp3 500 GiB 3000 IOPS 250 MiB/s", {"disk": "gp3, 500 GiB, 3000 requests/s, 250 MiB/s"}),
    ("PostgreSQL 16 on m7g.4xlarge", {"cores": 16, "threads": 1, "gib": 64, "engine": "PostgreSQL 16",
                                      "disk": "gp3, 200 GiB, 3000 requests/s, 125 MiB/s"}),
    ("db.r6g.xlarge, io2 500 GiB 10000 IOPS", {"name": "r6g.xlarge", "cpu": "Graviton2, 2.5 GHz", "cores": 4,
                                               "disk": "io2, 500 GiB, 10000 requests/s, 2560 MiB/s"}),
    ("r5.large and gp2 1 TiB", {"cores": 1, "disk": "gp2, 1024 GiB, 3072 requests/s, 250 MiB/s"}),
    ("Standard_E8ds_v5 + P30", {"cores": 4, "gib": 64, "disk": "azure-p30, 1024 GiB, 5000 requests/s, 190.735 MiB/s"}),
    ("E8ds_v5 + Premium SSD v2 500 GiB 5000 IOPS",
     {"name": "Standard_E8ds_v5", "disk": "azure-premium-ssd-v2, 500 GiB, 5000 requests/s, 119.209 MiB/s"}),
    ("n2-standard-8 + pd-ssd 500 GB", {"cores": 4, "gib": 32, "disk": "pd-ssd, 500 GiB, 21000 requests/s, 480 MiB/s"}),
    ("i4i.2xlarge, local NVMe", {"gib": 64, "disk": "share of a local NVMe disk of an i4i", "disks": 1}),
    ("i4i.2xlarge + gp3 500 GiB", {"disk": "gp3, 500 GiB, 3000 requests/s, 125 MiB/s"}),
    ("4 x gp3 500 GiB in RAID 0 on r6i.4xlarge", {"disks": 4, "level": "raid0"}),
    ("r6i.2xlarge, 8 vCPU, 64 GB", {"cores": 4, "gib": 64}),
    ("MariaDB 12 on r6i.2xlarge", {"engine": "MariaDB 12, InnoDB"}),
    ("Oracle 10g on 8 cores", {"engine": "Oracle 10g, direct I/O"}),
    ("MySQL 8.0, 8 cores", {"engine": "MySQL 8.0, InnoDB"}),
    ("Percona 5.7, 8 cores", {"engine": "Percona Server 5.7, XtraDB"}),
    ("MySQL 8.4 on r6i.2xlarge + gp3", {"engine": "MySQL 8.4, InnoDB", "start": "warm",
                                        "driver": "HammerDB TPROC-C on MySQL, stored procedures"}),
    ("64 GB with two NVMe", {"gib": 64, "disks": 2, "disk": "NVMe SSD", "cores": 8}),
    ("16 vCPU / 64 GB / NVMe", {"cores": 8, "threads": 2, "gib": 64, "disk": "NVMe SSD"}),
    ("2 x EPYC 9354, 384 GB, 4 NVMe RAID 10", {"cpu": "EPYC 9354, 3.75 GHz", "cores": 64, "level": "raid10"}),
    ("EPYC 9354, 384 GB", {"cores": 32}),
    ("2 x 24-core EPYC 9354, 384 GB", {"cores": 48}),
    ("4 x Opteron 244, 8 GB", {"cores": 4}),
    ("8 CPUs, 4 HDD", {"cores": 8, "disks": 4, "disk": "SATA, 7,200 rpm"}),
    ("postgres on aws r6i.2xlarge", {"gib": 64}),
    ("SSD", {"cores": 8, "gib": 32, "clients": 64, "warehouses": 339, "sustained": True}),
    ("8 cores, 512 GB, SSD", {"gib": 512, "warehouses": 591}),
    ("4 samsung-970-pro-512, 4 cores", {"disks": 4, "disk": catalogue_entry("disks", "samsung-970-pro-512")["name"]}),
)  # fmt: skip


@pytest.mark.parametrize(("line", "expected"), CLOUD, ids=[line for line, _ in CLOUD])
def test_machines_of_today(line: str, expected: dict[str, Any]) -> None:
    description = read_description(line)
    assert {key: said(description, KEYS[key]) for key in expected} == expected


def test_a_cloud_machine_brings_the_caps_of_all_its_volumes_and_its_own_disks_none() -> None:
    capped = read_description("r6i.2xlarge + gp3 500 GiB").scenario.machine
    assert [limit.per_s for limit in capped.volume_limits if limit.of == "requests"] == [12_000]
    assert not read_description("i4i.2xlarge").scenario.machine.volume_limits


def test_a_release_that_is_only_near_has_the_doubt_of_its_path_lengths() -> None:
    def path_row(line: str) -> list[float | None]:
        rows = read_description(line).rows
        return [row.factor for row in rows if row.key == "database.path.row_operation_us"]

    assert path_row("PostgreSQL 16, 8 cores") == [1.1]
    assert path_row("PostgreSQL 15, 8 cores") == path_row("PostgreSQL, 8 cores") == []


@pytest.mark.parametrize(
    ("line", "name", "others"),
    [
        ("MySQL 8, 8 cores", "MySQL 8.4, InnoDB", ["mysql-8-0"]),
        ("MySQL, 8 cores", "MySQL 8.4, InnoDB", ["mysql-8-0"]),
        ("MySQL 8.4, 8 cores", "MySQL 8.4, InnoDB", []),
        ("MySQL, 2 x dual-core Xeon 5130", "MySQL 5.1, InnoDB", []),
        ("MySQL 8, 2 x dual-core Xeon 5130", "MySQL 8.4, InnoDB", ["mysql-8-0"]),
    ],
)
def test_a_name_that_leaves_the_release_open_has_the_doubt_of_the_other_one(
    line: str, name: str, others: list[str]
) -> None:
    found = read_description(line)
    row = next(row for row in found.rows if row.key == "database")
    assert found.scenario.database.name == name
    assert [json.loads(other.partition("=")[2])["base"] for other in row.others] == others
    assert row.uncertain == bool(others)


@pytest.mark.parametrize(
    ("pieces", "is_on", "most_gib", "said"),
    [
        ("", True, 8, False),
        (", full page writes off", False, 8, True),
        (", full_page_writes=on, max_wal_size 1 GB", True, 1, True),
        (", max_wal_size = 64 GB", True, 64, False),
        (", max_wal_size=64GB", True, 64, False),
    ],
)
def test_postgresql_logs_whole_pages_unless_a_line_says_no(
    pieces: str, is_on: bool, most_gib: float, said: bool
) -> None:
    """A server's own default, though the runs that the entry is fitted to had them off."""
    described = read_description(f"PostgreSQL, 8 cores, 32 GB, SSD{pieces}")
    checkpoint = described.scenario.database.checkpoint
    assert checkpoint is not None
    assert (checkpoint.full_page_writes, checkpoint.most_log_gib) == (is_on, most_gib)
    assert checkpoint.spread_fraction == 0.9, "the entry's own"
    rows = {row.what: row for row in described.rows}
    assert (rows["full-page writes"].piece is not None) == said
    assert rows["log at most"].uncertain == ("max_wal_size" not in pieces)


@pytest.mark.parametrize(
    ("pieces", "base", "layout", "home"),
    [
        ("PostgreSQL", "TPC-C-like, go-tpc", "tpcc-postgresql", "drawn"),
        ("PostgreSQL, HammerDB", "HammerDB TPROC-C on PostgreSQL", "hammerdb-postgresql", "bound"),
        ("PostgreSQL, hammer-db all warehouses", "HammerDB TPROC-C on PostgreSQL", "hammerdb-postgresql", "drawn"),
        ("PostgreSQL, HammerDB 4.10, all warehouses", "HammerDB TPROC-C on PostgreSQL", "hammerdb-postgresql", "drawn"),
        ("PostgreSQL, HammerDB using all warehouses", "HammerDB TPROC-C on PostgreSQL", "hammerdb-postgresql", "drawn"),
        ("PostgreSQL, sysbench-tpcc", "TPC-C by sysbench-tpcc", "tpcc-postgresql", "drawn"),
        ("MySQL 8.4", "HammerDB TPROC-C on MySQL", "hammerdb-innodb-16k", "bound"),
        ("MySQL 8.4, all warehouses", "HammerDB TPROC-C on MySQL", "hammerdb-innodb-16k", "drawn"),
        ("MySQL 8.4, HammerDB", "HammerDB TPROC-C on MySQL", "hammerdb-innodb-16k", "bound"),
        ("MariaDB 12, by go-tpc", "TPC-C-like, go-tpc", "tpcc-innodb-16k", "drawn"),
        ("Percona 5.7, tpcc-mysql", "TPC-C by tpcc-mysql", "tpcc-innodb-16k", "drawn"),
    ],
)
def test_a_driver_may_be_named(pieces: str, base: str, layout: str, home: str) -> None:
    described = read_description(f"8 cores, 32 GB, SSD, 100 warehouses, {pieces}")
    workload = described.scenario.workload
    assert workload.name.startswith(base)
    assert workload.layout == validated(LayoutSpec, catalogue_entry("layouts", layout), "layout")
    assert workload.tpcc.home_warehouse == home
    rows = {row.what: row for row in described.rows}
    assert (rows["driver"].piece is not None) == (
        pieces not in {"PostgreSQL", "MySQL 8.4", "MySQL 8.4, all warehouses"}
    )
    assert ("home warehouses" in rows) == base.startswith("HammerDB")


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        (
            "PostgreSQL, tpcc-mysql",
            r"'tpcc-mysql': postgresql-15 isn't measured by tpcc-mysql here; it has go-tpc, HammerDB",
        ),
        ("Virtuoso 6, HammerDB", r"'HammerDB': virtuoso-6 isn't measured by HammerDB here; leave it out"),
        ("PostgreSQL, HammerDB, go-tpc", r"'HammerDB' and 'go-tpc' both say which driver measures"),
        ("PostgreSQL, 100 warehouses, tpcc-mysql", r"'tpcc-mysql': postgresql-15 isn't measured by tpcc-mysql here"),
        ("PostgreSQL, HamerDB", r"'HamerDB': not understood \(did you mean 'HammerDB' or 'MariaDB'\?\)"),
    ],
)
def test_a_driver_that_does_not_measure_the_engine_is_refused(pieces: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_description(f"8 cores, 32 GB, SSD, {pieces}")


def test_data_of_a_named_driver_are_as_many_warehouses_as_its_rows_take() -> None:
    usual, hammerdb = (
        read_description(f"PostgreSQL, 8 cores, 32 GB, SSD, 50 GB of data{piece}").scenario.workload.loaded
        for piece in ("", ", HammerDB")
    )
    assert usual != hammerdb
    assert hammerdb == round(50e9 / 2**30 / gib_per_warehouse("postgresql-15", "HammerDB"))


@pytest.mark.parametrize("engine", ["MySQL 8.4", "Virtuoso 6"])
def test_whole_pages_and_the_size_of_the_log_are_of_postgresql_only(engine: str) -> None:
    checkpoint = read_description(f"{engine}, 8 cores, 32 GB, SSD").scenario.database.checkpoint
    assert checkpoint is None or not checkpoint.full_page_writes
    for piece in ("full page writes off", "max_wal_size 8 GB"):
        with pytest.raises(InputError, match=f"'{piece}': only PostgreSQL has it"):
            read_description(f"{engine}, 8 cores, 32 GB, SSD, {piece}")


@pytest.mark.parametrize(
    ("line", "pages"),
    [
        ("PostgreSQL, 8 cores, 32 GB, SSD", 32),
        ("PostgreSQL on r6i.2xlarge + gp3 500 GiB", 32),
        ("PostgreSQL on i4i.2xlarge", 32),
        ("PostgreSQL, 8 cores, 32 GB, 4 SATA", 2048),
        ("MySQL 8.4, 8 cores, 32 GB, SSD", 2048),
        ("Virtuoso 5, 2 x dual-core Xeon 5130, 8 GB, SSD", 1024),
    ],
)
def test_linux_gives_write_back_of_flash_few_requests_at_once(line: str, pages: int) -> None:
    """So many that the log's writes don't wait behind it; arms sort what they get, and direct I/O has none."""
    assert read_description(line).scenario.operating_system.page_cache.in_flight_pages == pages


@pytest.mark.parametrize(
    ("memory", "gib"),
    [("512 MB", 0.125), ("0.75 GB", 0.138), ("4 GB", 0.3), ("7.5 GB", 0.475), ("8 GB", 0.5), ("64 GB", 0.5)],
)
def test_a_small_machines_system_takes_memory_in_proportion(memory: str, gib: float) -> None:
    """From 8 GiB on it is the catalogue's; an older Linux has its own."""
    described = read_description(f"PostgreSQL, 2 cores, {memory}, SSD, 1 warehouse, 1 client")
    key = "operating_system.reserved_memory_gib"
    assert value_at(described.scenario, key) == gib
    assert [row.factor for row in described.rows if row.key == key] == ([1.5] if gib < 0.5 else [])
    assert read_description(f"2 x dual-core Xeon 5130, {memory}").scenario.operating_system.reserved_memory_gib == 0.1


@pytest.mark.parametrize(
    ("pieces", "key", "count"),
    [
        ("8 cores, NVMe", "machine.disks.disk.flush_us", 2),
        ("8 cores, SSD", "machine.disks.disk.flush_us", 2),
        ("8 cores, SSD with power loss protection", "machine.disks.disk.flush_us", 1),
        ("8 cores, consumer SSD", "machine.disks.disk.flush_us", 0),
        ("8 cores, intel-dc-p4510-2000", "machine.disks.disk.flush_us", None),
        ("8 cores, 4 SATA", "machine.disks.disk.flush_us", None),
        ("8 cores, NVMe", "machine.network.clients_on_server", 1),
        ("8 cores, NVMe, clients on the same machine", "machine.network.clients_on_server", 0),
        ("db.m5.xlarge + gp3 500 GiB", "machine.network.clients_on_server", 0),
        ("2 x dual-core Xeon 5130, 8 GB", "machine.network.clients_on_server", None),
    ],
)
def test_a_drives_flush_and_the_clients_place_are_assumed_with_alternatives(
    pieces: str, key: str, count: int | None
) -> None:
    """Each moves the rate of small transactions by more than a half; None: no such row."""
    described = read_description(f"PostgreSQL, 10 warehouses, {pieces}")
    rows = [row for row in described.rows if row.key == key]
    assert [len(row.others) for row in rows] == ([] if count is None else [count])
    assert all(described.changed(other) != described.scenario for row in rows for other in row.others)


@pytest.mark.parametrize(
    ("line", "cores"),
    [
        ("2 x Xeon Gold 6230, 40 cores, 188 GB", 40),
        ("2 x Xeon Gold 6230, 188 GB", 40),
        ("2 x Xeon Gold 6230, 10 cores, 188 GB", 20),
    ],
)
def test_cores_of_all_processors_are_not_counted_for_each(line: str, cores: int) -> None:
    assert read_description(line).scenario.machine.cpu.cores == cores
