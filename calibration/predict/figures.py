"""Figures of a run beside its rate: where a measurement of each would fall, by a calibrated model.

As of the rate, variances of the logarithm add up: of the parameters by that figure's slopes, of what the model misses
of its kind less what the parameters have taken up, of one run from the next, of the formulas, and of chance.

A share's interval is one of the work that is offered, on the scale on which fits compare it (the logarithm of the share
and 1 %): the upper end is full if that is beyond. Work that exceeds the capacity shows as no more than full, so that a
measured share is the lesser of the two (Tobin, Econometrica 26 (1958), 24-36), and has the same chance to lie between
the ends; a transformation that stretches the scale near 1, as the logit does, would make of an error of 10 % at 99 %
busy an interval from nothing to full.

In a closed system response time and rate say the same (Little's law), so that runs which measured the rate have
measured the mean response. What is wrong of the rate is wrong of the response too, as many times more as the response
grows faster than the rate falls if all parts are slower: once where clients don't think, more where they do. Where the
machine waits for load, what is wrong of the rate is taken to be wrong of all parts' times.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from oltpsim.calibration.fit import (
    Calibration,
    Circumstances,
    FigureKind,
    assumed_sd,
    simulated_figures,
    simulated_noise,
    steady_rates,
)
from oltpsim.calibration.predict.evidence import ErrorParts, evidence_of
from oltpsim.calibration.predict.slowed import all_slower
from oltpsim.calibration.predict.uncertain_value import CHANCE, FORMULAS, ONE_RUN, Component, UncertainValue
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import FloatArray
from oltpsim.simulator.results import Result, main_class_of

BY_MODEL, SHAPE = "the calibrated model", "the percentile over the mean"
UNMEASURED = "no run of the model measured it"
NEAR_CAPACITY = "it hangs on how near to its capacity the machine is"
SHAPE_SD, SHAPE_FREEDOM = 0.16, 12.0
"""what is missed of the 95th percentile over the mean, and what that is known with: root mean square of the logarithm
over the 13 runs on emulated disks (PostgreSQL 15, calibration/runs/emulated_disks) by the kernel and the model
postgresql"""
SLOWER = 1.1
"""all parts are made so many times slower to see what that does to the response"""
WIDEST = math.log(100.0)
"""half a logarithm's interval beyond which there is none"""
FOLLOWS = 0.5
"""assumption: a rate that falls by less than this share of what all parts are slower by waits for load"""
Moves = Mapping[str, Mapping[FigureKind, float]]
"""what each guess moves the logarithm of each kind of figure by, one standard deviation, by its name"""


@dataclass(frozen=True)
class FigureError:
    """What a kind of figure is wrong by, beside chance.

    `times_rate`: how many times the rate's error a response's is; `of_percentile`: what is missed of its 95th
    percentile beside.
    """

    components: tuple[Component, ...]
    times_rate: float = 1.0
    of_percentile: tuple[Component, ...] = ()


@dataclass(frozen=True)
class FigureInterval:
    """A figure of a run with the interval in which a measured one would lie; without one `reason` says why."""

    name: str
    unit: str
    figure: UncertainValue
    reason: str = ""

    @property
    def value(self) -> float:
        """The figure itself."""
        return self.figure.value

    @property
    def ends(self) -> tuple[float, float] | None:
        """Ends of the interval, None without one."""
        return None if self.reason else self.figure.interval

    def to_json(self) -> dict[str, Any]:
        """The figure as plain JSON; `sd` is that of the logarithm."""
        low, high = self.ends or (None, None)
        sd = None if self.reason else self.figure.sd
        return {"name": self.name, "unit": self.unit, "value": self.value, "low": low, "high": high, "sd": sd,
                "reason": self.reason}  # fmt: skip


@dataclass(frozen=True)
class _RunFigure:
    """A figure of a run, and the kind whose error it has."""

    name: str
    unit: str
    kind: FigureKind
    value: float
    is_percentile: bool = False


def figure_errors(
    calibration: Calibration,
    machine: ScenarioSpec,
    slopes: Mapping[FigureKind, FloatArray],
    at: Circumstances,
    of_engine: Mapping[FigureKind, float],
) -> dict[FigureKind, FigureError]:
    """Of each kind that the model's runs have measured. `machine`: the scenario with the calibrated values.

    `slopes`: derivatives of each kind's logarithm by the parameters' places. `of_engine`: standard deviations of what
    the engine that gives the figures leaves out, by kind; none of a simulation.
    """
    figures = [figure for run in calibration.runs for figure in run.figures]
    noise = {
        kind: math.sqrt(float(np.mean([each.noise_sd**2 for each in figures if each.kind == kind])))
        for kind in dict.fromkeys(each.kind for each in figures)
    }
    noise[FigureKind.RATE] = calibration.run_to_run_sd
    freedom = {kind: each.freedom for kind, each in calibration.missed.items()}
    evidence, found = evidence_of(calibration), {}
    for kind, noise_sd in noise.items():
        missed = calibration.missed_of(kind, at.regime)
        missed_sd = assumed_sd(kind, 0.0, calibration.missing) * missed.scale
        error = evidence.error(slopes[kind], at, missed_sd, freedom | {kind: missed.freedom}, kind)
        found[kind] = FigureError(_components(error, noise_sd, of_engine.get(kind, 0.0)))
    if FigureKind.RESPONSE not in found and FigureKind.RATE in found:
        times, missed = _times_rate(machine), calibration.missed_of(FigureKind.RATE, at.regime)
        missed_sd = assumed_sd(FigureKind.RATE, 0.0, calibration.missing) * missed.scale * times
        error = evidence.error(-slopes[FigureKind.RESPONSE], at, missed_sd, freedom | {FigureKind.RATE: missed.freedom})
        formulas_sd = max(of_engine.get(FigureKind.RESPONSE, 0.0), of_engine.get(FigureKind.RATE, 0.0) * times)
        found[FigureKind.RESPONSE] = FigureError(_components(error, noise[FigureKind.RATE] * times, formulas_sd), times)
    if FigureKind.RESPONSE in found:
        shape = Component(SHAPE, SHAPE_SD * calibration.missing, freedom=SHAPE_FREEDOM)
        found[FigureKind.RESPONSE] = replace(found[FigureKind.RESPONSE], of_percentile=(shape,))
    return found


