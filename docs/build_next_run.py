"""Write the table of docs/calibration.md on next runs: is the suggested one better than one at random?

Systems of known truth, simulated by the kernel. Of each a few runs are fitted; the suggested run and one drawn from the
same candidates are made, each is fitted with the first ones, and the intervals that the two fits predict for more
clients are compared. Cases are kept in out/next_run for the same code, so a stopped build goes on.
"""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.synthetic_systems import FITTED, Settings, SyntheticMachine, record, simulated, system
from docs.build import replaced
from oltpsim.calibration.fit import (
    Calibration,
    FigureKind,
    FitTask,
    MappingFile,
    MeasuredRun,
    RunMapping,
    StepJournal,
    calibration_of,
    measured_runs,
    run_fit,
)
from oltpsim.calibration.predict import (
    CALIBRATED,
    CLIENTS_KEY,
    MISSED,
    ONE_RUN,
    CandidateSet,
    Predicted,
    RunCandidate,
    RunWorth,
    advise_next_run,
    candidates_around,
    predict_scenario,
    usual_run,
)
from oltpsim.calibration.records import fit_versions
from oltpsim.models.input import write_whole
from oltpsim.scenarios.run import Silent, default_workers
from oltpsim.scenarios.show.progress import progress_display
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.kernel import simulate

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "calibration.md"
STORE = DOCS.parent / "out" / "next_run"
BEGIN = "<!-- begin of the table of next runs: python docs/build_next_run.py -->\n"
END = "<!-- end of the table of next runs -->\n"
CASES = 50
FIRST_SYSTEM = 2000
"""systems from this number on, that nothing else looks at; those from 1000 on were, while this was built"""
FEWEST_RUNS, PARAMETERS = 2, (3, 5)
SUGGESTED, DRAWN, MOST_RUNS = 10, 11, 100
"""numbers of the two next runs among a system's, and more than it has"""
LOAD = 4
"""times the clients is what is asked for, with a pool that no run has had"""


@dataclass(frozen=True)
class Width:
    """Of a prediction's interval, as a logarithm, and the standard deviations by parameters and by all else."""

    whole: float
    parameters_sd: float
    others_sd: float

    @classmethod
    def of(cls, found: Predicted) -> Width:
        """From a prediction."""
        rate = found.rate
        return cls(
            2.0 * rate.log_half_width, rate.sd_of(CALIBRATED), float(np.hypot(rate.sd_of(ONE_RUN), rate.sd_of(MISSED)))
        )


@dataclass(frozen=True)
class Case:
    """One system: what its runs predict, and what they do with another run."""

    number: int
    runs: int
    parameters: int
    worth_it: bool
    suggested: str
    drawn: str
    expected: Width
    """with the suggested run, as it was expected"""
    before: Width
    with_suggested: Width
    with_drawn: Width


def studied(number: int) -> tuple[SyntheticMachine, int, np.random.Generator]:
    """A system of which some parameters are known and the others fitted; how many runs its owner has."""
    one = system(number)
    rng = np.random.default_rng([number, 3])
    count = min(int(rng.integers(PARAMETERS[0], PARAMETERS[1] + 1)), len(one.parameters))
    some = sorted(rng.permutation(len(one.parameters))[:count].tolist())
    parameters = tuple(one.parameters[at] for at in some)
    truth = {each.key: one.truth[each.key] for each in parameters}
    return replace(one, parameters=parameters, truth=truth), int(rng.integers(FEWEST_RUNS, FITTED + 1)), rng


def made(one: SyntheticMachine, sizes: Settings, at: int, kinds: Sequence[str]) -> MeasuredRun:
    """Run number `at` of the true system, of these sizes. Raises InputError if it can't be made.

    Both next runs have the same noise of measurement, so that luck with it doesn't decide.
    """
    alone = replace(one, number=MOST_RUNS * one.number + at, sizes=(sizes,))
    result = simulated([alone], STORE / "runs", 1, Silent())[alone.number, 0]
    if isinstance(result, InputError):
        raise result
    own = RunMapping(settings=dict(sizes), unused=tuple(kind for kind in FigureKind if kind not in kinds))
    number = min(at, SUGGESTED)
    of_this_size = replace(one, sizes=(sizes,) * (number + 1))
    [run] = measured_runs([record(of_this_size, number, result)], one.base, {}, MappingFile(all=own))
    return run


def fitted(one: SyntheticMachine, runs: Sequence[MeasuredRun]) -> Calibration:
    """Some runs as a calibration. The kernel corrects all, and misses nothing: the truth is its own."""
    task = FitTask(tuple(runs), one.parameters, starts=1, confirm=len(runs), missing=0.0)
    return calibration_of(run_fit(task, StepJournal(None, ""), lambda _, __: None, simulate_model=simulate), one.base)


def settings_of(calibration: Calibration, candidate: RunCandidate) -> Settings:
    """All numbers that a candidate's run has and the base doesn't."""
    usual = {key: value for key, (value, who) in usual_run(calibration).settings.items() if who == "mapping file"}
    return {key: int(value) for key, value in (usual | candidate.settings).items()}


