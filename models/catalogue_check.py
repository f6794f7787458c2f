"""Whether an entry of the catalogue is what its kind must be, and says where its figures come from."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter, ValidationError

from models.catalogue import catalogue_entry
from models.composition import CATALOGUED, compose
from models.problems import sentence
from models.specs.database import DatabaseSpec
from models.specs.machine import CpuSpec, DiskSpec, MachineSpec
from models.specs.operating_system import OperatingSystemSpec
from models.specs.workload import LayoutSpec, WorkloadSpec
from simulator.errors import InputError

SPECS: dict[str, Any] = {
    "machines": MachineSpec,
    "cpus": CpuSpec,
    "disks": DiskSpec,
    "operating_systems": OperatingSystemSpec,
    "databases": DatabaseSpec,
    "workloads": WorkloadSpec,
    "layouts": LayoutSpec,
}
"""What the entries of each kind are."""
NO_SOURCE = {"", "tbd", "todo", "?", "none", "unknown"}


def entry_faults(kind: str, name: str) -> list[str]:
    """What is wrong with an entry, a line each; empty if nothing is."""
    where = f"catalog/{kind}/{name}.yaml"
    place = next(path for path, catalogued in CATALOGUED.items() if catalogued == kind)
    try:
        data = compose(catalogue_entry(kind, name), where, place)
    except InputError as error:
        return [str(error)]
    try:
        TypeAdapter(SPECS[kind]).validate_python(data)
    except ValidationError as error:
        return [f"{where}: {sentence(problem, SPECS[kind], data)}" for problem in error.errors()]
    if str(data["source"]).strip().lower().rstrip(".") in NO_SOURCE:
        return [f"{where}: source: got {data['source']!r}; say where the figures come from, or 'assumption: ...'"]
    return []
