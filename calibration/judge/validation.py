"""Validation: a calibration held against runs, those it has seen and those it hasn't, refitted without each of them."""

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from statistics import median

import scipy

from oltpsim.calibration.fit import (
    ANSWERS,
    Calibration,
    Certificate,
    Coverage,
    Errors,
    FittedRun,
    JudgedRate,
    JudgedRun,
    LeaveOut,
    MappingFile,
    MeasuredRun,
    RegimeErrors,
    ReportProgress,
    SimulateModel,
    StepJournal,
    answers_version,
    calibration_hash,
    error_summary,
    figure_choice,
    judged_rate,
    measured_runs,
    scenario_hash,
)
from oltpsim.calibration.judge.baselines import baseline_run, compare_baselines
from oltpsim.calibration.judge.gap import explain_gap
from oltpsim.calibration.judge.left_out import Refits, leave_out, machine_of, measured_rate, unit_of
from oltpsim.calibration.predict import Predicted, predict_scenarios
from oltpsim.calibration.records import RunRecord, fit_versions
from oltpsim.models.jobs import run_job
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build
from oltpsim.simulator.analytic import regime_of, simulate
from oltpsim.simulator.errors import InputError

PARAMETER_FILE = "parameter file"


def runs_to_judge(
    calibration: Calibration, records: Sequence[RunRecord], bases: Mapping[str, ScenarioSpec], file: MappingFile | None
) -> list[MeasuredRun]:
    """The records as the calibration would have taken them. Raises InputError, for a run it took otherwise too.

    `bases`: by the records' names the scenarios that they are runs of.
    """
    fixed = {
        key: float(value)
        for key, (value, who) in calibration.runs[0].settings.items()
        if who == PARAMETER_FILE and not isinstance(value, str | dict | list)
    }
    runs = measured_runs(records, bases, fixed, file)
    for run in runs:
        _check_settings(calibration, run)
    return runs


def validate_calibration(  # noqa: PLR0913 - what is held against what, and how
    calibration: Calibration,
    records: Sequence[RunRecord],
    bases: Mapping[str, ScenarioSpec],
    file: MappingFile | None,
    journal: StepJournal,
    report: ReportProgress,
    executor: Executor | None = None,
    *,
    explain_all: bool = False,
    near: bool = False,
    simulate_model: SimulateModel | None = None,
) -> Certificate:
    """The certificate of the calibration on these records. Raises InputError if no run has a rate to be judged by.

    `journal` holds the predictions and refits that are done. A gap is explained of each run that is outside of its
    interval, the model's or that of the refit without it, or of all. `near`: refits start where the calibration is,
    with its corrections.
    `simulate_model`: the engine that has confirmed the fit, if one has.
    """
    runs = runs_to_judge(calibration, records, bases, file)
    rated = [(run, rate) for run in runs if (rate := measured_rate(run)) is not None]
    if not rated:
        raise InputError("no run has a rate that a prediction can be held against; leave it in the mapping file")
    predictions = predict_scenarios(
        calibration, {run.name: run.scenario for run, _ in rated}, journal, report, executor, simulate_model
    )
    rows = [judged_run(calibration, run, rate, predictions[run.name]) for run, rate in rated]
    folds = known_folds(calibration, rows) or leave_out(
        Refits(calibration, tuple(runs), near, simulate_model), journal, report, executor
    )
    by_run = folds[0].rows
    outside = {row.name for row in (*rows, *by_run) if not row.inside}
    explained = [
        explain_gap(record, predicted.scenario, figure_choice(file, record.name), predicted.rate.value)
        for record in records
        if (predicted := predictions.get(record.name)) is not None
        and predicted.scenario.job is None
        and (explain_all or record.name in outside)
    ]
    points = [baseline_run(run.name, run.scenario, rate) for run in runs if (rate := measured_rate(run)) is not None]
    return Certificate(
        task_hash=calibration.task_hash,
        calibration_hash=calibration_hash(calibration),
        versions=fit_versions() | {ANSWERS: answers_version(calibration)},
        confidence=calibration.confidence,
        runs=tuple(rows),
        not_judged=tuple(
            f"{run.name}: its rate is unused, or at a limit of somebody's: it is in the refits and isn't judged"
            for run in runs
            if measured_rate(run) is None
        ),
        regimes=tuple(_by_regime(rows)),
        left_out=folds,
        coverage=coverage(by_run, calibration.confidence),
        coverage_by_machine=coverage(
            next((fold.rows for fold in folds if fold.kind == "machine"), ()),
            calibration.confidence,
            {run.name: machine_of(run.scenario)[0] for run in runs},
        ),
        baselines=compare_baselines(points, by_run) if by_run else (),
        gaps=tuple(explained),
        calibrated_range=_range(calibration),
    )


def known_folds(calibration: Calibration, rows: Sequence[JudgedRate]) -> tuple[LeaveOut, ...]:
    """Folds of the calibration's own certificate if it is of just these runs, else none."""
    known = calibration.certificate
    if known is None or {(row.name, row.measured) for row in known.runs} != {(row.name, row.measured) for row in rows}:
        return ()
    return known.left_out


