"""oltpsim from Python: describe or load a scenario, then run, sweep, compare, explain, plan, calibrate and predict.

    import oltpsim

    box = oltpsim.load("v20z")
    answer = oltpsim.run(box.changed({"machine.disks.count": 2}))
    answer.new_orders_per_min, answer.low_per_min, answer.high_per_min
    oltpsim.sweep(box, {"machine.memory_gib": [2, 4, 8]}).figure()

Every answer has the figures that the command of the same name prints: `str(answer)` is its table, `to_json()` what
`--output json` writes, `to_frame()` the rows of `--output csv`. Rates are new orders per minute (NOPM), with the
interval in which a measurement would fall 9 times of 10. What is wrong with an input raises InputError, whose text
names the key, what came and what is allowed. Nothing is printed, and nothing is sent anywhere.
"""

from __future__ import annotations

import html
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from calibration.fit import (
    Calibration,
    FitTask,
    StepJournal,
    calibration_json,
    calibration_of,
    calibration_path,
    measured_runs,
    no_report,
    parameters_to_fit,
    read_calibration,
    read_mapping_file,
    run_fit,
    write_calibration,
)
from calibration.predict import Predicted, predict_scenario
from calibration.records import RunRecord, fit_program
from models.catalogue import Prices, price_list
from models.input import value_at, write_whole, yaml_text
from models.jobs import run_job
from models.reading import read_description
from models.scenario import ScenarioSpec
from scenarios.commands.modelled import ModelledScenario, measurement_of
from scenarios.library import library_files, read_scenario_file, scenario_from_keys, scenario_path
from scenarios.questions.compare import ComparedScenario, Comparer, measured_comparison
from scenarios.questions.explain import ExplainOptions, explain_scenario
from scenarios.questions.measured import read_runs as read_run_records
from scenarios.questions.plan import (
    ParameterUncertainty,
    candidate_stock,
    current_date,
    make_plan,
    parse_objective,
    plan_question,
)
from scenarios.questions.sweep import (
    Axis,
    ReplicationRule,
    SweepRunner,
    calibrated_points,
    sweep_json,
    sweep_points,
    with_measurements,
)
from scenarios.run import Silent, SimulationTask, Store, pool_replications, replicate, simulate, simulate_by_kernel
from scenarios.show.calibration import calibration_lines
from scenarios.show.chart import Chart
from scenarios.show.compare import comparison_csv, comparison_json, comparison_table
from scenarios.show.explain import (
    activity_bars,
    explanation_charts,
    explanation_csv,
    explanation_json,
    explanation_text,
)
from scenarios.show.job import job_json, job_text
from scenarios.show.picture import printed_figure
from scenarios.show.plan import plan_csv, plan_json, plan_table
from scenarios.show.plan_page import cost_and_rate
from scenarios.show.prediction import certificate_line, prediction_csv, prediction_json, prediction_table
from scenarios.show.run_charts import throughput
from scenarios.show.run_record import records_csv, records_json
from scenarios.show.summary import answer_json, summary_csv, summary_text
from scenarios.show.sweep import sweep_chart, sweep_csv, sweep_table
from scenarios.show.words import configuration_line
from simulator.errors import InputError

__all__ = [
    "Answer",
    "InputError",
    "Model",
    "Predictions",
    "Run",
    "Runs",
    "Scenario",
    "calibrate",
    "compare",
    "describe",
    "explain",
    "library",
    "load",
    "plan",
    "predict",
    "read_model",
    "read_runs",
    "run",
    "sweep",
]
Engine = Literal["kernel", "reference", "analytic"]


