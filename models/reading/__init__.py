"""Scenario files and descriptions: reading, checking, the schema."""

from oltpsim.models.reading.consistency import SPARE_BUFFERS, check_consistency, room_faults
from oltpsim.models.reading.loading import load_scenario, scenario_from_mapping
from oltpsim.models.reading.one_line import Description, Origin, read_description
from oltpsim.models.reading.schema import scenario_schema
from oltpsim.models.reading.values import names_a_part, numeric_keys, numeric_value, with_values
