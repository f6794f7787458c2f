"""Model's figures of every run at any places of the parameters' scale, by the analytic engine.

All places of one run are solved in one call; runs are shared out over processes. The answer depends on neither.
"""

import json
import math
import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from oltpsim.calibration.fit.covariance import JOB
from oltpsim.calibration.fit.mapping import MeasuredRun
from oltpsim.calibration.fit.observables import (
    SIGMAS_OF_95_PERCENT,
    FigureKind,
    engine_logs,
    simulated_figures,
    simulated_noise,
)
from oltpsim.calibration.fit.parameters import Parameter, mixture, possible_values
from oltpsim.models.jobs import JobResult, run_job
from oltpsim.models.reading import with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build, unmeasured_threads
from oltpsim.simulator.analytic import (
    Case,
    Parameters,
    Solution,
    Workload,
    doubts,
    error_model,
    parameters_of,
    rate_half_widths,
    read_workload,
    regime_of,
    retimed,
    rows,
    simulate,
    solve,
    stacked,
    striped,
    transactions_key,
)
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import FloatArray, System
from oltpsim.simulator.results import Result

SimulateModel = Callable[[System, int], Result]
"""engine that confirms: the result of a model by a seed; it is called in worker processes too"""

NOT_A_MACHINE = np.nan
"""stands for figures of a scenario that contradicts itself, as with a seek longer than the disk's longest"""
ENGINE_FIGURES = Path(__file__).with_name("engine_errors.json")
"""how far the analytic engine's figures lie from the kernel's, by kind: docs/calibration.md, written with its tables"""
MOST_TRANSACTIONS = 5e6
"""of a run that the kernel simulates within a fit"""
MOST_TOGETHER = 2
"""runs solved in one call; more would leave other processes without work"""
MOST_FIGURES = 200_000
"""machines whose figures a thread keeps"""


@dataclass(frozen=True)
class AnalyticInput:
    """Input of the analytic engine for one scenario.

    `workload` has the times of the first scenario whose program it is, as `parameters` don't.
    """

    system: System
    workload: Workload
    parameters: Parameters

    @property
    def timed_workload(self) -> Workload:
        """The workload with this scenario's times."""
        return retimed(self.workload, self.system)


class AnalyticReader:
    """Scenarios in the engine's terms; programs that differ in times only are read once, and runs' figures kept.

    A fit without one of its runs asks again for a quarter of the figures.
    """

    MOST_KEPT, MOST_RESULTS = 32, 256
    """programs, and scenarios with their results"""

    def __init__(self) -> None:
        self._programs: dict[Hashable, dict[int, Workload]] = {}
        """by key of the transactions and number of data devices, the one used last at the end"""
        self._figures: dict[tuple[ScenarioSpec, tuple[str, ...], tuple[FigureKind, ...]], dict[bytes, list[float]]] = {}
        self._results: dict[ScenarioSpec, Result] = {}

    def read(self, scenario: ScenarioSpec) -> AnalyticInput:
        """The input for one scenario. Scenarios of one program get the same `workload` object."""
        model = build(scenario)
        key, devices = transactions_key(model), model.storage.data_devices
        known = self._programs.pop(key, None) or {devices: read_workload(model)}
        self._programs[key] = known
        if len(self._programs) > self.MOST_KEPT:
            del self._programs[next(iter(self._programs))]
        if devices not in known:
            known[devices] = striped(next(iter(known.values())), devices)
        workload = known[devices]
        return AnalyticInput(model, workload, parameters_of(model, retimed(workload, model)))

    def result(self, scenario: ScenarioSpec) -> Result:
        """The engine's result for one scenario: a fit asks for its regime, then for what corrects its figures."""
        if scenario not in self._results:
            if len(self._results) >= self.MOST_RESULTS:
                del self._results[next(iter(self._results))]
            point = self.read(scenario)
            with np.errstate(over="ignore"):  # an overflowing power is an endless queue
                self._results[scenario] = simulate(point.system, 0, workload=point.timed_workload)
        return self._results[scenario]

    def figures_of(self, run: MeasuredRun, keys: tuple[str, ...]) -> dict[bytes, list[float]]:
        """Figures of a run's machines by the values of `keys`, to be looked up and added to; [] where none is."""
        if sum(map(len, self._figures.values())) > MOST_FIGURES:
            self._figures.clear()
        return self._figures.setdefault((run.scenario, keys, tuple(each.kind for each in run.observations)), {})


