"""Uncertainty of machines' rates: what the calibration, the catalogue and the engine leave open of them.

Components of the most that a machine holds: the calibrated parameters (delta method), what the catalogue leaves open
of parts that no calibrated run had, one run from the next and what the model misses. Sources: as in
calibration/predict/prediction.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import scipy

from oltpsim.calibration.fit import (
    ASSUMED_FREEDOM,
    MOST_SIGMAS,
    AnalyticReader,
    Calibration,
    FigureKind,
    Parameter,
    assumed_sd,
    default_parameters,
    parameter_bounds,
    rate_sds,
    unapplied_keys,
)
from oltpsim.calibration.predict import (
    CALIBRATED,
    MISSED,
    ONE_RUN,
    Component,
    UncertainValue,
    faster,
    part_factor,
    slower,
    unseen_parts,
)
from oltpsim.models.input import Spec
from oltpsim.models.reading import numeric_value
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.questions.plan.loads import capacities_of
from oltpsim.scenarios.questions.plan.question import ResponseObjective
from oltpsim.simulator.analytic import error_model
from oltpsim.simulator.form import FloatArray

PARTS = "the catalogue's parts"
STEP = 0.2
"""of differences: standard deviations of a parameter, or a logarithm of a part's speed"""
AnySpec = TypeVar("AnySpec", bound=Spec)


@dataclass(frozen=True)
class ParameterUncertainty:
    """Uncertainty of the parameters of database, operating system and workload, after a calibration or by priors.

    Numbers of the machine that was calibrated are left out: a candidate has parts of its own.
    """

    calibration: Calibration | None
    parameters: tuple[Parameter, ...]
    mode: FloatArray
    covariance: FloatArray
    """of places on the parameters' scales"""

    @classmethod
    def after(cls, base: ScenarioSpec, calibration: Calibration | None) -> ParameterUncertainty:
        """For a scenario as its file has it. Of a database that no run of the calibration had, the priors."""
        if calibration is None:
            parameters, unapplied = default_parameters(base), set[str]()
            mode, covariance = np.zeros(len(parameters)), np.eye(len(parameters))
        else:
            parameters = [each.parameter for each in calibration.parameters]
            unapplied = set(unapplied_keys(calibration, base))
            mode, covariance = calibration.mode, np.array(calibration.joint.covariance)
            if "database" in unseen_parts(calibration, base):
                applied = [each.key for each in parameters if each.key not in unapplied]
                given = {key.partition("@")[0] for key in applied if numeric_value(base, key) is not None}
                others = [each for each in default_parameters(base) if each.key not in given]
                parameters += [each for each in others if each.key.startswith("database.")]
                more = len(parameters) - len(mode)
                mode = np.append(mode, np.zeros(more))
                covariance = scipy.linalg.block_diag(covariance, np.eye(more))
        rows = [
            number
            for number, key in enumerate(each.key for each in parameters)
            if not key.startswith("machine.") and key not in unapplied and numeric_value(base, key) is not None
        ]
        return cls(calibration, tuple(parameters[row] for row in rows), mode[rows], covariance[np.ix_(rows, rows)])

    def calibrated(self, base: ScenarioSpec) -> ScenarioSpec:
        """The scenario with the calibrated values."""
        return self.at(base, self.mode) if self.calibration is not None else base

    def at(self, scenario: ScenarioSpec, place: FloatArray) -> ScenarioSpec:
        """The scenario with the values of a place. Not checked."""
        for each, z in zip(self.parameters, place, strict=True):
            scenario = _with_number(scenario, each.key.partition("@")[0].split("."), each.possible(float(z)))
        return scenario

    def moved(self, scenario: ScenarioSpec) -> list[tuple[int, float, ScenarioSpec]]:
        """The scenario with each parameter a step up, or down from its bound: which, how far, and it."""
        low, high = parameter_bounds(list(self.parameters))
        found = []
        for number in range(len(self.parameters)):
            below, here, above = self.parameters[number].around(float(self.mode[number]), STEP)
            end = above if above <= float(high[number]) else below
            if end >= max(float(low[number]), -MOST_SIGMAS) and end != here:
                place = self.mode.copy()
                place[number] = end
                found.append((number, round(end - here, 12), self.at(scenario, place)))
        return found

    @property
    def run_to_run_sd(self) -> float:
        """Standard deviation of a measured rate's logarithm from one run to the next."""
        return 0.0 if self.calibration is None else self.calibration.run_to_run_sd

    def model_sd(self, engine_sd: float) -> float:
        """Standard deviation of a rate's logarithm by what model and engine miss. `engine_sd`: by the engine."""
        if self.calibration is None:
            return assumed_sd(FigureKind.RATE, engine_sd, 1.0)
        return (
            assumed_sd(FigureKind.RATE, engine_sd, self.calibration.missing)
            * self.calibration.missed[FigureKind.RATE].scale
        )

    @property
    def freedom(self) -> float:
        """Degrees of freedom that this is known with."""
        return ASSUMED_FREEDOM if self.calibration is None else self.calibration.missed[FigureKind.RATE].freedom

    @property
    def least_sd(self) -> float:
        """Standard deviation of every machine's rate, whatever its parts."""
        least = error_model().sds(np.array(error_model().figures["rate"].base))
        return math.hypot(self.run_to_run_sd, self.model_sd(float(least)))


