"""The points of a sweep: every combination of listed values, and Sobol samples of what lies between two ends.

Sobol points (scipy.stats.qmc; scrambled after Owen, by the seed) fill the space more evenly than independent draws.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import scipy

from models.input import value_at
from models.scenario import ScenarioSpec
from scenarios.library import read_scenario_file, scenario_from_keys
from scenarios.questions.sweep.axes import MOST_POINTS, Axis, SampledAxis
from simulator.errors import InputError

Load = Callable[[Sequence[str]], ScenarioSpec]
"""The scenario with some settings. Raises InputError."""


@dataclass(frozen=True)
class SweepPoint:
    """One point of a sweep before it is run: a scenario, or why there is none."""

    values: tuple[str, ...]
    scenario: ScenarioSpec | InputError


def sweep_points(
    scenario: Path,
    axes: Sequence[Axis | SampledAxis],
    overrides: Sequence[str],
    samples: int | None = None,
    seed: int = 1,
) -> list[SweepPoint]:
    """The points, listed values in the order of a grid, each combination of them with the same samples.

    Raises InputError if no point is a valid scenario.
    """
    data = read_scenario_file(scenario)
    scenario_from_keys(data, scenario.name, overrides)

    def load(settings: Sequence[str]) -> ScenarioSpec:
        return scenario_from_keys(data, scenario.name, (*overrides, *settings))

    count = math.prod(len(axis.values) for axis in axes if isinstance(axis, Axis)) * (samples or 1)
    if count > MOST_POINTS:
        raise InputError(
            f"--vary: that makes {count:,} points, more than {MOST_POINTS:,}; give fewer values or samples"
        )
    choices = [axis.values if isinstance(axis, Axis) else ("",) for axis in axes]
    drawn = _samples([axis for axis in axes if isinstance(axis, SampledAxis)], samples, seed, load)
    points: list[SweepPoint] = []
    for listed, sample in itertools.product(itertools.product(*choices), drawn):
        rest = iter(sample)
        values = tuple(value or next(rest) for value in listed)
        try:
            points.append(
                SweepPoint(values, load([f"{axis.key}={value}" for axis, value in zip(axes, values, strict=True)]))
            )
        except InputError as error:
            points.append(SweepPoint(values, error))
    errors = [point.scenario for point in points if isinstance(point.scenario, InputError)]
    if len(errors) == len(points):
        raise errors[0]
    return points


def _samples(intervals: Sequence[SampledAxis], samples: int | None, seed: int, load: Load) -> list[tuple[str, ...]]:
    """A value for each interval, for each sample; one sample of nothing for a plain grid."""
    if samples is None:
        return [()]
    whole = [_takes_whole_numbers(interval, load) for interval in intervals]
    return [
        tuple(interval.at(fraction, only) for interval, fraction, only in zip(intervals, row, whole, strict=True))
        for row in sobol(samples, len(intervals), seed)
    ]


def _takes_whole_numbers(interval: SampledAxis, load: Load) -> bool:
    """Whether the field holds integers: asked of the scenario, since `1..4` may be written for any number."""
    try:
        scenario = load([f"{interval.key}={interval.at(0.0, whole=False)}"])
    except InputError:
        scenario = load([f"{interval.key}={interval.at(1.0, whole=False)}"])
    return isinstance(value_at(scenario.model_dump(mode="json"), interval.key), int)


def sobol(samples: int, dimensions: int, seed: int) -> list[list[float]]:
    """The first `samples` points of a scrambled Sobol sequence, in [0, 1); the same for the same seed."""
    power = max(0, math.ceil(math.log2(samples)))
    drawn: list[list[float]] = (
        scipy.stats.qmc.Sobol(dimensions, scramble=True, rng=seed).random_base2(power)[:samples].tolist()
    )
    return drawn
