"""The fit: least squares from several starts, corrected by the engines that see more, then what it is worth.

runs ─> offsets of the start ─> screened starts ─> searches ─> the best ─┬─> offsets, search, discrepancy, search
                                                                         ├─> kernel on some runs, the same again
                                                                         └─> what is identified ─> profile intervals
"""

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np

from oltpsim.calibration.fit.correction import RegimeCorrection, regime_correction
from oltpsim.calibration.fit.covariance import Circumstances, circumstances_of
from oltpsim.calibration.fit.discrepancy import (
    Discrepancy,
    assumed_discrepancy,
    estimated_discrepancy,
    student_rises,
    with_discrepancy,
)
from oltpsim.calibration.fit.evaluate import (
    Evaluator,
    SimulateModel,
    engine_correction,
    engine_doubts,
    kernel_can_simulate,
    run_regime,
)
from oltpsim.calibration.fit.identifiability import Identified, correlations, identify_parameters, seen_by
from oltpsim.calibration.fit.mapping import MeasuredRun, refuse_recorded
from oltpsim.calibration.fit.objective import FitData, FitObjective, data_of, parameters_at_bound
from oltpsim.calibration.fit.observables import FigureKind
from oltpsim.calibration.fit.parameters import NEARLY_WHOLE, Parameter
from oltpsim.calibration.fit.profile import INTERVAL_CONFIDENCE, Ends, bootstrap, profile
from oltpsim.calibration.fit.repeats import with_noise_of_repeats
from oltpsim.calibration.fit.search import CLOSE, ROUGH, STARTS, Optimum, chord, search, starts
from oltpsim.calibration.fit.step_journal import StepJournal
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import BoolArray, FloatArray

ReportProgress = Callable[[float, str], None]
"""called with the share that is done of the part under way, and what that is; a share of 0 begins a part"""


def no_report(_: float, __: str) -> None:
    """Progress that nobody watches."""


SAME_COST = 0.5
"""two searches have ended alike if their sums of squares differ by less"""
KERNEL_ROUNDS = 2
"""most times that the kernel simulates a run again, at the place that its corrections have led to"""
SETTLED = 0.3
"""of a figure's noise: the kernel isn't asked again if its corrections change by less"""


@dataclass(frozen=True)
class FitTask:
    """Task of a fit: all that determines it; no executor does."""

    runs: tuple[MeasuredRun, ...]
    parameters: tuple[Parameter, ...]
    seed: int = 1
    starts: int = STARTS
    """searches"""
    confirm: int = 0
    """runs that the kernel simulates"""
    bootstrap: int = 0
    """samples that check the intervals; 0: none"""
    missing: float = 1.0
    """what the model is assumed to miss of the runs, as a multiple; 0 if they were simulated by it"""
    intervals: bool = True
    """whether each parameter's interval is looked for; a prediction does without"""
    begin: tuple[float, ...] = ()
    """where the first search starts, the priors' middle if empty"""
    corrections: tuple[tuple[float, float], ...] = ()
    """of each observation what the engine inside the fit leaves out, and its sd, by a fit that is near; else found"""
    code: str = ""
    """versions of the program and its libraries, so that another program's journal isn't gone on with"""

    @property
    def digest(self) -> str:
        """Hash of the task's content."""
        runs = [
            [run.name, run.scenario.model_dump(mode="json"), run.mapped, [asdict(each) for each in run.observations]]
            for run in self.runs
        ]
        settings = [getattr(self, field.name) for field in fields(self) if field.name not in ("runs", "parameters")]
        parameters = [asdict(each) for each in self.parameters]
        for each in parameters:
            if not each["whole"]:
                del each["whole"]  # tasks without whole numbers have the names that they had
        data = [runs, parameters, *settings]
        return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:20]


@dataclass(frozen=True)
class Fit:
    """A fit and what it is worth. Places are on the parameters' scale."""

    task: FitTask
    best: Optimum
    data: FitData
    discrepancy: Discrepancy
    slopes: FloatArray
    covariance: FloatArray
    correlation: FloatArray
    identified: Identified
    ends: Ends
    circumstances: tuple[Circumstances, ...]
    """of each run at the best place"""
    offsets: FloatArray
    """what corrects each figure at the best place, by the kernel's last run; what the fit was made with is in `data`"""
    corrections: dict[tuple[FigureKind, str], RegimeCorrection]
    """of figures in a regime, where the kernel hasn't simulated the run"""
    left_out_sd: tuple[float, ...]
    """what the corrections leave out of each observation: standard deviations of logarithms"""
    simulated: tuple[int, ...]
    """runs that the kernel has simulated at the best place, those that it can soon"""
    confirmed: tuple[int, ...]
    """runs that it has simulated on the way, too"""
    costs: tuple[float, ...]
    """sums of squares at which the searches have ended"""
    samples: FloatArray | None

    @property
    def alike(self) -> int:
        """Count of the searches that have ended where the best one has."""
        return sum(cost < min(self.costs) + SAME_COST for cost in self.costs)


