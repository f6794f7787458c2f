"""Lists of machines and prices by others: read with their units, and refused where they can be read in two ways."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from oltpsim.models.catalogue import entry_faults, read_entry
from oltpsim.models.catalogue.entries import FOLDER_VARIABLE
from oltpsim.models.catalogue.importers import ImportedEntries, ListFacts, read_list, write_entries
from oltpsim.models.catalogue.importers.importing import FORMATS
from oltpsim.simulator.errors import InputError

SAMPLES = Path(__file__).resolve().parents[3] / "samples" / "catalogue"
DAY = dt.date(2026, 7, 13)
ON_A_DAY = ListFacts(date=DAY)
SAMPLE_OF = {
    "ec2instances": ("ec2instances.json", ON_A_DAY),
    "csv": ("my-prices.csv", ON_A_DAY),
}


def amounts(found: ImportedEntries, name: str) -> dict[str, float]:
    return {row["part"]: row["amount"] for row in found.lists[name]["rows"]}


def use(found: ImportedEntries, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_entries(found, folder)
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder))


@pytest.mark.parametrize("kind", FORMATS)
def test_each_list_is_recognised_by_its_contents_and_written_as_valid_entries(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, wanted = SAMPLE_OF[kind]
    found = read_list(SAMPLES / name, None, wanted)
    assert found.importer == kind
    use(found, tmp_path, monkeypatch)
    for of, names in (("instances", found.instances), ("prices", found.lists)):
        assert [fault for each in names for fault in entry_faults(of, each)] == []
    for each in (*found.instances.values(), *found.lists.values()):
        assert name in each["source"]
        assert str(DAY) in each["source"] or str(DAY) == each.get("date")


def test_ec2_instances_come_with_processors_disks_and_caps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = read_list(SAMPLES / "ec2instances.json", None, ON_A_DAY)
    use(found, tmp_path, monkeypatch)
    small, storage, arm = (read_entry("instances", name) for name in ("m7i.large", "i4i.4xlarge", "m8g.8xlarge"))
    assert (small.cpu.cores, small.cpu.threads_per_core, arm.cpu.cores, arm.cpu.threads_per_core) == (1, 2, 32, 1)
    assert storage.cpu.model.startswith("Xeon Platinum 8375C")
    assert small.volume_mib_per_s == pytest.approx(81.25e6 / 2**20, rel=1e-6)
    assert (small.volume_burst_requests_per_s, small.volume_burst_s) == (40_000, 1800)
    assert arm.volume_burst_mib_per_s is None
    assert (small.network_gbit_per_s, arm.network_gbit_per_s) == (None, 15), "'up to' says a burst"
    assert storage.local_disks is not None
    assert storage.local_disks.disk.capacity_gib == pytest.approx(3750e9 / 2**30, rel=1e-6)
    reserved = amounts(found, "ec2instances-us-east-1-3-years-reserved")["instances/m7i.large"]
    assert reserved == 0.0457 < amounts(found, "ec2instances-us-east-1-on-demand")["instances/m7i.large"] == 0.1008
    assert found.left_out["shape: CPU credits, which aren't modelled"] == ["t3.large"]
    assert found.left_out["shape: has accelerators"] == ["g4dn.xlarge"]
    assert sum(map(len, found.left_out.values())) == 4


def test_a_table_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = read_list(SAMPLES / "my-prices.csv", None, ListFacts(date=DAY, region="us-east-1"))
    assert found.lists["my-prices"] | {"rows": ()} == {
        "name": "my-prices", "date": "2026-07-13", "currency": "USD", "term": "on demand", "region": "us-east-1",
        "source": "imported from my-prices.csv, 2026-07-13", "rows": (),
    }  # fmt: skip
    use(read_list(SAMPLES / "my-machines.csv", None, ON_A_DAY), tmp_path, monkeypatch)
    rack, small = read_entry("instances", "rack-7"), read_entry("instances", "vm-small")
    assert (rack.memory_gib, rack.vcpus, rack.source) == (512, 64, "inventory of 2026-03")
    assert rack.local_disks is not None
    assert (rack.local_disks.count, rack.local_disks.level) == (4, "raid0")
    assert small.volume_mib_per_s == pytest.approx(250e6 / 2**20)


ON_DEMAND = (0, "pricing", "us-east-1", "linux", "ondemand")
Change = Callable[[Any], None]


def changed(tmp_path: Path, name: str, change: Change) -> Path:
    data = json.loads((SAMPLES / name).read_text())
    change(data)
    path = tmp_path / name
    path.write_text(json.dumps(data))
    return path


def put(*keys: Any, value: Any) -> Change:
    def change(data: Any) -> None:
        for key in keys[:-1]:
            data = data[key]
        data[keys[-1]] = value

    return change


@pytest.mark.parametrize(("name", "change", "message"), [
    ("ec2instances.json", put(0, "ebs_baseline_throughput", value=650),
     "m7i.large: ebs_baseline_throughput: got 650 MB/s beside a bandwidth of 650 Mbit/s; expected about 81.25 MB/s"),
    ("ec2instances.json", put(*ON_DEMAND, value="0,1008"),
     "m7i.large: pricing.us-east-1.linux.ondemand: got '0,1008'; expected a decimal point"),
    ("ec2instances.json", put(*ON_DEMAND, value="$0.10"), "expected a finite number"),
    ("ec2instances.json", put(0, "vCPU", value="2 vCPU"), "m7i.large: vCPU: got '2 vCPU'; expected a finite number"),
    ("ec2instances.json", put(0, "vCPU", value=1.5), "m7i.large: vCPU: got 1.5; expected a whole number"),
    ("ec2instances.json", put(0, "memory", value=8_000_000), "memory: got 8e+06; expected a number above 0, at most"),
    ("ec2instances.json", put(1, "storage", "size_unit", value="TB"), "size_unit: got 'TB'; expected GB or GiB"),
    ("ec2instances.json", put(0, "instance_type", value="M7I large"), "entry 1: instance_type: got 'M7I large'"),
    ("ec2instances.json", put(*ON_DEMAND, value=-1), "m7i.large: pricing.us-east-1.linux.ondemand: got -1; expected a"),
    ("ec2instances.json", put(*ON_DEMAND, value=20_000), "at most 10000; look whether its unit"),
])  # fmt: skip
def test_what_can_be_read_in_two_ways_is_refused(tmp_path: Path, name: str, change: Change, message: str) -> None:
    read_list(changed(tmp_path, name, lambda _: None), None, ON_A_DAY)  # the negative twin: unchanged it is read
    with pytest.raises(InputError) as refused:
        read_list(changed(tmp_path, name, change), None, ON_A_DAY)
    assert message in str(refused.value)
    assert str(refused.value).startswith(name)


@pytest.mark.parametrize(("name", "old", "new", "message"), [
    ("my-prices.csv", "part,amount", "part;amount", "columns between semicolons; expected commas"),
    ("my-prices.csv", "amount", "price", "the column 'price'"),
    ("my-prices.csv", ",USD,on demand,our", ",EUR,on demand,our", "currency: got EUR and USD; expected one for"),
    ("my-prices.csv", "hour", "year", "rows.0.per: got 'year'"),
    ("my-prices.csv", "instances/m7i.large,", "m7i.large,", "rows.0.part: got 'm7i.large'"),
    ("my-prices.csv", ",currency,term", ",currenty,term", "the column 'currenty' (did you mean 'currency'?)"),
    ("my-machines.csv", "epyc-9354,32", "epyc-9351,32", "unknown name 'epyc-9351' in the catalogue of cpus"),
    ("my-machines.csv", "512 GiB", "512 GB/s", "'GB/s' is a unit of transfer rate, expected memory"),
    ("my-machines.csv", "vm-small,ours", "vm-small,", "line 3: got no provider; expected one in every row"),
    ("my-machines.csv", "vm-small", "rack-7", "rack-7: got two entries of that name"),
])  # fmt: skip
def test_texts_that_are_no_such_list_are_refused(tmp_path: Path, name: str, old: str, new: str, message: str) -> None:
    text = (SAMPLES / name).read_text()
    assert old in text
    (tmp_path / name).write_text(text.replace(old, new, 1))
    with pytest.raises(InputError) as refused:
        read_list(tmp_path / name, "csv", ON_A_DAY)
    assert message in str(refused.value)
    assert str(refused.value).startswith(name)


def test_who_says_the_date_and_the_region(tmp_path: Path) -> None:
    prices, list_of_ec2 = SAMPLES / "my-prices.csv", SAMPLES / "ec2instances.json"
    with pytest.raises(InputError, match=r"my-prices.csv: the file doesn't say from when"):
        read_list(prices, None, ListFacts())
    with pytest.raises(InputError, match="term: got 'on demand'; expected 'spot', as --term says"):
        read_list(prices, None, ListFacts(date=DAY, term="spot"))
    dated = tmp_path / "dated.csv"
    dated.write_text("part,amount,per,date\ninstances/m7i.large,0.1,hour,2026-07-06\n")
    same = ListFacts(dt.date(2026, 7, 6), currency="USD", term="spot")
    assert read_list(dated, None, same).lists
    with pytest.raises(InputError, match=r"dated.csv: is of 2026-07-06, --date says 2026-07-13; leave --date out"):
        read_list(dated, None, ListFacts(DAY, currency="USD", term="spot"))
    two = changed(tmp_path, list_of_ec2.name, put(0, "pricing", "us-east-2", value={}))
    with pytest.raises(InputError, match="has prices of 2 regions: us-east-1, us-east-2; add --region"):
        read_list(two, None, ON_A_DAY)
    with pytest.raises(InputError, match="--region: got 'eu-west-1'; allowed: us-east-1, as in the file"):
        read_list(list_of_ec2, None, ListFacts(date=DAY, region="eu-west-1"))


def test_files_of_no_known_form_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("hello\n")
    with pytest.raises(
        InputError, match=r"other.txt: none of the known lists of machines or prices \(ec2instances, csv"
    ):
        read_list(other, None, ON_A_DAY)
    with pytest.raises(InputError, match="--kind: got 'aws'; allowed: ec2instances, csv"):
        read_list(other, "aws", ON_A_DAY)
    with pytest.raises(InputError, match=r"nothing.txt: no such file"):
        read_list(tmp_path / "nothing.txt", None, ON_A_DAY)
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 100_000)
    with pytest.raises(InputError, match=r"deep.json"):
        read_list(deep, "ec2instances", ON_A_DAY)


def test_an_import_replaces_its_own_file_and_nobody_elses(tmp_path: Path) -> None:
    found = read_list(SAMPLES / "my-prices.csv", None, ON_A_DAY)
    (written,) = write_entries(found, tmp_path)
    assert written.count == 4
    assert write_entries(found, tmp_path) == [written]
    (table,) = write_entries(read_list(SAMPLES / "my-machines.csv", None, ON_A_DAY), tmp_path)
    assert (table.count, table.path.suffix) == (2, ".csv")
    assert write_entries(read_list(SAMPLES / "my-machines.csv", None, ON_A_DAY), tmp_path) == [table]
    written.path.write_text("name: mine\n")
    with pytest.raises(InputError, match=r"my-prices.yaml: is there and no import wrote it; move it"):
        write_entries(found, tmp_path)
    assert written.path.read_text() == "name: mine\n"


def test_a_machine_of_two_lists_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    machine = tmp_path / "mine.csv"
    machine.write_text("name,provider,cpu,cores,memory_gib\nm7i.large,aws,xeon-8488c,1,8\n")
    write_entries(read_list(machine, None, ON_A_DAY), tmp_path)
    with pytest.raises(InputError, match=r"has m7i.large already, as ec2instances.json does; delete that file"):
        write_entries(read_list(SAMPLES / "ec2instances.json", None, ON_A_DAY), tmp_path)
    assert not list((tmp_path / "instances").glob("ec2instances-*"))
