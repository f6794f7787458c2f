"""Where a measured rate would fall: all that isn't known of a scenario, not chance alone.

By a calibration: its parameters together, what it misses of runs limited alike, and runs that differ, as it predicts;
of parts of kinds that none of its runs had what is left open without it. Without one, numbers of parts and path lengths
have the spread of their sources (`spreads.py`); the model misses as much as it has of the published
machines, by what limits the run; formulas err; runs differ; so does chance. Each is independent of the others:
variances of the rate's logarithm add up.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from oltpsim.calibration.atlas import Adjustment, place_of, shipped_atlas
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
    steady_rates,
)
from oltpsim.calibration.predict.figures import FigureInterval, Moves, figure_errors, figure_intervals
from oltpsim.calibration.predict.guessed import Guesses
from oltpsim.calibration.predict.prediction import (
    ModelUsed,
    guess_components,
    model_used,
    parameter_slopes,
    rate_components,
)
from oltpsim.calibration.predict.slowed import all_slower
from oltpsim.calibration.predict.spreads import figures_of, moved_by_ends, number_words, uncertain_numbers, unseen_moves
from oltpsim.calibration.predict.uncertain_value import (
    ALIKE,
    CHANCE,
    FORMULAS,
    MISSED,
    ONE_RUN,
    Component,
    UncertainValue,
)
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build
from oltpsim.models.workloads import ClosedClientsSpec
from oltpsim.simulator.analytic import regime_of, simulate
from oltpsim.simulator.errors import InternalError
from oltpsim.simulator.results import Estimate, Result, times_faster

PUBLISHED = Path("published")
"""calibration whose residuals say how much the model misses"""


@dataclass(frozen=True)
class MeasurementInterval:
    """Where a measured rate would fall, new orders per minute."""

    rate: UncertainValue
    model: ModelUsed | None = None
    figures: tuple[FigureInterval, ...] = ()
    """the run's other figures, by a calibration"""
    nearby: Adjustment | None = None
    """correction of a described machine's rate by measured runs"""
    engine_rate_per_min: float | None = None
    """the engine's own rate, if measured runs have changed it"""

    @property
    def correction(self) -> float:
        """Factor of measured runs on the engine's rate; 1 without any."""
        return self.rate.value / self.engine_rate_per_min if self.engine_rate_per_min else 1.0

    def applied(self, result: Result) -> Result:
        """The result with the transactions' rates and response times that measured runs make of them.

        Figures of parts stay the engine's.
        """
        rate = result.rate_per_min.mean
        if self.nearby is None or rate <= 0.0 or math.isclose(rate, self.rate.value):
            return result
        return times_faster(result, self.rate.value / rate)

    def to_json(self) -> dict[str, Any]:
        """The interval as plain JSON, with its model and the figures that this has intervals of, if there is one."""
        found: dict[str, Any] = {
            "value_per_min": self.rate.value,
            "low_per_min": self.rate.low,
            "high_per_min": self.rate.high,
            "confidence": self.rate.confidence,
            "parts": [asdict(part) for part in self.rate.parts],
        }
        found |= {} if self.model is None else {"model": asdict(self.model)}
        if self.nearby is not None:
            found["nearby"] = {"engine_per_min": self.engine_rate_per_min, **self.nearby.to_json()}
        return found | ({"figures": [each.to_json() for each in self.figures]} if self.figures else {})


def measurement_interval(
    scenario: ScenarioSpec,
    answer: Result | Estimate,
    calibration: Calibration | None = None,
    guesses: Guesses | None = None,
) -> MeasurementInterval:
    """The interval around an engine's rate, and by a calibration those of a result's other figures.

    `scenario`: as it is without the calibration. `guesses`: what a description leaves open; without a calibration the
    atlas then corrects the rate of clients that don't think, as all its runs have them, and gives the interval. Raises
    InputError if the formulas know no such machine.
    """
    rate = answer.rate_per_min if isinstance(answer, Result) else answer
    if calibration is not None:
        return _calibrated(calibration, scenario, answer, rate, {} if guesses is None else guesses.left_open)
    if guesses is not None and rate.mean > 0.0 and _never_thinks(scenario):
        return _beside_runs(scenario, rate, guesses)
    left_open = {} if guesses is None else guesses.left_open
    components = (*_components(scenario, rate), *guess_components(left_open))
    return MeasurementInterval(UncertainValue(rate.mean, components))