@dataclass(frozen=True)
class Scenario:
    """A machine, its database and its load. Made by `load` and `describe`; a change makes another one.

    `str(scenario)` is one line; `scenario["machine.memory_gib"]` reads a key (docs/reference/scenario.md lists them).
    """

    keys: Mapping[str, Any]
    """as a scenario file has them"""
    where: str
    """what messages call it"""
    settings: tuple[str, ...] = ()
    """KEY=VALUE over the keys"""

    @cached_property
    def spec(self) -> ScenarioSpec:
        """The checked scenario. Raises InputError for one that contradicts itself."""
        return scenario_from_keys(dict(self.keys), self.where, self.settings, jobs=True)

    def changed(self, values: Mapping[str, Any]) -> Scenario:
        """The scenario with other values: {"machine.memory_gib": "16 GiB", "machine.disks.disk": "nvme"}.

        Numbers are in the unit of the key's name; text may hold a unit, or name a part of the catalogue. Raises
        InputError for an unknown key or a value that can't be.
        """
        settings = (*self.settings, *(f"{key}={json.dumps(value)}" for key, value in values.items()))
        found = replace(self, settings=settings)
        _ = found.spec
        return found

    def __getitem__(self, key: str) -> Any:
        missing = object()
        value = value_at(self.spec, key, missing)
        if value is missing:
            raise KeyError(key)
        return value

    def yaml(self) -> str:
        """The scenario as a file for `oltpsim run FILE.yaml`."""
        return yaml_text(self.spec.model_dump(mode="json", exclude_none=True, exclude_defaults=False))

    def save(self, path: str | Path) -> None:
        """Write `yaml()` to a file."""
        write_whole(Path(path), self.yaml())

    def __str__(self) -> str:
        return configuration_line(self.spec)

    def _repr_html_(self) -> str:
        return _html(f"{self.spec.name}\n{self}")


@dataclass(frozen=True)
class Answer:
    """What a question comes to: the table, the document and the rows that its command prints."""

    text: str = field(repr=False)
    json_text: str = field(repr=False)
    csv_text: str = field(repr=False)
    charts: tuple[Chart, ...] = field(default=(), repr=False)

    def to_json(self) -> dict[str, Any]:
        """The document that the command writes with --output json."""
        return dict(json.loads(self.json_text))

    def to_frame(self) -> Any:
        """The rows of --output csv as a pandas.DataFrame. Raises InputError where pandas isn't installed."""
        try:
            import pandas as pd
        except ImportError as error:
            raise InputError("to_frame: needs pandas; pip install 'oltpsim[frames]'") from error
        return pd.read_csv(io.StringIO(self.csv_text))

    def figure(self, number: int = 0) -> Any:
        """One of the answer's charts as a plotly Figure. Raises InputError if there is none of this number."""
        if not 0 <= number < len(self.charts):
            raise InputError(f"figure: got {number}; this answer has {len(self.charts)} charts")
        from plotly.graph_objects import Figure

        return Figure(printed_figure(self.charts[number]))

    def __str__(self) -> str:
        return self.text.rstrip()

    def _repr_html_(self) -> str:
        return _html(str(self))


@dataclass(frozen=True)
class Run(Answer):
    """A run: its rate with the interval in which a measurement would fall 9 times of 10, and what limits it.

    `low_per_min`, `high_per_min`: None where they can't be said. Of a job (`job:` in the scenario) `value` is its own
    figure in its own `unit`, of transactions new orders per minute.
    """

    value: float = 0.0
    unit: str = ""
    low_per_min: float | None = None
    high_per_min: float | None = None
    bottleneck: str = ""
    p95_s: float | None = None
    """95 % of the new orders end within this; None where the engine doesn't know it"""
    warnings: tuple[str, ...] = ()

    @property
    def new_orders_per_min(self) -> float:
        """The rate; of a job its figure."""
        return self.value


@dataclass(frozen=True)
class Runs(Answer):
    """Records of measured runs, made by `read_runs`."""

    records: tuple[RunRecord, ...] = ()
    scenarios: Mapping[str, ScenarioSpec] = field(default_factory=dict)
    """what each was measured with, by its name, as far as a base says it"""


@dataclass(frozen=True)
class Model(Answer):
    """A calibrated model, made by `calibrate` or `read_model`: `str(model)` says what the runs told and what not."""

    calibration: Calibration | None = None
    place: str = ""

    def save(self, path: str | Path) -> None:
        """Write the model for `read_model` and for `--model` of every command."""
        write_calibration(Path(path), _known(self))


