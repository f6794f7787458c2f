"""Names, bases and overrides: what stands where after a scenario has been put together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oltpsim.models.catalogue import catalogue_entry, expand_names, read_with_base, with_setting
from oltpsim.models.catalogue.composition import merged
from oltpsim.models.reading import load_scenario, scenario_from_mapping
from oltpsim.models.workloads import OpenArrivalsSpec
from oltpsim.scenarios.library import load_scenario_file
from oltpsim.simulator.errors import InputError

Write = Callable[..., str]
Refused = Callable[..., list[str]]

MAPPINGS = st.recursive(
    st.integers() | st.text(max_size=3),
    lambda below: st.dictionaries(st.sampled_from("abcd"), below, max_size=3),
    max_leaves=8,
)


OPEN = ("workload.arrivals.kind=open", "workload.arrivals.transactions_per_s=300/s", "workload.arrivals.connections=50")


def test_merging_goes_key_by_key() -> None:
    base = {"a": 1, "b": {"c": 2, "d": 3}, "e": [1, 2]}
    assert merged(base, {"b": {"d": 4}, "e": [3], "f": 5}) == {"a": 1, "b": {"c": 2, "d": 4}, "e": [3], "f": 5}
    assert base == {"a": 1, "b": {"c": 2, "d": 3}, "e": [1, 2]}, "what came in is left alone"


def test_another_kind_replaces_the_whole() -> None:
    assert merged({"kind": "closed", "clients": 5}, {"kind": "open", "connections": 2}) == {
        "kind": "open",
        "connections": 2,
    }
    assert merged({"kind": "closed", "clients": 5}, {"kind": "closed"}) == {"kind": "closed", "clients": 5}


@given(MAPPINGS, MAPPINGS)
def test_merging_twice_is_merging_once(first: Any, second: Any) -> None:
    assert merged(first, first) == first
    assert merged(first, {}) == (first if isinstance(first, dict) else {})
    assert merged(merged(first, second), second) == merged(first, second)
    if isinstance(first, dict) and isinstance(second, dict):
        assert set(merged(first, second)) == set(first) | set(second)


def test_a_name_stands_for_its_entry() -> None:
    assert expand_names("opteron-244", "here", "machine.cpu") == catalogue_entry("cpus", "opteron-244")
    machine = expand_names("sunfire-v20z", "here", "machine")
    assert machine["cpu"]["model"] == catalogue_entry("cpus", "opteron-244")["model"]
    assert machine["disks"]["disk"]["rpm"] == catalogue_entry("disks", "scsi-10k-73")["rpm"]
    assert expand_names("opteron-244", "here", "machine.name") == "opteron-244", "no name of a part belongs there"


def test_a_base_with_changes() -> None:
    cpu = expand_names({"base": "opteron-244", "cores": 8}, "here", "machine.cpu")
    assert cpu == {**catalogue_entry("cpus", "opteron-244"), "cores": 8}
    machine = expand_names({"base": "sunfire-v20z", "disks": {"count": 3}}, "here", "machine")
    assert machine["disks"]["count"] == 3
    assert machine["disks"]["disk"]["rpm"] == 10_000
    machine = expand_names({"base": "sunfire-v20z", "disks": {"disk": "nvme"}}, "here", "machine")
    assert machine["disks"]["disk"] == catalogue_entry("disks", "nvme")


@pytest.mark.parametrize(
    ("key", "data", "sentence"),
    [
        ("machine", "sunfire-v20", "here: machine: unknown name 'sunfire-v20' in the catalogue of machines (did you"),
        ("machine", {"cpu": "opteron"}, "here: machine.cpu: unknown name 'opteron'"),
        ("machine", {"base": "v20z"}, "here: machine: unknown name 'v20z'"),
        ("machine", {"base": ["x"]}, "here: machine: unknown name"),
        ("workload", {"layout": {"base": "tpcc-64k"}}, "here: workload.layout: unknown name 'tpcc-64k' in the catal"),
    ],
)
def test_unknown_names_say_where_and_what_is_near(key: str, data: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        expand_names(data, "here", key)
    assert str(caught.value).startswith(sentence)
    assert "known: " in str(caught.value) or "`oltpsim catalog list " in str(caught.value)


def test_a_file_over_another(tiny_text: str, scenario_file: Write) -> None:
    measured = '\nmeasured: {new_orders_per_minute: 5, role: fitted, source: "assumption: x"}\nnotes: [one]\n'
    scenario_file(tiny_text + measured, "below.yaml")
    path = scenario_file("base: below\nname: above\nmachine: {cpu: {cores: 4}, disks: {disk: nvme}}\n", "above.yaml")
    scenario = load_scenario(path)
    assert (scenario.name, scenario.machine.cpu.cores, scenario.machine.cpu.model) == ("above", 4, "one core")
    assert scenario.machine.disks.disk.kind == "ssd"
    assert scenario.measured is None, "a figure belongs to the scenario that it was measured on"
    assert scenario.notes == ()
    top = load_scenario(scenario_file("base: above.yaml\nmachine: {memory_gib: 2}\n", "top.yaml"))
    assert (top.machine.cpu.cores, top.machine.memory_gib) == (4, 2)


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"a": "base: a\n"}, "a.yaml: base: the files name each other in a circle or a long chain: a.yaml -> a.yaml"),
        ({"a": "base: b\n", "b": "base: a\n"}, "circle or a long chain: a.yaml -> b.yaml -> a.yaml"),
        ({"a": "base: smaler\n", "smaller": "name: x\n"}, "smaler.yaml (did you mean 'smaller'?)"),
        ({"a": "base: [b]\n"}, "a.yaml: base: got ['b']; expected the name of a scenario file in the same folder"),
        ({"a": "base:\n"}, "a.yaml: base: got nothing; expected the name of a scenario file in the same folder"),
        ({"a": "base: b\n", "b": "- x\n"}, "b.yaml: got a list; expected keys with values"),
        ({"a": "base: b\n", "b": "machine: v20z\n"}, "b.yaml: machine: unknown name 'v20z'"),
        ({"a": "base: b\nmachine: v20z\n", "b": "name: x\n"}, "a.yaml: machine: unknown name 'v20z'"),
    ],
)
def test_bases_that_lead_nowhere(files: dict[str, str], sentence: str, scenario_file: Write, refused: Refused) -> None:
    paths = {name: scenario_file(text, f"{name}.yaml") for name, text in files.items()}
    (line,) = refused("run", paths["a"])
    assert sentence in line


def test_a_base_may_be_of_the_library_and_a_file_beside_it_goes_first(
    tiny_text: str, scenario_file: Write, refused: Refused, accepted: Callable[..., None]
) -> None:
    shipped = Path(__file__).resolve().parents[3] / "scenarios" / "library" / "v20z-10-warehouses.yaml"
    copied = scenario_file(shipped.read_bytes(), "mine.yaml")
    above = scenario_file("base: mine\nname: above\n", "above.yaml")
    assert load_scenario_file(Path(copied)) == load_scenario(shipped)
    assert load_scenario_file(Path(above)).workload == load_scenario(shipped).workload
    accepted("sweep", copied, "--vary", "machine.disks.count=1", "--workers", "1")
    assert load_scenario_file(Path(scenario_file("base: v20z.yaml\n", "over.yaml"))).machine.name == "SunFire V20z"
    (line,) = refused("run", scenario_file("base: v20x\n", "wrong.yaml"))
    assert "did you mean 'v20z'" in line
    scenario_file(tiny_text, "v20z.yaml")
    assert load_scenario_file(Path(scenario_file("base: v20z.yaml\n", "over.yaml"))).name == "tiny"


def test_a_long_chain_of_bases_is_refused(tiny_text: str, scenario_file: Write, refused: Refused) -> None:
    scenario_file(tiny_text, "s0.yaml")
    paths = [scenario_file(f"base: s{number}\n", f"s{number + 1}.yaml") for number in range(20)]
    assert load_scenario(paths[7]).name == "tiny"
    (line,) = refused("run", paths[19])
    assert "in a circle or a long chain" in line


def test_overrides_set_one_key_and_leave_the_rest(tiny: dict[str, Any]) -> None:
    changed = with_setting(tiny, "machine.cpu.cores=8")
    assert changed["machine"]["cpu"] == {**tiny["machine"]["cpu"], "cores": 8}
    assert tiny["machine"]["cpu"]["cores"] == 1
    assert {key: value for key, value in changed.items() if key != "machine"} == {
        key: value for key, value in tiny.items() if key != "machine"
    }


def test_overrides_reach_into_parts_that_a_file_leaves_to_their_defaults(scenario_file: Write, tiny_text: str) -> None:
    path = scenario_file(tiny_text, "tiny.yaml")
    assert load_scenario(path).machine.network.clients_on_server
    assert not load_scenario(path, ["machine.network.clients_on_server=false"]).machine.network.clients_on_server
    with pytest.raises(InputError, match=r"--set machine\.netwrok\.x=1: machine\.netwrok: unknown key .*'network'"):
        load_scenario(path, ["machine.netwrok.x=1"])


@pytest.mark.parametrize(
    ("setting", "key", "value"),
    [
        ("machine.memory_gib=16 GiB", "memory_gib", 16.0),
        ("machine.memory_gib=1.5", "memory_gib", 1.5),
        ("machine.name=a = b", "name", "a = b"),
        ("machine.log_disk=nvme", "log_disk", "NVMe SSD"),
        ("machine.network.clients_on_server=false", "network", False),
        (" machine.memory_gib = 4", "memory_gib", 4.0),
    ],
)
def test_overrides_are_yaml_and_may_name_parts(setting: str, key: str, value: Any, tiny: dict[str, Any]) -> None:
    data = {**tiny, "machine": {**tiny["machine"], "network": {"clients_on_server": False, "round_trip_us": 100}}}
    got = getattr(scenario_from_mapping(data, "tiny", [setting]).machine, key)
    assert {"log_disk": lambda: got.name, "network": lambda: got.clients_on_server}.get(key, lambda: got)() == value


def test_setting_another_kind_drops_the_keys_of_the_old_one(tiny: dict[str, Any]) -> None:
    arrivals = scenario_from_mapping(tiny, "tiny", OPEN).workload.arrivals
    assert arrivals == OpenArrivalsSpec(transactions_per_s=300, connections=50)
    same = scenario_from_mapping(tiny, "tiny", ["workload.arrivals.kind=closed"]).workload.arrivals
    assert same == scenario_from_mapping(tiny, "tiny").workload.arrivals
    with pytest.raises(InputError, match=r"machine\.kind: unknown key"):
        scenario_from_mapping(tiny, "tiny", ["machine.kind=open"])


def test_later_overrides_win_and_measured_figures_are_dropped(tiny: dict[str, Any]) -> None:
    data = {**tiny, "measured": {"new_orders_per_minute": 5, "role": "fitted", "source": "assumption: x"}}
    assert scenario_from_mapping(data, "tiny").measured is not None
    scenario = scenario_from_mapping(data, "tiny", ["machine.cpu.cores=2", "machine.cpu.cores=3"])
    assert scenario.machine.cpu.cores == 3
    assert scenario.measured is None, "a changed machine is another machine"


def test_a_library_scenario_says_the_same_read_twice() -> None:
    path = Path(__file__).resolve().parents[3] / "scenarios" / "library" / "v20z.yaml"
    assert read_with_base(path) == read_with_base(path)
    assert load_scenario(path) == load_scenario(path)


def rented(**machine: Any) -> dict[str, Any]:
    return expand_names({"machine": {"instance": "m7i.large", **machine}}, "here")["machine"]  # type: ignore[no-any-return]


def test_a_machine_is_a_rented_instance_with_the_caps_of_its_volumes() -> None:
    machine = rented(disks={"disk": {"volume": "gp3", "size_gib": "100 GiB", "requests_per_s": 6000}}, memory_gib=4)
    assert machine["cpu"]["cores"] == 1
    assert machine["memory_gib"] == 4, "changes go over the instance"
    assert [limit["per_s"] for limit in machine["volume_limits"]] == [3600, pytest.approx(77.486, rel=1e-4)]
    disk = machine["disks"]["disk"]
    assert (disk["kind"], disk["capacity_gib"]) == ("flash", 100)
    assert [limit["per_s"] for limit in disk["limits"]] == [6000, 125]
    assert expand_names({"instance": "i4i.large"}, "here", "machine")["disks"]["count"] == 1


@pytest.mark.parametrize(
    ("volume", "fault"),
    [
        (
            {"volume": "gp3", "size_gib": 5, "requests_per_s": 2500},
            "gp3: 2500 requests/s for a volume of 5 GiB; allowed: 3000",
        ),
        ({"volume": "gp4", "size_gib": 5}, "machine.disks.disk: unknown name 'gp4' in the catalogue of volumes"),
        ({"volume": "gp3"}, "machine.disks.disk: size_gib: missing"),
        ({"volume": "azure-p10", "size_gib": 500}, "azure-p10: a volume of 500 GiB; allowed: 65 to 128 GiB"),
    ],
)
def test_a_volume_that_isnt_for_sale_is_refused_with_what_is(volume: dict[str, Any], fault: str) -> None:
    with pytest.raises(InputError) as refused:
        rented(disks={"disk": volume})
    assert fault in str(refused.value)
