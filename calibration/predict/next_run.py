"""Next run: the one after which a prediction, or what the runs can't tell, would be known best.

Design of experiments, linearised where the runs have left the parameters (Chaloner and Verdinelli, Statistical
Science 10 (1995), 273-304). A run whose figures have the derivatives J, over noise and discrepancy, makes of the
parameters' covariance C the covariance (C^-1 + J'J)^-1, whatever it measures; what it shares of its discrepancy with
other runs, as a repeat does, tells nothing new (`evidence.py`). Its worth is the variance that is
left: of the logarithm of one scenario's rate (c-optimal), or without one of all parameters together (A-optimal). The
model isn't linear, so that it is the mean over places drawn from what is known of the parameters; what the runs made
would tell there counts as well.
"""

import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, Self

import numpy as np
import scipy

from oltpsim.calibration.fit import (
    DIFFERENCE_STEP,
    AnalyticInput,
    AnalyticReader,
    Calibration,
    Circumstances,
    FigureKind,
    ReportProgress,
    SimulateModel,
    StepJournal,
    apply_calibration,
    assumed_sd,
    calibration_hash,
    circumstances_of,
    engine_logs,
    identify_parameters,
    no_report,
    parameter_bounds,
    parameters_at_bound,
    rate_sds,
    run_regime,
    solve_inputs,
)
from oltpsim.calibration.predict.candidates import CandidateSet, Impossible, RunCandidate, scenario_of
from oltpsim.calibration.predict.evidence import Evidence, evidence_of, figures_of
from oltpsim.calibration.predict.prediction import Predicted, predict_scenarios
from oltpsim.calibration.predict.uncertain_value import ONE_RUN
from oltpsim.calibration.records import fit_program
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import FloatArray

PAIRS = 2
"""of places drawn, each with its mirror image"""
WORTH = 0.05
"""a run that makes the interval narrower by less than this share of its width is not worth it"""


@dataclass(frozen=True)
class RunWorth:
    """Worth of a run. Standard deviations on the parameters' scale, or of the logarithm of the asked rate.

    `left_sd`: what would stay open, of `Advice.open_sd`. `low_per_min` and `high_per_min`: the asked
    rate's interval after it, should the rate stay where it is predicted. `tells`: parameters that it identifies and
    the runs don't, in groups that they mix up.
    """

    candidate: RunCandidate
    left_sd: float
    narrower: float
    """share by which the interval, or without an asked rate the parameters' spread, shrinks"""
    tells: tuple[tuple[str, ...], ...]
    low_per_min: float | None = None
    high_per_min: float | None = None

    @property
    def per_cost(self) -> float:
        """Rank of a candidate that is worth it."""
        return self.narrower / (self.candidate.cost or 1.0)

    @property
    def worth_it(self) -> bool:
        """Whether it makes a difference that anybody would see."""
        return self.narrower >= WORTH or (self.low_per_min is None and bool(self.tells))


@dataclass(frozen=True)
class Advice:
    """Candidates, those that are worth it first, the best of them first; of equal ones the first given."""

    asked: Predicted | None
    open_sd: float
    """what the parameters, or of an asked rate they and the model's discrepancy, leave open now"""
    like: str
    cost_unit: str | None
    runs: tuple[RunWorth, ...]
    impossible: tuple[Impossible, ...]

    @property
    def best(self) -> RunWorth | None:
        """None if no run is worth it."""
        return self.runs[0] if self.runs[0].worth_it else None


