"""Families of processors: speed of a core for each GHz, and the processors of the table by their family and clocks."""

import math
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from pydantic import Field

from oltpsim.models.input import (
    Fraction,
    Name,
    Number,
    Spec,
    Text,
    WholeNumber,
    as_mapping,
    did_you_mean,
    parse_yaml,
    validated,
)
from oltpsim.simulator.errors import InputError

EFFICIENT_SHARE = 0.55
"""speed of an efficient core by a fast one's (assumption: three quarters of its clock and of its work per clock)"""
ANY_CLOCK_FACTOR = 1.2
"""added to a family's factor where a line says a clock and no number: base or turbo, and of which model"""
USUAL_TURBO = 1.35
"""median of the turbo clock by the base clock in the table of processors"""


class FamilySpec(Spec):
    """Processors of one architecture, whose speed follows the clock."""

    names: tuple[Name, ...] = Field(min_length=1)
    speed_per_ghz: Number = Field(gt=0)
    factor: Number = Field(gt=1)
    year: WholeNumber
    lines: dict[Name, WholeNumber] = Field(default_factory=dict)
    """first year of each line of products (xeon, epyc), for lines that say a year and no number"""
    cores: WholeNumber = Field(ge=1)
    threads_per_core: WholeNumber = Field(default=1, ge=1, le=2)
    second_thread_gain: Fraction = 0.2
    memory_bus_share: Fraction = 0.0
    held_share: Fraction = 0.0
    """share of the way from the base clock to the turbo clock that all cores hold together under load"""
    source: Text

    def at_clock(self, ghz: float) -> tuple[float, float]:
        """Speed of a core of which only a clock is known, taken for the base clock, and one standard deviation."""
        held = 1.0 + self.held_share * (USUAL_TURBO - 1.0)
        unknown = math.log(ANY_CLOCK_FACTOR) if self.held_share else 0.0
        return round(self.speed_per_ghz * ghz * held, 3), math.exp(math.hypot(math.log(self.factor), unknown))


@cache
def processor_families() -> dict[str, FamilySpec]:
    """Families of processors, by name."""
    where = "models/catalogue/data/processor_families.yaml"
    text = (
        resources.files("oltpsim.models").joinpath("catalogue/data/processor_families.yaml").read_text(encoding="utf-8")
    )
    return validated(dict[str, FamilySpec], as_mapping(parse_yaml(text, where), where), where)


class ProcessorRow(Spec):
    """A processor of a table, as its maker sells it."""

    name: Name
    model: Name
    cores: WholeNumber = Field(ge=1)
    threads: WholeNumber = Field(ge=1)
    base_ghz: Number = Field(gt=0)
    turbo_ghz: Number = Field(gt=0)
    all_core_ghz: Number | None = Field(default=None, gt=0, description="held by all cores; absent: by the family")
    efficient_cores: WholeNumber = Field(default=0, ge=0)
    year: WholeNumber
    family: Name
    source: Text


def listed_cpu(keys: Mapping[str, Any], where: str) -> dict[str, Any]:
    """A processor of a table as keys of a cpu: at the turbo clock with one core busy, at the held clock with all.

    Efficient cores count as cores without second threads. Raises InputError for a family that isn't there.
    """
    row: ProcessorRow = validated(ProcessorRow, dict(keys), where)
    if row.family not in processor_families():
        raise InputError(f"{where}: family: got {row.family!r}{did_you_mean(row.family, processor_families())}")
    family = processor_families()[row.family]
    held = row.all_core_ghz or row.base_ghz + family.held_share * (row.turbo_ghz - row.base_ghz)
    mean = held * (1.0 - (1.0 - EFFICIENT_SHARE) * row.efficient_cores / row.cores)
    clocks = f"{row.turbo_ghz:g} GHz with one core busy, {held:.3g} with all"
    return {
        "model": f"{row.model}, {row.base_ghz:g} GHz",
        "cores": row.cores,
        "relative_speed": float(f"{family.speed_per_ghz * row.turbo_ghz:.4g}"),
        "threads_per_core": 2 if row.threads == 2 * row.cores else 1,
        "second_thread_gain": family.second_thread_gain,
        "all_core_clock_fraction": float(f"{min(mean / row.turbo_ghz, 1.0):.4g}"),
        "source": f"{clocks}, x {family.speed_per_ghz:g} for each GHz of {row.family}: {family.source}. {row.source}",
    }
