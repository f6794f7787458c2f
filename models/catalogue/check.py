"""Entries of the catalogue as specs, and whether they are what their kind must be, with a source."""

import datetime as dt
from pathlib import Path
from typing import Any

from oltpsim.models.catalogue.composition import PLACES, expand_names
from oltpsim.models.catalogue.entries import catalogue_entry, catalogue_names, catalogue_places
from oltpsim.models.catalogue.prices import PriceList
from oltpsim.models.catalogue.shape_specs import ChassisSpec, InstanceSpec, VolumeSpec
from oltpsim.models.database import DatabaseSpec
from oltpsim.models.input import did_you_mean, read_mapping, validated
from oltpsim.models.machine import CpuSpec, DiskSpec, MachineSpec
from oltpsim.models.operating_system import OperatingSystemSpec
from oltpsim.models.workloads import AnyWorkloadSpec, LayoutSpec
from oltpsim.simulator.errors import InputError

SPECS: dict[str, Any] = {
    "machines": MachineSpec,
    "cpus": CpuSpec,
    "disks": DiskSpec,
    "operating_systems": OperatingSystemSpec,
    "databases": DatabaseSpec,
    "workloads": AnyWorkloadSpec,
    "layouts": LayoutSpec,
    "instances": InstanceSpec,
    "volumes": VolumeSpec,
    "chassis": ChassisSpec,
    "prices": PriceList,
}
"""What the entries of each kind are."""
ENTRIES_WITH_A_PRICE = ("machines", "cpus", "disks", "instances", "volumes", "chassis")
"""Parts of price lists that are entries; the others, memory and controllers, are named by a chassis."""
NO_SOURCE = {"", "tbd", "todo", "?", "none", "unknown"}


def read_entry(kind: str, name: str) -> Any:
    """An entry as the spec of its kind, with the parts that it names. Raises InputError, one line for each problem."""
    return checked(kind, catalogue_entry(kind, name), _where(kind, name))


def checked(kind: str, entry: dict[str, Any], where: str) -> Any:
    """An entry's keys, wherever they are from, as the spec of its kind; raises as `read_entry`."""
    place = next(path for path, item in PLACES.items() if item == kind)
    return validated(SPECS[kind], expand_names(entry, where, place), where)


def entry_faults(kind: str, name: str) -> list[str]:
    """What is wrong with an entry, a line each; empty if nothing is."""
    try:
        source = read_entry(kind, name).source
    except InputError as error:
        return str(error).splitlines()
    if source.strip().lower().rstrip(".") in NO_SOURCE:
        return [f"{_where(kind, name)}: source: got {source!r}; say where the figures come from, or 'assumption: ...'"]
    if kind == "prices":
        return price_faults(name)
    return chassis_faults(name) if kind == "chassis" else []


def price_faults(name: str) -> list[str]:
    """Parts that a price list has and the catalogue doesn't, a line each. The list itself must be valid.

    Cloud machines are none: a provider's list of prices has hundreds whose shapes nobody needs (`without_shape`).
    """
    known = {f"{kind}/{item}" for kind in ENTRIES_WITH_A_PRICE for item in catalogue_names(kind)} | _parts_of_chassis()
    prices = read_entry("prices", name)
    today = dt.date.today()  # noqa: DTZ011 - a day of the calendar
    early = f"{_where('prices', name)}: date: got {prices.date}, which is still to come; give the day when they held"
    return [early] * (prices.date > today) + [
        f"{_where('prices', name)}: {row.part}: no such part{did_you_mean(row.part, known)}; allowed: an entry of "
        f"{', '.join(ENTRIES_WITH_A_PRICE)}, or memory and controllers that a chassis names"
        for row in prices.rows
        if row.part not in known and not row.part.startswith("instances/")
    ]


UNPRICED = frozenset(f"volumes/{name}" for name in ("st1", "rds-gp3", "pd-ssd", "hyperdisk-balanced"))
"""volumes without a source of a price: not in plans"""


def without_shape() -> list[str]:
    """Cloud machines that price lists have and the catalogue doesn't."""
    known = {f"instances/{name}" for name in catalogue_names("instances")}
    return sorted(part for part in _priced_parts() - known if part.startswith("instances/"))


def without_price() -> list[str]:
    """What is for sale, and parts of chassis, that no price list knows: they can't be in a plan.

    The program's cloud machines without a price, and volumes of providers without one, are there to be described.
    """
    priced = _priced_parts()
    sold = {f"chassis/{name}" for name in catalogue_names("chassis")} | _parts_of_chassis()
    sold |= {f"instances/{name}" for name, place in catalogue_places("instances").items() if place.own}
    providers = {name: volume.provider for name, volume in volume_specs().items()}
    selling = {provider for name, provider in providers.items() if f"volumes/{name}" in priced}
    sold |= {f"volumes/{name}" for name, provider in providers.items() if provider in selling}
    return sorted(sold - priced - UNPRICED)


def _priced_parts() -> set[str]:
    return {row.part for name in catalogue_names("prices") for row in read_entry("prices", name).rows}


def _parts_of_chassis() -> set[str]:
    parts: set[str] = set()
    for spec in chassis_specs().values():
        parts |= {f"cpus/{item.cpu}" for item in spec.processors} | {f"memory/{item.module}" for item in spec.memory}
        parts |= {f"disks/{item.disk}" for item in spec.disks} | {f"disks/{item}" for item in spec.log_disks}
        parts |= {f"controllers/{item.controller}" for item in spec.disks if item.controller}
    return parts


def chassis_faults(name: str) -> list[str]:
    """Processors and disks that a chassis names and the catalogue doesn't have, a line each."""
    spec: ChassisSpec = read_entry("chassis", name)
    disks = [item.disk for item in spec.disks] + list(spec.log_disks)
    named = [("cpus", item.cpu) for item in spec.processors] + [("disks", item) for item in disks]
    return [
        f"{_where('chassis', name)}: unknown name {item!r} in the catalogue of {kind}"
        f"{did_you_mean(item, catalogue_names(kind))}"
        for kind, item in named
        if item not in catalogue_names(kind)
    ]


def _where(kind: str, name: str) -> str:
    place = catalogue_places(kind).get(name)
    if place is None:
        return f"models/catalogue/data/{kind}/{name}.yaml"
    return f"{place.where}: {name}" if place.in_table else place.where


def volume_specs() -> dict[str, VolumeSpec]:
    """All kinds of network volumes by their names. Raises InputError, as all here do."""
    return {name: read_entry("volumes", name) for name in catalogue_names("volumes")}


def chassis_specs() -> dict[str, ChassisSpec]:
    """All chassis by their names."""
    return {name: read_entry("chassis", name) for name in catalogue_names("chassis")}


def price_list(name_or_path: str | Path) -> PriceList:
    """A price list of the catalogue, or of a YAML file if the name ends in .yaml."""
    text = str(name_or_path)
    is_file = text.endswith((".yaml", ".yml"))
    listed = checked("prices", read_mapping(Path(text)), Path(text).name) if is_file else read_entry("prices", text)
    assert isinstance(listed, PriceList)
    return listed