def advise_next_run(
    calibration: Calibration,
    choice: CandidateSet,
    asked: ScenarioSpec | None,
    pairs: int = PAIRS,
    report: ReportProgress = no_report,
    simulate_model: SimulateModel | None = None,
    journal: StepJournal | None = None,
    executor: Executor | None = None,
) -> Advice:
    """Weigh all candidates, for the rate of `asked` or, if None, for the parameters.

    `simulate_model`: see `predict_scenario`. `journal` holds what is done, `executor` looks at several runs at once.

    Raises InputError if the calibrated machine can't run `asked`, or none of the candidates.
    """
    journal = journal or StepJournal(None, "")
    predicted = None
    if asked is not None:
        wanted_rate = {asked.name: asked}
        [predicted] = predict_scenarios(calibration, wanted_rate, journal, report, None, simulate_model).values()
    places = _places(calibration, pairs)
    made = [scenario_of(calibration, run) for run in calibration.runs] if pairs else []
    scenarios = [*(each.scenario for each in choice.candidates), *made, *([asked] if asked is not None else [])]
    said, slopes, reasons = derivatives(calibration, scenarios, places, report, journal, executor)
    possible = np.isfinite(said[len(choice.candidates) :]).all(axis=(0, 2))
    first = len(choice.candidates)
    known = [
        _evidence_at(calibration, said[first:], slopes[first:], at) if at else evidence_of(calibration)
        for at in range(len(places))
    ]
    wanted = None if asked is None or predicted is None else _AskedRate.rate_of(calibration, predicted, slopes[-1])
    open_var = np.array([_open_variance(each, wanted, at) for at, each in enumerate(known)])
    found, impossible = [], list(choice.impossible)
    for number, candidate in enumerate(choice.candidates):
        if number in reasons:
            impossible.append(Impossible(candidate.name, reasons[number]))
            continue
        some: list[int] = np.flatnonzero(possible & np.isfinite(said[number]).all(axis=1)).tolist()
        seen = {
            at: _evidence_of_run(calibration, candidate.scenario, said[number, at], slopes[number, at]) for at in some
        }
        after = np.array([_open_variance(known[at].with_figures(each), wanted, at) for at, each in seen.items()])
        share = float(np.sqrt(after.mean() / open_var[some].mean())) if open_var[some].mean() > 0 else 1.0
        tells = _identified_by(calibration, known[0].with_figures(seen[0]).whitened)
        found.append(_worth(candidate, predicted, float(np.sqrt(open_var[0])), share, tells))
    if not found:
        raise InputError("\n".join(f"{each.name}: {each.reason}" for each in impossible))
    ranked = sorted(found, key=lambda each: (not each.worth_it, -each.per_cost))
    return Advice(
        predicted, float(np.sqrt(open_var[0])), choice.like, choice.cost_unit, tuple(ranked), tuple(impossible)
    )


def _evidence_at(calibration: Calibration, logs: FloatArray, slopes: FloatArray, at: int) -> Evidence:
    """The runs made, as they would be at a place."""
    found = evidence_of(calibration)
    if any(run.circumstances is None for run in calibration.runs):
        return found
    kinds = list(FigureKind)
    rows = [
        _weighted(calibration, kinds[kind], found_sd, logs[number, at, kind], slopes[number, at, kind])
        for number, run in enumerate(calibration.runs)
        for figure in run.figures
        for kind, found_sd in ((kinds.index(figure.kind), float(np.hypot(figure.noise_sd, figure.discrepancy_sd))),)
    ]
    return replace(found, slopes=np.array(rows).reshape(found.slopes.shape))


def _evidence_of_run(
    calibration: Calibration, scenario: ScenarioSpec, logs: FloatArray, slopes: FloatArray
) -> Evidence:
    """What a run of the scenario would have, at one place."""
    noise = expected_noise(calibration, scenario)
    regime = run_regime(apply_calibration(calibration, scenario))
    sds = [(own, calibration.missed_of(kind, regime).sd) for kind, own in noise.items()]
    rows = [
        _weighted(calibration, kind, float(np.hypot(*sd)), logs[number], slopes[number])
        for (kind, sd) in zip(noise, sds, strict=True)
        for number in (list(FigureKind).index(kind),)
    ]
    return figures_of(np.array(rows), sds, tuple(noise), circumstances_of(scenario, regime))


def _weighted(calibration: Calibration, kind: FigureKind, sd: float, log: float, slopes: FloatArray) -> FloatArray:
    """Derivatives of a figure of noise and discrepancy `sd`.

    One that is likely to be at its end of scale counts by the chance that it isn't: there it says only "at least so
    much".
    """
    if kind.end_of_scale == np.inf:
        return slopes
    spread = np.sqrt(slopes @ np.array(calibration.joint.covariance) @ slopes + sd**2)
    weight: FloatArray = scipy.special.ndtr((kind.log(kind.end_of_scale) - log) / spread)
    return slopes * np.sqrt(weight)


