"""Shadow prices: what one more unit of each resource would give, as differences of whole steps by the analytic engine.

A step is what one can buy: a GiB, a disk of the same kind (two of a mirrored set), a core, a processor a tenth faster.
Its gain is per GiB, disk or core, and per unit of money where a price is known, from price lists or the command line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from oltpsim.models.catalogue import ChassisSpec, Prices, ProcessorChoice, catalogue_entry, catalogue_names, read_entry
from oltpsim.models.reading import with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.questions.explain.machines import MachineSolver, SolvedMachine
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import GIB, KIB

FASTER = 1.1
SPEED = "10 % faster processor"
BUFFERS, PAGE_CACHE = "buffers", "page cache"
MEMORY_STEP, DISK_STEP, CORE_STEP = "1 GiB of RAM", "1 disk", "1 core"
MODULE_GIB = re.compile(r"^memory/.*?(\d+(?:\.\d+)?)gib$")
"""a memory module's size is in its name: memory/ddr-1gib"""


@dataclass(frozen=True)
class Upgrade:
    """More of one thing. `gain_per_min`: new orders per minute for each unit more, None if `reason` says why not."""

    name: str
    gain_per_min: float | None
    into: str | None = None
    """of memory: where it helps most"""
    reason: str | None = None
    price: UnitPrice | None = None
    gain_per_money: float | None = None
    """new orders per minute for each unit of money"""


@dataclass(frozen=True)
class _Step:
    """Step that can be bought: how many units it is, and what it changes."""

    name: str
    units: int
    changes: dict[str, Any]
    into: str | None = None


def upgrades(
    scenario: ScenarioSpec, machine: SolvedMachine, solver: MachineSolver, prices: Mapping[str, UnitPrice]
) -> tuple[Upgrade, ...]:
    """More memory, disks, cores, and faster ones; what isn't possible has its reason."""
    found: list[tuple[_Step, ScenarioSpec]] = []
    refused: dict[str, str] = {}
    cpu, disks = scenario.machine.cpu, scenario.machine.disks
    disk_step = disks.sets if disks.level == "raid1" else disks.layout.copies if disks.layout else 1
    steps = [
        *_memory(scenario),
        _Step(DISK_STEP, disk_step, {"machine.disks.count": disks.count + disk_step}),
        _Step(CORE_STEP, 1, {"machine.cpu.cores": cpu.cores + 1}),
        _Step(SPEED, 1, {"machine.cpu.relative_speed": cpu.relative_speed * FASTER}),
    ]
    for wanted in steps:
        try:
            found.append((wanted, with_values(scenario, wanted.changes)))
        except InputError as error:
            refused[wanted.name] = str(error)
    solved = solver(*(each for _, each in found))
    answers: dict[str, Upgrade] = {name: Upgrade(name, None, reason=reason) for name, reason in refused.items()}
    for (wanted, _), other in zip(found, solved, strict=True):
        gain = (other.rate_per_min - machine.rate_per_min) / wanted.units
        before = answers.get(wanted.name)
        if before is None or before.gain_per_min is None or gain > before.gain_per_min:
            price = prices.get(wanted.name)
            per_money = gain / price.amount if price is not None and price.amount > 0 else None
            answers[wanted.name] = Upgrade(wanted.name, gain, wanted.into, None, price, per_money)
    return tuple(answers[name] for name in (MEMORY_STEP, DISK_STEP, CORE_STEP, SPEED))


def _memory(scenario: ScenarioSpec) -> list[_Step]:
    """Memory for the page cache, or for the pool but for what the system defends for file pages."""
    more = {"machine.memory_gib": scenario.machine.memory_gib + 1.0}
    pool = scenario.database.pool
    given = (1.0 - scenario.operating_system.page_cache.floor_fraction) * GIB
    buffers = pool.buffers + int(given / (pool.memory_per_buffer_kib * KIB))
    ways = [_Step(MEMORY_STEP, 1, {**more, "database.pool.buffers": buffers}, BUFFERS)]
    if scenario.database.io == "buffered":
        ways.append(_Step(MEMORY_STEP, 1, more, PAGE_CACHE))
    return ways


@dataclass(frozen=True)
class UnitPrice:
    """Money for one unit, and whose price it is."""

    amount: float
    currency: str
    source: str
    date: str | None = None
    """of its list"""


def unit_prices(scenario: ScenarioSpec, prices: Prices, stated: Mapping[str, float | None]) -> dict[str, UnitPrice]:
    """The price of each unit that has one: what is `stated` outright goes before the lists'."""
    cpu, disk = scenario.machine.cpu.model, scenario.machine.disks.disk.name
    found = {
        MEMORY_STEP: _least(_modules(prices, cpu)),
        DISK_STEP: _least(
            price
            for name in catalogue_names("disks")
            if catalogue_entry("disks", name)["name"] == disk
            for price in _piece(prices, f"disks/{name}", 1)
        ),
        CORE_STEP: _least(
            price for _, choice in _homes(cpu) for price in _piece(prices, f"cpus/{choice.cpu}", choice.cores_each)
        ),
    }
    found |= {
        unit: UnitPrice(amount, prices.currency, "command line")
        for unit, amount in stated.items()
        if amount is not None
    }
    return {unit: price for unit, price in found.items() if price is not None}


def _least(found: Iterator[UnitPrice]) -> UnitPrice | None:
    return min(found, key=lambda price: price.amount, default=None)


def _modules(prices: Prices, cpu: str) -> Iterator[UnitPrice]:
    """Prices of a GiB, of the modules that go into a chassis with this processor; of all if none of them is priced."""
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


def _piece(prices: Prices, part: str, units: float) -> Iterator[UnitPrice]:
    found = prices.steps(part, "piece")
    if found:
        each, rows = found
        yield UnitPrice(rows[0].amount / units, each.currency, f"{each.name}: {part}", each.date.isoformat())
