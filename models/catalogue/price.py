"""What parts cost, apart from what they do: price lists with date, currency and term."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator

from models.input import Name, Number, Spec, Text

Currency = Annotated[str, StringConstraints(pattern="^[A-Z]{3}$")]
"""ISO 4217: USD, EUR"""
Part = Annotated[str, StringConstraints(pattern=r"^[a-z_]+/[^\s/][^/\n]*$", max_length=200)]
"""what is priced, by kind and name: disks/sata-7200, instances/i4i.large, volumes/gp3, memory/ddr-1gib"""
Per = Literal["piece", "hour", "month", "gib_month", "request_per_s_month", "mib_per_s_month"]


class PriceRow(Spec):
    """The price of one unit of a part. Several rows of a part and `per` are steps: each counts from `above` on."""

    part: Part
    amount: Number = Field(ge=0)
    per: Per = "piece"
    above: Number = Field(
        default=0.0, ge=0, description="units that this row isn't for: of a step those below, or what is free"
    )
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
