"""Bill of a candidate over the years that are asked for, each line with the list that its price is from."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, field

from oltpsim.models.catalogue import Prices, PriceUnit, is_old
from oltpsim.scenarios.questions.plan.candidates import BillItem
from oltpsim.simulator.errors import InputError

PERIODS_A_YEAR: dict[PriceUnit, float] = {
    "hour": 8760.0,
    "month": 12.0,
    "gib_month": 12.0,
    "request_per_s_month": 12.0,
    "mib_per_s_month": 12.0,
}
UNITS: dict[PriceUnit, str] = {
    "piece": "each",
    "hour": "an hour",
    "month": "a month",
    "gib_month": "a GiB and month",
    "request_per_s_month": "a request/s and month",
    "mib_per_s_month": "a MiB/s and month",
}


@dataclass(frozen=True)
class BillLine:
    """Line of a bill. `price`: of one unit, of several steps the mean of what is bought."""

    part: str
    pieces: int
    units: float
    per: PriceUnit
    price: float
    amount: float
    price_list: str
    date: str
    old: bool

    @property
    def unit(self) -> str:
        """Unit that the price is for, in words."""
        return UNITS[self.per]


@dataclass
class Till:
    """Adds up items at the prices of lists, over `years`, for one machine and its `spares`."""

    prices: Prices
    years: float
    spares: int
    today: dt.date
    _known: dict[BillItem, float | None] = field(default_factory=dict)

    def cost(self, items: Iterable[BillItem]) -> float | None:
        """Cost of all items, or None if one has no price."""
        total = 0.0
        for item in items:
            try:
                amount = self._known[item]
            except KeyError:
                amount = self._known[item] = self._amount(item)
            if amount is None:
                return None
            total += amount
        return total

    def without_price(self, items: Iterable[BillItem]) -> list[str]:
        """Parts that no list has a price of."""
        return [f"{item.part} {UNITS[item.per]}" for item in items if self.prices.steps(item.part, item.per) is None]

    def lines(self, items: Iterable[BillItem]) -> tuple[BillLine, ...]:
        """The bill. Raises InputError for a part without a price."""
        lines = []
        for item in items:
            steps, amount = self.prices.steps(item.part, item.per), self._amount(item)
            if steps is None or amount is None:
                raise InputError(f"plan: no price of {item.part} {UNITS[item.per]}")
            pieces = item.pieces * (1 + self.spares)
            price = amount / (pieces * item.units * self._periods(item)) if item.units > 0 else 0.0
            listed = (steps[0].name, steps[0].date.isoformat(), is_old(steps[0].date, self.today))
            lines.append(BillLine(item.part, pieces, item.units, item.per, price, amount, *listed))
        return tuple(lines)

    def _amount(self, item: BillItem) -> float | None:
        if self.prices.steps(item.part, item.per) is None:
            return None
        one = self.prices.cost(item.part, item.per, item.units)
        return one * item.pieces * (1 + self.spares) * self._periods(item)

    def _periods(self, item: BillItem) -> float:
        return 1.0 if item.per == "piece" else PERIODS_A_YEAR[item.per] * self.years
