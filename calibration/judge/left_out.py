"""Leaving runs out: the model is fitted again without them, and predicts them.

Stone, J. R. Statist. Soc. B 36 (1974), 111-147. Folds run on any concurrent.futures.Executor; answers depend on neither
their order nor their number at a time.
"""

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Literal

from oltpsim.calibration.fit import (
    NEW_ORDERS,
    Calibration,
    FigureKind,
    FitTask,
    JudgedRate,
    LeaveOut,
    MeasuredRun,
    ReportProgress,
    SimulateModel,
    StepJournal,
    calibration_hash,
    calibration_of,
    error_summary,
    judged_rate,
    no_report,
    plural,
    run_fit,
    setup_hash,
)
from oltpsim.calibration.predict import predict_scenario
from oltpsim.calibration.records import fit_program
from oltpsim.models.jobs import run_job
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.errors import InputError

Kind = Literal["run", "machine", "device"]
FOLD_KINDS: tuple[Kind, ...] = ("run", "machine", "device")


@dataclass(frozen=True)
class Fold:
    """Numbers of the runs that are left out together. `what`: which run, machine or device that is.

    A run is left out with all that was measured of its scenario: a repeat would tell what it measured.
    """

    kind: Kind
    what: str
    out: tuple[int, ...]

    @property
    def key(self) -> str:
        """Key of the fold, by what is left out: the only run of a machine makes the same fold as the machine."""
        return "without " + ", ".join(map(str, self.out))


@dataclass(frozen=True)
class Refits:
    """Refits of a calibration's parameters, priors and seed without some of these runs.

    `near`: one search from where the calibration is, with the corrections that it has of these runs.
    """

    calibration: Calibration
    runs: tuple[MeasuredRun, ...]
    near: bool = False
    simulate_model: SimulateModel | None = None
    """engine that has confirmed the fit, if one has"""

    def task(self, out: Sequence[int] = ()) -> FitTask:
        """The calibration's fit without some runs: as many searches and confirmed runs, without bootstrap."""
        calibration, runs = self.calibration, [run for number, run in enumerate(self.runs) if number not in out]
        known = {run.name: run for run in calibration.runs}
        near = self.near and all(run.name in known for run in runs)
        figures = [figure for run in runs for figure in known[run.name].figures] if near else []
        return FitTask(
            runs=tuple(runs),
            parameters=tuple(each.parameter for each in calibration.parameters),
            seed=calibration.seed,
            starts=1 if near else len(calibration.searches),
            intervals=False,
            begin=calibration.joint.mode if near else (),
            corrections=tuple((math.log(figure.correction), figure.correction_sd) for figure in figures),
            confirm=min(len(calibration.by_kernel), len(runs)),
            missing=calibration.missing,
            code=fit_program(),
        )

    def without(self, out: Sequence[int]) -> Calibration:
        """The calibration without some runs. Raises InputError."""
        refit = run_fit(self.task(out), StepJournal(None, ""), no_report, simulate_model=self.simulate_model)
        found = calibration_of(refit, self.calibration.base)
        return found.model_copy(update={"by_kernel": self.calibration.by_kernel}) if self.near else found


def machine_of(scenario: ScenarioSpec) -> tuple[str, str]:
    """Processors and memory, which make a machine: all of it, and a name."""
    cpu, memory = scenario.machine.cpu, scenario.machine.memory_gib
    return json.dumps([cpu.model_dump(mode="json"), memory]), f"{cpu.described('x')}, {memory:g} GiB"


def device_of(scenario: ScenarioSpec) -> tuple[str, str]:
    """The disk that holds the data: all of it, and a name."""
    disk = scenario.machine.disks.disk
    return json.dumps(disk.model_dump(mode="json")), disk.name


GROUPS: dict[Kind, Callable[[ScenarioSpec], tuple[str, str]]] = {"machine": machine_of, "device": device_of}


def folds_of(runs: Sequence[MeasuredRun]) -> tuple[list[Fold], dict[Kind, str]]:
    """Folds of all kinds, and why there is none of a kind."""
    folds: list[Fold] = []
    why: dict[Kind, str] = {}
    setups: dict[str, list[int]] = {}
    for number, run in enumerate(runs):
        setups.setdefault(setup_hash(run.scenario), []).append(number)
    if len(setups) > 1:
        folds = [
            Fold("run", ", ".join(runs[each].name for each in members), tuple(members)) for members in setups.values()
        ]
    else:
        what = "one run" if len(runs) == 1 else "one scenario, measured again"
        why["run"] = f"there is {what}; leaving it out leaves nothing to fit to"
    for kind, of in GROUPS.items():
        groups: dict[tuple[str, str], list[int]] = {}
        for number, run in enumerate(runs):
            groups.setdefault(of(run.scenario), []).append(number)
        if len(groups) > 1:
            folds += [Fold(kind, name, tuple(numbers)) for (_, name), numbers in groups.items()]
        else:
            names = ", ".join(name for _, name in groups)
            why[kind] = f"all runs are of one {kind} ({names}); leaving it out leaves nothing to fit to"
    return folds, why


