"""A calibration: what a fit has found, frozen, as a file that every later prediction can rest on.

The rates of runs that it was fitted to are called fitted, all others predicted.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field

from oltpsim.calibration.fit.certificate import Certificate, plural
from oltpsim.calibration.fit.covariance import Circumstances
from oltpsim.calibration.fit.discrepancy import assumed_sd
from oltpsim.calibration.fit.evaluate import SteadyRate, engine_correction, engine_doubts, steady_rates
from oltpsim.calibration.fit.fitting import Fit
from oltpsim.calibration.fit.identifiability import sentences
from oltpsim.calibration.fit.objective import FitData
from oltpsim.calibration.fit.observables import RUN_TO_RUN, FigureKind
from oltpsim.calibration.fit.parameters import NEARLY_WHOLE, Parameter, possible_values
from oltpsim.calibration.fit.profile import INTERVAL_CONFIDENCE
from oltpsim.calibration.records import fit_versions
from oltpsim.models.input import Name, Number, Spec, Text, document_text, read_document, validated, write_document
from oltpsim.models.reading import names_a_part, numeric_value, with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import GIB, KIB, FloatArray

CALIBRATION_FORMAT: Literal["oltpsim-calibration-1"] = "oltpsim-calibration-1"
REMEDY = "make one with 'oltpsim calibrate RUNS... --base SCENARIO --save FILE.json'"
EndReason = Literal["bound", "no machine", "not found"]
SAMPLES_OF_90_PERCENT = (5.0, 95.0)


class FittedParameter(Spec):
    """Fitted parameter. `value` and its interval are there only if the runs identify it; else it is at its prior.

    `told_share`: standard deviation by the runs alone over that of the prior, absent if they don't see it.
    """

    key: Name
    identified: bool
    value: Number | None = None
    low: Number | None = None
    high: Number | None = None
    low_open: bool = False
    """the fit isn't worse enough there: see `low_stop`"""
    high_open: bool = False
    low_stop: EndReason = "bound"
    """of an open end: the parameter's bound, no machine is possible beyond, or the search hasn't found it"""
    high_stop: EndReason = "bound"
    bootstrap_low: Number | None = None
    bootstrap_high: Number | None = None
    told_share: Number | None = None
    not_told_from: tuple[Name, ...] = ()
    prior_value: Number
    prior_factor: Number | None = None
    prior_sd: Number | None = None
    lowest: Number
    highest: Number
    source: Text
    whole: bool = False
    """a whole number"""

    @property
    def parameter(self) -> Parameter:
        """The parameter as the fit had it."""
        ends = self.lowest, self.highest
        return Parameter(self.key, self.prior_value, *ends, self.prior_factor, self.prior_sd, self.source, self.whole)


class FittedFigure(Spec):
    """Figure of a fitted run. `residual_sigmas`: log(model / measured) over noise and discrepancy together.

    `correction`: factor between the engine inside the fit and the run's `corrected_by`, in `model` already.
    """

    kind: FigureKind
    measured: Number
    model: Number
    correction: Number
    residual_sigmas: Number
    correction_sd: Number
    """what the correction leaves out still, of the figure's logarithm"""
    noise_sd: Number
    noise_source: Text
    at_least: bool
    discrepancy_sd: Number = 0.0
    """what the model misses of the figure's logarithm, with what the correction leaves out"""
    slopes: tuple[Number, ...] = ()
    """derivatives of the figure's logarithm by the parameters' places"""


class FittedRun(Spec):
    """Run that was fitted."""

    name: Name
    source: Text
    role: Literal["fitted"] = "fitted"
    scenario_hash: Name
    settings: dict[Name, tuple[Number | bool | Text | dict[str, Any] | list[Any], Text]]
    figures: tuple[FittedFigure, ...]
    corrected_by: Text
    conditions: dict[Name, Number]
    left_aside: tuple[Text, ...] = ()
    circumstances: Circumstances | None = None
    """by which it shares with other runs what the model misses of it"""
    engines_ratio: Number | None = None
    """the kernel's rate over the analytic engine's at the fit; None if the kernel hasn't simulated the run"""
    doubts: tuple[Text, ...] = ()
    """where the analytic engine's assumptions don't hold at the fit, unless the kernel has simulated the run"""


