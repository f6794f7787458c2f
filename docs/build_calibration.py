"""Write the tables of docs/calibration.md: what fits find of systems whose truth is known, and what they predict.

Each system's answer is kept in out/calibration, so a stopped build goes on where it was; it is used again only for the
same task and the same code.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.planted_discrepancy import CASES, EDGE, interval_hits
from benchmarks.planted_discrepancy import RUNS as PLANTED_RUNS
from benchmarks.synthetic_plants import PLANTS, broken, caught
from benchmarks.synthetic_systems import FITTED, HELD_OUT, SyntheticMachine, record, run, simulated, system
from docs.build import head, line, replaced
from oltpsim.calibration.fit import (
    ENGINE_FIGURES,
    INTERVAL_CONFIDENCE,
    RUN_TO_RUN,
    AnalyticReader,
    Calibration,
    FigureKind,
    FitTask,
    StepJournal,
    calibration_of,
    engine_errors,
    engine_logs,
    parse_vary,
    run_fit,
    simulated_figures,
    solve_inputs,
    steady_rates,
)
from oltpsim.calibration.judge import exact_share
from oltpsim.calibration.predict import predict_scenario
from oltpsim.calibration.records import fit_versions
from oltpsim.models.input import write_whole
from oltpsim.scenarios.run import default_workers
from oltpsim.scenarios.show.progress import progress_display
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.kernel import simulate
from oltpsim.simulator.results import Result

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "calibration.md"
RUNS, ANSWERS = DOCS.parent / "out" / "synthetic", DOCS.parent / "out" / "calibration"
BEGIN, END = "<!-- begin of the tables: python docs/build_calibration.py -->\n", "<!-- end of the tables -->\n"
SYSTEMS = 100
OTHERS = range(300, 340)
"""numbers of systems that tell how far the analytic engine's figures are from the kernel's"""
HALF = 40
"""of the systems that are fitted by the analytic engine alone as well"""
PLANTED = 400
"""linear systems with planted discrepancies, of each number of runs and case"""
STARTS = 1
KERNEL, ANALYTIC = "corrected by the kernel", "analytic engine alone"
PAIRS = 20
"""systems in which a pair is planted that the runs can't tell apart"""
SPEED, PATH = "machine.cpu.relative_speed=0.5..2", "database.path.row_operation_us"
"""the pair: a processor that is slow, or a path that is long. 90 % of the speed's prior lie between its ends"""
Outcome = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One system, what came of its runs, and whether the kernel corrects the fit."""

    system: SyntheticMachine
    results: dict[int, Result]
    confirm: bool

    @property
    def file(self) -> Path:
        """Where its answer is kept."""
        return ANSWERS / f"{self.system.number}{'-kernel' if self.confirm else ''}.json"

    @property
    def task(self) -> FitTask:
        """Its fit."""
        runs = tuple(
            run(self.system, number, self.results[number]) for number in range(FITTED) if number in self.results
        )
        confirm = FITTED if self.confirm else 0
        code = fit_versions()["code"]
        return FitTask(
            runs,
            self.system.parameters,
            seed=self.system.number,
            starts=STARTS,
            confirm=confirm,
            missing=0.0,
            code=code,
        )


def answered(case: Case) -> Outcome:
    """The fit of a system, and what it says of the truth and of the runs held out."""
    task = case.task
    if case.file.exists() and (kept := json.loads(case.file.read_text(encoding="utf-8")))["task"] == task.digest:
        return dict(kept)
    found = run_fit(task, StepJournal(None, ""), _quietly, simulate_model=simulate)
    calibration = calibration_of(found, case.system.base)
    parameters = []
    for number, each in enumerate(task.parameters):
        place = each.place(case.system.truth[each.key])
        held = bool(found.ends.low[number] <= place <= found.ends.high[number])
        told = bool(found.identified.identified[number])
        parameters.append({"key": each.key, "told": told, "held": held, "share": float(found.identified.share[number])})
    predictions = [
        _prediction(case, calibration, number, result) for number, result in case.results.items() if number >= FITTED
    ]
    answer = {"task": task.digest, "parameters": parameters, "predictions": predictions}
    write_whole(case.file, json.dumps(answer))
    return answer


def _prediction(case: Case, calibration: Calibration, number: int, result: Result) -> Outcome:
    """A run that was held out, as measured another time, and what the calibrated model says of it."""
    rng = np.random.default_rng([case.system.number, 3, number])
    measured = result.rate_per_min.mean * float(np.exp(rng.normal(0.0, RUN_TO_RUN)))
    asked = case.system.scenario(case.system.sizes[number], true=False)
    try:
        said = predict_scenario(calibration, asked, simulate)
    except InputError as error:
        return {"refused": str(error)}
    return {
        "error": said.rate.value / measured - 1.0,
        "before": steady_rates(asked)[0].new_orders_per_min / measured - 1.0,
        "held": bool(said.rate.low <= measured <= said.rate.high),
        "half_width": said.rate.log_half_width,
        "outside": bool(said.model.outside),
        "limit": result.bottleneck.name,
    }


def _quietly(_: float, __: str) -> None:
    """Nobody watches one of a hundred fits."""


def refused(case: Case) -> bool:
    """Whether a fit of speed and path says that runs of one mix on one machine can't tell them apart."""
    task = case.task
    [path] = [each for each in task.parameters if each.key == PATH]
    pair = (parse_vary(SPEED, case.system.base), path)
    found = calibration_of(
        run_fit(FitTask(task.runs, pair, seed=task.seed, starts=1, missing=0.0), StepJournal(None, ""), _quietly),
        case.system.base,
    )
    return all(each.value is None and each.not_told_from for each in found.parameters)


