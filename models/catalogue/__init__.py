"""The catalogue: parts for sale, by name, with their sources and prices."""

from oltpsim.models.catalogue.check import (
    chassis_specs,
    entry_faults,
    price_list,
    read_entry,
    volume_specs,
    without_price,
    without_shape,
)
from oltpsim.models.catalogue.cloud_names import DEFAULT_VOLUMES, instance_named, read_volume, volume_of_service
from oltpsim.models.catalogue.composition import CATALOGUED_KEYS, expand_names, read_with_base, with_setting
from oltpsim.models.catalogue.entries import (
    CATALOGUE_KINDS,
    catalogue_entry,
    catalogue_names,
    catalogue_places,
    shadowed_names,
)
from oltpsim.models.catalogue.families import FamilySpec, processor_families
from oltpsim.models.catalogue.prices import PriceList, PriceRow, Prices, PriceUnit, is_old
from oltpsim.models.catalogue.processors import (
    ProcessorPhrase,
    catalogued_cpu,
    keys_of_threads,
    nearest_processors,
    processor_family,
    read_processors,
    speed_factor,
)
from oltpsim.models.catalogue.shape_specs import ChassisSpec, InstanceSpec, ProcessorChoice, VolumeSpec
