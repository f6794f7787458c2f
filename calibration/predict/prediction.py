"""Prediction by a calibration: a scenario's rate with an interval, and how far that is from any run it has seen.

The logarithm's variance is the sum of three: of the parameters (delta method: Oehlert, Amer. Statistician 46 (1992),
27-29), of one run from the next, and of what the model misses, less what the parameters have taken up of it from runs
nearby (`evidence.py`). The interval is Student's, whose degrees of freedom are those of the
discrepancy as far as it makes up the sum (Satterthwaite, Biometrics Bulletin 2 (1946), 110-114).
"""

import math
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from oltpsim.calibration.fit import (
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
from oltpsim.calibration.predict.beyond import beyond_in_kind, beyond_in_numbers
from oltpsim.calibration.predict.evidence import MOST_FREEDOM, ErrorParts, evidence_of, half_width
from oltpsim.calibration.predict.figures import FigureInterval, Moves, figure_errors, figure_intervals
from oltpsim.models.input import validated
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build
from oltpsim.simulator.analytic import simulate
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import FloatArray, System
from oltpsim.simulator.results import Result


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
    figures: tuple[FigureInterval, ...] = ()
    """the run's other figures; none of a job"""
    guessed_sd: float = 0.0
    """by what a description leaves open, and by parts of kinds that no run had"""

    @property
    def sd(self) -> float:
        """Standard deviation of the logarithm, all parts together."""
        return math.hypot(self.parameters_sd, self.run_to_run_sd, self.discrepancy_sd, self.guessed_sd)


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
        name: validated(Predicted, {**data, "scenario": apply_calibration(calibration, scenario)}, name)
        for (name, scenario), data in zip(scenarios.items(), found, strict=True)
    }


def _predicted(*of: Any) -> dict[str, Any]:
    return {name: value for name, value in asdict(predict_scenario(*of)).items() if name != "scenario"}


def predict_scenario(
    calibration: Calibration,
    scenario: ScenarioSpec,
    simulate_model: SimulateModel | None = None,
    guesses: Moves | None = None,
) -> Predicted:
    """The scenario's figures by the calibrated model. Raises InputError if the calibrated machine can't run it.

    By `simulate_model` if it has confirmed the fit and can answer soon, else by the analytic engine with what the
    kernel has shown of runs that are limited alike. A fitted run's rate is that of the fit's table. `guesses`: what a
    description leaves open, and parts of kinds that no run had (`unseen_moves`).
    """
    if calibration.by_kernel and simulate_model is None:
        raise ValueError("a calibration that an engine has confirmed needs it to predict")
    machine = apply_calibration(calibration, scenario)
    [warm] = steady_rates(machine)
    simulated = bool(calibration.by_kernel) and kernel_can_simulate(machine, warm.new_orders_per_min)
    kinds = tuple(FigureKind)
    engine = _KeptResult(simulate_model) if simulate_model is not None and simulated else None
    logs, sds = engine_correction(machine, kinds, calibration.seed, engine)
    regime = run_regime(machine)
    corrections, left_out_sds = {}, dict(zip(kinds, sds, strict=True))
    for kind, usual in ({} if simulated else calibration.corrections.get(regime, {})).items():
        corrections[kind], left_out_sds[kind] = float(np.log(usual.factor)), usual.sd
    left_out = logs[kinds.index(FigureKind.RATE)] + corrections.get(FigureKind.RATE, 0.0)
    rate = warm.new_orders_per_min * float(np.exp(left_out))
    missed, noise = calibration.missed_of(FigureKind.RATE, regime), calibration.run_to_run_sd
    missed_sd = assumed_sd(FigureKind.RATE, left_out_sds[FigureKind.RATE], calibration.missing) * missed.scale
    slopes, at = parameter_slopes(calibration, scenario), circumstances_of(scenario, regime)
    parts = rate_error(calibration, slopes[FigureKind.RATE], at, missed_sd)
    guessed_sd = math.hypot(*(moves.get(FigureKind.RATE, 0.0) for moves in (guesses or {}).values()))
    sd = math.hypot(math.sqrt(parts.variance), noise, guessed_sd)
    freedom = parts.freedom * sd**4 / parts.variance**2 if parts.variance > 0 else MOST_FREEDOM
    width = half_width(calibration.confidence, sd, freedom)
    known = {run.scenario_hash for run in calibration.runs}
    figures: tuple[FigureInterval, ...] = ()
    if machine.job is None:
        errors = figure_errors(calibration, machine, slopes, at, {} if engine is not None else left_out_sds)
        result = simulate(build(machine), calibration.seed) if engine is None else engine.result
        of_response = errors.get(FigureKind.RESPONSE)
        if engine is None and of_response is not None and math.isfinite(of_response.times_rate):
            corrections.setdefault(FigureKind.RESPONSE, -of_response.times_rate * left_out)
        figures = figure_intervals(result, errors, calibration.confidence, corrections, guesses)
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
            *beyond_in_numbers(calibration, machine, run_conditions(machine, warm)),
        ),
        not_applied=unapplied_keys(calibration, scenario),
        doubts=() if simulated else engine_doubts([machine])[0],
        freedom=min(freedom, MOST_FREEDOM),
        figures=figures,
        guessed_sd=guessed_sd,
    )


class _KeptResult:
    """An engine whose last result is kept."""

    result: Result

    def __init__(self, engine: SimulateModel) -> None:
        self._engine = engine

    def __call__(self, system: System, seed: int) -> Result:
        """The result of a model by a seed."""
        self.result = self._engine(system, seed)
        return self.result


def rate_error(calibration: Calibration, slopes: FloatArray, at: Circumstances, missed_sd: float) -> ErrorParts:
    """What the calibrated model's rate is wrong by. `slopes`: of its logarithm by the parameters' places."""
    freedom_of = {kind: each.freedom for kind, each in calibration.missed.items()}
    freedom_of[FigureKind.RATE] = calibration.missed_of(FigureKind.RATE, at.regime).freedom
    return evidence_of(calibration).error(slopes, at, missed_sd, freedom_of)


def parameter_slopes(calibration: Calibration, scenario: ScenarioSpec) -> dict[FigureKind, FloatArray]:
    """Derivatives of the steady figures' logarithms by the parameters' places, at bounds one-sided, over whole numbers.

    Of each kind that the scenario's machine has.
    """
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
    logs = [each.logs for each in steady_rates(*machines)]
    slopes = {kind: np.zeros(len(calibration.parameters)) for kind in (logs[0] if logs else FigureKind)}
    for number in varied:
        mine = [(at, by_kind) for (owner, at), by_kind in zip(moved, logs, strict=True) if owner == number]
        if len({at for at, _ in mine}) > 1:
            (first, low_logs), (last, high_logs) = mine[0], mine[-1]
            for kind, of_kind in slopes.items():
                of_kind[number] = (high_logs[kind] - low_logs[kind]) / (last - first)
    return slopes
