"""Blind test: a calibration on few of some runs, chosen by what they would tell, for the others to be held against."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from oltpsim.calibration.fit import (
    Calibration,
    FitTask,
    MeasuredRun,
    Parameter,
    ReportProgress,
    SimulateModel,
    StepJournal,
    calibration_of,
    run_fit,
)
from oltpsim.calibration.predict import CandidateSet, RunCandidate, advise_next_run
from oltpsim.calibration.records import fit_program
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.errors import InputError

LEAST_RUNS = 2
"""to be chosen: one to begin with, and one that was advised"""


@dataclass(frozen=True)
class BlindTest:
    """What is calibrated: runs, the scenario of the first, and parameters; seed and confirmation of the fits."""

    runs: tuple[MeasuredRun, ...]
    base: ScenarioSpec
    parameters: tuple[Parameter, ...]
    seed: int
    confirm: int
    simulate_model: SimulateModel

    def fitted(
        self, runs: Sequence[MeasuredRun], confirm: int, report: ReportProgress, executor: Executor | None
    ) -> Calibration:
        """Calibration on some of the runs."""
        task = FitTask(tuple(runs), self.parameters, seed=self.seed, confirm=confirm, code=fit_program())
        return calibration_of(run_fit(task, StepJournal(None, ""), report, executor, self.simulate_model), self.base)


def blind_calibration(test: BlindTest, most: int, report: ReportProgress, executor: Executor | None) -> Calibration:
    """Calibration on at most `most` of the runs.

    The first of the runs comes first. Then, again and again, the one that the runs so far say would tell most, by its
    scenario alone: what it measured is seen only once it is chosen. The last fit is confirmed by the kernel. Raises
    InputError for too few runs.
    """
    if not LEAST_RUNS <= most < len(test.runs):
        raise InputError(
            f"validate --blind: got {most} of {len(test.runs)} runs; expected from {LEAST_RUNS} to one less than there "
            "are"
        )
    chosen, left = [test.runs[0]], list(test.runs[1:])
    while len(chosen) < most:
        candidates = tuple(RunCandidate(each.name, {}, each.scenario) for each in left)
        calibration = test.fitted(chosen, 0, report, executor)
        choice = CandidateSet(chosen[0].name, candidates, ())
        advice = advise_next_run(calibration, choice, None, report=report, executor=executor)
        best = next(each for each in left if each.name == advice.runs[0].candidate.name)
        chosen.append(best)
        left.remove(best)
    return test.fitted(chosen, test.confirm, report, executor)
