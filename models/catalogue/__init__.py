"""The catalogue: parts for sale, by name, with their sources and prices."""

from models.catalogue.check import checked, entry_faults, read_entry, without_price, without_shape
from models.catalogue.composition import CATALOGUED, compose, override, read_with_base
from models.catalogue.entries import (
    catalogue_entry,
    catalogue_kinds,
    catalogue_names,
    catalogue_places,
    describe,
    shadowed_names,
)
from models.catalogue.price import Per, PriceList, PriceRow
from models.catalogue.prices import OLD_AFTER_DAYS, Prices, is_old
from models.catalogue.processors import FamilySpec, Processors, families, family_of
from models.catalogue.shape_specs import ChassisSpec, InstanceSpec, ProcessorChoice, VolumeSpec
from models.catalogue.shapes import chassis, instances, price_list, volumes

__all__ = [
    "CATALOGUED",
    "OLD_AFTER_DAYS",
    "ChassisSpec",
    "FamilySpec",
    "InstanceSpec",
    "Per",
    "PriceList",
    "PriceRow",
    "Prices",
    "ProcessorChoice",
    "Processors",
    "VolumeSpec",
    "catalogue_entry",
    "catalogue_kinds",
    "catalogue_names",
    "catalogue_places",
    "chassis",
    "checked",
    "compose",
    "describe",
    "entry_faults",
    "families",
    "family_of",
    "instances",
    "is_old",
    "override",
    "price_list",
    "read_entry",
    "read_with_base",
    "shadowed_names",
    "volumes",
    "without_price",
    "without_shape",
]