class ModelDiscrepancy(Spec):
    """Model discrepancy of a kind of figure: standard deviation of its logarithm, on average over the runs.

    `scale`: the same as a multiple of what is assumed before any run is seen, known with so many degrees of `freedom`;
    `from_runs`: those of them that are the runs', the rest is the assumption's.
    """

    sd: Number
    scale: Number
    freedom: Number
    from_runs: Number


class UsualCorrection(Spec):
    """What the kernel has shown of a kind of figure in a regime: a factor, and what it leaves out of the logarithm."""

    factor: Number
    sd: Number
    runs: int


class JointDistribution(Spec):
    """Joint distribution of the parameters: the mode on their scale, covariance and correlations.

    Parameters that aren't identified are in it with the freedom that priors and the others leave them.
    """

    mode: tuple[Number, ...]
    covariance: tuple[tuple[Number, ...], ...]
    correlation: tuple[tuple[Number, ...], ...]
    singular_values: tuple[Number, ...]


class Calibration(Spec):
    """A whole calibration."""

    format: Literal["oltpsim-calibration-1"] = CALIBRATION_FORMAT
    base: ScenarioSpec
    task_hash: Name
    seed: int
    versions: dict[Name, Text]
    confidence: Number = Field(default=INTERVAL_CONFIDENCE, gt=0, lt=1)
    parameters: tuple[FittedParameter, ...]
    joint: JointDistribution
    said: tuple[Text, ...]
    """what the runs can't tell, in sentences"""
    missed: dict[FigureKind, ModelDiscrepancy]
    """by kind of figure"""
    missed_by_regime: dict[Name, dict[FigureKind, ModelDiscrepancy]] = Field(default_factory=dict)
    """the same of runs that are limited by one part, where there are some"""
    corrections: dict[Name, dict[FigureKind, UsualCorrection]] = Field(default_factory=dict)
    """from the analytic engine to the kernel, by what limits a run: of those that the kernel can't simulate soon"""
    missing: Number
    """what the model was assumed to miss of the runs, as a multiple of the usual; 0: they were simulated by it"""
    engine_sd: Number
    """what the engines leave out of the runs' rates on average: a standard deviation of the logarithm"""
    run_to_run_sd: Number
    """of a measured rate's logarithm"""
    runs: tuple[FittedRun, ...] = Field(min_length=1)
    searches: tuple[Number, ...]
    searches_alike: int
    by_kernel: tuple[Name, ...] = ()
    """runs that the kernel has simulated"""
    certificate: Certificate | None = None
    """what validation has found of this very calibration"""

    def missed_of(self, kind: FigureKind, regime: str) -> ModelDiscrepancy:
        """What is missed of a kind of figure in a regime; where no run was in it, in all."""
        return self.missed_by_regime.get(regime, {}).get(kind, self.missed[kind])

    @property
    def mode(self) -> FloatArray:
        """The parameters' places."""
        return np.array(self.joint.mode)


