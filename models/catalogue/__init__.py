"""The catalogue: parts for sale, by name, with their sources and prices."""

from models.catalogue.check import (
    chassis,
    entry_faults,
    instances,
    price_list,
    read_entry,
    volumes,
    without_price,
    without_shape,
)
from models.catalogue.composition import CATALOGUED, compose, override, read_with_base
from models.catalogue.entries import (
    CATALOGUE_KINDS,
    catalogue_entry,
    catalogue_names,
    catalogue_places,
    shadowed_names,
)
from models.catalogue.prices import OLD_AFTER_DAYS, Per, PriceList, PriceRow, Prices, is_old
from models.catalogue.processors import (
    FamilySpec,
    ProcessorPhrase,
    catalogued_cpu,
    families,
    family_of,
    read_processors,
)
from models.catalogue.shape_specs import ChassisSpec, InstanceSpec, ProcessorChoice, VolumeSpec