def share(held: Sequence[bool]) -> str:
    """A share with its exact 90 % interval."""
    if not held:
        return "none"
    low, high = exact_share(sum(held), len(held), INTERVAL_CONFIDENCE)
    return f"{sum(held) / len(held):.1%} [{low:.1%} .. {high:.1%}]"


def engine_table(results: dict[tuple[int, int], Result]) -> str:
    """How far the analytic engine's figures of true systems lie from the kernel's; written for fits as well."""
    errors: dict[str, list[float]] = defaultdict(list)
    for (number, at), result in results.items():
        one = system(number)
        scenario = one.scenario(one.sizes[at], true=True)
        kinds = [kind for kind in FigureKind if kind != FigureKind.FLUSHES or scenario.database.log.commit == "durable"]
        [(workload, machines, solution, _)] = solve_inputs([AnalyticReader().read(scenario)])
        said, counted = engine_logs(workload, machines, solution), simulated_figures(result)
        for kind in kinds:
            errors[kind].append(abs(float(kind.log(counted[kind]) - said[kind][0])))
    table = {}
    text = head("figure", "runs", "median of the logarithm's error", "95 %", figures=True)
    for kind in FigureKind:
        median, p95 = np.quantile(errors[kind], [0.5, 0.95]).round(4).tolist()
        table[kind] = {"runs": len(errors[kind]), "median": median, "p95": p95}
        text += line(kind, str(len(errors[kind])), f"{median:.3f}", f"{p95:.3f}")
    ENGINE_FIGURES.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    engine_errors.cache_clear()
    return text


def parameter_table(answers: dict[str, list[Outcome]]) -> str:
    """How many intervals hold the truth, by parameter."""
    text = head("parameter", *(f"{name}: identified, intervals that hold the truth" for name in answers), figures=True)
    by_key: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for name, outcomes in answers.items():
        for each in (each for outcome in outcomes for each in outcome["parameters"]):
            if each["told"]:
                by_key[each["key"]][name].append(each["held"])
                by_key["**all**"][name].append(each["held"])
    for key in sorted(by_key, key=lambda key: (key == "**all**", key)):
        text += line(key, *(f"{len(by_key[key][name])}: {share(by_key[key][name])}" for name in answers))
    return text


def prediction_table(answers: dict[str, list[Outcome]]) -> str:
    """Runs that were held out, within the range of the fitted ones and beyond."""
    text = head(
        "fit, runs held out", "number", "in their 90 % interval", "median half width", "median error", "95 %",
        "median before the fit", "95 %", figures=True,
    )  # fmt: skip
    for name, outcomes in answers.items():
        every = [each for outcome in outcomes for each in outcome["predictions"] if "error" in each]
        near, far = ([each for each in every if each["outside"] is out] for out in (False, True))
        for kind, some in (("all", every), ("in the range", near), ("beyond it", far)):
            errors, before = ([abs(each[key]) for each in some] for key in ("error", "before"))
            width = f"{np.median([each['half_width'] for each in some]):.1%}"
            far_off = [f"{np.quantile(values, q):.1%}" for values in (errors, before) for q in (0.5, 0.95)]
            text += line(f"{name}, {kind}", str(len(some)), share([each["held"] for each in some]), width, *far_off)
    return text


