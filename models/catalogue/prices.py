"""Price lists: what a part costs, by which row, and whether that is too old to trust."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from itertools import pairwise

from models.catalogue.price import Per, PriceList, PriceRow
from simulator.errors import InputError

OLD_AFTER_DAYS = 365


@dataclass(frozen=True)
class Prices:
    """Several lists in one currency; where two know a part, the one named first says its price. Raises InputError."""

    lists: tuple[PriceList, ...]

    def __post_init__(self) -> None:
        names = sorted({each.currency for each in self.lists})
        if len(names) > 1:
            raise InputError(f"prices: {' and '.join(names)} in one bill; give lists of one currency")

    @property
    def currency(self) -> str:
        """Of all amounts."""
        return self.lists[0].currency if self.lists else "USD"

    def steps(self, part: str, per: Per) -> tuple[PriceList, tuple[PriceRow, ...]] | None:
        """The rows of a part's price, by `above`, and their list; None if no list has one."""
        for each in self.lists:
            rows = sorted((row for row in each.rows if row.part == part and row.per == per), key=lambda row: row.above)
            if rows:
                return each, tuple(rows)
        return None

    def cost(self, part: str, per: Per, units: float) -> float:
        """What so many units of a part cost; steps are added up. Raises InputError for a part without a price."""
        found = self.steps(part, per)
        if found is None:
            raise InputError(f"prices: no price of {part} per {per} in {', '.join(each.name for each in self.lists)}")
        rows = found[1]
        ends = [*(row.above for row in rows), max(units, rows[-1].above)]
        return sum(
            row.amount * max(min(units, end) - begin, 0.0)
            for row, (begin, end) in zip(rows, pairwise(ends), strict=True)
        )


def is_old(prices: PriceList, today: dt.date) -> bool:
    """Whether the prices are from more than a year before."""
    return (today - prices.date).days > OLD_AFTER_DAYS