def coverage(rows: Sequence[JudgedRate], claimed: float, machines: Mapping[str, str] | None = None) -> Coverage | None:
    """Coverage of the intervals, with the exact interval of the share. `machines`: of rows that were left out together.

    Rows of one machine hold or miss together: the share's interval is that of as many independent rows as its scatter
    over machines says (Korn and Graubard, Survey Methodology 24 (1998), 193-201).
    """
    if not rows:
        return None
    inside, count = sum(row.inside for row in rows), len(rows)
    groups: dict[str, list[bool]] = {}
    for row in rows:
        groups.setdefault(row.name if machines is None else machines[row.name], []).append(row.inside)
    independent = count / _design_effect(list(groups.values()))
    low, high = exact_share(inside / count * independent, independent, claimed)
    return Coverage(
        inside=inside,
        count=count,
        groups=None if machines is None else len(groups),
        half_width=median(math.log(row.high / row.low) / 2.0 for row in rows),
        low=low,
        high=high,
        claimed=claimed,
    )


def _design_effect(groups: Sequence[Sequence[bool]]) -> float:
    """By what groups scatter more than single rows: the share's variance over groups, over that of independent rows."""
    count = sum(map(len, groups))
    share = sum(map(sum, groups)) / count
    alike = sum(len(group) ** 2 for group in groups) / count
    if share in {0.0, 1.0}:
        return alike
    between = sum((sum(group) - len(group) * share) ** 2 for group in groups) / count**2
    return min(max(between / (share * (1.0 - share) / count), 1.0), alike)


def exact_share(inside: float, count: float, confidence: float) -> tuple[float, float]:
    """The exact interval of a share, from so many of so many: Clopper and Pearson, Biometrika 26 (1934), 404-413."""
    tail = (1.0 - confidence) / 2.0
    low = float(scipy.special.betaincinv(inside, count - inside + 1, tail)) if inside else 0.0
    high = float(scipy.special.betaincinv(inside + 1, count - inside, 1.0 - tail)) if inside < count else 1.0
    return low, high


def judged_run(calibration: Calibration, run: MeasuredRun, rate: float, answer: Predicted) -> JudgedRun:
    """A run's rate beside its prediction."""
    bottleneck, regime = _limit(answer)
    row = judged_rate(run.name, rate, (answer.rate.value, *answer.rate.interval), unit_of(run))
    return JudgedRun(
        **row.model_dump(),
        source=run.source,
        scenario_hash=scenario_hash(run.scenario),
        role="fitted" if _fitted(calibration, run) is not None else "predicted",
        regime=regime,
        bottleneck=bottleneck,
        outside=answer.model.outside,
        not_applied=answer.model.not_applied,
        doubts=answer.doubts,
    )


def _limit(answer: Predicted) -> tuple[str, str]:
    """Name and kind of the bottleneck, by the analytic engine; of a job what limits it."""
    if answer.scenario.job is not None:
        return run_job(answer.scenario).limited_by, answer.scenario.job.kind
    result = simulate(build(answer.scenario), 0)
    return result.bottleneck.name, regime_of(result)


def _fitted(calibration: Calibration, run: MeasuredRun) -> FittedRun | None:
    """The run of the fit that is this one: its scenario and its figures."""
    mine = {(each.kind, each.value) for each in run.observations}
    return next(
        (
            each
            for each in calibration.runs
            if each.scenario_hash == scenario_hash(run.scenario)
            and {(figure.kind, figure.measured) for figure in each.figures} == mine
        ),
        None,
    )


def _check_settings(calibration: Calibration, run: MeasuredRun) -> None:
    """A run that was fitted under other settings would pass for one that the model hasn't seen."""
    rate = measured_rate(run)
    if _fitted(calibration, run) is not None:
        return
    for each in calibration.runs:
        if each.name != run.name or rate not in [figure.measured for figure in each.figures]:
            continue
        now = {key: value for key, (value, _) in run.settings.items()}
        then = {key: value for key, (value, _) in each.settings.items()}
        keys = sorted(key for key in now.keys() | then.keys() if now.get(key) != then.get(key))
        what = "; ".join(f"{key}: then {then.get(key, 'not set')}, now {now.get(key, 'not set')}" for key in keys)
        raise InputError(
            f"{run.name}: the model was fitted to this run otherwise ({what or 'with other figures'}); give the "
            "--mapping that 'oltpsim calibrate' was given"
        )


def _by_regime(rows: Sequence[JudgedRun]) -> list[RegimeErrors]:
    found = []
    for role in ("fitted", "predicted"):
        for regime in sorted({row.regime for row in rows}):
            errors_by_run = [(row.name, row.error) for row in rows if (row.role, row.regime) == (role, regime)]
            errors: Errors | None = error_summary(errors_by_run)
            if errors is not None:
                found.append(RegimeErrors(**errors.model_dump(), role=role, regime=regime))
    return found


def _range(calibration: Calibration) -> dict[str, tuple[float, float]]:
    names = sorted({name for run in calibration.runs for name in run.conditions})
    values = {name: [run.conditions[name] for run in calibration.runs if name in run.conditions] for name in names}
    return {name: (min(figures), max(figures)) for name, figures in values.items()}