def solve_inputs(points: Sequence[AnalyticInput]) -> list[tuple[Workload, Parameters, Solution, list[int]]]:
    """Solutions of all points, those of one workload and policy together, with the points' numbers."""
    groups: dict[tuple[int, str], list[int]] = {}
    for number, point in enumerate(points):
        groups.setdefault((id(point.workload), point.system.pool.replacement), []).append(number)
    found = []
    for (_, policy), numbers in groups.items():
        workload = points[numbers[0]].workload
        machines = stacked([points[number].parameters for number in numbers])
        with np.errstate(over="ignore"):  # an overflowing power is an endless queue
            found.append((workload, machines, solve(workload, machines, policy), numbers))
    return found


def figures(
    runs: Sequence[MeasuredRun], parameters: Sequence[Parameter], places: FloatArray, reader: AnalyticReader
) -> FloatArray:
    """Logarithms of the runs' observed kinds at each place, (places, observations); NaN where there is no machine.

    Between two whole numbers of a parameter they are what lies between the figures of both machines, in proportion.
    """
    ends = np.cumsum([0, *(len(run.observations) for run in runs)])
    corners = [(row, *each) for row, place in enumerate(places) for each in mixture(parameters, place)]
    """machines with the place that each stands for in part, and its share"""
    answer = np.full((len(corners), int(ends[-1])), NOT_A_MACHINE)
    open_keys = [run.open_keys(each.key for each in parameters) for run in runs]
    known = [reader.figures_of(run, keys) for run, keys in zip(runs, open_keys, strict=True)]
    rows: dict[tuple[int, bytes], list[int]] = {}
    """by number of a run and the values of what it takes, which are one machine"""
    found: dict[tuple[int, bytes], list[float]] = {}
    points: list[AnalyticInput] = []
    owners: list[tuple[int, bytes]] = []
    for number, run in enumerate(runs):  # one after the other: the reader looks first at the program that it used last
        for row, (_, _, values) in enumerate(corners):
            mine = {key: values[key] for key in open_keys[number]}
            machine = number, np.array(list(mine.values())).tobytes()
            rows.setdefault(machine, []).append(row)
            if len(rows[machine]) > 1 or machine[1] in known[number]:
                continue
            found[machine] = []
            try:
                scenario = with_values(run.scenario, mine)
                if scenario.job is None:
                    points.append(reader.read(scenario))
                    owners.append(machine)
                else:
                    logs = job_logs(scenario, run_job(scenario))
                    found[machine] = [logs[each.kind] for each in run.observations]
            except InputError:
                continue
    for workload, machines, solution, numbers in solve_inputs(points):
        by_kind = engine_logs(workload, machines, solution)
        for at, point in enumerate(numbers):
            kinds = [each.kind for each in runs[owners[point][0]].observations]
            found[owners[point]] = [float(by_kind[kind][at]) for kind in kinds]
    for (number, where), figure in found.items():
        known[number][where] = figure
    for (number, where), positions in rows.items():
        if figure := known[number][where]:
            answer[positions, ends[number] : ends[number + 1]] = figure
    if len(corners) == len(places):
        return answer
    mixed = np.zeros((len(places), int(ends[-1])))
    np.add.at(mixed, [row for row, _, _ in corners], answer * np.array([share for _, share, _ in corners])[:, None])
    return mixed


def job_logs(scenario: ScenarioSpec, result: JobResult) -> dict[FigureKind, float]:
    """Logarithms of each kind of figure that a job has."""
    busy = min(result.cpu_cores_busy / scenario.machine.cpu.threads, 1.0)
    return {FigureKind.RATE: math.log(result.value), FigureKind.CPU: math.log(busy + FigureKind.CPU.negligible)}


def together(runs: Sequence[MeasuredRun]) -> list[list[int]]:
    """Numbers of runs that are best solved in one call: those of one workload but for its clients, a few at a time."""
    alike: dict[str, list[int]] = {}
    for number, run in enumerate(runs):
        workload = run.scenario.workload.model_dump_json(exclude={"arrivals": {"clients", "transactions_per_s"}})
        key = f"{workload} {run.scenario.machine.disks.files}"
        alike.setdefault(key, []).append(number)
    return [group[at : at + MOST_TOGETHER] for group in alike.values() for at in range(0, len(group), MOST_TOGETHER)]


