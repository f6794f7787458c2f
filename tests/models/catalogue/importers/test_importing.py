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
from oltpsim.models.machine import SsdSpec
from oltpsim.simulator.errors import InputError

SAMPLES = Path(__file__).resolve().parents[3] / "samples" / "catalogue"
PRICES_OF_A_YEAR = "3yr-reserved_netflix_prices.json"
DAY = dt.date(2026, 7, 13)
ON_A_DAY = ListFacts(date=DAY)
SAMPLE_OF = {
    "karpenter": ("karpenter.json", ListFacts()),
    "ec2instances": ("ec2instances.json", ON_A_DAY),
    "netflix": ("netflix_shapes.json", ON_A_DAY),
    "cloudspecs": ("cloudspecs.csv", ON_A_DAY),
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
    for of, names in (("instances", found.instances), ("prices", found.lists), ("volumes", found.volumes)):
        assert [fault for each in names for fault in entry_faults(of, each)] == []
    day = "2026-07-06" if kind == "karpenter" else "2026-07-13"
    for each in (*found.instances.values(), *found.lists.values(), *found.volumes.values()):
        assert name in each["source"]
        assert day in each["source"] or day == each.get("date")


def test_karpenters_go_source_and_json_say_the_same() -> None:
    go = read_list(SAMPLES / "zz_generated.pricing_aws.go", None, ListFacts(region="us-east-1"))
    as_json = read_list(SAMPLES / "karpenter.json", None, ListFacts())
    mine, theirs = amounts(go, "karpenter-us-east-1"), amounts(as_json, "karpenter-us-east-1")
    assert mine == {part: amount for part, amount in theirs.items() if part in mine}
    assert mine["instances/m7i.large"] == 0.1008
    assert go.lists["karpenter-us-east-1"]["date"] == "2026-07-06"
    other = read_list(SAMPLES / "zz_generated.pricing_aws.go", None, ListFacts(region="us-east-2"))
    assert set(amounts(other, "karpenter-us-east-2")) == {"instances/m7i.large"}


def test_prices_of_china_are_in_yuan(tmp_path: Path) -> None:
    text = (SAMPLES / "zz_generated.pricing_aws.go").read_text().replace("us-east-2", "cn-north-1").replace("AWS", "CN")
    (tmp_path / "zz_generated.pricing_aws_cn.go").write_text(text)
    found = read_list(tmp_path / "zz_generated.pricing_aws_cn.go", None, ListFacts(region="cn-north-1"))
    assert found.lists["karpenter-cn-north-1"]["currency"] == "CNY"


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


def test_netflixs_drives_have_their_rates_in_parallel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = read_list(SAMPLES / "netflix_shapes.json", None, ON_A_DAY)
    use(found, tmp_path, monkeypatch)
    found_instance = read_entry("instances", "i4i.4xlarge")
    assert found_instance.local_disks is not None
    disk = found_instance.local_disks.disk
    assert isinstance(disk, SsdSpec)
    assert (disk.reads_per_s, disk.writes_per_s, disk.write_latency_us) == (
        400_000,
        220_000,
        pytest.approx(23.03, rel=1e-3),
    )
    assert found_instance.network_gbit_per_s == pytest.approx(9.375)
    assert found_instance.cpu.relative_speed == pytest.approx(3.5 * 1.15 * 1.67, rel=1e-3)
    assert found_instance.vcpus == 16


def test_netflixs_prices_of_a_year_are_of_an_hour_and_a_month_here() -> None:
    found = read_list(SAMPLES / PRICES_OF_A_YEAR, None, ON_A_DAY)
    reserved = found.lists["netflix-us-east-1-3-years-reserved"]
    assert reserved["term"] == "3 years reserved"
    assert amounts(found, "netflix-us-east-1-3-years-reserved")["instances/m6id.xlarge"] == pytest.approx(781.66 / 8760)
    rows = found.lists["netflix-us-east-1-volumes"]["rows"]
    assert {"part": "volumes/gp3", "amount": 0.08, "per": "gib_month"} in rows
    assert {"part": "volumes/gp3", "amount": 0.005, "per": "request_per_s_month", "above": 3000} in rows
    steps = [row.get("above", 0) for row in rows if row["part"] == "volumes/io2" and row["per"] != "gib_month"]
    assert steps == [0, 32_000, 64_000, 160_000]
    drives = read_list(SAMPLES / "netflix_drives.json", None, ON_A_DAY)
    assert drives.volumes["netflix-gp2"]["write_latency_us"] == 2000
    assert [names for reason, names in drives.left_out.items() if "rules" in reason] == [["aurora"]]


def test_cloudspecs_has_several_clouds_and_a_list_for_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = read_list(SAMPLES / "cloudspecs.csv", None, ON_A_DAY)
    assert {name: each["region"] for name, each in found.lists.items()} == {
        "cloudspecs-aws": "us-east-1", "cloudspecs-hetzner": "fsn1",
    }  # fmt: skip
    use(found, tmp_path, monkeypatch)
    small, storage, other = (read_entry("instances", name) for name in ("m7i.large", "i4i.8xlarge", "ccx33"))
    assert small.volume_mib_per_s == pytest.approx(0.65e9 / 8 / 2**20, rel=1e-6)
    assert small.volume_burst_s == 1800
    assert storage.local_disks is not None
    disks = storage.local_disks
    assert (disks.count, disks.disk.capacity_gib) == (2, pytest.approx(3750e9 / 2**30, rel=1e-6))
    assert isinstance(disks.disk, SsdSpec)
    assert disks.disk.reads_per_s == 400_000
    assert other.cpu.relative_speed == pytest.approx(3.5 * 1.67, rel=0.01)
    assert set(found.left_out) == {"has accelerators", "no longer current"}


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
DRIVES, SHAPE = ("us-east-1", "drives"), ("instances", "i4i.large")
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
    ("netflix_shapes.json", put(*SHAPE, "cpu", value=3), "got 3 with 1 cores; expected one or two"),
    ("netflix_shapes.json", put(*SHAPE, "drive", "read_io_latency_ms", "mid", value=125),
     "read_io_latency_ms: got 0.1, 125, 0.17; expected low, mid, high in this order"),
    ("netflix_shapes.json", put(*SHAPE, "ram_gib", value=True), "ram_gib: got true; expected a number"),
    ("netflix_shapes.json", put("instants", value={}), "instants: got an unknown key; expected instances, drives"),
    (PRICES_OF_A_YEAR, put("us-east-1", "instances", "m6id.xlarge", "annual_cost", value=1e9),
     "annual_cost: got 1e+09; expected a number above 0, at most 8.76e+07"),
    (PRICES_OF_A_YEAR, put(*DRIVES, "gp3", "annual_cost_per_write_io", value=[[3000, 1]]),
     "annual_cost_per_write_io: got [[3000, 1]]; expected as for reads"),
    (PRICES_OF_A_YEAR, put(*DRIVES, "gp2", "monthly_cost_per_gib", value=0.1),
     "gp2.monthly_cost_per_gib: got an unknown key; expected annual_cost_per_gib"),
    (PRICES_OF_A_YEAR, put(*DRIVES, "gp2", "annual_cost_per_gib", value=[[5, 1], [3, 2]]),
     "expected steps that rise"),
    ("karpenter.json", put("prices", "m7i.large", value="0,10"), "us-east-1: m7i.large: got '0,10'; expected a"),
    ("karpenter.json", put("prices", "m7i.large", value=-1), "m7i.large: got -1; expected a number above 0"),
    ("karpenter.json", put("prices", "m7i.large", value=20_000), "at most 10000; look whether its unit"),
    ("karpenter.json", put("prices", "large", value=1), "us-east-1: large: got a name without a dot"),
])  # fmt: skip
def test_what_can_be_read_in_two_ways_is_refused(tmp_path: Path, name: str, change: Change, message: str) -> None:
    kind = name.split("_", maxsplit=1)[0].removesuffix(".json").replace("3yr-reserved", "netflix")
    wanted = ListFacts() if kind == "karpenter" else ON_A_DAY
    read_list(changed(tmp_path, name, lambda _: None), kind, wanted)  # the negative twin: unchanged it is read
    with pytest.raises(InputError) as refused:
        read_list(changed(tmp_path, name, change), kind, wanted)
    assert message in str(refused.value)
    assert str(refused.value).startswith(name)