def predicted_without(refits: Refits, out: Sequence[int]) -> list[Any]:
    """[rate, low, high] of each left-out run, or a sentence that says why there is none. Plain JSON."""
    try:
        without = refits.without(out)
    except InputError as error:
        return [str(error)] * len(out)
    answers: list[Any] = []
    for number in out:
        try:
            found = predict_scenario(without, refits.runs[number].scenario, refits.simulate_model)
        except InputError as error:
            answers.append(str(error))
        else:
            answers.append([found.rate.value, *found.rate.interval])
    return answers


def rates_without_machine(refits: Refits, unseen: Sequence[MeasuredRun]) -> list[JudgedRate]:
    """Rates of runs that aren't in the fit, all of one machine, by the model fitted without the runs of that machine.

    Raises InputError for a run without a rate, and for runs of several machines.
    """
    measured = {run.name: rate for run in unseen if (rate := measured_rate(run)) is not None}
    unrated = [run.name for run in unseen if run.name not in measured]
    if unrated:
        raise InputError(f"{', '.join(unrated)}: no rate that a prediction can be held against")
    machines = {machine_of(run.scenario) for run in unseen}
    if len(machines) != 1:
        names = "; ".join(sorted(name for _, name in machines))
        raise InputError(f"runs of one machine are expected; got {len(machines)}: {names}")
    out = [number for number, run in enumerate(refits.runs) if machine_of(run.scenario) in machines]
    model = refits.without(out) if out else refits.calibration
    found = [predict_scenario(model, run.scenario, refits.simulate_model) for run in unseen]
    return [
        judged_rate(run.name, measured[run.name], (each.rate.value, *each.rate.interval), unit_of(run))
        for run, each in zip(unseen, found, strict=True)
    ]


def leave_out(
    refits: Refits, journal: StepJournal, report: ReportProgress, executor: Executor | None = None
) -> tuple[LeaveOut, ...]:
    """Every run, machine and device in turn. `journal` holds what is done; `executor` runs several folds at a time."""
    runs = refits.runs
    folds, why = folds_of(runs)
    by_key = {fold.key: fold for fold in folds}

    def part(done: int, begins: str) -> None:
        under_way = f"without {by_key[begins].what}: " if begins else ""
        report(done / max(len(by_key), 1), f"{under_way}{done} of {plural(len(by_key), 'refit')}")

    calls = {key: (refits, fold.out) for key, fold in by_key.items()}
    answers = dict(zip(calls, journal.once_each(predicted_without, calls, executor, part), strict=True))
    return tuple(
        _leave_out(kind, [f for f in folds if f.kind == kind], why.get(kind), runs, answers) for kind in FOLD_KINDS
    )


def _leave_out(
    kind: Kind, folds: Sequence[Fold], why: str | None, runs: Sequence[MeasuredRun], answers: dict[str, list[Any]]
) -> LeaveOut:
    rows: list[JudgedRate] = []
    not_done = [] if why is None else [why]
    for fold in folds:
        for number, answer in zip(fold.out, answers[fold.key], strict=True):
            run = runs[number]
            rate = measured_rate(run)
            if isinstance(answer, str):
                not_done.append(f"{run.name}: {answer}")
            elif rate is not None:
                model, low, high = answer
                rows.append(judged_rate(run.name, rate, (model, low, high), unit_of(run)))
    errors = error_summary([(row.name, row.error) for row in rows])
    return LeaveOut(kind=kind, rows=tuple(rows), errors=errors, not_done=tuple(not_done))


def measured_rate(run: MeasuredRun) -> float | None:
    """The rate that a prediction is held against; None if the run has none, or one that says 'at least'."""
    return next((each.value for each in run.observations if each.kind == FigureKind.RATE and not each.at_least), None)


def unit_of(run: MeasuredRun) -> str:
    """Unit of the rate, or of the figure that the run's job is measured by."""
    return NEW_ORDERS if run.scenario.job is None else run_job(run.scenario).unit


def refits_digest(calibration: Calibration, runs: Sequence[MeasuredRun], near: bool = False) -> str:
    """Hash of all that determines the refits."""
    words = f"{calibration_hash(calibration)} {Refits(calibration, tuple(runs), near).task().digest}"
    return hashlib.sha256(words.encode()).hexdigest()[:20]
