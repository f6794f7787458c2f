"""Machines from one line of description: `read_description` gives the scenario and where each of its values is from."""

from oltpsim.models.reading.one_line.description import Description, read_description
from oltpsim.models.reading.one_line.pieces import Origin
