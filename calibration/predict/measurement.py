"""Where a measured rate would fall: all that isn't known of a scenario, not chance alone.

By a calibration: its parameters together, what it misses of runs limited alike, and runs that differ, as it predicts;
of parts of kinds that none of its runs had what is left open without it. Without one, numbers of parts and path lengths
have the spread of their sources (`spreads.py`); the model misses as much as it has of the published
machines, by what limits the run; formulas err; runs differ; so does chance. Each is independent of the others:
variances of the rate's logarithm add up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from oltpsim.calibration.fit import (
    INTERVAL_CONFIDENCE,
    RUN_TO_RUN,
    Calibration,
    Circumstances,
    FigureKind,
    apply_calibration,
    assumed_sd,
    calibration_path,
    circumstances_of,
    engine_errors,
    read_calibration,
    run_conditions,
    run_regime,
    scenario_hash,
    shared_correlation,
    steady_rates,
    unapplied_keys,
)
from oltpsim.calibration.predict.beyond import beyond_in_kind, beyond_in_numbers
from oltpsim.calibration.predict.evidence import MOST_FREEDOM
from oltpsim.calibration.predict.figures import FigureError, FigureInterval, Moves, figure_errors, figure_intervals
from oltpsim.calibration.predict.prediction import parameter_slopes, rate_error
from oltpsim.calibration.predict.slowed import all_slower
from oltpsim.calibration.predict.spreads import figures_of, moved_by_ends, number_words, uncertain_numbers, unseen_moves
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.errors import InternalError
from oltpsim.simulator.results import Estimate, Result

PUBLISHED = Path("published")
"""calibration whose residuals say how much the model misses"""
MISSED, ONE_RUN, FORMULAS, CHANCE = "what the model misses", "one run from the next", "the formulas", "chance"
CALIBRATED = "the calibrated parameters"


@dataclass(frozen=True)
class Contribution:
    """A part of an interval: a standard deviation of the figure's logarithm."""

    what: str
    sd: float


@dataclass(frozen=True)
class Uncertainty:
    """What isn't known of a scenario's rate. Logarithms and their standard deviations.

    `moves`: by each uncertain number, under a name that two scenarios share if it is wrong of both alike; with the sign
    of the rate's change. `chance_sd`: None of a run that isn't steady, whose chance isn't known.
    """

    rate_per_min: float
    moves: dict[str, float]
    model_sd: float
    """what the model misses"""
    freedom: float
    """degrees of freedom that this is known with"""
    run_to_run_sd: float
    formulas_sd: float
    """error of the analytic engine; 0 of a simulated rate"""
    chance_sd: float | None
    at: Circumstances
    model: ModelUsed | None = None
    errors: Mapping[FigureKind, FigureError] = field(default_factory=dict)
    """of the run's other figures, by a calibration"""
    unseen: Moves = field(default_factory=dict)
    """of the figures, by numbers of parts of kinds that no run of the calibration had"""

    @property
    def interval(self) -> MeasurementInterval:
        """Where a measurement would fall."""
        factor, rate = math.exp(_half_width(self.sd, self.model_sd, self.freedom)), self.rate_per_min
        return MeasurementInterval(rate / factor, rate * factor, INTERVAL_CONFIDENCE, self.parts, self.model)

    @property
    def parts(self) -> tuple[Contribution, ...]:
        """The parts that count, the largest first."""
        calibrated = [move for key, move in self.moves.items() if key.startswith(CALIBRATED)]
        found = [
            Contribution(number_words(key), abs(move))
            for key, move in self.moves.items()
            if not key.startswith(CALIBRATED)
        ]
        found += [
            Contribution(CALIBRATED, math.hypot(*calibrated)),
            Contribution(MISSED, self.model_sd),
            Contribution(ONE_RUN, self.run_to_run_sd),
            Contribution(FORMULAS, self.formulas_sd),
            Contribution(CHANCE, self.chance_sd or 0.0),
        ]
        return tuple(sorted((part for part in found if part.sd > 0.0), key=lambda part: -part.sd))

    @property
    def sd(self) -> float:
        """All parts together."""
        return math.hypot(*(part.sd for part in self.parts))


@dataclass(frozen=True)
class ModelUsed:
    """The calibration behind an interval: whose, and how far the scenario is from its runs."""

    base: str
    runs: int
    task_hash: str
    role: str
    """fitted if a run of this very scenario was in the fit, else predicted"""
    outside: tuple[str, ...]
    """how far the scenario is from the calibrated runs, in kind and in numbers"""
    not_applied: tuple[str, ...]
    """calibrated keys whose part is another in the scenario"""


