"""What a machine's description leaves open, as changes of its figures.

Each guess moves a figure's logarithm by the root mean square of its changes one standard deviation of the guess up and
down, or with the values that would have been as good. Guesses are independent of each other and of the calibration:
their variances add up.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from oltpsim.calibration.atlas import assumed_facts
from oltpsim.calibration.fit import (
    Calibration,
    FigureKind,
    ReportProgress,
    apply_calibration,
    no_report,
    simulated_figures,
    steady_rates,
    unapplied_keys,
)
from oltpsim.calibration.predict.beyond import PartKind, unseen_parts
from oltpsim.calibration.predict.figures import Moves
from oltpsim.calibration.predict.spreads import part_factors
from oltpsim.models.input import value_at
from oltpsim.models.reading import Description, Origin, numeric_value
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build
from oltpsim.simulator.analytic import simulate
from oltpsim.simulator.errors import InputError

KNOWN_PARTS: dict[str, PartKind] = {"machine.cpu.": "processor", "machine.disks.disk.": "disk"}
"""keys whose numbers have the spread of their source, whoever names the part"""
UNNAMED_SPEED = "machine.cpu.relative_speed"
"""key of a processor's speed, which runs of other unnamed processors say nothing about"""


@dataclass(frozen=True)
class Guesses:
    """What a description leaves open: moves of the figures by names for people, and of the rate by facts of the atlas.

    `left_open`: without parts whose spread is known by their sources.
    """

    left_open: Moves
    facts: Mapping[str, float]


def guess_moves(
    description: Description, report: ReportProgress = no_report, calibration: Calibration | None = None
) -> dict[str, dict[FigureKind, float]]:
    """What each guess moves the logarithms of a run's figures by, one standard deviation: see `Moves`; by its key.

    By the catalogue's values, or by those of a calibration, whose own numbers are no guesses. Raises InputError if the
    machine can't be calculated.
    """
    guesses = [row for row in description.rows if row.uncertain and not _fitted(row, description.scenario, calibration)]
    found = {}
    middle = figure_logs(description.scenario, calibration) if guesses else {}
    for number, row in enumerate(guesses):
        report(number / len(guesses), row.what)
        found[row.key] = moved_by(description, row, calibration, middle)
    return found


def guesses_of(description: Description, calibration: Calibration | None = None, moves: Moves | None = None) -> Guesses:
    """Guesses of a description, by its `guess_moves`; none where the formulas don't know the machine."""
    try:
        by_key = guess_moves(description, no_report, calibration) if moves is None else moves
    except InputError:
        return Guesses({}, {})
    facts = assumed_facts(description) | {
        row.key: row.what
        for row in description.rows
        if row.key == UNNAMED_SPEED and row.factor is not None and row.factor > part_factors()["data_sheet"]
    }
    return Guesses(
        left_open(description, by_key, calibration),
        {facts[key]: by_kind[FigureKind.RATE] for key, by_kind in by_key.items() if FigureKind.RATE in by_kind},
    )


def left_open(description: Description, moves: Moves, calibration: Calibration | None = None) -> Moves:
    """Of `guess_moves` those that `measurement_interval` doesn't know, under what people call them.

    It knows the speed of processors and the times of disks by their sources, without a calibration or if no run of
    that had such a part.
    """
    known = set(KNOWN_PARTS.values())
    if calibration is not None:
        known &= unseen_parts(calibration, apply_calibration(calibration, description.scenario)).keys()
    prefixes = tuple(key for key, part in KNOWN_PARTS.items() if part in known)
    rows = {row.key: row for row in description.rows if row.factor is None or not row.key.startswith(prefixes)}
    return {rows[key].what: by_kind for key, by_kind in moves.items() if key in rows and any(by_kind.values())}


def moved_by(
    description: Description, row: Origin, calibration: Calibration | None, middle: dict[FigureKind, float]
) -> dict[FigureKind, float]:
    """Standard deviations of the figures' logarithms by one guess, around `middle`; 0 if nothing else is possible."""
    settings = row.others
    if row.factor is not None:
        value: int | float = value_at(description.scenario, row.key)
        ends = (value * row.factor, value / row.factor)
        settings = tuple(f"{row.key}={round(end) if isinstance(value, int) else end!r}" for end in ends)
    changes = []
    for setting in settings:
        try:
            changed = figure_logs(description.changed(setting), calibration)
        except InputError:  # a machine that can't be is no other possibility
            continue
        changes.append({kind: log - middle[kind] for kind, log in changed.items()})
    # the value itself is as likely as each of the others
    count = max(len(changes) + (1 if row.factor is None else 0), 1)
    return {kind: math.sqrt(sum(change[kind] ** 2 for change in changes) / count) for kind in middle}


def _fitted(row: Origin, scenario: ScenarioSpec, calibration: Calibration | None) -> bool:
    """Whether the calibration gives the number, so that its uncertainty is among the parameters'."""
    if calibration is None:
        return False
    out = unapplied_keys(calibration, scenario)
    keys = [each.key for each in calibration.parameters if each.key.partition("@")[0] == row.key]
    return any(key not in out and numeric_value(scenario, key) is not None for key in keys)


def figure_logs(scenario: ScenarioSpec, calibration: Calibration | None) -> dict[FigureKind, float]:
    """Logarithms of a run's figures by the formulas. Raises InputError."""
    machine = scenario if calibration is None else apply_calibration(calibration, scenario)
    if machine.job is None and machine.interval.start != "warm":
        figures = simulated_figures(simulate(build(machine), 1))
        return {kind: float(kind.log(value)) for kind, value in figures.items()}
    [warm] = steady_rates(machine)
    return warm.logs
