"""Machines from one line of description: `described` gives the scenario and where each of its values is from."""

from models.reading.one_line.description import Description, described
from models.reading.one_line.pieces import Origin
