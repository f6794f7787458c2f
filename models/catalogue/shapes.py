"""What is for sale, by its name in the catalogue: cloud machines, their volumes, chassis, and price lists."""

from __future__ import annotations

from pathlib import Path

from models.catalogue.check import checked, read_entry
from models.catalogue.entries import catalogue_names
from models.catalogue.price import PriceList
from models.catalogue.shape_specs import ChassisSpec, InstanceSpec, VolumeSpec
from models.input import read_mapping


def instance(name: str) -> InstanceSpec:
    """A cloud machine with its processors and local disks. Raises InputError for an unknown name, as all here do."""
    found: InstanceSpec = read_entry("instances", name)
    return found


def instances() -> dict[str, InstanceSpec]:
    """All cloud machines by their names."""
    return {name: instance(name) for name in catalogue_names("instances")}


def volume(name: str) -> VolumeSpec:
    """A kind of network volume."""
    found: VolumeSpec = read_entry("volumes", name)
    return found


def volumes() -> dict[str, VolumeSpec]:
    """All kinds of network volumes by their names."""
    return {name: volume(name) for name in catalogue_names("volumes")}


def chassis() -> dict[str, ChassisSpec]:
    """All chassis by their names."""
    return {name: read_entry("chassis", name) for name in catalogue_names("chassis")}


def price_list(name_or_path: str | Path) -> PriceList:
    """A price list of the catalogue, or of a YAML file if the name ends in .yaml."""
    text = str(name_or_path)
    found: PriceList = (
        checked("prices", read_mapping(Path(text)), Path(text).name)
        if text.endswith((".yaml", ".yml"))
        else read_entry("prices", text)
    )
    return found


def price_lists() -> dict[str, PriceList]:
    """All price lists of the catalogue by their names."""
    return {name: read_entry("prices", name) for name in catalogue_names("prices")}
