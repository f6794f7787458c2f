"""What is believed of machines' rates: how far the calibration, the catalogue and the engine leave them open.

The logarithm of the most that a machine holds is taken as Student's: variances of the calibrated parameters (delta
method), of what the catalogue leaves open of parts that no calibrated run had, of one run from the next and of what the
model misses add up. Sources: as in calibration/predict/prediction.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import scipy

from calibration.fit import (
    ASSUMED_FREEDOM,
    MOST_SIGMAS,
    AnalyticReader,
    Calibration,
    FigureKind,
    Parameter,
    assumed_sd,
    default_parameters,
    parameter_bounds,
    unapplied_keys,
)
from models.input import Spec
from models.machine import FlashDiskSpec, RotatingDiskSpec
from models.reading import continuous_value
from models.scenario import ScenarioSpec
from scenarios.questions.plan.loads import capacities_of
from scenarios.questions.plan.question import ResponseObjective
from simulator.analytic import rate_errors
from simulator.form import FloatArray

SIGMAS_OF_95_PERCENT = 1.959963984540054
STEP = 0.2
"""of differences: standard deviations of a parameter, or a logarithm of a part's speed"""
SPEED_SD, DISK_SD = 0.15, 0.15
"""assumption: what the catalogue leaves open of a processor's relative speed and of a disk's times, as standard
deviations of logarithms; nothing of the parts of the machine that was calibrated"""
CONFIDENCE = 0.90
AnySpec = TypeVar("AnySpec", bound=Spec)


@dataclass(frozen=True)
class Belief:
    """The most new orders per minute that a machine holds. The parts are standard deviations of its logarithm."""

    per_min: float
    parameters_sd: float
    parts_sd: float
    run_to_run_sd: float
    model_sd: float
    freedom: float

    @property
    def sd(self) -> float:
        """All parts together."""
        return math.hypot(self.parameters_sd, self.parts_sd, self.run_to_run_sd, self.model_sd)

    def chance(self, per_min: float) -> float:
        """Probability of holding at least so much."""
        if self.per_min <= 0.0:
            return 0.0
        return float(scipy.special.stdtr(self._freedom, math.log(self.per_min / per_min) / self.sd))

    @property
    def interval(self) -> tuple[float, float]:
        """In which the rate lies with probability `CONFIDENCE`."""
        width = self.sd * float(scipy.special.stdtrit(self._freedom, (1.0 + CONFIDENCE) / 2.0))
        return self.per_min * math.exp(-width), self.per_min * math.exp(width)

    def short_by(self, per_min: float) -> float:
        """Mean of what is missing to `per_min` if it isn't held, new orders per minute; 0 if it surely is."""
        chances = np.linspace(0.005, 0.995, 100) * (1.0 - self.chance(per_min))
        if chances[-1] <= 1e-12 or self.per_min <= 0.0:
            return 0.0 if self.per_min > 0.0 else per_min
        rates = self.per_min * np.exp(self.sd * scipy.special.stdtrit(self._freedom, chances))
        return float(np.mean(per_min - rates))

    @property
    def _freedom(self) -> float:
        return min(self.freedom * (self.sd / self.model_sd) ** 4, 1e6)


@dataclass(frozen=True)
class ParameterUncertainty:
    """What a calibration leaves open of database, operating system and workload; without one, what priors do.

    Numbers of the machine that was calibrated are left out: a candidate has parts of its own.
    """

    calibration: Calibration | None
    parameters: tuple[Parameter, ...]
    mode: FloatArray
    covariance: FloatArray
    """of places on the parameters' scales"""

    @classmethod
    def of(cls, base: ScenarioSpec, calibration: Calibration | None) -> ParameterUncertainty:
        """For a scenario as its file has it."""
        if calibration is None:
            every, mode, out = default_parameters(base), None, set[str]()
        else:
            every = [each.parameter for each in calibration.parameters]
            mode, out = calibration.mode, set(unapplied_keys(calibration, base))
        some = [
            number
            for number, each in enumerate(every)
            if not each.key.startswith("machine.")
            and each.key not in out
            and continuous_value(base, each.key) is not None
        ]
        parameters = tuple(every[number] for number in some)
        if calibration is None or mode is None:
            return cls(None, parameters, np.zeros(len(some)), np.eye(len(some)))
        return cls(calibration, parameters, mode[some], np.array(calibration.joint.covariance)[np.ix_(some, some)])

    def calibrated(self, base: ScenarioSpec) -> ScenarioSpec:
        """The scenario with the calibrated values."""
        return self.at(base, self.mode) if self.calibration is not None else base

    def at(self, scenario: ScenarioSpec, place: FloatArray) -> ScenarioSpec:
        """The scenario with the values of a place. Not checked."""
        for each, z in zip(self.parameters, place, strict=True):
            scenario = _with_number(scenario, each.key.partition("@")[0].split("."), each.at(float(z)))
        return scenario

    def moved(self, scenario: ScenarioSpec) -> list[tuple[int, float, ScenarioSpec]]:
        """The scenario with each parameter a step up, or down from its bound: which, how far, and it."""
        low, high = parameter_bounds(list(self.parameters))
        found = []
        for number in range(len(self.parameters)):
            step = STEP if float(self.mode[number]) + STEP <= float(high[number]) else -STEP
            if float(self.mode[number]) + step >= max(float(low[number]), -MOST_SIGMAS):
                place = self.mode.copy()
                place[number] += step
                found.append((number, step, self.at(scenario, place)))
        return found

    @property
    def run_to_run_sd(self) -> float:
        """Of a measured rate's logarithm."""
        return 0.0 if self.calibration is None else self.calibration.run_to_run_sd

    @property
    def model_sd(self) -> float:
        """What model and engine miss of a rate's logarithm."""
        engine = rate_errors()["trusted"].p95 / SIGMAS_OF_95_PERCENT
        if self.calibration is None:
            return assumed_sd(FigureKind.RATE, engine, 1.0)
        return (
            assumed_sd(FigureKind.RATE, engine, self.calibration.missing)
            * self.calibration.missed[FigureKind.RATE].scale
        )

    @property
    def freedom(self) -> float:
        """Degrees of freedom that this is known with."""
        return ASSUMED_FREEDOM if self.calibration is None else self.calibration.missed[FigureKind.RATE].freedom

    @property
    def least_sd(self) -> float:
        """What is open of every machine alike."""
        return math.hypot(self.run_to_run_sd, self.model_sd)