def _never_thinks(scenario: ScenarioSpec) -> bool:
    """Whether clients send their next transaction at once: others' rates have a limit that no machine's speed moves."""
    if scenario.job is not None:
        return False
    arrivals = scenario.workload.arrivals
    return isinstance(arrivals, ClosedClientsSpec) and arrivals.think_time_s == 0.0


def _beside_runs(scenario: ScenarioSpec, rate: Estimate, guesses: Guesses) -> MeasurementInterval:
    """The rate of a described machine as measured runs of machines alike correct it."""
    formulas = scenario.model_copy(update={"engine": "analytic"})
    is_calculated = scenario.engine == "analytic"
    calculated = simulate(build(formulas), 1)
    place = place_of(formulas, calculated)
    atlas = shipped_atlas()
    found = atlas.adjustment(place)
    at = circumstances_of(scenario, regime_of(calculated))
    assumption_sds = atlas.assumption_sds(place, guesses.facts)
    components = (
        Component(ALIKE, found.sd, MISSED, at=at),
        *(Component(fact.rpartition(" x")[0] or fact, sd, fact) for fact, sd in assumption_sds.items()),
        Component(ONE_RUN, RUN_TO_RUN),
        *(() if is_calculated or not rate.is_steady else (Component(CHANCE, min(rate.log_sd, 1.0)),)),
    )
    warm = calculated.rate_per_min.mean if scenario.interval.start == "warm" else rate.mean
    log = found.log_rate(warm, None if is_calculated else rate.mean)
    return MeasurementInterval(UncertainValue(math.exp(log), components), nearby=found, engine_rate_per_min=rate.mean)


def _components(scenario: ScenarioSpec, rate: Estimate) -> tuple[Component, ...]:
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
    at = circumstances_of(scenario, regime)
    moves = [moved_by_ends(rate_at, *rates[2 * number : 2 * number + 2]) for number in range(len(numbers))]
    return (
        *(
            Component(number_words(each.name), move, each.name)
            for each, move in zip(numbers, moves, strict=True)
            if move
        ),
        Component(MISSED, model_sd, MISSED, missed.freedom, at),
        Component(ONE_RUN, RUN_TO_RUN),
        *_engine_components(scenario, rate, at, rate.log_sd),
    )


def _calibrated(
    calibration: Calibration, scenario: ScenarioSpec, answer: Result | Estimate, rate: Estimate, guesses: Moves
) -> MeasurementInterval:
    """The interval with the calibrated values, as `predict_scenario` has it."""
    machine = apply_calibration(calibration, scenario)
    [warm] = steady_rates(machine)
    regime = run_regime(machine)
    at = circumstances_of(scenario, regime)
    missed_sd = assumed_sd(FigureKind.RATE, 0.0, calibration.missing)
    missed_sd *= calibration.missed_of(FigureKind.RATE, regime).scale
    slopes = parameter_slopes(calibration, scenario)
    is_calculated = scenario.engine == "analytic" and scenario.job is None
    formulas = engine_errors() | {FigureKind.RATE: rate.log_sd} if is_calculated else {}
    left_open = {**unseen_moves(calibration, scenario), **guesses}
    components = (
        *rate_components(calibration, slopes[FigureKind.RATE], at, missed_sd),
        *guess_components(left_open),
        *_engine_components(scenario, rate, at, formulas.get(FigureKind.RATE, 0.0)),
    )
    figures: tuple[FigureInterval, ...] = ()
    if isinstance(answer, Result) and scenario.job is None:
        errors = figure_errors(calibration, machine, slopes, at, formulas)
        figures = figure_intervals(answer, errors, INTERVAL_CONFIDENCE, None, left_open)
    model = model_used(calibration, scenario, machine, run_conditions(machine, warm))
    return MeasurementInterval(UncertainValue(rate.mean, components), model, figures)


def _engine_components(
    scenario: ScenarioSpec, rate: Estimate, at: Circumstances, formulas_sd: float
) -> tuple[Component, ...]:
    """Of a calculated rate the error of the formulas, of a simulated one chance, unless the run isn't steady."""
    if scenario.engine == "analytic":
        return (Component(FORMULAS, formulas_sd, FORMULAS, at=at),)
    if not rate.is_steady or rate.mean <= 0.0:
        return ()
    return (Component(CHANCE, min(rate.log_sd, 1.0)),)


@cache
def _published() -> Calibration:
    return read_calibration(calibration_path(PUBLISHED))