@dataclass(frozen=True)
class MeasurementInterval:
    """Interval in which a measured rate lies with probability `confidence`, new orders per minute."""

    low_per_min: float
    high_per_min: float
    confidence: float
    parts: tuple[Contribution, ...]
    model: ModelUsed | None = None
    figures: tuple[FigureInterval, ...] = ()
    """the run's other figures, by a calibration"""

    @property
    def sd(self) -> float:
        """Standard deviation of the rate's logarithm, all parts together."""
        return math.hypot(*(part.sd for part in self.parts))

    def to_json(self) -> dict[str, Any]:
        """The interval as plain JSON, with its model and the figures that this has intervals of, if there is one."""
        found = asdict(self)
        return {key: value for key, value in found.items() if value or key not in {"model", "figures"}}


def measurement_interval(
    scenario: ScenarioSpec, rate: Estimate, calibration: Calibration | None = None, guesses: Moves | None = None
) -> MeasurementInterval:
    """The interval around an engine's rate: see `uncertainty_of`."""
    return uncertainty_of(scenario, rate, calibration, guesses).interval


def run_measurement(
    scenario: ScenarioSpec, result: Result, calibration: Calibration | None = None, guesses: Moves | None = None
) -> MeasurementInterval:
    """The interval around a run's rate, by a calibration with those of its other figures: see `uncertainty_of`."""
    found = uncertainty_of(scenario, result.rate_per_min, calibration, guesses)
    interval = found.interval
    if not found.errors:
        return interval
    left_open = {**found.unseen, **(guesses or {})}
    return replace(interval, figures=figure_intervals(result, found.errors, INTERVAL_CONFIDENCE, None, left_open))


def ratio_interval(one: Uncertainty, other: Uncertainty, ratio: float, chance_sd: float | None) -> tuple[float, float]:
    """Interval in which the ratio of two measured rates lies, `other` over `one`.

    What is wrong of both alike leaves the ratio as it is. `chance_sd`: of the ratio's logarithm by pairs of runs;
    None of a single pair, of which each rate's own is taken.
    """
    moved = [other.moves.get(key, 0.0) - one.moves.get(key, 0.0) for key in {**one.moves, **other.moves}]
    alike = shared_correlation(one.at, other.at)
    missed = math.sqrt(
        max(one.model_sd**2 + other.model_sd**2 - 2.0 * alike * one.model_sd * other.model_sd, 0.0)
        + (1.0 - alike) * (one.formulas_sd**2 + other.formulas_sd**2)
    )
    chance = math.hypot(one.chance_sd or 0.0, other.chance_sd or 0.0) if chance_sd is None else chance_sd
    sd = math.hypot(*moved, missed, one.run_to_run_sd, other.run_to_run_sd, chance)
    width = _half_width(sd, missed, min(one.freedom, other.freedom))
    return ratio * math.exp(-width), ratio * math.exp(width)


def uncertainty_of(
    scenario: ScenarioSpec, rate: Estimate, calibration: Calibration | None = None, guesses: Moves | None = None
) -> Uncertainty:
    """What isn't known of an engine's rate of a scenario; by a calibration, of its rate with the calibrated values.

    `scenario`: as it is without the calibration. `guesses`: what a description leaves open, further numbers by their
    names. Raises InputError if the formulas know no such machine.
    """
    of_rate = {name: moves[FigureKind.RATE] for name, moves in (guesses or {}).items() if moves[FigureKind.RATE] > 0.0}
    found = (
        _uncertainty(scenario, rate) if calibration is None else _calibrated_uncertainty(calibration, scenario, rate)
    )
    return replace(found, moves={**found.moves, **of_rate})


