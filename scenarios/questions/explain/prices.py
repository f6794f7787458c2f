"""What one unit of each step costs: from price lists, or as said on the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from models.catalogue import (
    ChassisSpec,
    Prices,
    ProcessorChoice,
    catalogue_entry,
    catalogue_names,
    read_entry,
)
from models.scenario import ScenarioSpec

MEMORY, DISK, CORE = "1 GiB of RAM", "1 disk", "1 core"
MODULE_GIB = re.compile(r"^memory/.*?(\d+(?:\.\d+)?)gib$")
"""a memory module's size is in its name: memory/ddr-1gib"""


@dataclass(frozen=True)
class UnitPrice:
    """Money for one unit, and whose price it is."""

    amount: float
    currency: str
    source: str
    date: str | None = None
    """of its list"""


def unit_prices(scenario: ScenarioSpec, prices: Prices, said: Mapping[str, float | None]) -> dict[str, UnitPrice]:
    """The price of each unit that has one: what is `said` outright goes before the lists'."""
    found = {
        MEMORY: _least(_modules(prices, scenario.machine.cpu.model)),
        DISK: _least(_disks(prices, scenario.machine.disks.disk.name)),
        CORE: _least(_cores(prices, scenario.machine.cpu.model)),
    }
    found |= {
        unit: UnitPrice(amount, prices.currency, "command line") for unit, amount in said.items() if amount is not None
    }
    return {unit: price for unit, price in found.items() if price is not None}


def _least(found: Iterator[UnitPrice]) -> UnitPrice | None:
    return min(found, key=lambda price: price.amount, default=None)


def _modules(prices: Prices, cpu: str) -> Iterator[UnitPrice]:
    """What a GiB costs, of the modules that go into a chassis with this processor; of all if none of them is priced."""
    priced = dict.fromkeys(row.part for each in prices.lists for row in each.rows if MODULE_GIB.match(row.part))
    fitting = {f"memory/{each.module}" for chassis, _ in _homes(cpu) for each in chassis.memory}
    for part in [part for part in priced if part in fitting] or priced:
        size = MODULE_GIB.match(part)
        assert size is not None
        yield from _piece(prices, part, float(size[1]))


def _homes(cpu: str) -> Iterator[tuple[ChassisSpec, ProcessorChoice]]:
    """Chassis that a processor goes into."""
    for name in catalogue_names("chassis"):
        chassis = read_entry("chassis", name)
        assert isinstance(chassis, ChassisSpec)
        for choice in chassis.processors:
            if catalogue_entry("cpus", choice.cpu)["model"] == cpu:
                yield chassis, choice


def _disks(prices: Prices, wanted: str) -> Iterator[UnitPrice]:
    """Of the catalogue's entries of this disk what a piece costs."""
    for name in catalogue_names("disks"):
        if catalogue_entry("disks", name)["name"] == wanted:
            yield from _piece(prices, f"disks/{name}", 1)


def _cores(prices: Prices, cpu: str) -> Iterator[UnitPrice]:
    """Of the processors that go into a chassis what a core costs."""
    for _, choice in _homes(cpu):
        yield from _piece(prices, f"cpus/{choice.cpu}", choice.cores_each)


def _piece(prices: Prices, part: str, units: float) -> Iterator[UnitPrice]:
    found = prices.steps(part, "piece")
    if found:
        each, rows = found
        yield UnitPrice(rows[0].amount / units, each.currency, f"{each.name}: {part}", each.date.isoformat())