class Correction(NamedTuple):
    """Correction of a run's figures for what the analytic engine's steady machine leaves out.

    `logs`: log(figure over the run's interval / figure of the steady machine), one for each observation. `sds`:
    standard deviations of what these leave out still: the analytic engine's errors, or what chance does to a run.
    """

    logs: list[float]
    sds: list[float]


class Evaluator:
    """Figures of all runs, by an executor if there is one."""

    def __init__(
        self, runs: Sequence[MeasuredRun], parameters: Sequence[Parameter], executor: Executor | None = None
    ) -> None:
        self.runs, self.parameters, self._executor = tuple(runs), tuple(parameters), executor
        self._groups = together(runs)

    def at(self, places: FloatArray) -> FloatArray:
        """Logarithms at each place, (places, observations of all runs in their order)."""
        groups = [[self.runs[number] for number in group] for group in self._groups]
        run_all = map if self._executor is None else self._executor.map
        count = len(groups)
        found = list(run_all(_figures_kept, groups, [self.parameters] * count, [places] * count))
        by_run: dict[int, FloatArray] = {}
        for group, values in zip(self._groups, found, strict=True):
            ends = np.cumsum([len(self.runs[number].observations) for number in group])
            by_run |= dict(zip(group, np.split(values, ends[:-1], axis=1), strict=True))
        return np.concatenate([by_run[number] for number in range(len(self.runs))], axis=1)

    def machine(self, number: int, place: FloatArray) -> tuple[ScenarioSpec, tuple[FigureKind, ...]]:
        """A run's scenario at a place, whole numbers at the nearest, and the kinds of figure that it has."""
        run = self.runs[number]
        return run.machine(possible_values(self.parameters, place)), tuple(each.kind for each in run.observations)


def engine_correction(
    scenario: ScenarioSpec, kinds: Sequence[FigureKind], seed: int, simulate_model: SimulateModel | None = None
) -> Correction:
    """Correction by a simulation, or without one by the analytic engine, which knows only how the rate gets warm."""
    if scenario.job is not None:
        return Correction([0.0] * len(kinds), [0.0] * len(kinds))
    point = _BY_THREAD.reader.read(scenario)
    if simulate_model is not None:
        result = simulate_model(point.system, seed)
        counted, chance = simulated_figures(result), simulated_noise(result)
        # the measured run's own chance is in its noise only as far as its rate's series shows it
        sds = [chance.get(kind, 0.0) * (1.0 if kind == FigureKind.RATE else math.sqrt(2.0)) for kind in kinds]
    else:
        rate = _BY_THREAD.reader.result(scenario).rate_per_min
        counted, sds = (
            {FigureKind.RATE: rate.mean},
            [rate.log_sd if kind == FigureKind.RATE else engine_errors()[kind] for kind in kinds],
        )
        if scenario.interval.start == "warm" or scenario.workload.arrivals.kind == "open":
            return Correction([0.0] * len(kinds), sds)
    [(workload, machines, solution, _)] = solve_inputs([point])
    warm = {kind: float(values[0]) for kind, values in engine_logs(workload, machines, solution).items()}
    left_out = [float(kind.log(counted[kind])) - warm[kind] if kind in counted else 0.0 for kind in kinds]
    return Correction(left_out, sds)


def kernel_can_simulate(scenario: ScenarioSpec, new_orders_per_min: float) -> bool:
    """Whether the kernel can answer within a fit: transactions, and no more than it simulates in a minute or two."""
    if scenario.job is not None:
        return False
    interval = scenario.interval
    if interval.new_orders_per_client is not None:
        orders = float(interval.new_orders_per_client * scenario.workload.clients)
    else:
        orders = new_orders_per_min * (interval.warm_up_s + (interval.duration_s or 0.0)) / 60.0
    return orders / scenario.workload.main_share <= MOST_TRANSACTIONS


