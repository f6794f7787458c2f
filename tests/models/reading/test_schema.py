"""The schema that editors use: current, and of one mind with the loader."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from oltpsim.models.catalogue import CATALOGUED_KEYS, catalogue_names
from oltpsim.models.reading import scenario_schema
from oltpsim.models.reading.schema import schema_text

ROOT = Path(__file__).resolve().parents[3]
SCENARIOS = [*sorted((ROOT / "scenarios" / "library").glob("*.yaml")), ROOT / "tests" / "scenarios" / "tiny.yaml"]
Change = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = scenario_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_schema_file_is_current() -> None:
    file = ROOT / "docs" / "reference" / "scenario.schema.json"
    assert file.read_text(encoding="utf-8") == schema_text(), "run `python -m models.reading.schema`"


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_scenario_files_follow_the_schema(path: Path, validator: jsonschema.Draft202012Validator) -> None:
    assert [error.message for error in validator.iter_errors(yaml.safe_load(path.read_text(encoding="utf-8")))] == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("machine.memory_gib", "16 GiB"),
        ("machine.cpu", "opteron-244"),
        ("machine.cpu", {"base": "opteron-244", "cores": 8}),
        ("machine.disks.disk", {"base": "nvme", "capacity_gib": "2 TiB"}),
        ("machine.log_disk", "sata-ssd"),
        ("machine.log_disk", {"base": "nvme", "capacity_gib": 100}),
        ("machine.log_disk", None),
        ("workload.layout", "tpcc-8k"),
        ("workload", {"base": "virtuoso-tpcc", "warehouses": 10}),
        ("workload.arrivals", {"kind": "open", "transactions_per_s": 10, "connections": 5}),
        ("base", "v20z"),
        ("notes", ["one"]),
    ],
)
def test_what_a_file_may_say(key: str, value: Any, changed: Change, validator: jsonschema.Draft202012Validator) -> None:
    assert [error.message for error in validator.iter_errors(changed(key, value))] == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("machin", {}),
        ("machine.memory_gb", 2),
        ("machine.cpu", "opteron-245"),
        ("machine.cpu.coers", 2),
        ("machine.cpu.cores", "two"),
        ("machine.cpu.cores", 0),
        ("machine.disks.disk", {"base": "nvme", "rmp": 7200}),
        ("machine.network.clients_on_server", 5),
        ("database.pool.replacement", "lur"),
        ("workload.layout", "tpcc-4k"),
        ("workload.arrivals", {"kind": "opne"}),
        ("interval.start", "hot"),
        ("base", 3),
    ],
)
def test_what_a_file_may_not_say(
    key: str, value: Any, changed: Change, tiny: dict[str, Any], validator: jsonschema.Draft202012Validator
) -> None:
    assert validator.is_valid(tiny)
    if key.startswith("machine.network"):
        assert not validator.is_valid({**tiny, "machine": {**tiny["machine"], "network": {"clients_on_server": value}}})
        return
    assert not validator.is_valid(changed(key, value))


def test_every_catalogued_place_offers_its_names() -> None:
    schema = scenario_schema()
    definitions = {**schema["$defs"], "ScenarioSpec": schema}
    kinds = {"machine.disks.disk": "disks", "machine.log_disk": "disks", "workload.layout": "layouts",
             "machine.cpu": "cpus", "machine": "machines", "workload": "workloads", "database": "databases",
             "operating_system": "operating_systems"}  # fmt: skip
    owners = {"machine.disks.disk": "DiskArraySpec", "machine.log_disk": "MachineSpec", "machine.cpu": "MachineSpec",
              "workload.layout": "TpccWorkloadSpec"}  # fmt: skip
    assert kinds == CATALOGUED_KEYS
    for path, kind in kinds.items():
        owner = owners.get(path, "ScenarioSpec")
        offered = definitions[owner]["properties"][path.rpartition(".")[2]]["anyOf"][0]
        known = catalogue_names(kind) + (catalogue_names("instances") if kind == "machines" else [])
        if len(known) < 100:
            assert offered["enum"] == known, path
        validator = jsonschema.Draft202012Validator(offered)
        assert all(validator.is_valid(name) for name in known[::7]), path
        assert not any(validator.is_valid(name) for name in ("none", f"{known[0]}0x", "epyk-7763", "zeon-gold-6230"))


def test_quantities_are_numbers_or_text_and_nothing_is_required() -> None:
    text = json.dumps(scenario_schema())
    assert '"required"' not in text
    memory = scenario_schema()["$defs"]["MachineSpec"]["properties"]["memory_gib"]
    assert {"type": "number"} in memory["anyOf"]
    assert {"type": "string"} in memory["anyOf"]