def _known(model: Model) -> Calibration:
    if model.calibration is None:
        raise InputError("model: has no calibration; make one by calibrate() or read_model()")
    return model.calibration


def _html(text: str) -> str:
    return f"<pre>{html.escape(text)}</pre>"


def library() -> list[str]:
    """Names of the scenarios that come with the program, for `load`."""
    return list(library_files())


def load(scenario: str | Path, values: Mapping[str, Any] | None = None) -> Scenario:
    """The scenario of a YAML file, or of the library by its name, with other `values` over it: see Scenario.changed.

    Raises InputError, with the nearest name if there is no such file.
    """
    path = scenario_path(str(scenario))
    found = Scenario(read_scenario_file(path), path.name)
    return found.changed(values or {})


def describe(line: str, values: Mapping[str, Any] | None = None) -> Scenario:
    """The scenario of a machine said in one line. What it doesn't say is guessed, as `oltpsim quick` does.

        box = oltpsim.describe("8 cores, 32 GB, SSD, PostgreSQL")

    Raises InputError for pieces that aren't understood.
    """
    spec = read_description(line).scenario
    return Scenario(spec.model_dump(mode="json"), line).changed(values or {})


def run(
    scenario: Scenario,
    *,
    model: Model | None = None,
    engine: Engine = "kernel",
    seed: int = 1,
    replications: int = 1,
    workers: int = 1,
) -> Run:
    """Simulate a scenario: its rate, what limits it, latencies, utilisations.

    `model`: a calibrated model, whose values and interval the answer has. `engine`: "kernel" simulates, "reference"
    does the same slowly in Python, "analytic" calculates in milliseconds. The same scenario and seed give the same
    figures. `replications`: runs with seeds from `seed` on, in so many `workers` (processes; above 1 only below
    `if __name__ == "__main__"`). Raises InputError for a machine that can't run the load, with the reason in numbers.

        answer = oltpsim.run(oltpsim.load("v20z"))
        print(answer)
        answer.new_orders_per_min, answer.low_per_min, answer.high_per_min, answer.bottleneck
    """
    modelled = ModelledScenario(_with_engine(scenario, engine).spec, None if model is None else _known(model))
    machine = modelled.machine
    if machine.job is not None:
        return _job(modelled, seed)
    result = pool_replications(replicate(machine, seed, replications, workers, Silent()))
    expected = measurement_of(modelled, result)
    chart = throughput(result, None)
    main = next(each for each in result.classes if each.name == result.main_class)
    return Run(
        text=summary_text(result, machine, expected=expected),
        json_text=answer_json(result, expected),
        csv_text=summary_csv(result, machine, expected),
        charts=() if chart is None else (chart,),
        value=result.rate_per_min.mean,
        unit="new orders per minute",
        low_per_min=None if isinstance(expected, str) else expected.low_per_min,
        high_per_min=None if isinstance(expected, str) else expected.high_per_min,
        bottleneck=result.bottleneck.name,
        p95_s=main.p95_s,
        warnings=tuple(result.warnings),
    )


def _job(modelled: ModelledScenario, seed: int) -> Run:
    result = run_job(modelled.machine, seed)
    interval = modelled.job_interval(result.value)
    rows = f"figure,value,unit\n{result.figure},{result.value!r},{result.unit}\n"
    return Run(
        text=job_text(result, modelled.machine, interval=interval),
        json_text=job_json(result, modelled.machine, interval),
        csv_text=rows,
        value=result.value,
        unit=result.unit,
        low_per_min=None if interval is None else interval.low_per_min,
        high_per_min=None if interval is None else interval.high_per_min,
        bottleneck=result.limited_by,
    )


def _with_engine(scenario: Scenario, engine: Engine) -> Scenario:
    return scenario.changed({"engine": engine})