def _with_number(spec: AnySpec, path: Sequence[str], value: float) -> AnySpec:
    """A spec with a number set below it."""
    below = getattr(spec, path[0])
    return spec.model_copy(update={path[0]: value if len(path) == 1 else _with_number(below, path[1:], value)})


def beliefs(
    scenarios: Sequence[ScenarioSpec],
    left: ParameterUncertainty,
    objectives: Sequence[ResponseObjective],
    reader: AnalyticReader,
) -> list[Belief]:
    """What is believed of each machine, whose scenarios have the calibrated values."""
    middle = capacities_of(scenarios, objectives, reader)
    asked: list[ScenarioSpec] = []
    moves: list[list[tuple[int, int, float]]] = []
    """of each machine: which parameter (or beyond them which kind of part), which scenario asked, how far it moved"""
    count = len(left.parameters)
    for scenario in scenarios:
        mine: list[tuple[int, int, float]] = []
        changes = left.moved(scenario)
        for kind, change in enumerate((_faster, _slower_disks)):
            if (changed := change(scenario, STEP, left.calibration)) is not None:
                changes.append((count + kind, STEP, changed))
        for number, step, moved in changes:
            mine.append((number, len(asked), step))
            asked.append(moved)
        moves.append(mine)
    near = np.repeat(middle, [len(each) for each in moves])
    rates = capacities_of(asked, objectives, reader, near) if asked else near
    found = []
    for mine, rate in zip(moves, middle.tolist(), strict=True):
        slopes = np.zeros(count + 2)
        for number, at, step in mine:
            if rate > 0.0 and rates[at] > 0.0:
                slopes[number] = math.log(float(rates[at]) / rate) / step
        own, parts = slopes[:count], slopes[count:]
        found.append(
            Belief(
                per_min=rate,
                parameters_sd=math.sqrt(max(float(own @ left.covariance @ own), 0.0)),
                parts_sd=math.hypot(parts[0] * SPEED_SD, parts[1] * DISK_SD),
                run_to_run_sd=left.run_to_run_sd,
                model_sd=left.model_sd,
                freedom=left.freedom,
            )
        )
    return found


def _faster(scenario: ScenarioSpec, step: float, calibration: Calibration | None) -> ScenarioSpec | None:
    cpu = scenario.machine.cpu
    if calibration is not None and calibration.base.machine.cpu.model == cpu.model:
        return None
    cpu = cpu.model_copy(update={"relative_speed": cpu.relative_speed * math.exp(step)})
    return scenario.model_copy(update={"machine": scenario.machine.model_copy(update={"cpu": cpu})})


def _slower_disks(scenario: ScenarioSpec, step: float, calibration: Calibration | None) -> ScenarioSpec | None:
    array = scenario.machine.disks
    if calibration is not None and calibration.base.machine.disks.disk.name == array.disk.name:
        return None
    longer = math.exp(step)
    changes: dict[str, object] = {"disks": array.model_copy(update={"disk": _slower(array.disk, longer)})}
    if scenario.machine.log_disk is not None:
        changes["log_disk"] = _slower(scenario.machine.log_disk, longer)
    return scenario.model_copy(update={"machine": scenario.machine.model_copy(update=changes)})


def _slower(disk: RotatingDiskSpec | FlashDiskSpec, longer: float) -> RotatingDiskSpec | FlashDiskSpec:
    if isinstance(disk, FlashDiskSpec):
        times = {name: getattr(disk, name) * longer for name in ("read_latency_us", "write_latency_us")}
    else:
        names = ("seek_track_to_track_ms", "seek_average_ms", "seek_full_stroke_ms", "overhead_ms")
        times = {name: getattr(disk, name) * longer for name in names}
    return disk.model_copy(update=times)
