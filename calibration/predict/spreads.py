"""Spreads of a scenario's numbers by their sources, and what each moves the figures of a run by.

Numbers of parts and path lengths have the spread of their sources (spreads.yaml, and the priors of a fit). What a
number moves a figure by is the analytic engine's answer, one standard deviation up and down.
"""

import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field

from oltpsim.calibration.fit import (
    Calibration,
    FigureKind,
    apply_calibration,
    default_parameters,
    steady_rates,
    unapplied_keys,
)
from oltpsim.calibration.predict.beyond import PartKind, unseen_parts
from oltpsim.calibration.predict.slowed import faster, slower
from oltpsim.models.input import Name, Number, Spec, Text, last_word, read_mapping, validated
from oltpsim.models.reading import numeric_value, with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.errors import InputError

SPREADS_FILE = Path(__file__).with_name("spreads.yaml")
BY_DEFINITION = "by definition"
"""in the source of the core that all speeds are relative to"""
ASSUMED = re.compile(r"^assumption|speed[:,] assumption|\(assumption:|from memory", re.IGNORECASE)


class SpreadSpec(Spec):
    """Spread of a part's numbers: a standard deviation, times or divided by."""

    factor: Number = Field(gt=1)
    source: Text


class KnownDatabasesSpec(Spec):
    """Databases of whose numbers the priors leave only a `share` open, as exponents of their factors."""

    names: tuple[Name, ...]
    share: Number = Field(gt=0, le=1)
    source: Text


class SpreadsFile(Spec):
    """The spreads that come with the program."""

    parts: dict[Literal["assumption", "data_sheet"], SpreadSpec]
    databases: tuple[KnownDatabasesSpec, ...]


class UncertainNumber(NamedTuple):
    """A number of a scenario, and the scenario with it one standard deviation up and down.

    `part`: whose it is. `name`: one that two scenarios share if it is wrong of both alike.
    """

    part: PartKind
    key: str
    name: str
    up: ScenarioSpec
    down: ScenarioSpec


def number_words(name: str) -> str:
    """The name of an uncertain number for people."""
    number, of, owner = name.partition(" of ")
    return f"{last_word(number)}{of}{owner}" if number in ("speed", "times") else last_word(number)


def part_factors() -> dict[str, float]:
    """One standard deviation of a part's numbers, times or divided by: of an assumption, and by its data sheet."""
    return {origin: spread.factor for origin, spread in _spreads().parts.items()}


def part_factor(source: str) -> float:
    """The one of the part whose source this is: of an assumption if it says so of the part, of its speed or times."""
    return part_factors()["assumption" if ASSUMED.search(source) else "data_sheet"]


def uncertain_numbers(scenario: ScenarioSpec) -> Iterator[UncertainNumber]:
    """The numbers whose spread is known by their sources: path lengths, the processor's speed, the disks' times."""
    machine, database = scenario.machine, scenario.database
    share = next((each.share for each in _spreads().databases if database.name in each.names), 1.0)
    for each in default_parameters(scenario):
        if not each.key.startswith("machine."):
            ends = (each.at(place) for place in (share, -share))
            up, down = (with_values(scenario, {each.key: min(max(end, each.low), each.high)}) for end in ends)
            yield UncertainNumber("database", each.key, f"{each.key} of {database.name}", up, down)
    cpu, disk, log_disk = machine.cpu, machine.disks.disk, machine.log_disk
    if not (cpu.relative_speed == 1.0 and BY_DEFINITION in cpu.source):
        factor = part_factor(cpu.source)
        up, down = faster(scenario, factor), faster(scenario, 1.0 / factor)
        yield UncertainNumber("processor", "machine.cpu.relative_speed", f"speed of {cpu.model}", up, down)
    for some in (disk,) if log_disk in (None, disk) else (disk, log_disk):
        assert some is not None
        factor = part_factor(some.source)
        up, down = slower(scenario, some, factor), slower(scenario, some, 1.0 / factor)
        yield UncertainNumber("disk", "machine.disks.disk", f"times of {some.name}", up, down)


def unseen_moves(calibration: Calibration, scenario: ScenarioSpec) -> dict[str, dict[FigureKind, float]]:
    """What the numbers of parts of kinds that no run of the calibration had move the figures' logarithms by.

    By the numbers' names, with the sign of the change upwards; nothing of numbers that the calibration gives.
    `scenario`: without its values. Raises InputError if the machine can't be calculated.
    """
    machine = apply_calibration(calibration, scenario)
    unseen = unseen_parts(calibration, machine)
    out = unapplied_keys(calibration, scenario)
    given = {
        each.key.partition("@")[0]
        for each in calibration.parameters
        if each.key not in out and numeric_value(scenario, each.key) is not None
    }
    numbers = [each for each in uncertain_numbers(machine) if each.part in unseen and each.key not in given]
    if not numbers:
        return {}
    middle, *ends = figures_of([machine, *(end for each in numbers for end in (each.up, each.down))])
    assert middle is not None
    found = {}
    for number, each in enumerate(numbers):
        up, down = ends[2 * number : 2 * number + 2]
        found[each.name] = {
            kind: moved_by_ends(log, *(None if end is None else end[kind] for end in (up, down)))
            for kind, log in middle.items()
        }
    return found


def figures_of(scenarios: Sequence[ScenarioSpec]) -> list[dict[FigureKind, float] | None]:
    """Logarithms of the figures of each, warm, by the formulas; None for a machine that can't be."""
    try:
        return [each.logs for each in steady_rates(*scenarios)]
    except InputError:
        if len(scenarios) == 1:
            return [None]
        return [logs for each in scenarios for logs in figures_of([each])]


def moved_by_ends(middle: float, up: float | None, down: float | None) -> float:
    """Root mean square of what both ends move a logarithm by, with the sign of the one upwards."""
    changes = [sign * (log - middle) for sign, log in ((1.0, up), (-1.0, down)) if log is not None]
    if not changes:
        return 0.0
    return math.copysign(math.sqrt(sum(change**2 for change in changes) / len(changes)), sum(changes))


@cache
def _spreads() -> SpreadsFile:
    return validated(SpreadsFile, read_mapping(SPREADS_FILE), SPREADS_FILE.name)
