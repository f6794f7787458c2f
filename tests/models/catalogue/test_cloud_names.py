"""Cloud machines and volumes by the words that people use, in lines, scenario files and settings."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from oltpsim.models.catalogue import (
    catalogue_names,
    expand_names,
    instance_named,
    read_entry,
    read_volume,
    volume_of_service,
    with_setting,
)
from oltpsim.models.catalogue.cloud_names import nearest_instances
from oltpsim.models.reading import load_scenario, read_description
from oltpsim.simulator.errors import InputError

V20Z = Path(__file__).parents[3] / "scenarios" / "library" / "v20z.yaml"


AS_WRITTEN = list(csv.DictReader((Path(__file__).parent / "instances_as_written.csv").read_text().splitlines()))
"""Names of cloud machines as people write them, with vCPUs and memory.

AWS's and Azure's are drawn from vantage-export.csv and azure.csv of boaviztapi 2.5.0 (instances.vantage.sh), the others
are from memory of the providers' pages.
"""


@pytest.mark.parametrize("row", AS_WRITTEN, ids=[row["text"] for row in AS_WRITTEN])
def test_cloud_machines_as_people_write_them(row: dict[str, str]) -> None:
    name = instance_named(row["text"])
    assert name is not None
    shape = read_entry("instances", name)
    assert (shape.vcpus, shape.memory_gib) == (int(row["vcpus"]), pytest.approx(float(row["memory_gib"]), rel=0.002))


def test_the_list_is_long_and_every_cloud_machine_is_found_however_it_is_written() -> None:
    assert len(AS_WRITTEN) >= 150
    names = catalogue_names("instances")
    assert len(names) > 1800
    for name in names:
        for spelling in (name, name.upper(), name.removeprefix("Standard_"), f"db.{name}"):
            assert instance_named(spelling) == name


@pytest.mark.parametrize("word", [
    "SunFire 440", "8 cores", "gp3", "v20z", "Xeon E5-2680 v4", "postgresql-15", "P30", "E5-2683 v3", "E3-1230 v5",
    "i7-4790", "8 vCPU", "32 GB", "Graviton3", "epyc-7763", "xeon-8375c", "sysbench", "pgbench-1", "name db-7",
])  # fmt: skip
def test_what_is_no_cloud_machine(word: str) -> None:
    assert instance_named(word) is None


@pytest.mark.parametrize(("text", "near"), [
    ("m6i-2xlarge", "m6i.2xlarge"), ("c6i2xlarge", "c6i.2xlarge"), ("Standard_D8dss_v5", "Standard_D8ds_v5"),
    ("n2-standart-8", "n2-standard-8"), ("c3d-highcpu-300", "c3d-highcpu-180, c3d-highcpu-360"), ("cx44", "cx43, cx5"),
    ("D8ds v9", "Standard_D8ds_v"), ("b3-9", "b3-8, b3-16"), ("db.m6i.3xlarge", "m6i.2xlarge, m6i.4xlarge"),
])  # fmt: skip
def test_near_misses_name_the_nearest(text: str, near: str) -> None:
    with pytest.raises(ValueError, match=f"not in the catalogue; nearest .*{near}"):
        instance_named(text)


def test_a_machine_of_any_shape_has_its_series_processors_and_limits() -> None:
    custom, standard = read_entry("instances", "n2-custom-6-20480"), read_entry("instances", "n2-standard-8")
    assert (custom.vcpus, custom.cpu.threads_per_core, custom.memory_gib) == (6, 2, 20)
    assert custom.cpu.relative_speed == standard.cpu.relative_speed
    assert custom.volume_limits() == [
        each | {"source": custom.volume_limits()[0]["source"]} for each in standard.volume_limits()
    ]
    assert read_entry("instances", "n1-custom-1-3840").vcpus == 1
    with pytest.raises(InputError, match="unknown name 'z9-custom-6-20480'"):
        read_entry("instances", "z9-custom-6-20480")


@pytest.mark.parametrize(("machine", "volume", "size_gib", "chosen", "expected"), [
    ("db.m6i.2xlarge", "gp3", 400, True, "rds-gp3"), ("db.m6i.2xlarge", "gp3", 399, True, "gp3"),
    ("m6i.2xlarge", "gp3", 400, True, "gp3"), ("db.m6i.2xlarge", "io1", 1000, True, "io1"),
    ("db.r6g.large", "gp3", 1000, False, "rds-gp3"), ("db-custom-8-32768", "pd-ssd", 500, False, "pd-ssd"),
    ("GP_Standard_D4ds_v4", "azure-premium-ssd-v2", 512, False, "azure-p20"),
    ("GP_Standard_D4ds_v4", "azure-premium-ssd-v2", 512, True, "azure-premium-ssd-v2"),
    ("Standard_D4ds_v4", "azure-premium-ssd-v2", 512, False, "azure-premium-ssd-v2"),
])  # fmt: skip
def test_volumes_of_database_services(machine: str, volume: str, size_gib: float, chosen: bool, expected: str) -> None:
    assert volume_of_service(machine, volume, size_gib, chosen=chosen) == expected


def test_what_the_volumes_of_database_services_include() -> None:
    striped, plain = (read_entry("volumes", name).disk(400) for name in ("rds-gp3", "gp3"))
    assert [each["per_s"] for each in striped["limits"]] == [12_000, 500]
    assert [each["per_s"] for each in plain["limits"]] == [3000, 125]
    cloud_sql = read_entry("volumes", "pd-ssd")
    assert cloud_sql.requests_for_sale(500)[0] - cloud_sql.requests_for_sale(400)[0] == 30 * 100
    rows = read_description("PostgreSQL 16 on db.m6gd.2xlarge + gp3 500 GiB, pgbench, scale 100, 8 clients").scenario
    assert rows.machine.disks.disk.name == "rds-gp3, 500 GiB, 12000 requests/s, 500 MiB/s", "not its local disk"


@pytest.mark.parametrize(("name", "near"), [
    ("r6i.3xlarge", ["r6i.2xlarge", "r6i.4xlarge"]), ("r6i.48xlarge", ["r6i.32xlarge", "r6i.metal"]),
    ("m6g.small", ["m6g.medium"]), ("Standard_D10s_v5", ["Standard_D8s_v5", "Standard_D16s_v5"]),
    ("c3-highmem-12", ["c3-highmem-8", "c3-highmem-22"]),
])  # fmt: skip
def test_the_nearest_are_the_next_sizes_of_the_family(name: str, near: list[str]) -> None:
    assert nearest_instances(name) == near
    with pytest.raises(ValueError, match=f"not in the catalogue; nearest {', '.join(near)}"):
        instance_named(name)


def test_of_an_unknown_family_the_nearest_have_its_size() -> None:
    assert all(near.endswith(".2xlarge") for near in nearest_instances("m9zn.2xlarge"))
    assert len(nearest_instances("m9zn.2xlarge")) == 2


@pytest.mark.parametrize(("text", "expected"), [
    ("gp3", ("gp3", None, None, None, "")), ("gp3 500 GiB 3000 IOPS", ("gp3", 500, 3000, None, "")),
    ("500 GB gp3 EBS volume, 16k iops".replace(",", ""), ("gp3", 500, 16_000, None, "")),
    ("io1 1 TiB 20,000 IOPS", ("io1", 1024, 20_000, None, "")), ("4 x gp3 100 GiB", ("gp3", 100, None, None, "4 x")),
    ("gp3 500 GiB 256 MiB/s", ("gp3", 500, None, 256, "")), ("Premium SSD P30", ("azure-p30", 1024, None, None, "")),
    ("Premium SSD 600 GiB", ("azure-p30", 600, None, None, "")),
    ("pd-balanced 1 TB", ("pd-balanced", 1024, None, None, "")),
    ("PremiumV2 500 GiB", ("azure-premium-ssd-v2", 500, None, None, "")),
])  # fmt: skip
def test_volumes(text: str, expected: tuple[object, ...]) -> None:
    found = read_volume(text)
    assert found is not None
    assert (found.entry, found.size_gib, found.requests_per_s, found.mib_per_s, found.remainder) == expected


@pytest.mark.parametrize("text", ["SSD", "4 SATA", "Pentium P4 2.8 GHz", "nvme 500 GB", "p30x"])
def test_what_is_no_volume(text: str) -> None:
    assert read_volume(text) is None


def test_rates_of_mb_are_not_those_of_mib() -> None:
    found = read_volume("gp3 500 GiB 250 MB/s")
    assert found is not None
    assert found.mib_per_s == pytest.approx(250e6 / 2**20)


@pytest.mark.parametrize(("text", "words"), [
    ("gp4", "no volume gp4 in the catalogue; nearest gp"), ("io3 100 GiB", "no volume io3"),
    ("premium ssd p35", "add its tier"), ("p35", "no volume p35"), ("gp3 0 GiB", "must be greater than 0"),
    ("Premium SSD", "add its tier or its size"),
])  # fmt: skip
def test_volumes_that_are_not_for_sale(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_volume(text)


def test_a_scenario_files_machine_may_be_a_cloud_machine_and_its_disk_a_volume() -> None:
    machine = expand_names("i4i.xlarge", "here", "machine")
    assert (machine["memory_gib"], machine["cpu"]["cores"], machine["disks"]["count"]) == (32, 2, 1)
    assert "volume_limits" not in machine, "which are of network volumes, and it has none"
    data = {"instance": "db.r6i.2xlarge", "disks": {"disk": "gp3 500 GiB 4000 IOPS", "count": 1}}
    rented = expand_names(data, "here", "machine")
    assert rented["disks"]["disk"]["name"].startswith("gp3, 500 GiB, 4000 requests/s")
    assert len(rented["volume_limits"]) == 2
    with pytest.raises(InputError, match=r"here: machine: r6i.3xlarge: not in the catalogue; nearest r6i.2xlarge"):
        expand_names("r6i.3xlarge", "here", "machine")
    with pytest.raises(InputError, match="expected a volume with its size, such as 'gp3 500 GiB'"):
        expand_names("gp3", "here", "machine.disks.disk")


def test_another_machine_has_other_disks() -> None:
    own = load_scenario(V20Z, ["machine=i4i.xlarge"]).machine
    assert (own.name, own.disks.disk.name) == ("i4i.xlarge", "share of a local NVMe disk of an i4i")
    assert load_scenario(V20Z, ["machine.instance=i4i.xlarge"]).machine == own
    said = load_scenario(V20Z, ["machine={instance: r6i.2xlarge, disks: {disk: gp3 500 GiB, count: 1}}"]).machine
    assert said.disks.disk.name.startswith("gp3, 500 GiB")
    for setting in ("machine=r6i.2xlarge", "machine.instance=r6i.2xlarge"):
        with pytest.raises(InputError, match=r"r6i.2xlarge has no disks of its own, and those of the machine before"):
            load_scenario(V20Z, [setting])
    before = load_scenario(V20Z).machine
    assert load_scenario(V20Z, ["machine={memory_gib: 4}"]).machine.disks == before.disks, "a changed key is no machine"
    assert with_setting({"machine": {"memory_gib": 1}}, "machine.memory_gib=2") == {"machine": {"memory_gib": 2}}