def _components(error: ErrorParts, noise_sd: float, formulas_sd: float) -> tuple[Component, ...]:
    return (
        Component(BY_MODEL, math.sqrt(error.variance), freedom=error.freedom),
        Component(ONE_RUN, noise_sd),
        Component(FORMULAS, formulas_sd),
    )


def figure_intervals(
    result: Result,
    errors: Mapping[FigureKind, FigureError],
    confidence: float,
    corrections: Mapping[FigureKind, float] | None = None,
    guesses: Moves | None = None,
) -> tuple[FigureInterval, ...]:
    """A run's figures with intervals. `corrections`: to be added to a kind's logarithm."""
    is_calculated = result.engine == "analytic"
    chance = {} if is_calculated else simulated_noise(result)
    found = []
    for figure in _run_figures(result):
        kind, error = figure.kind, errors.get(figure.kind)
        correction = (corrections or {}).get(kind, 0.0)
        centre = math.exp(float(kind.log(figure.value)) + correction) - kind.negligible if correction else figure.value
        full = 1.0 if math.isfinite(kind.end_of_scale) else None
        value = UncertainValue(centre, (), confidence, kind.negligible, full)
        if error is None:
            found.append(FigureInterval(figure.name, figure.unit, value, UNMEASURED))
            continue
        by_chance = chance.get(kind, 0.0) * error.times_rate
        if figure.is_percentile and not is_calculated:
            by_chance = _percentile_chance(result) or by_chance
        by_chance *= math.sqrt(2.0)  # of the run and of the measured one, whose own isn't in its noise
        value = value.plus(
            (
                *error.components,
                *(error.of_percentile if figure.is_percentile else ()),
                Component(CHANCE, by_chance),
                *(Component(name, moves.get(kind, 0.0)) for name, moves in (guesses or {}).items()),
            )
        )
        reason = "" if value.log_half_width < WIDEST else NEAR_CAPACITY
        found.append(FigureInterval(figure.name, figure.unit, value, reason))
    return tuple(found)


def _run_figures(result: Result) -> list[_RunFigure]:
    """The figures that a run has; none if nothing ended in it."""
    main = main_class_of(result)
    if not main.completed or not result.transactions_per_s:
        return []
    of_run, name = simulated_figures(result), main.name.replace(" ", "_")
    found = [_RunFigure(f"{name}_mean", "s", FigureKind.RESPONSE, main.mean_s)]
    if main.p95_s is not None:
        found.append(_RunFigure(f"{name}_p95", "s", FigureKind.RESPONSE, main.p95_s, is_percentile=True))
    for of_part, unit, kind in (
        ("cpu_utilisation", "fraction", FigureKind.CPU),
        ("disk_utilisation", "fraction", FigureKind.BUSY),
        ("reads", "per_transaction", FigureKind.READS),
        ("writes", "per_transaction", FigureKind.WRITES),
        ("pool_misses", "per_transaction", FigureKind.MISSES),
        ("log_flushes", "per_transaction", FigureKind.FLUSHES),
    ):
        found.append(_RunFigure(of_part, unit, kind, of_run[kind]))
    return found


def _percentile_chance(result: Result) -> float | None:
    """Standard deviation of the 95th percentile's logarithm by the run's own interval; None if it has none."""
    intervals = main_class_of(result).intervals
    if intervals is None or not intervals.p95.low_s or intervals.p95.high_s is None:
        return None
    sigmas = float(scipy.special.ndtri((1.0 + result.rate_per_min.confidence) / 2.0))
    return math.log(intervals.p95.high_s / intervals.p95.low_s) / 2.0 / sigmas


def _times_rate(machine: ScenarioSpec) -> float:
    """How many times more than the rate's logarithm the response's is wrong, by a machine of slower parts."""
    try:
        now, slower = steady_rates(machine, all_slower(machine, SLOWER))
    except InputError:  # what is a little slower can't do the load
        return math.inf
    grown = max(slower.logs[FigureKind.RESPONSE] - now.logs[FigureKind.RESPONSE], 0.0)
    fallen = now.logs[FigureKind.RATE] - slower.logs[FigureKind.RATE]
    return grown / (fallen if fallen > FOLLOWS * math.log(SLOWER) else math.log(SLOWER))
