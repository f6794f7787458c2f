"""Price lists with date, currency and term: what parts cost, apart from what they do, and which lists are old."""

import datetime as dt
import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, field_validator

from oltpsim.models.input import Name, Number, Spec, Text
from oltpsim.simulator.errors import InputError

OLD_AFTER_DAYS = 365


def _currency(text: str) -> str:
    if not re.fullmatch("[A-Z]{3}", text):
        raise ValueError("must be three capitals of ISO 4217, such as USD")
    return text


Currency = Annotated[str, AfterValidator(_currency)]
"""ISO 4217: USD, EUR"""
PartName = Annotated[str, StringConstraints(pattern=r"^[a-z_]+/[^\s/][^/\n]*$", max_length=200)]
"""what is priced, by kind and name: disks/sata-7200, instances/i4i.large, volumes/gp3, memory/ddr-1gib"""
PriceUnit = Literal["piece", "hour", "month", "gib_month", "request_per_s_month", "mib_per_s_month"]


class PriceRow(Spec):
    """The price of one unit of a part. Several rows of a part and `per` are steps: each counts from `above` on."""

    part: PartName
    amount: Number = Field(ge=0)
    per: PriceUnit = "piece"
    above: Number = Field(default=0.0, ge=0)
    """units that this row isn't for: of a step those below, or what is free"""
    source: Text | None = Field(default=None, description="the list's, if absent")


class PriceList(Spec):
    """Prices of one date. A part that is in it twice with the same `per` and `above` is a mistake."""

    name: Name
    date: dt.date = Field(description="when the prices held")
    currency: Currency
    term: Literal["purchase", "on demand", "1 year reserved", "3 years reserved", "spot"]
    region: Name | None = None
    rows: tuple[PriceRow, ...] = Field(min_length=1)
    source: Text

    @field_validator("rows")
    @classmethod
    def _each_step_once(cls, rows: tuple[PriceRow, ...]) -> tuple[PriceRow, ...]:
        (key, count), *_ = Counter((row.part, row.per, row.above) for row in rows).most_common(1)
        if count > 1:
            part, per, above = key
            raise ValueError(f"{part} per {per} above {above:g} is there {count} times; keep one row of it")
        return rows


@dataclass(frozen=True)
class Prices:
    """Several lists in one currency; where two know a part, the one named first says its price. Raises InputError."""

    lists: tuple[PriceList, ...]

    def __post_init__(self) -> None:
        names = sorted({listed.currency for listed in self.lists})
        if len(names) > 1:
            raise InputError(f"prices: {' and '.join(names)} in one bill; give lists of one currency")

    @property
    def currency(self) -> str:
        """Of all amounts."""
        return self.lists[0].currency if self.lists else "USD"

    def steps(self, part: str, per: PriceUnit) -> tuple[PriceList, tuple[PriceRow, ...]] | None:
        """The rows of a part's price, by `above`, and their list; None if no list has one."""
        for listed in self.lists:
            rows = sorted(
                (row for row in listed.rows if row.part == part and row.per == per), key=lambda row: row.above
            )
            if rows:
                return listed, tuple(rows)
        return None

    def cost(self, part: str, per: PriceUnit, units: float) -> float:
        """What so many units of a part cost; steps are added up. Raises InputError for a part without a price."""
        steps = self.steps(part, per)
        if steps is None:
            raise InputError(
                f"prices: no price of {part} per {per} in {', '.join(listed.name for listed in self.lists)}"
            )
        rows = steps[1]
        ends = [*(row.above for row in rows), max(units, rows[-1].above)]
        return sum(
            row.amount * max(min(units, end) - begin, 0.0)
            for row, (begin, end) in zip(rows, pairwise(ends), strict=True)
        )


def is_old(date: dt.date, today: dt.date) -> bool:
    """Whether prices of a date are from more than a year before."""
    return (today - date).days > OLD_AFTER_DAYS