class Study:
    """One system under study."""

    def __init__(self, number: int) -> None:
        self.one, self.count, self.rng = studied(number)
        self.kinds = [
            FigureKind.RATE,
            *(kind for kind in FigureKind if kind != FigureKind.RATE and self.rng.random() < 0.5),
        ]
        clients = self.one.base.workload.clients * LOAD
        self.target = self.one.scenario(self.one.sizes[FITTED] | {CLIENTS_KEY: clients}, true=False)

    def begin(self) -> tuple[Calibration, list[MeasuredRun], CandidateSet]:
        """The first fit and its candidates. Raises InputError if a run can't be made."""
        runs = [made(self.one, self.one.sizes[at], at, self.kinds) for at in range(self.count)]
        calibration = fitted(self.one, runs)
        return calibration, runs, candidates_around(calibration)

    def next(self, calibration: Calibration, runs: Sequence[MeasuredRun], candidate: RunCandidate, at: int) -> Width:
        """What is predicted with a candidate's run, number `at` of the system. Raises InputError."""
        run = made(self.one, settings_of(calibration, candidate), at, self.kinds)
        return Width.of(predict_scenario(fitted(self.one, [*runs, run]), self.target, simulate))


def case(number: int) -> Case | None:
    """A case; None if the true machine can't do the first runs, or only one of the candidates."""
    study = Study(number)
    try:
        calibration, runs, choice = study.begin()
        advice = advise_next_run(calibration, choice, study.target, simulate_model=simulate)
    except InputError:
        return None
    assert advice.asked is not None
    before = Width.of(advice.asked)
    first = _first_possible(study, calibration, runs, advice.runs, SUGGESTED)
    if first is None:
        return None
    suggested, with_suggested = first
    others = [advice.runs[at] for at in study.rng.permutation(len(advice.runs)) if advice.runs[at] is not suggested]
    other = _first_possible(study, calibration, runs, others, DRAWN)
    if other is None:
        return None
    expected = Width(before.whole * (1.0 - suggested.narrower), suggested.left_sd, before.others_sd)
    return Case(
        number, study.count, len(study.one.parameters), suggested.worth_it, suggested.candidate.name,
        other[0].candidate.name, expected, before, with_suggested, other[1],
    )  # fmt: skip


def _first_possible(
    study: Study, calibration: Calibration, runs: Sequence[MeasuredRun], some: Sequence[RunWorth], at: int
) -> tuple[RunWorth, Width] | None:
    for each in some:
        try:
            return each, study.next(calibration, runs, each.candidate, at)
        except InputError:
            continue  # a run that the true machine can't do: its owner would take the next one
    return None


def kept(number: int, code: str) -> Case | None:
    """A case, from the store if the same code has put it there."""
    file = STORE / f"{number}.json"
    if file.exists() and (data := json.loads(file.read_text(encoding="utf-8")))["code"] == code:
        return _case_of(data["case"])
    found = case(number)
    plain = None if found is None else asdict(found)
    write_whole(file, json.dumps({"code": code, "case": plain}, indent=1) + "\n")
    return found


def _case_of(data: dict[str, Any] | None) -> Case | None:
    if data is None:
        return None
    widths = {key: Width(**data[key]) for key in ("expected", "before", "with_suggested", "with_drawn")}
    return Case(**(data | widths))


def cases() -> list[Case]:
    """Of systems one after the other, until there are `CASES`; the same for any number of processes."""
    code = fit_versions()["code"]
    found: dict[int, Case | None] = {}
    workers = default_workers()
    with (
        progress_display(quiet=False) as shown,
        ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as executor,
    ):
        while (missing := CASES - _made(found)) > 0:
            begin = FIRST_SYSTEM + len(found)
            pending = {executor.submit(kept, number, code): number for number in range(begin, begin + missing)}
            try:
                for done in as_completed(pending):
                    found[pending[done]] = done.result()
                    shown.advance(_made(found) / CASES, f"{_made(found)} of {CASES} systems")
            except BaseException:
                executor.shutdown(wait=False, cancel_futures=True)
                raise
    return [each for _, each in sorted(found.items()) if each is not None]


def _made(found: dict[int, Case | None]) -> int:
    return sum(each is not None for each in found.values())


def table(some: Sequence[Case]) -> str:
    """How often the suggested run is the better one, and by how much both make intervals narrower."""
    worth = [each for each in some if each.worth_it]
    names = ["systems", "number", "narrower than with the drawn run"]
    head = f"| {' | '.join([*names, 'suggested takes', 'expected', 'drawn takes'])} |"
    rows = [head, f"|---|{'---:|' * 5}", _row("all", some)]
    if worth:
        rows.append(_row("a run was worth making", worth))
    return "\n".join(rows) + "\n"


def _row(name: str, some: Sequence[Case]) -> str:
    narrower = sum(each.with_suggested.whole < each.with_drawn.whole for each in some)
    taken = [_taken(some, run) for run in ("with_suggested", "expected", "with_drawn")]
    cells = [name, str(len(some)), _share(narrower, some), *taken]
    return f"| {' | '.join(cells)} |"


def _share(count: int, some: Sequence[Case]) -> str:
    return f"{count} ({count / len(some):.0%})"


def _taken(some: Sequence[Case], run: str) -> str:
    """Of what the parameters leave open, the median."""
    left = [getattr(each, run).parameters_sd / each.before.parameters_sd for each in some]
    return f"{1.0 - float(np.median(left)):.0%}"


def main() -> None:
    """Study what isn't studied yet and write the table."""
    text = table(cases())
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), BEGIN, END, text), encoding="utf-8")


if __name__ == "__main__":
    main()
