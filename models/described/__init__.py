"""Machines from one line of description: `described` gives the scenario and where each of its values is from."""

from __future__ import annotations

from models.described.description import Description, described
from models.described.row import Row

__all__ = ["Description", "Row", "described"]