@pytest.mark.parametrize(("name", "old", "new", "message"), [
    ("zz_generated.pricing_aws.go", "0.172000,", "0.172000 +1,", "us-east-1: got"),
    ("zz_generated.pricing_aws.go", '"us-east-2": {', '"us-east-1": {', "a name twice"),
    ("zz_generated.pricing_aws.go", "\t},\n}\n", "", "the map: got"),
    ("zz_generated.pricing_aws.go", "generated at 2026", "made in 26", "doesn't say from when its figures are"),
    ("karpenter.json", '"m7i.xlarge"', '"m7i.large"', "m7i.large: got the name twice in one place"),
    ("karpenter.json", "generated 2026-07-06", "", "add --date YYYY-MM-DD"),
    ("karpenter.json", "us-east-1 on", "on", "names no region; add --region"),
    ("cloudspecs.csv", "vcpus,", "threads,", "the header: got no vcpus; expected the columns instance, ram_gib"),
    ("cloudspecs.csv", "hetzner,ccx33", "hetzner2,ccx33", "line 4: cloud: got 'hetzner2'; expected aws, gcp"),
    ("cloudspecs.csv", ",256.0,32,32.0,16", ",256.0,32,32.0,8", "vcpus: got 32 with 8 cores; expected one or two"),
    ("cloudspecs.csv", ",0.1008,", ',"0,1008",', "price_hour: got '0,1008'; expected a decimal point"),
    ("my-prices.csv", "part,amount", "part;amount", "columns between semicolons; expected commas"),
    ("my-prices.csv", "amount", "price", "the column 'price'"),
    ("my-prices.csv", ",USD,on demand,our", ",EUR,on demand,our", "currency: got EUR and USD; expected one for"),
    ("my-prices.csv", "hour", "year", "rows.0.per: got 'year'"),
    ("my-prices.csv", "instances/m7i.large,", "m7i.large,", "rows.0.part: got 'm7i.large'"),
    ("my-prices.csv", ",currency,term", ",currenty,term", "the column 'currenty' (did you mean 'currency'?)"),
    ("my-machines.csv", "epyc-9354,32", "epyc-9355,32", "unknown name 'epyc-9355' in the catalogue of cpus"),
    ("my-machines.csv", "512 GiB", "512 GB/s", "'GB/s' is a unit of transfer rate, expected memory"),
    ("my-machines.csv", "vm-small,ours", "vm-small,", "line 3: got no provider; expected one in every row"),
    ("my-machines.csv", "vm-small", "rack-7", "rack-7: got two entries of that name"),
])  # fmt: skip
def test_texts_that_are_no_such_list_are_refused(tmp_path: Path, name: str, old: str, new: str, message: str) -> None:
    kinds = {"zz": "karpenter", "karpenter": "karpenter", "cloudspecs": "cloudspecs"}
    kind = kinds.get(name.replace(".", "_").split("_")[0], "csv")
    wanted = ListFacts(region="us-east-1" if name.startswith("zz") else None, date=None if kind == "karpenter" else DAY)
    text = (SAMPLES / name).read_text()
    assert old in text
    (tmp_path / name).write_text(text.replace(old, new, 1))
    with pytest.raises(InputError) as refused:
        read_list(tmp_path / name, kind, wanted)
    assert message in str(refused.value)
    assert str(refused.value).startswith(name)