def advice_digest(
    calibration: Calibration, choice: CandidateSet, asked: ScenarioSpec | None, pairs: int = PAIRS
) -> str:
    """Hash of all that determines the advice."""
    scenarios = [each.scenario for each in choice.candidates] + ([] if asked is None else [asked])
    data = [each.model_dump(mode="json") for each in scenarios]
    words = [fit_program(), calibration_hash(calibration), pairs, data]
    return hashlib.sha256(json.dumps(words, sort_keys=True).encode()).hexdigest()[:20]


def derivatives(
    calibration: Calibration,
    scenarios: Sequence[ScenarioSpec],
    places: FloatArray,
    report: ReportProgress = no_report,
    journal: StepJournal | None = None,
    executor: Executor | None = None,
) -> tuple[FloatArray, FloatArray, dict[int, str]]:
    """Figures of each scenario at each place, and their derivatives by the parameters, both as logarithms.

    (scenarios, places, kinds), NaN where there is no machine; (scenarios, places, kinds, parameters); why there is
    none at the first place, by scenario.
    """
    count = len(scenarios)
    found = (journal or StepJournal(None, "")).once_each(
        _derivatives,
        {f"run {number}": (calibration, scenario, places) for number, scenario in enumerate(scenarios)},
        executor,
        lambda done, _: report(done / count, f"{done} of {count} runs"),
    )
    here, slopes, reasons = zip(*found, strict=True)
    # JSON has no NaN: None stands for it.
    logs = np.array(here, dtype=np.float64)
    return logs, np.array(slopes), {number: text for number, text in enumerate(reasons) if text is not None}


def _derivatives(calibration: Calibration, scenario: ScenarioSpec, places: FloatArray) -> list[Any]:
    """Figures of a scenario, (places, kinds), their derivatives, and why there are none, as plain JSON."""
    count = places.shape[1]
    parameters = [each.parameter for each in calibration.parameters]
    low, high = parameter_bounds(parameters)
    neighbours = np.array(
        [
            [each.around(float(z), DIFFERENCE_STEP) for each, z in zip(parameters, place, strict=True)]
            for place in places
        ]
    )
    """below, here and above, (places, parameters, 3)"""
    around = np.repeat(neighbours[:, None, :, 1], 2 * count + 1, axis=1)
    for number in range(count):
        around[:, 1 + number, number] = neighbours[:, number, 2]
        around[:, 1 + count + number, number] = neighbours[:, number, 0]
    around = np.clip(around, low, high)
    flat, reason = _logs_at(calibration, scenario, around.reshape(-1, count))
    logs = flat.reshape(len(places), 2 * count + 1, len(FigureKind))
    here, up, down = logs[:, 0], logs[:, 1 : count + 1], logs[:, count + 1 :]
    middle = here[:, None]
    rise, fall = np.where(np.isnan(up), middle, up), np.where(np.isnan(down), middle, down)
    own = np.arange(count)
    there, back = around[:, own + 1, own] - around[:, 0], around[:, 0] - around[:, own + 1 + count, own]
    far = there[..., None] * ~np.isnan(up) + back[..., None] * ~np.isnan(down)
    slopes = np.nan_to_num((rise - fall) / np.where(far > 0, far, np.inf))
    known = [[float(log) if np.isfinite(log) else None for log in row] for row in here]
    return [known, np.swapaxes(slopes, 1, 2).tolist(), reason]


def _logs_at(calibration: Calibration, scenario: ScenarioSpec, places: FloatArray) -> tuple[FloatArray, str | None]:
    """Logarithms of all kinds, (places, kinds), and why there is no machine at the first place."""
    reader = AnalyticReader()
    answer = np.full((len(places), len(FigureKind)), np.nan)
    reason: str | None = None
    points: list[AnalyticInput] = []
    where: list[int] = []
    for row, place in enumerate(places):
        try:
            points.append(reader.read(apply_calibration(calibration, scenario, place)))
        except InputError as error:
            if row == 0:
                reason = str(error)
            continue
        where.append(row)
    for workload, machines, solution, numbers in solve_inputs(points):
        found = engine_logs(workload, machines, solution)
        for at, one in enumerate(numbers):
            answer[where[one]] = [found[kind][at] for kind in FigureKind]
    return answer, reason


