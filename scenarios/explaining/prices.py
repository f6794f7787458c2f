"""What one unit of each step costs: from price lists, or as said on the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from models.catalogue import catalogue_entry, catalogue_names
from models.prices import Prices
from models.problems import sentence
from models.specs import ScenarioSpec
from models.specs.price import PriceList
from models.yaml_input import read_mapping
from simulator.errors import InputError

MEMORY, DISK, CORE = "1 GiB of RAM", "1 disk", "1 core"
MODULE_GIB = re.compile(r"^memory/.*?(\d+(?:\.\d+)?)gib$")
"""a memory module's size is in its name: memory/ddr-1gib"""


@dataclass(frozen=True)
class UnitPrice:
    """Money for one unit, and whose price it is."""

    amount: float
    currency: str
    source: str


def price_list(path: Path) -> PriceList:
    """A price list in a file. Raises InputError with a line for each problem."""
    data = read_mapping(path)
    try:
        return PriceList.model_validate(data)
    except ValidationError as error:
        lines = (f"{path.name}: {sentence(problem, PriceList, data)}" for problem in error.errors())
        raise InputError("\n".join(lines)) from error


def unit_prices(scenario: ScenarioSpec, prices: Prices, said: Mapping[str, float | None]) -> dict[str, UnitPrice]:
    """The price of each unit that has one: what is `said` outright goes before the lists'."""
    found = {
        MEMORY: _least(_modules(prices)),
        DISK: _least(_pieces(prices, "disks", scenario.machine.disks.disk.name, "name")),
        CORE: _least(_pieces(prices, "cpus", scenario.machine.cpu.model, "model")),
    }
    found |= {
        unit: UnitPrice(amount, prices.currency, "command line") for unit, amount in said.items() if amount is not None
    }
    return {unit: price for unit, price in found.items() if price is not None}


def _least(found: Iterator[UnitPrice]) -> UnitPrice | None:
    return min(found, key=lambda price: price.amount, default=None)


def _modules(prices: Prices) -> Iterator[UnitPrice]:
    """Of each memory module what a GiB costs."""
    for each in prices.lists:
        for row in each.rows:
            size = MODULE_GIB.match(row.part)
            if size and row.per == "piece":
                yield UnitPrice(row.amount / float(size[1]), each.currency, f"{each.name}: {row.part}")


def _pieces(prices: Prices, kind: str, wanted: str, key: str) -> Iterator[UnitPrice]:
    """Of the catalogue's entries with the scenario's part what a piece costs; a processor's is shared by its cores."""
    for name in catalogue_names(kind):
        entry = catalogue_entry(kind, name)
        found = prices.steps(f"{kind}/{name}", "piece")
        if found and entry[key] == wanted:
            each, rows = found
            yield UnitPrice(rows[0].amount / entry.get("cores", 1), each.currency, f"{each.name}: {kind}/{name}")