def _with_number(spec: AnySpec, path: Sequence[str], value: float) -> AnySpec:
    """A spec with a number set below it."""
    below = getattr(spec, path[0])
    return spec.model_copy(update={path[0]: value if len(path) == 1 else _with_number(below, path[1:], value)})


def beliefs(
    scenarios: Sequence[ScenarioSpec],
    left: ParameterUncertainty,
    objectives: Sequence[ResponseObjective],
    reader: AnalyticReader,
) -> list[UncertainValue]:
    """The most new orders per minute that machines hold, in their order; the scenarios have the calibrated values."""
    rates = capacities_of(scenarios, objectives, reader)
    count = len(left.parameters)
    moves = [
        (machine, number, step, moved)
        for machine, scenario in enumerate(scenarios)
        for number, step, moved in [
            *left.moved(scenario),
            *((count + kind, STEP, moved) for kind, moved in _other_parts(scenario, left.calibration)),
        ]
    ]
    slopes = np.zeros((len(scenarios), count + 2))
    """of the logarithms of rates: by the places of parameters, then by the logarithms of parts' speeds"""
    if moves:
        near = rates[[machine for machine, *_ in moves]]
        moved_rates = capacities_of([moved for *_, moved in moves], objectives, reader, near)
        for (machine, number, step, _), rate, moved_rate in zip(moves, near, moved_rates, strict=True):
            if rate > 0.0 and moved_rate > 0.0:
                slopes[machine, number] = math.log(float(moved_rate) / float(rate)) / step
    return [
        UncertainValue(
            rate,
            (
                Component(CALIBRATED, math.sqrt(max(float(slope[:count] @ left.covariance @ slope[:count]), 0.0))),
                Component(PARTS, math.hypot(slope[count] * of_speed, slope[count + 1] * of_disks)),
                Component(ONE_RUN, left.run_to_run_sd),
                Component(MISSED, left.model_sd(engine_sd), freedom=left.freedom),
            ),
        )
        for rate, slope, engine_sd, (of_speed, of_disks) in zip(
            rates.tolist(), slopes, rate_sds(scenarios).tolist(), map(_parts_sd, scenarios), strict=True
        )
    ]


def _parts_sd(scenario: ScenarioSpec) -> tuple[float, float]:
    """What the catalogue leaves open of the processor's speed and of the disks' times: sd of the logarithms."""
    machine = scenario.machine
    return math.log(part_factor(machine.cpu.source)), math.log(part_factor(machine.disks.disk.source))


def _other_parts(scenario: ScenarioSpec, calibration: Calibration | None) -> Iterator[tuple[int, ScenarioSpec]]:
    """Scenarios with a processor a step faster (0) and disks a step slower (1), except parts that were calibrated."""
    machine = scenario.machine
    calibrated = None if calibration is None else calibration.base.machine
    factor = math.exp(STEP)
    if calibrated is None or calibrated.cpu.model != machine.cpu.model:
        yield 0, faster(scenario, factor)
    if calibrated is None or calibrated.disks.disk.name != machine.disks.disk.name:
        slow = slower(scenario, machine.disks.disk, factor)
        log_disk = machine.log_disk
        yield 1, slow if log_disk in (None, machine.disks.disk) else slower(slow, log_disk, factor)