def _places(calibration: Calibration, pairs: int) -> FloatArray:
    """The mode, then draws from the normal distribution around it, within the bounds."""
    low, high = parameter_bounds([each.parameter for each in calibration.parameters])
    rng = np.random.default_rng([calibration.seed, 2])
    root = np.linalg.cholesky(np.array(calibration.joint.covariance))
    away = rng.standard_normal((pairs, len(low))) @ root.T
    mode = calibration.mode
    places: FloatArray = np.clip(np.concatenate([mode[None], mode + away, mode - away]), low, high)
    return places


@dataclass(frozen=True)
class _AskedRate:
    """The asked rate: its derivatives at each place, (places, parameters), its circumstances and discrepancy."""

    slopes: FloatArray
    at: Circumstances
    missed_sd: float

    @classmethod
    def rate_of(cls, calibration: Calibration, asked: Predicted, slopes: FloatArray) -> Self:
        """`slopes`: of all kinds, (places, kinds, parameters)."""
        regime = run_regime(asked.scenario)
        missed = calibration.missed_of(FigureKind.RATE, regime)
        missed_sd = missed.sd
        if not calibration.by_kernel and asked.scenario.job is None:  # the formulas' error is each machine's own
            engine_sd = float(rate_sds([asked.scenario])[0])
            missed_sd = assumed_sd(FigureKind.RATE, engine_sd, calibration.missing) * missed.scale
        of_rate = slopes[:, list(FigureKind).index(FigureKind.RATE)]
        return cls(of_rate, circumstances_of(asked.scenario, regime), missed_sd)


def _open_variance(evidence: Evidence, wanted: _AskedRate | None, place: int) -> float:
    """The variance that a design should make small."""
    if wanted is None:
        return float(np.trace(evidence.covariance))
    return evidence.error(wanted.slopes[place], wanted.at, wanted.missed_sd).variance


def expected_noise(calibration: Calibration, scenario: ScenarioSpec) -> dict[FigureKind, float]:
    """Noise of the figures that a run of the scenario would have, by kind: the middle of what the runs have had."""
    found: dict[FigureKind, list[float]] = {}
    for run in calibration.runs:
        for figure in run.figures:
            found.setdefault(figure.kind, []).append(figure.noise_sd)
    absent = {
        FigureKind.FLUSHES: scenario.database.log.commit != "durable",
        FigureKind.BUSY: scenario.machine.disks.disk.kind != "rotating",
        FigureKind.RESPONSE: scenario.workload.arrivals.kind != "open",
    }
    return {kind: median(values) for kind, values in found.items() if not absent.get(kind)}


def _identified_by(calibration: Calibration, seen: FloatArray) -> tuple[tuple[str, ...], ...]:
    """Parameters that the runs and one more would identify, in groups that the runs before mix up.

    `seen`: derivatives of independent figures of standard deviation 1.
    """
    at_bound = parameters_at_bound([each.parameter for each in calibration.parameters], calibration.mode)
    found = identify_parameters(seen, at_bound, ~at_bound)
    new = {
        each.key: {each.key, *each.not_told_from}
        for each, told in zip(calibration.parameters, found.identified, strict=True)
        if told and not each.identified
    }
    groups = {tuple(key for key in new if key in mixed) for mixed in new.values()}
    return tuple(sorted(groups, key=lambda group: (-len(group), group)))


def _worth(
    candidate: RunCandidate, wanted: Predicted | None, open_sd: float, share: float, tells: tuple[tuple[str, ...], ...]
) -> RunWorth:
    if wanted is None:
        return RunWorth(candidate, open_sd * share, 1.0 - share, tells)
    rate, fixed = wanted.rate, wanted.rate.sd_of(ONE_RUN) ** 2
    open_now = rate.sd**2 - fixed
    ratio = float(np.sqrt((open_now * share**2 + fixed) / (open_now + fixed)))
    low, high = (rate.value * (end / rate.value) ** ratio for end in rate.interval)
    return RunWorth(candidate, open_sd * share, 1.0 - ratio, tells, low, high)
