"""Prediction by a calibration: a scenario's rate with an interval, and how far that is from any run it has seen.

The logarithm's variance is the sum of three: of the parameters (delta method: Oehlert, Amer. Statistician 46 (1992),
27-29), of one run from the next, and of what the model misses, less what the parameters have taken up of it from runs
nearby (`evidence.py`). The interval is that of an uncertain value (`uncertain_value.py`).
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
from oltpsim.calibration.predict.evidence import evidence_of
from oltpsim.calibration.predict.figures import FigureInterval, Moves, figure_errors, figure_intervals
from oltpsim.calibration.predict.spreads import number_words
from oltpsim.calibration.predict.uncertain_value import CALIBRATED, MISSED, ONE_RUN, Component, UncertainValue
from oltpsim.models.input import validated
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build
from oltpsim.simulator.analytic import simulate
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import FloatArray, System
from oltpsim.simulator.results import Result


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
class Predicted:
    """New orders per minute of a scenario, by a calibration."""

    scenario: ScenarioSpec
    """with the calibrated values"""
    rate: UncertainValue
    model: ModelUsed
    doubts: tuple[str, ...] = ()
    """where the analytic engine's assumptions don't hold, unless the rate is simulated"""
    figures: tuple[FigureInterval, ...] = ()
    """the run's other figures; none of a job"""


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
    missed = calibration.missed_of(FigureKind.RATE, regime)
    missed_sd = assumed_sd(FigureKind.RATE, left_out_sds[FigureKind.RATE], calibration.missing) * missed.scale
    slopes, at = parameter_slopes(calibration, scenario), circumstances_of(scenario, regime)
    components = (
        *rate_components(calibration, slopes[FigureKind.RATE], at, missed_sd),
        *guess_components(guesses),
    )
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
        rate=UncertainValue(rate, components, calibration.confidence),
        model=model_used(calibration, scenario, machine, run_conditions(machine, warm)),
        doubts=() if simulated else engine_doubts([machine])[0],
        figures=figures,
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


def model_used(
    calibration: Calibration, scenario: ScenarioSpec, machine: ScenarioSpec, conditions: dict[str, float]
) -> ModelUsed:
    """The calibration as a scenario's answer names it. `machine`: with the calibrated values, under `conditions`."""
    known = {run.scenario_hash for run in calibration.runs}
    return ModelUsed(
        base=calibration.base.name,
        runs=len(calibration.runs),
        task_hash=calibration.task_hash,
        role="fitted" if scenario_hash(scenario) in known else "predicted",
        outside=(
            *beyond_in_kind(calibration, machine),
            *beyond_in_numbers(calibration, machine, conditions),
        ),
        not_applied=unapplied_keys(calibration, scenario),
    )


def rate_components(
    calibration: Calibration, slopes: FloatArray, at: Circumstances, missed_sd: float
) -> tuple[Component, ...]:
    """What the calibrated model's rate is wrong by: its parameters, in directions that are independent of each other.

    `slopes`: derivatives of the rate's logarithm by the parameters' places. `missed_sd`: its discrepancy.
    """
    freedom_of = {kind: each.freedom for kind, each in calibration.missed.items()}
    freedom_of[FigureKind.RATE] = calibration.missed_of(FigureKind.RATE, at.regime).freedom
    found = evidence_of(calibration).error(slopes, at, missed_sd, freedom_of)
    moves = slopes @ np.linalg.cholesky(np.array(calibration.joint.covariance))
    taken_up = found.parameters_sd / max(float(np.linalg.norm(moves)), 1e-30)
    freedom = found.freedom * found.discrepancy_sd**4 / max(found.variance, 1e-30) ** 2
    return (
        *(
            Component(CALIBRATED, float(move) * taken_up, f"{CALIBRATED} {calibration.task_hash} {number}")
            for number, move in enumerate(moves)
        ),
        Component(MISSED, found.discrepancy_sd, MISSED, freedom, at),
        Component(ONE_RUN, calibration.run_to_run_sd),
    )


def guess_components(guesses: Moves | None) -> tuple[Component, ...]:
    """What the guesses move the rate by, under their names."""
    of_rate = {name: moves[FigureKind.RATE] for name, moves in (guesses or {}).items()}
    return tuple(Component(number_words(name), move, name) for name, move in of_rate.items() if move)


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