def calibration_of(fit: Fit, base: ScenarioSpec) -> Calibration:
    """A fit as a calibration."""
    names = tuple(run.name for run in fit.task.runs)
    parameters = fit.task.parameters
    lengths = np.linalg.svd(fit.slopes, compute_uv=False)
    return Calibration(
        base=base,
        task_hash=fit.task.digest,
        seed=fit.task.seed,
        versions=fit_versions(),
        parameters=tuple(_parameter(fit, number) for number in range(len(parameters))),
        joint=JointDistribution(
            mode=tuple(fit.best.place.tolist()),
            covariance=tuple(map(tuple, fit.covariance.tolist())),
            correlation=tuple(map(tuple, fit.correlation.tolist())),
            singular_values=tuple(lengths.tolist()),
        ),
        said=tuple(sentences(parameters, fit.identified, fit.correlation)),
        missed={kind: _missed(fit, kind) for kind in FigureKind},
        missed_by_regime=_missed_by_regime(fit),
        corrections=_corrections(fit),
        missing=fit.task.missing,
        engine_sd=_root_mean_square_of_rates(fit.data, np.array(fit.left_out_sd)),
        run_to_run_sd=_root_mean_square_of_rates(fit.data, fit.data.sd),
        runs=tuple(_run(fit, number) for number in range(len(names))),
        searches=fit.costs,
        searches_alike=fit.alike,
        by_kernel=tuple(names[number] for number in fit.confirmed),
    )


def apply_calibration(
    calibration: Calibration, scenario: ScenarioSpec, place: FloatArray | None = None
) -> ScenarioSpec:
    """The scenario with the calibrated values, or those of another place, where its parts are those of the base.

    See `unapplied_keys` for those that aren't. A database of the base's has been compared on as many hardware threads
    as the base has. Raises InputError if the scenario can't take them.
    """
    out = unapplied_keys(calibration, scenario)
    place = calibration.mode if place is None else place
    values = {
        each.key: each.parameter.possible(float(z))
        for each, z in zip(calibration.parameters, place, strict=True)
        if each.key not in out and numeric_value(scenario, each.key) is not None
    }
    base, database = calibration.base, scenario.database
    if base.database.name == database.name and base.machine.cpu.threads > database.measured_threads:
        values["database.measured_threads"] = base.machine.cpu.threads
    return with_values(scenario, values)


def unapplied_keys(calibration: Calibration, scenario: ScenarioSpec) -> tuple[str, ...]:
    """Keys that have another value in the scenario than in the base: parts that the runs haven't seen.

    Of what the base hasn't, as the number of another machine's part, another value than before the fit.
    """
    out = []
    for each in calibration.parameters:
        mine, base = numeric_value(scenario, each.key), numeric_value(calibration.base, each.key)
        if (mine is not None and mine != (each.prior_value if base is None else base)) or (
            mine is None and base is not None and not names_a_part(each.key)
        ):
            out.append(each.key)
    return tuple(out)


def scenario_hash(scenario: ScenarioSpec) -> str:
    """Hash of a scenario's content, without the figure that somebody measured and what it costs.

    What is as it is by default isn't in it: a key that a later version adds changes no name.
    """
    left_out: dict[str, Any] = {"measured": True, "notes": True, "name": True, "machine": {"price"}}
    data = scenario.model_dump(mode="json", exclude=left_out, exclude_defaults=True)
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:20]


def calibration_hash(calibration: Calibration) -> str:
    """Hash of a calibration's content, without its certificate; see `scenario_hash` for defaults."""
    data = calibration.model_dump(mode="json", exclude={"certificate"}, exclude_defaults=True)
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:20]


def run_conditions(scenario: ScenarioSpec, machine: SteadyRate) -> dict[str, float]:
    """Conditions of a run, for distances: sizes of the machine and of the load."""
    database = scenario.database
    return {
        "clients": float(scenario.workload.clients),
        "warehouses": float(scenario.workload.size),
        "GiB of buffer pool": database.pool.buffers * database.page_kib * KIB / GIB,
        "GiB of memory": scenario.machine.memory_gib,
        "cores": float(scenario.machine.cpu.cores),
        "data disks": float(scenario.machine.disks.count),
        "new orders/min": machine.new_orders_per_min,
        "IOPS": machine.requests_per_s,
    }


def write_calibration(path: Path, calibration: Calibration) -> None:
    """Write the file whole or not at all."""
    write_document(path, CALIBRATION_FORMAT, _content(calibration))