def run_fit(
    task: FitTask,
    journal: StepJournal,
    report: ReportProgress,
    executor: Executor | None = None,
    simulate_model: SimulateModel | None = None,
) -> Fit:
    """Fit a task. `journal` holds what is done already; `simulate_model` confirms, and is needed if the task says so.

    `executor`: any of concurrent.futures, for what can be done at the same time. Raises InputError if no machine near
    the priors is possible.
    """
    if not any(run.observations for run in task.runs):
        raise InputError("no run has a figure that can be fitted; let the mapping file leave at least the rate")
    refuse_recorded(task.parameters, task.runs)
    task = replace(task, runs=with_noise_of_repeats(task.runs))
    return _Fitting(task, journal, report, executor, simulate_model).run()


class _Fitting:
    """Fit under way."""

    def __init__(
        self,
        task: FitTask,
        journal: StepJournal,
        report: ReportProgress,
        executor: Executor | None,
        simulate_model: SimulateModel | None,
    ) -> None:
        self.task, self.journal, self.report, self.executor = task, journal, report, executor
        self.simulate_model = simulate_model
        self.evaluator = Evaluator(task.runs, task.parameters, executor)
        self.objective = FitObjective(self.evaluator, data_of(task.runs))
        self.left_out_sd = [0.0] * len(self.objective.data.measured)
        self.everyone = np.ones(len(task.parameters), dtype=np.bool_)
        self.circumstances: tuple[Circumstances, ...] = ()
        self.analytic_offsets: list[float] = []
        """offsets without the kernel"""
        self.corrections: dict[tuple[FigureKind, str], RegimeCorrection] = {}
        self.stopped = ~self.everyone
        """parameters that the last search of all has stopped at their bounds"""

    def run(self) -> Fit:
        middle = np.zeros(len(self.task.parameters))
        self.report(0.0, "how the runs get warm")
        self._find_circumstances("regimes", middle)
        self._use(self._offsets("offsets", middle), assumed_discrepancy())
        best, costs = self._from_several_starts()
        self.report(0.0, "offsets and discrepancy")
        self._find_circumstances("regimes again", best.place)
        offsets = self._offsets("offsets again", best.place)
        discrepancy, free, best = self._refined("again", best, offsets)
        confirmed: list[int] = []
        if self.task.confirm > 0 and not self.task.corrections:
            if self.simulate_model is None:
                raise ValueError("a fit that confirms needs the engine that does it")
            scenarios = [self.evaluator.machine(number, best.place)[0] for number in range(len(self.task.runs))]
            is_doubted = [bool(each) for each in engine_doubts(scenarios)]
            confirmed = _spread_out(best, self.objective.data, self.task, is_doubted)
            if confirmed:
                self.analytic_offsets = offsets
                offsets = self._by_kernel(best, confirmed, offsets)
            discrepancy, free, best = self._refined("kernel", best, offsets)
        self.report(0.0, "what the runs tell apart")
        slopes, not_known, best, free = self._settled(best, free)
        if (rounded := self._at_whole_numbers(best, free)) is not best:
            best = rounded
            slopes, not_known = self._slopes("slopes at whole numbers", best, central=True)
        final, simulated = offsets, confirmed
        if confirmed and self.task.intervals:
            final, simulated = self._final_offsets(best, confirmed)
        at_bound = self.stopped | parameters_at_bound(self.task.parameters, best.place)
        found = identify_parameters(slopes, at_bound, free, not_known)
        covariance, correlation = correlations(slopes)
        self.report(0.0, "intervals")
        numbers = np.flatnonzero(found.identified).tolist() if self.task.intervals else []
        rises = student_rises(self.objective.data, slopes, discrepancy, INTERVAL_CONFIDENCE)
        ends = Ends.from_json(
            self.journal.once("profile", lambda: profile(self.objective, best, slopes, numbers, rises).to_json())
        )
        samples = None
        if self.task.bootstrap:
            self.report(0.0, "bootstrap")
            drawn = partial(bootstrap, self.objective, best, slopes, self.task.seed, self.task.bootstrap)
            samples = np.array(self.journal.once("bootstrap", lambda: drawn().tolist()))
        return Fit(
            self.task,
            best,
            self.objective.data,
            discrepancy,
            slopes,
            covariance,
            correlation,
            found,
            ends,
            self.circumstances,
            np.array(final),
            self.corrections,
            tuple(self.left_out_sd),
            tuple(simulated),
            tuple(confirmed),
            costs,
            samples,
        )

    def _by_kernel(self, best: Optimum, confirmed: list[int], earlier: list[float]) -> list[float]:
        """The kernel's corrections at the place that a fit with them finds. `earlier`: those that were found before.

        How far the last ones differ from those before is what they leave out, beside what chance does to a run.
        """
        slopes = self.objective.data.root @ self._slopes("slopes before the kernel", best, central=False)[0]
        offsets = self._kernel_offsets(0, best.place, confirmed, earlier)
        moved = np.zeros(len(offsets))
        for turn in range(1, KERNEL_ROUNDS + 1):
            self._use(offsets, assumed_discrepancy())
            best = chord(self.objective, best, self.objective.data.whitening @ slopes)
            before, offsets = offsets, self._kernel_offsets(turn, best.place, confirmed, earlier)
            moved = np.abs(np.subtract(offsets, before))
            if (moved < SETTLED * self.objective.data.total_sd).all():
                break
        self.left_out_sd = np.hypot(self.left_out_sd, moved).tolist()
        return offsets

    def _final_offsets(self, best: Optimum, confirmed: list[int]) -> tuple[list[float], list[int]]:
        """Offsets at the best place by the kernel, of all runs that it can simulate soon: what is predicted there too.

        What they differ by from those that the fit was made with is left out of its figures as well.
        """
        data = self.objective.data
        every = [
            number
            for number, log in zip(data.run[data.is_rate].tolist(), best.logs[data.is_rate].tolist(), strict=True)
            if kernel_can_simulate(self.task.runs[number].scenario, math.exp(log))
        ]
        simulated = sorted({*confirmed, *every})
        corrections, before = self.corrections, list(self.left_out_sd)
        final = self._kernel_offsets(KERNEL_ROUNDS + 1, best.place, simulated, self.analytic_offsets)
        self.corrections = corrections
        moved = np.where(np.isin(data.run, confirmed), np.abs(np.subtract(final, data.offset)), 0.0)
        is_new = np.isin(data.run, simulated) & ~np.isin(data.run, confirmed)
        self.left_out_sd = np.where(is_new, self.left_out_sd, np.hypot(before, moved)).tolist()
        return np.where(np.isin(data.run, simulated), final, data.offset).tolist(), simulated

    def _find_circumstances(self, name: str, place: FloatArray) -> None:
        """Find what limits each run at a place, by which it shares with others what is missed of it."""
        scenarios = [self.evaluator.machine(number, place)[0] for number in range(len(self.task.runs))]
        calls = {f"{name} {number}": (scenario,) for number, scenario in enumerate(scenarios)}
        found = self.journal.once_each(run_regime, calls, self.executor)
        runs = self.task.runs
        self.circumstances = tuple(circumstances_of(run.scenario, each) for run, each in zip(runs, found, strict=True))
        self.objective.data = self.objective.data.with_shared(self.circumstances)

    def _use(self, offsets: Sequence[float], discrepancy: Discrepancy) -> None:
        data = self.objective.data.with_offsets(offsets)
        self.objective.data = with_discrepancy(data, discrepancy, self.left_out_sd, self.task.missing)

    def _from_several_starts(self) -> tuple[Optimum, tuple[float, ...]]:
        places = starts(self.objective, self.task.seed)[: None if self.task.starts > 1 else 1]
        if self.task.begin:
            places[0] = np.clip(self.task.begin, self.objective.low, self.objective.high)
        self.report(0.0, f"{len(places)} starts")
        costs = np.array(
            self.journal.once(
                "screen",
                lambda: np.minimum(self.objective.costs(places, self.objective.logs(places)), IMPOSSIBLE).tolist(),
            )
        )
        if not np.isfinite(costs).any() or costs.min() >= IMPOSSIBLE:
            raise InputError(
                f"{self.task.runs[0].name}: no machine near the priors can run this; "
                "widen the bounds, or correct the base scenario or the settings of the runs"
            )
        order = [0, *(number for number in np.argsort(costs, kind="stable").tolist() if number != 0)]
        chosen = [number for number in order if costs[number] < IMPOSSIBLE][: self.task.starts]
        # Of several searches each is a call, which asks nobody else; of a single one each step is shared out.
        alone = FitObjective(Evaluator(self.task.runs, self.task.parameters), self.objective.data)
        several = self.executor if len(chosen) > 1 else None
        objective = self.objective if several is None else alone
        searches = {f"start {number}": (objective, places[number], self.everyone, ROUGH) for number in chosen}

        def report(done: int, begins: str) -> None:
            under_way = f"search {done + 1} of {len(chosen)}" if begins else f"{done} of {len(chosen)} searches"
            self.report(done / len(chosen), under_way)

        found = [Optimum.from_json(each) for each in self.journal.once_each(_searched, searches, several, report)]
        ended = tuple(each.cost for each in found)
        return found[int(np.argmin(ended))], ended

    def _search(self, name: str, place: FloatArray, free: BoolArray, held: BoolArray | None = None) -> Optimum:
        return Optimum.from_json(
            self.journal.once(name, lambda: search(self.objective, place, free, CLOSE, held).to_json())
        )

    def _refined(self, name: str, best: Optimum, offsets: list[float]) -> tuple[Discrepancy, BoolArray, Optimum]:
        """The search with new offsets, the discrepancy that is left then, and the search with it.

        Parameters that show in no figure go back to their prior's middle.
        """
        self._use(offsets, assumed_discrepancy())
        best = self._search(f"search {name}", best.place, self.everyone)
        self.stopped = parameters_at_bound(self.task.parameters, best.place)
        before = self.objective.data
        discrepancy = estimated_discrepancy(before, best.logs, best.slopes, best.place)
        self._use(offsets, discrepancy)
        free = seen_by(self.objective.data.whitening @ (before.root @ best.slopes))
        free |= self._slopes(f"slopes {name}", best, central=False)[1]
        if free.all() and np.allclose(before.total_sd, self.objective.data.total_sd):
            return discrepancy, free, best
        return discrepancy, free, self._search(f"search {name}, its discrepancy", best.place, free)

    def _settled(self, best: Optimum, free: BoolArray) -> tuple[FloatArray, BoolArray, Optimum, BoolArray]:
        """Derivatives at the optimum, once just those parameters are away from their priors that show in a figure.

        One that shows only as long as it isn't fitted goes back and forth: it stays at its prior. One that has no
        machine on either side isn't unseen for that.
        """
        held = np.zeros_like(free)
        turn = 0
        while True:
            slopes, not_known = self._slopes(f"slopes at the end {turn}", best, central=True)
            wanted = (seen_by(slopes) | (not_known & free)) & ~held
            if (wanted == free).all():
                return slopes, not_known, best, free
            held |= free & ~wanted
            free = wanted
            best = self._search(f"search at the end {turn}", best.place, free)
            turn += 1

    def _at_whole_numbers(self, best: Optimum, free: BoolArray) -> Optimum:
        """The best place nearby at which whole numbers are whole: one after the other, the rest following."""
        held = np.zeros_like(free)
        parameters = self.task.parameters
        for number in (number for number, each in enumerate(parameters) if each.whole and free[number]):
            held[number] = True
            value = parameters[number].at(float(best.place[number]))
            found = []
            for whole in sorted({math.floor(value + NEARLY_WHOLE), math.ceil(value - NEARLY_WHOLE)}):
                place = best.place.copy()
                place[number] = parameters[number].place(whole)
                name = f"search with {parameters[number].key}={whole}"
                found.append(self._search(name, place, free & ~held, held=held.copy()))
            best = min(found, key=lambda each: each.cost)
        return best

    def _slopes(self, name: str, best: Optimum, central: bool) -> tuple[FloatArray, BoolArray]:
        """Derivatives over noise, and of which parameters some aren't known: 0 here."""

        def slopes() -> list[Any]:
            found, not_known = self.objective.differences(best.place[None], best.logs[None], central)
            return [found[0].tolist(), not_known[0].tolist()]

        found, not_known = self.journal.once(name, slopes)
        return np.array(found), np.array(not_known, dtype=np.bool_)

    def _offsets(self, name: str, place: FloatArray) -> list[float]:
        if self.task.corrections:
            self.left_out_sd = [sd for _, sd in self.task.corrections]
            return [log for log, _ in self.task.corrections]
        machines = {f"{name} {number}": self.evaluator.machine(number, place) for number in range(len(self.task.runs))}
        calls = {key: (*machine, self.task.seed) for key, machine in machines.items()}
        by_run = self.journal.once_each(engine_correction, calls, self.executor)
        self.left_out_sd = [float(sd) for _, sds in by_run for sd in sds]
        self.engine_sds = list(self.left_out_sd)
        return [float(each) for logs, _ in by_run for each in logs]

    def _engine_sd(self, kind: FigureKind, regime: str) -> float:
        """Model error of a kind of figure in a regime's runs, the root of the mean square."""
        data = self.objective.data
        pairs = zip(data.run.tolist(), data.kinds, self.engine_sds, strict=True)
        sds = [sd for run, own, sd in pairs if own == kind and self.circumstances[run].regime == regime]
        return math.sqrt(sum(sd**2 for sd in sds) / len(sds))

    def _kernel_offsets(self, turn: int, place: FloatArray, confirmed: list[int], earlier: list[float]) -> list[float]:
        """Offsets by the kernel: of simulated runs their own, of others what their regime's have shown, by kind."""
        which = f"the kernel, {turn + 1}. of at most {KERNEL_ROUNDS + 2} times"
        own = self.journal.once_each(
            engine_correction,
            {
                f"kernel {turn}, run {number}": (
                    *self.evaluator.machine(number, place),
                    self.task.seed,
                    self.simulate_model,
                )
                for number in confirmed
            },
            self.executor,
            lambda done, _: self.report(done / len(confirmed), f"{which}: {done} of {len(confirmed)} runs"),
        )
        by_run = {number: logs for number, (logs, _) in zip(confirmed, own, strict=True)}
        run = self.objective.data.run
        for number, (_, sds) in zip(confirmed, own, strict=True):
            for row, sd in zip(np.flatnonzero(run == number), sds, strict=True):
                self.left_out_sd[row] = float(sd)
        regimes = [each.regime for each in self.circumstances]
        logs: dict[tuple[FigureKind, str], list[float]] = {}
        owners: list[int] = run.tolist()
        for at, (number, kind) in enumerate(zip(owners, self.objective.data.kinds, strict=True)):
            if number in by_run:
                kth = at - owners.index(number)
                logs.setdefault((kind, regimes[number]), []).append(by_run[number][kth] - earlier[at])
        self.corrections = {key: regime_correction(self._engine_sd(*key), some) for key, some in logs.items()}
        found: list[float] = []
        for at, (number, kind) in enumerate(zip(owners, self.objective.data.kinds, strict=True)):
            if number in by_run:
                found.append(by_run[number][at - owners.index(number)])
                continue
            usual = self.corrections.get((kind, regimes[number]))
            if usual is not None:
                self.left_out_sd[at] = usual.sd
            found.append(earlier[at] + (0.0 if usual is None else usual.log))
        return found


IMPOSSIBLE = 1e30
"""stands for the infinite cost of a place without a machine: JSON has no infinity"""


def _searched(*search_for: Any) -> dict[str, Any]:
    """A search's optimum as plain JSON."""
    return search(*search_for).to_json()


def _spread_out(best: Optimum, data: FitData, task: FitTask, is_doubted: Sequence[bool]) -> list[int]:
    """Runs to be simulated, of those that don't take the kernel long: those that the analytic engine doubts first.

    Of either kind from the slowest to the fastest in even steps.
    """
    rates, runs = best.logs[data.is_rate], data.run[data.is_rate]
    every = zip(runs.tolist(), rates.tolist(), strict=True)
    short = [kernel_can_simulate(task.runs[number].scenario, math.exp(log)) for number, log in every]
    order = runs[short][np.argsort(rates[short], kind="stable")].tolist()
    chosen: list[int] = []
    for group in ([each for each in order if is_doubted[each]], [each for each in order if not is_doubted[each]]):
        count = min(task.confirm - len(chosen), len(group))
        places = np.unique(np.linspace(0, len(group) - 1, count).round().astype(int)).tolist()
        chosen += [group[place] for place in places]
    return sorted(chosen)