def _uncertainty(scenario: ScenarioSpec, rate: Estimate) -> Uncertainty:
    """By what is known of the parts, and the published machines."""
    numbers = list(uncertain_numbers(scenario))
    middle, *ends = figures_of([scenario, *(end for each in numbers for end in (each.up, each.down))])
    if middle is None:
        [_] = steady_rates(scenario)  # which says why not
        raise InternalError(f"{scenario.name}: a rate that can't be calculated, and then can")
    rate_at, *rates = (None if logs is None else logs[FigureKind.RATE] for logs in (middle, *ends))
    assert rate_at is not None
    regime = run_regime(scenario)
    missed = _published().missed_of(FigureKind.RATE, regime)
    model_sd = assumed_sd(FigureKind.RATE, 0.0, _published().missing) * missed.scale
    if regime == "light":
        [slowed] = steady_rates(all_slower(scenario, math.exp(model_sd)))
        model_sd *= min(max((rate_at - slowed.logs[FigureKind.RATE]) / model_sd, 0.0), 1.0)
    is_calculated = scenario.engine == "analytic"
    moves = {
        each.name: moved_by_ends(rate_at, *rates[2 * number : 2 * number + 2]) for number, each in enumerate(numbers)
    }
    return Uncertainty(
        rate_per_min=rate.mean,
        moves={name: move for name, move in moves.items() if move},
        model_sd=model_sd,
        freedom=missed.freedom,
        run_to_run_sd=RUN_TO_RUN,
        formulas_sd=rate.log_sd if is_calculated else 0.0,
        chance_sd=0.0 if is_calculated else _interval_sd(rate),
        at=circumstances_of(scenario, regime),
    )


def _calibrated_uncertainty(calibration: Calibration, scenario: ScenarioSpec, rate: Estimate) -> Uncertainty:
    """As `predict_scenario` has it, in directions of the parameters that are independent of each other."""
    machine = apply_calibration(calibration, scenario)
    [warm] = steady_rates(machine)
    regime = run_regime(machine)
    at = circumstances_of(scenario, regime)
    missed_sd = assumed_sd(FigureKind.RATE, 0.0, calibration.missing)
    missed_sd *= calibration.missed_of(FigureKind.RATE, regime).scale
    by_kind = parameter_slopes(calibration, scenario)
    slopes = by_kind[FigureKind.RATE]
    found = rate_error(calibration, slopes, at, missed_sd)
    moves = slopes @ np.linalg.cholesky(np.array(calibration.joint.covariance))
    taken_up = found.parameters_sd / max(float(np.linalg.norm(moves)), 1e-30)
    is_calculated = scenario.engine == "analytic" and scenario.job is None
    formulas = {}
    if is_calculated:
        formulas = engine_errors() | {FigureKind.RATE: rate.log_sd}
    errors = {} if scenario.job is not None else figure_errors(calibration, machine, by_kind, at, formulas)
    known = {run.scenario_hash for run in calibration.runs}
    unseen = unseen_moves(calibration, scenario)
    of_unseen = {name: by_kind[FigureKind.RATE] for name, by_kind in unseen.items() if by_kind[FigureKind.RATE]}
    calibrated = {f"{CALIBRATED} {calibration.task_hash} {k}": float(move) * taken_up for k, move in enumerate(moves)}
    return Uncertainty(
        rate_per_min=rate.mean,
        moves=calibrated | of_unseen,
        model_sd=found.discrepancy_sd,
        freedom=found.freedom * found.discrepancy_sd**4 / max(found.variance, 1e-30) ** 2,
        run_to_run_sd=calibration.run_to_run_sd,
        formulas_sd=formulas.get(FigureKind.RATE, 0.0),
        chance_sd=0.0 if is_calculated else _interval_sd(rate),
        at=at,
        errors=errors,
        unseen=unseen,
        model=ModelUsed(
            base=calibration.base.name,
            runs=len(calibration.runs),
            task_hash=calibration.task_hash,
            role="fitted" if scenario_hash(scenario) in known else "predicted",
            outside=(
                *beyond_in_kind(calibration, machine),
                *beyond_in_numbers(calibration, machine, run_conditions(machine, warm)),
            ),
            not_applied=unapplied_keys(calibration, scenario),
        ),
    )


@cache
def _published() -> Calibration:
    return read_calibration(calibration_path(PUBLISHED))


def _half_width(sd: float, model_sd: float, freedom: float) -> float:
    """Half the interval of the logarithm. Only what the model misses is known with few degrees of freedom."""
    whole = min(freedom * (sd / model_sd) ** 4, MOST_FREEDOM) if model_sd > 0.0 else MOST_FREEDOM
    return sd * float(scipy.special.stdtrit(whole, (1.0 + INTERVAL_CONFIDENCE) / 2.0))


def _interval_sd(rate: Estimate) -> float | None:
    """Standard deviation of a rate's logarithm by the engine's own interval, None of a run that isn't steady."""
    if not rate.is_steady or rate.mean <= 0.0:
        return None
    return min(rate.log_sd, 1.0)