def sweep(
    scenario: Scenario,
    values: Mapping[str, Sequence[Any]],
    *,
    model: Model | None = None,
    engine: Engine = "kernel",
    seed: int = 1,
    replications: int = 1,
    workers: int = 1,
) -> Answer:
    """Run a scenario over a grid of values of its keys.

        oltpsim.sweep(box, {"machine.memory_gib": [2, 4, 8], "machine.disks.count": [1, 2]})

    A row for each combination, with its rate and interval; points that can't be run have the reason. `figure()` draws
    the rate over one or two varied keys. The rest is as in `run`. Raises InputError if no point can be.
    """
    axes = [Axis(key, tuple(json.dumps(each) for each in some)) for key, some in values.items()]
    base = _with_engine(scenario, engine)
    calibration = None if model is None else _known(model)
    points = sweep_points(
        lambda settings: scenario_from_keys(dict(base.keys), base.where, (*base.settings, *settings)), axes
    )
    with Store(None) as store:
        runner = SweepRunner(calibrated_points(points, calibration), store, seed, ReplicationRule(replications))
        runner.run(workers, Silent())
        found = with_measurements(runner.sweep(scenario.where, axes), points, calibration=calibration)
    charts = (sweep_chart(found),) if len(axes) <= 2 else ()
    return Answer(sweep_table(found), sweep_json(found), sweep_csv(found), charts)


def compare(
    scenarios: Sequence[Scenario],
    *,
    model: Model | None = None,
    engine: Engine = "kernel",
    seed: int = 1,
    replications: int = 5,
    workers: int = 1,
) -> Answer:
    """Rates of two or more scenarios with the same seeds, and the ratio of each to the first, with its interval.

    The rest is as in `run`. Raises InputError.
    """
    if len(scenarios) < 2:
        raise InputError(f"compare: got {len(scenarios)} scenarios; give two or more")
    calibration = None if model is None else _known(model)
    sides = []
    for label, each in zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", scenarios, strict=False):
        modelled = ModelledScenario(_with_engine(each, engine).spec, calibration)
        sides.append(ComparedScenario(label, each.where, each.settings, modelled.machine, None, modelled.scenario))
    comparer = Comparer(sides, seed)
    comparer.run(1 if engine == "analytic" else replications, workers, Silent())
    compared = comparer.comparison()
    assert compared is not None
    found = measured_comparison(compared, calibration)
    return Answer(comparison_table(found, 80), comparison_json(found), comparison_csv(found))


def explain(scenario: Scenario, *, model: Model | None = None) -> Answer:
    """Where the time of a transaction goes, what limits the machine, and what one more of each part would bring.

    Calculated at once. `figure(0)` is the rate over buffers with its cliff. Raises InputError.
    """
    calibration = None if model is None else _known(model)
    modelled = ModelledScenario(_with_engine(scenario, "analytic").spec, calibration)
    result = simulate(SimulationTask(modelled.machine, 1))
    expected = measurement_of(modelled, result)
    found = explain_scenario(modelled.machine, ExplainOptions(), Silent().step)
    text = f"{activity_bars(result, expected)}\n{explanation_text(found, 80, current_date())}"
    return Answer(
        text, explanation_json(result, expected, found), explanation_csv(found), tuple(explanation_charts(found))
    )


def plan(
    scenario: Scenario,
    target_per_min: float | None = None,
    *,
    p95: str | None = None,
    data_size: str | None = None,
    candidates: Sequence[str] = (),
    prices: Sequence[str] = ("aws-us-east-1", "us-2024"),
    model: Model | None = None,
) -> Answer:
    """Cheapest machines that hold a load.

        oltpsim.plan(box, 30_000, p95="50 ms", data_size="200 GiB", candidates=["m7i.*"])

    `target_per_min`: new orders per minute; without it what does most for its cost. `candidates`: names of instances,
    machines or chassis, * for anything; all that have a price if empty. Calculated; `oltpsim plan` simulates the best
    too. Raises InputError.
    """
    left = ParameterUncertainty.after(scenario.spec, None if model is None else _known(model))
    objectives = () if p95 is None else (parse_objective(p95, 0.95, "p95"),)
    question = plan_question(left.calibrated(scenario.spec), target_per_min, data_size, 0.0, 0.0, 100, None, objectives)
    lists = Prices(tuple(price_list(each) for each in prices))
    found = make_plan(candidate_stock(question, lists, candidates), lists, left, current_date())
    chart = cost_and_rate(found)
    return Answer(plan_table(found, 80), plan_json(found), plan_csv(found), () if chart is None else (chart,))


