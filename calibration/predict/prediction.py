"""Prediction by a calibration: a scenario's rate with an interval, and how far that is from any run it has seen.

The logarithm's variance is the sum of three: of the parameters (delta method: Oehlert, Amer. Statistician 46 (1992),
27-29), of one run from the next, and of what the model misses, less what the parameters have taken up of it from runs
nearby (`calibration.predict.evidence`). The interval is Student's, whose degrees of freedom are those of the
discrepancy as far as it makes up the sum (Satterthwaite, Biometrics Bulletin 2 (1946), 110-114).
"""

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import scipy

from calibration.fit import (
    DIFFERENCE_STEP,
    Calibration,
    Circumstances,
    FigureKind,
    ReportProgress,
    SimulateModel,
    StepJournal,
    apply_calibration,
    assumed_sd,
    circumstances_of,
    engine_correction,
    engine_doubts,
    kernel_can_simulate,
    parameter_bounds,
    run_conditions,
    run_regime,
    scenario_hash,
    steady_rates,
    unapplied_keys,
)
from calibration.predict.beyond import beyond_in_kind, beyond_in_numbers
from calibration.predict.evidence import MOST_FREEDOM, ErrorParts, evidence_of
from models.scenario import ScenarioSpec
from simulator.errors import InputError
from simulator.form import FloatArray


@dataclass(frozen=True)
class Predicted:
    """New orders per minute of a scenario. The parts are standard deviations of its logarithm."""

    scenario: ScenarioSpec
    """with the calibrated values"""
    role: str
    """fitted if a run of this very scenario was in the fit, else predicted"""
    rate_per_min: float
    low_per_min: float
    high_per_min: float
    confidence: float
    parameters_sd: float
    run_to_run_sd: float
    discrepancy_sd: float
    outside: tuple[str, ...]
    """how far the scenario is from the calibrated runs, in kind and in numbers"""
    not_applied: tuple[str, ...]
    doubts: tuple[str, ...] = ()
    """where the analytic engine's assumptions don't hold, unless the rate is simulated"""
    freedom: float = MOST_FREEDOM
    """degrees of freedom that the sum of the parts is known with"""

    @property
    def sd(self) -> float:
        """Standard deviation of the logarithm, all parts together."""
        return float(np.sqrt(self.parameters_sd**2 + self.run_to_run_sd**2 + self.discrepancy_sd**2))

    def to_json(self) -> dict[str, Any]:
        """The prediction as plain JSON, but for its scenario."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "scenario"}

    @classmethod
    def from_json(cls, scenario: ScenarioSpec, data: dict[str, Any]) -> Self:
        """From what `to_json` gave. `scenario`: with the calibrated values."""
        values: dict[str, Any] = {key: tuple(each) if isinstance(each, list) else each for key, each in data.items()}
        return cls(scenario, **values)


def predict_scenarios(
    calibration: Calibration,
    scenarios: Mapping[str, ScenarioSpec],
    journal: StepJournal,
    report: ReportProgress,
    executor: Executor | None = None,
    simulate_model: SimulateModel | None = None,
) -> dict[str, Predicted]:
    """Predictions by the scenarios' names: see `predict_scenario`. `journal` holds those that are done."""
    count = len(scenarios)
    found = journal.once_each(
        _predicted,
        {f"prediction of {name}": (calibration, scenario, simulate_model) for name, scenario in scenarios.items()},
        executor,
        lambda done, begins: report(done / count, f"{begins or 'predictions'}: {done} of {count}"),
    )
    return {
        name: Predicted.from_json(apply_calibration(calibration, scenario), data)
        for (name, scenario), data in zip(scenarios.items(), found, strict=True)
    }


def _predicted(*of: Any) -> dict[str, Any]:
    return predict_scenario(*of).to_json()