@cache
def engine_errors() -> dict[FigureKind, float]:
    """Errors of the analytic engine, by kind of figure but the rate: standard deviations of logarithms.

    Of 95 % of runs of known truth the figures lie within 1.96 of them.
    """
    read = json.loads(ENGINE_FIGURES.read_text(encoding="utf-8"))
    return {kind: read[kind]["p95"] / SIGMAS_OF_95_PERCENT for kind in FigureKind if kind != FigureKind.RATE}


@dataclass(frozen=True)
class SteadyRate:
    """A machine once it is warm, by the analytic engine."""

    new_orders_per_min: float
    requests_per_s: float
    """reads and writes of all data devices"""
    logs: dict[FigureKind, float]
    """logarithms of its figures; of a job those that it has"""


def steady_rates(*scenarios: ScenarioSpec) -> list[SteadyRate]:
    """Scenarios' machines, solved together; of a job its figure. Raises InputError if there is none."""
    reader = _BY_THREAD.reader
    found: dict[int, SteadyRate] = {}
    for number, each in enumerate(scenarios):
        if each.job is not None:
            result = run_job(each)
            found[number] = SteadyRate(result.value, 0.0, job_logs(each, result))
    others = [number for number in range(len(scenarios)) if number not in found]
    for workload, machines, solution, solved_rows in solve_inputs(
        [reader.read(scenarios[number]) for number in others]
    ):
        numbers = [others[row] for row in solved_rows]
        by_kind = engine_logs(workload, machines, solution)
        figures_by_kind = {kind: np.exp(values) for kind, values in by_kind.items()}
        per_s = figures_by_kind[FigureKind.RATE] / 60.0 / float(workload.mix[workload.main_class])
        requests = sum(figures_by_kind[kind] - kind.negligible for kind in (FigureKind.READS, FigureKind.WRITES))
        requests_per_s = per_s * np.maximum(requests, 0.0)
        found |= {
            number: SteadyRate(
                float(figures_by_kind[FigureKind.RATE][row]),
                float(requests_per_s[row]),
                {kind: float(values[row]) for kind, values in by_kind.items()},
            )
            for row, number in enumerate(numbers)
        }
    return [found[number] for number in range(len(scenarios))]


def run_regime(scenario: ScenarioSpec) -> str:
    """What limits a scenario's machine, by the analytic engine: disk, cpu, locks, swap or light; a job by its kind.

    Raises InputError if there is no machine.
    """
    if scenario.job is not None:
        return f"{JOB}{scenario.job.kind}"
    return regime_of(_BY_THREAD.reader.result(scenario))


def engine_doubts(scenarios: Sequence[ScenarioSpec]) -> list[tuple[str, ...]]:
    """Where assumptions don't hold of scenarios' steady machines, in sentences; none of jobs'.

    Raises InputError if there is no machine.
    """
    numbers = [number for number, each in enumerate(scenarios) if each.job is None]
    points = [_BY_THREAD.reader.read(scenarios[number]) for number in numbers]
    found: list[tuple[str, ...]] = [()] * len(scenarios)
    for workload, machines, solution, solved_rows in solve_inputs(points):
        for row, at in enumerate(solved_rows):
            one = np.array([row])
            case = Case(points[at].system, workload, rows(machines.filled(), one), rows(solution, one))
            number = numbers[at]
            found[number] = (*doubts(case), *unmeasured_threads(scenarios[number]))
    return found


def rate_sds(scenarios: Sequence[ScenarioSpec]) -> FloatArray:
    """Model errors of scenarios' steady rates: standard deviations of their logarithms. Not of jobs."""
    found, points = np.zeros(len(scenarios)), [_BY_THREAD.reader.read(each) for each in scenarios]
    for workload, machines, solution, solved_rows in solve_inputs(points):
        found[solved_rows] = error_model().sds(rate_half_widths(workload, machines.filled(), solution))
    return found


class _OfThisThread(threading.local):
    """Reader of a thread, which other threads don't change: fits may run beside each other on any executor."""

    def __init__(self) -> None:
        self.reader = AnalyticReader()


_BY_THREAD = _OfThisThread()


def _figures_kept(runs: Sequence[MeasuredRun], parameters: Sequence[Parameter], places: FloatArray) -> FloatArray:
    return figures(runs, parameters, places, _BY_THREAD.reader)
