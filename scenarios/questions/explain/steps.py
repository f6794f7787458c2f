"""What one more of each thing would give: shadow prices, as differences of whole steps by the analytic engine.

A step is what one can buy: a GiB, a disk of the same kind (two of a mirrored set), a core, a processor a tenth faster.
Its gain is per GiB, disk or core, and per unit of money where a price is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from models.reading import with_values
from models.scenario import ScenarioSpec
from scenarios.questions.explain.machines import MachineSolver, SolvedMachine
from scenarios.questions.explain.prices import CORE, DISK, MEMORY, UnitPrice
from simulator.errors import InputError
from simulator.form import GIB, KIB

FASTER = 1.1
SPEED = "10 % faster processor"
BUFFERS, PAGE_CACHE = "buffers", "page cache"


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
class _Change:
    """One way to take a step: how many units it is, and what it changes."""

    name: str
    units: int
    changes: dict[str, Any]
    into: str | None = None


def upgrades(
    scenario: ScenarioSpec, machine: SolvedMachine, solver: MachineSolver, prices: Mapping[str, UnitPrice]
) -> tuple[Upgrade, ...]:
    """More memory, disks, cores, and faster ones; what isn't possible has its reason."""
    found: list[tuple[_Change, ScenarioSpec]] = []
    refused: dict[str, str] = {}
    for wanted in (*_memory(scenario), _disk(scenario), _core(scenario), _faster(scenario)):
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
    return tuple(answers[name] for name in (MEMORY, DISK, CORE, SPEED))


def _memory(scenario: ScenarioSpec) -> list[_Change]:
    """All of it to the page cache, or to the pool but for what the system defends for file pages."""
    more = {"machine.memory_gib": scenario.machine.memory_gib + 1.0}
    pool = scenario.database.pool
    given = (1.0 - scenario.operating_system.page_cache.floor_fraction) * GIB
    buffers = pool.buffers + int(given / (pool.memory_per_buffer_kib * KIB))
    ways = [_Change(MEMORY, 1, {**more, "database.pool.buffers": buffers}, BUFFERS)]
    if scenario.database.io == "buffered":
        ways.append(_Change(MEMORY, 1, more, PAGE_CACHE))
    return ways


def _disk(scenario: ScenarioSpec) -> _Change:
    disks = scenario.machine.disks
    units = disks.layout.copies if disks.layout else 1
    return _Change(DISK, units, {"machine.disks.count": disks.count + units})


def _core(scenario: ScenarioSpec) -> _Change:
    return _Change(CORE, 1, {"machine.cpu.cores": scenario.machine.cpu.cores + 1})


def _faster(scenario: ScenarioSpec) -> _Change:
    return _Change(SPEED, 1, {"machine.cpu.relative_speed": scenario.machine.cpu.relative_speed * FASTER})
