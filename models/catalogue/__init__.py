"""The catalogue: parts for sale, by name, with their sources and prices."""

from models.catalogue.check import (
    chassis_specs,
    entry_faults,
    instance_specs,
    price_list,
    read_entry,
    volume_specs,
    without_price,
    without_shape,
)
from models.catalogue.cloud_names import DEFAULT_VOLUMES, instance_named, read_volume
from models.catalogue.composition import CATALOGUED_KEYS, expand_names, read_with_base, with_setting
from models.catalogue.entries import CATALOGUE_KINDS, catalogue_entry, catalogue_names, catalogue_places, shadowed_names
from models.catalogue.prices import PriceList, PriceRow, Prices, PriceUnit, is_old
from models.catalogue.processors import (
    FamilySpec,
    ProcessorPhrase,
    catalogued_cpu,
    processor_families,
    processor_family,
    read_processors,
)
from models.catalogue.shape_specs import ChassisSpec, InstanceSpec, ProcessorChoice, VolumeSpec