def plant_table(results: dict[tuple[int, int], Result]) -> str:
    """Of sound records and of records with a planted mistake, how many break a law."""
    text = head("record", "number", "a law is broken", figures=True)
    records = [record(system(number), at, result) for (number, at), result in results.items() if at == 0]
    sound = [bool(broken(each)) for each in records]
    text += line("sound", str(len(sound)), share(sound))
    for name, plant in PLANTS.items():
        found = [found for each in records if (found := caught(each, plant)) is not None]
        text += line(name, str(len(found)), share(found))
    return text


def planted(case: tuple[int, str]) -> list[Outcome]:
    """Intervals of linear systems of so many runs; kept for the same code."""
    runs, name = case
    code = fit_versions()["code"]
    file = ANSWERS / f"planted-{runs}-{name.replace(' ', '-')}.json"
    if file.exists() and (kept := json.loads(file.read_text(encoding="utf-8")))["code"] == code:
        return list(kept["answers"])
    answers = [asdict(interval_hits(seed, runs, name)) for seed in range(PLANTED)]
    write_whole(file, json.dumps({"code": code, "answers": answers}))
    return answers


def planted_table(answers: dict[tuple[int, str], list[Outcome]]) -> str:
    """How many intervals hold the truth where the model misses what was planted."""
    text = head(
        "what the model misses",
        "runs",
        "parameters",
        f"{EDGE} from a refused place",
        "rates held out",
        "half width",
        figures=True,
    )
    for (runs, name), some in answers.items():
        parameters = [held for each in some for held in each["parameters"]]
        beside = [each["beside_edge"] for each in some if each["beside_edge"] is not None]
        width = f"{np.median([each['half_width'] for each in some]):.1%}"
        text += line(name, str(runs), share(parameters), share(beside), share([each["rate"] for each in some]), width)
    return text


def main() -> None:
    """Simulate and fit what has not been yet, and write the tables."""
    systems, others = ([system(number) for number in numbers] for numbers in (range(SYSTEMS), OTHERS))
    ANSWERS.mkdir(parents=True, exist_ok=True)
    RUNS.mkdir(parents=True, exist_ok=True)
    with progress_display(quiet=False) as shown:
        every = simulated([*systems, *others], RUNS, default_workers(), shown)
    done = {key: result for key, result in every.items() if isinstance(result, Result)}
    results = {key: result for key, result in done.items() if key[0] < SYSTEMS}
    engine = engine_table({key: result for key, result in done.items() if key[0] in OTHERS})
    own: dict[int, dict[int, Result]] = defaultdict(dict)
    for (number, at), result in results.items():
        own[number][at] = result
    answers: dict[str, list[Outcome]] = {}
    with ProcessPoolExecutor(default_workers(), mp_context=get_context("spawn")) as pool:
        for name, some in ((KERNEL, systems), (ANALYTIC, systems[:HALF])):
            cases = [Case(each, own[each.number], name == KERNEL) for each in some if len(own[each.number]) > HELD_OUT]
            answers[name] = []
            with progress_display(quiet=False) as shown:
                for number, answer in enumerate(pool.map(answered, cases)):
                    answers[name].append(answer)
                    shown.advance((number + 1) / len(cases), f"{name}: {number + 1} of {len(cases)} systems")
        pairs = list(pool.map(refused, cases[:PAIRS]))
        every_case = [(runs, name) for name in CASES for runs in PLANTED_RUNS]
        intervals = dict(zip(every_case, pool.map(planted, every_case), strict=True))
    words = (
        f"A planted pair that runs of one machine can't tell apart ({SPEED.partition('=')[0]} and {PATH}) "
        f"was refused in {sum(pairs)} of {len(pairs)} systems.\n"
    )
    parts = [
        parameter_table(answers),
        prediction_table(answers),
        planted_table(intervals),
        words,
        plant_table(results),
        engine,
    ]
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), BEGIN, END, "\n".join(parts)), encoding="utf-8")


if __name__ == "__main__":
    main()