def read_runs(*places: str | Path, base: Scenario | None = None) -> Runs:
    """Records of measured runs: files, folders or names of those that come with the program.

    `base`: the scenario of what the records don't say. Harness output becomes records by `oltpsim import`. Raises
    InputError.
    """
    spec = None if base is None else base.spec
    records, scenarios = read_run_records([str(place) for place in places], spec)
    names = "\n".join(record.name for record in records)
    return Runs(names, records_json(records), records_csv(records), (), tuple(records), scenarios)


def calibrate(
    runs: Runs,
    *,
    vary: Sequence[str] = (),
    mapping: str | Path | None = None,
    confirm: int = 3,
    seed: int = 1,
) -> Model:
    """Fit a scenario to measured runs, which `read_runs(..., base=...)` gives.

    `vary`: numbers to fit, "KEY=LOW..HIGH"; path lengths, device times and memory if empty. `mapping`: a mapping file
    for what records have no key for. `confirm`: runs that the kernel simulates to correct the fit. Raises InputError.
    """
    bases = list(runs.scenarios.values())
    varied, fixed = parameters_to_fit(bases, None, vary)
    file = None if mapping is None else read_mapping_file(Path(mapping), runs.records)
    task = FitTask(
        runs=tuple(measured_runs(runs.records, dict(runs.scenarios), fixed, file)),
        parameters=varied,
        seed=seed,
        confirm=confirm,
        bootstrap=0,
        code=fit_program(),
    )
    found = run_fit(task, StepJournal(None, task.digest), no_report, None, simulate_by_kernel)
    return _model(calibration_of(found, bases[0]), "a model of this process")


def read_model(place: str | Path = "published") -> Model:
    """A model that `calibrate` or `oltpsim calibrate --save` has written, or one of the program's by name.

    Raises InputError.
    """
    return _model(read_calibration(calibration_path(Path(place))), str(place))


def _model(calibration: Calibration, place: str) -> Model:
    rows = ["parameter,value,low,high,identified"]
    for each in calibration.parameters:
        ends = [] if each.low is None or each.high is None else [repr(each.low), repr(each.high)]
        rows.append(",".join([f'"{each.key}"', repr(each.value), *(ends or ["", ""]), str(each.identified)]))
    text = "\n".join(calibration_lines(calibration))
    return Model(text, calibration_json(calibration), "\n".join(rows) + "\n", (), calibration, place)


@dataclass(frozen=True)
class Predictions(Answer):
    """Predictions of scenarios, in their order."""

    rates_per_min: tuple[float, ...] = ()
    low_per_min: tuple[float, ...] = ()
    high_per_min: tuple[float, ...] = ()


def predict(model: Model, scenarios: Sequence[Scenario]) -> Predictions:
    """New orders per minute of scenarios by a calibrated model, with intervals and the distance from its runs.

    Raises InputError if a scenario can't be run.
    """
    calibration = _known(model)
    found: list[Predicted] = [predict_scenario(calibration, each.spec, simulate_by_kernel) for each in scenarios]
    certificate = certificate_line(calibration, Path(model.place))
    return Predictions(
        prediction_table(calibration, found, certificate, []),
        prediction_json(calibration, found, certificate, []),
        prediction_csv(found, certificate),
        (),
        tuple(each.rate_per_min for each in found),
        tuple(each.low_per_min for each in found),
        tuple(each.high_per_min for each in found),
    )