def predict_scenario(
    calibration: Calibration, scenario: ScenarioSpec, simulate_model: SimulateModel | None = None
) -> Predicted:
    """The scenario's rate by the calibrated model. Raises InputError if the calibrated machine can't run it.

    By `simulate_model` if it has confirmed the fit and can answer soon, else by the analytic engine with what the
    kernel has shown of runs that are limited alike. A fitted run's is that of the fit's table.
    """
    if calibration.by_kernel and simulate_model is None:
        raise ValueError("a calibration that an engine has confirmed needs it to predict")
    machine = apply_calibration(calibration, scenario)
    [warm] = steady_rates(machine)
    simulated = bool(calibration.by_kernel) and kernel_can_simulate(machine, warm.new_orders_per_min)
    [left_out], [left_out_sd] = engine_correction(
        machine, (FigureKind.RATE,), calibration.seed, simulate_model if simulated else None
    )
    regime = run_regime(machine)
    usual = None if simulated else calibration.corrections.get(regime, {}).get(FigureKind.RATE)
    if usual is not None:
        left_out, left_out_sd = left_out + float(np.log(usual.factor)), usual.sd
    rate = warm.new_orders_per_min * float(np.exp(left_out))
    missed, noise = calibration.missed_of(FigureKind.RATE, regime), calibration.run_to_run_sd
    missed_sd = assumed_sd(FigureKind.RATE, left_out_sd, calibration.missing) * missed.scale
    parts = rate_error(
        calibration, parameter_slopes(calibration, scenario), circumstances_of(scenario, regime), missed_sd
    )
    sd = float(np.sqrt(parts.variance + noise**2))
    freedom = parts.freedom * sd**4 / parts.variance**2 if parts.variance > 0 else MOST_FREEDOM
    width = half_width(calibration.confidence, sd, freedom)
    known = {run.scenario_hash for run in calibration.runs}
    return Predicted(
        scenario=machine,
        role="fitted" if scenario_hash(scenario) in known else "predicted",
        rate_per_min=rate,
        low_per_min=rate * float(np.exp(-width)),
        high_per_min=rate * float(np.exp(width)),
        confidence=calibration.confidence,
        parameters_sd=parts.parameters_sd,
        run_to_run_sd=noise,
        discrepancy_sd=parts.discrepancy_sd,
        outside=(
            *beyond_in_kind(calibration, machine),
            *beyond_in_numbers(calibration, run_conditions(machine, warm)),
        ),
        not_applied=unapplied_keys(calibration, scenario),
        doubts=() if simulated else engine_doubts([machine])[0],
        freedom=min(freedom, MOST_FREEDOM),
    )


def rate_error(calibration: Calibration, slopes: FloatArray, at: Circumstances, missed_sd: float) -> ErrorParts:
    """What the calibrated model's rate is wrong by. `slopes`: of its logarithm by the parameters' places."""
    freedom_of = {kind: each.freedom for kind, each in calibration.missed.items()}
    freedom_of[FigureKind.RATE] = calibration.missed_of(FigureKind.RATE, at.regime).freedom
    return evidence_of(calibration).error(slopes, at, missed_sd, freedom_of)


def half_width(confidence: float, sd: float, freedom: float) -> float:
    """Half the interval of a rate's logarithm that has a standard deviation, known with so much freedom."""
    return sd * float(scipy.special.stdtrit(min(freedom, MOST_FREEDOM), (1.0 + confidence) / 2.0))


def parameter_slopes(calibration: Calibration, scenario: ScenarioSpec) -> FloatArray:
    """Derivatives of the steady rate's logarithm by the parameters' places, at bounds one-sided, over whole numbers."""
    low, high = parameter_bounds([each.parameter for each in calibration.parameters])
    out = unapplied_keys(calibration, scenario)
    varied = [number for number, each in enumerate(calibration.parameters) if each.key not in out]
    moved: list[tuple[int, float]] = []
    machines: list[ScenarioSpec] = []
    for number in varied:
        for at in calibration.parameters[number].parameter.around(float(calibration.mode[number]), DIFFERENCE_STEP):
            place = calibration.mode.copy()
            place[number] = np.clip(at, low[number], high[number])
            try:
                machines.append(apply_calibration(calibration, scenario, place))
            except InputError:
                continue
            moved.append((number, float(place[number])))
    logs = [float(np.log(each.new_orders_per_min)) for each in steady_rates(*machines)]
    slopes = np.zeros(len(calibration.parameters))
    for number in varied:
        mine = [(at, log) for (owner, at), log in zip(moved, logs, strict=True) if owner == number]
        if len({at for at, _ in mine}) > 1:
            slopes[number] = (mine[-1][1] - mine[0][1]) / (mine[-1][0] - mine[0][0])
    return slopes