def calibration_json(calibration: Calibration) -> str:
    """Canonical JSON: the same fit gives the same bytes."""
    return document_text(CALIBRATION_FORMAT, _content(calibration))


def _content(calibration: Calibration) -> dict[str, Any]:
    return calibration.model_dump(mode="json", exclude_none=True, exclude={"format"})


def shipped_calibrations() -> dict[str, Path]:
    """The calibrations that come with the program, by name."""
    folder = Path(str(resources.files("oltpsim.calibration")))
    return {path.parent.name: path for path in sorted(folder.glob("*/model.json"))}


def calibration_path(path: Path) -> Path:
    """The file, or the calibration of this name that comes with the program."""
    return path if path.exists() else shipped_calibrations().get(str(path), path)


def read_calibration(path: Path) -> Calibration:
    """Read what `write_calibration` wrote. Raises InputError that says what is wrong with anything else."""
    content = read_document(path, CALIBRATION_FORMAT, "a calibration", REMEDY)
    calibration = validated(Calibration, content, str(path))
    _check_certificate(path, calibration)
    return calibration


def _check_certificate(path: Path, calibration: Calibration) -> None:
    """Refuse a certificate that was given to another calibration, or to this one before somebody changed it."""
    certificate = calibration.certificate
    if certificate is None:
        return
    remedy = f"take the certificate out and make one with 'oltpsim validate {path.name} RUN... --save {path.name}'"
    if certificate.task_hash != calibration.task_hash:
        raise InputError(
            f"{path}: certificate.task_hash: the certificate is that of fit {certificate.task_hash}, "
            f"the calibration is fit {calibration.task_hash}; {remedy}"
        )
    if certificate.calibration_hash != calibration_hash(calibration):
        raise InputError(
            f"{path}: certificate.calibration_hash: the calibration was changed after it was validated; {remedy}"
        )


def _missed(fit: Fit, kind: FigureKind, regime: str | None = None) -> ModelDiscrepancy:
    regimes = np.array(fit.data.regimes)
    mine = fit.data.discrepancy[(np.array(fit.data.kinds) == kind) & ((regimes == regime) | (regime is None))]
    scatter = fit.discrepancy.by_kind[kind] if regime is None else fit.discrepancy.scatter_of(kind, regime)
    sd = float(np.sqrt(np.mean(mine**2))) if len(mine) else assumed_sd(kind, 0.0, fit.task.missing) * scatter.scale
    return ModelDiscrepancy(sd=sd, **asdict(scatter))


def _missed_by_regime(fit: Fit) -> dict[str, dict[FigureKind, ModelDiscrepancy]]:
    found: dict[str, dict[FigureKind, ModelDiscrepancy]] = {}
    for kind, regime in fit.discrepancy.by_regime:
        found.setdefault(regime, {})[kind] = _missed(fit, kind, regime)
    return found


def _corrections(fit: Fit) -> dict[str, dict[FigureKind, UsualCorrection]]:
    found: dict[str, dict[FigureKind, UsualCorrection]] = {}
    for (kind, regime), each in fit.corrections.items():
        found.setdefault(regime, {})[kind] = UsualCorrection(factor=float(np.exp(each.log)), sd=each.sd, runs=each.runs)
    return found


def _root_mean_square_of_rates(data: FitData, sd: FloatArray) -> float:
    rates = sd[data.is_rate]
    return float(np.sqrt(np.mean(rates**2))) if len(rates) else RUN_TO_RUN


