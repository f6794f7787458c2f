"""Cloud machines and volumes by the words that people use, in lines, scenario files and settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from oltpsim.models.catalogue import catalogue_names, expand_names, instance_named, read_volume, with_setting
from oltpsim.models.catalogue.cloud_names import nearest_instances
from oltpsim.models.reading import load_scenario
from oltpsim.simulator.errors import InputError

V20Z = Path(__file__).parents[3] / "scenarios" / "library" / "v20z.yaml"


@pytest.mark.parametrize("name", catalogue_names("instances"))
def test_every_cloud_machine_is_found_however_it_is_written(name: str) -> None:
    for spelling in (name, name.upper(), name.removeprefix("Standard_"), f"db.{name}"):
        assert instance_named(spelling) == name


@pytest.mark.parametrize("word", ["SunFire 440", "8 cores", "gp3", "v20z", "Xeon E5-2680 v4", "postgresql-15", "P30"])
def test_what_is_no_cloud_machine(word: str) -> None:
    assert instance_named(word) is None


@pytest.mark.parametrize(("name", "near"), [
    ("r6i.3xlarge", ["r6i.2xlarge", "r6i.4xlarge"]), ("r6i.48xlarge", ["r6i.32xlarge"]),
    ("m6g.small", ["m6g.medium"]), ("Standard_D10s_v5", ["Standard_D8s_v5", "Standard_D16s_v5"]),
    ("c3-highmem-12", ["c3-highmem-8", "c3-highmem-22"]),
])  # fmt: skip
def test_the_nearest_are_the_next_sizes_of_the_family(name: str, near: list[str]) -> None:
    assert nearest_instances(name) == near
    with pytest.raises(ValueError, match=f"not in the catalogue; nearest {', '.join(near)}"):
        instance_named(name)


def test_of_an_unknown_family_the_nearest_have_its_size() -> None:
    assert all(near.endswith(".2xlarge") for near in nearest_instances("m5zn.2xlarge"))
    assert len(nearest_instances("m5zn.2xlarge")) == 2


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
