"""Scenario files and descriptions: reading, checking, the schema."""

from models.reading.assumptions import assumed
from models.reading.consistency import SPARE_BUFFERS, check, room_faults
from models.reading.loading import load_scenario, scenario_from_mapping
from models.reading.one_line import Description, Origin, described
from models.reading.quick import Questions, quantity, scenario_of
from models.reading.schema import scenario_schema
from models.reading.values import continuous_keys, continuous_value, names_a_part, with_values