def _parameter(fit: Fit, number: int) -> FittedParameter:
    parameter, identified = fit.task.parameters[number], fit.identified
    is_identified = bool(identified.identified[number])
    results: dict[str, Any] = {}
    if is_identified:
        results = {
            "value": parameter.possible(fit.best.place[number]),
            "low": parameter.at(fit.ends.low[number]),
            "high": parameter.at(fit.ends.high[number]),
        }
        if parameter.whole:  # the whole numbers at which the fit isn't worse than at the ends
            results["low"] = min(math.ceil(results["low"] - NEARLY_WHOLE), results["value"])
            results["high"] = max(math.floor(results["high"] + NEARLY_WHOLE), results["value"])
        for name, stop in (("low", fit.ends.low_stop[number]), ("high", fit.ends.high_stop[number])):
            results |= {f"{name}_open": True, f"{name}_stop": stop} if stop else {}
        if fit.samples is not None:
            low, high = np.percentile(fit.samples[:, number], SAMPLES_OF_90_PERCENT)
            ends = (("bootstrap_low", low), ("bootstrap_high", high))
            results |= {name: parameter.possible(float(end)) for name, end in ends}
    return FittedParameter(
        key=parameter.key,
        identified=is_identified,
        **results,
        told_share=float(identified.share[number]) if np.isfinite(identified.share[number]) else None,
        not_told_from=tuple(fit.task.parameters[other].key for other in identified.confused_with[number]),
        prior_value=parameter.value,
        prior_factor=parameter.factor,
        prior_sd=parameter.sd,
        lowest=parameter.low,
        highest=parameter.high,
        source=parameter.source,
        whole=parameter.whole,
    )


def _run(fit: Fit, number: int) -> FittedRun:
    run, data = fit.task.runs[number], fit.data
    mine = np.flatnonzero(data.run == number)
    data = data.with_offsets(fit.offsets.tolist())
    logs, residuals = (fit.best.logs + data.offset)[mine], (data.distances(fit.best.logs) / data.total_sd)[mine]
    figures = tuple(
        FittedFigure(
            kind=each.kind,
            measured=each.value,
            model=each.value_at(float(model)),
            correction=float(np.exp(offset)),
            correction_sd=float(left),
            residual_sigmas=float(residual),
            noise_sd=each.sd,
            noise_source=each.noise,
            at_least=each.at_least,
            discrepancy_sd=float(missed),
            slopes=tuple(by_place.tolist()),
        )
        for each, model, offset, left, residual, missed, by_place in zip(
            run.observations,
            logs,
            data.offset[mine],
            np.array(fit.left_out_sd)[mine],
            residuals,
            data.discrepancy[mine],
            (data.root @ fit.slopes)[mine],
            strict=True,
        )
    )
    machine = run.machine(possible_values(fit.task.parameters, fit.best.place))
    return FittedRun(
        name=run.name,
        source=run.source,
        scenario_hash=scenario_hash(run.scenario),
        settings=run.settings,
        figures=figures,
        corrected_by=_corrector(fit, number),
        conditions=run_conditions(run.scenario, *steady_rates(machine)),
        left_aside=run.left_aside,
        circumstances=fit.circumstances[number],
        engines_ratio=_engines_ratio(fit, machine, figures) if number in fit.simulated else None,
        doubts=() if number in fit.simulated else engine_doubts([machine])[0],
    )


def _engines_ratio(fit: Fit, machine: ScenarioSpec, figures: Sequence[FittedFigure]) -> float | None:
    """By the kernel's correction and the analytic engine's, which knows how a machine gets warm."""
    by_kernel = next((each.correction for each in figures if each.kind == FigureKind.RATE), None)
    [analytic], _ = engine_correction(machine, (FigureKind.RATE,), fit.task.seed)
    return None if by_kernel is None else by_kernel / float(np.exp(analytic))


def _corrector(fit: Fit, number: int) -> str:
    if number in fit.simulated:
        return "the kernel's run"
    if fit.task.runs[number].scenario.job is not None:
        return "nothing: a job is calculated"
    if fit.confirmed:
        usual = fit.corrections.get((FigureKind.RATE, fit.circumstances[number].regime))
        if usual is not None:
            return f"what the kernel gave on average of {plural(usual.runs, 'run')} that are limited alike"
    if fit.task.runs[number].scenario.interval.start == "warm":
        return "nothing: the run is steady"
    return "the analytic engine's course of getting warm"