def test_who_says_the_date_and_the_region() -> None:
    karpenter, prices = SAMPLES / "karpenter.json", SAMPLES / "my-prices.csv"
    with pytest.raises(InputError, match=r"karpenter.json: is of 2026-07-06, --date says 2026-07-13; leave --date out"):
        read_list(karpenter, None, ON_A_DAY)
    assert read_list(karpenter, None, ListFacts(date=dt.date(2026, 7, 6))).lists
    with pytest.raises(InputError, match=r"my-prices.csv: the file doesn't say from when"):
        read_list(prices, None, ListFacts())
    with pytest.raises(InputError, match="term: got 'on demand'; expected 'spot', as --term says"):
        read_list(prices, None, ListFacts(date=DAY, term="spot"))
    with pytest.raises(InputError, match="has prices of 2 regions: us-east-1, us-east-2; add --region"):
        read_list(SAMPLES / "zz_generated.pricing_aws.go", None, ListFacts())
    with pytest.raises(InputError, match="--region: got 'eu-west-1'; allowed: us-east-1, as in the file"):
        read_list(SAMPLES / "ec2instances.json", None, ListFacts(date=DAY, region="eu-west-1"))


def test_files_of_no_known_form_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("hello\n")
    with pytest.raises(InputError, match=r"other.txt: none of the known lists of machines or prices \(karpenter, ec2"):
        read_list(other, None, ON_A_DAY)
    with pytest.raises(InputError, match="--kind: got 'aws'; allowed: karpenter, ec2instances"):
        read_list(other, "aws", ON_A_DAY)
    with pytest.raises(InputError, match=r"nothing.txt: no such file"):
        read_list(tmp_path / "nothing.txt", None, ON_A_DAY)
    database = tmp_path / "cloudspecs.duckdb"
    database.write_bytes(b"\0" * 8 + b"DUCK" + b"\0" * 100)
    with pytest.raises(InputError, match=r"got a DuckDB file; expected CSV; run: duckdb cloudspecs.duckdb -c"):
        read_list(database, None, ON_A_DAY)
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 100_000)
    with pytest.raises(InputError, match=r"deep.json"):
        read_list(deep, "ec2instances", ON_A_DAY)


def test_an_import_replaces_its_own_file_and_nobody_elses(tmp_path: Path) -> None:
    found = read_list(SAMPLES / "my-prices.csv", None, ON_A_DAY)
    (written,) = write_entries(found, tmp_path)
    assert written.count == 4
    assert write_entries(found, tmp_path) == [written]
    written.path.write_text("name: mine\n")
    with pytest.raises(InputError, match=r"my-prices.yaml: is there and no import wrote it; move it"):
        write_entries(found, tmp_path)
    assert written.path.read_text() == "name: mine\n"


def test_a_machine_of_two_lists_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    write_entries(read_list(SAMPLES / "netflix_shapes.json", None, ON_A_DAY), tmp_path)
    write_entries(read_list(SAMPLES / "cloudspecs.csv", None, ON_A_DAY), tmp_path)  # i4i.8xlarge, no size of the first
    with pytest.raises(InputError, match=r"has m7i.large already, as ec2instances.json does; delete that file"):
        write_entries(read_list(SAMPLES / "ec2instances.json", None, ON_A_DAY), tmp_path)
    assert not list((tmp_path / "instances").glob("ec2instances-*"))
