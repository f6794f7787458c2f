"""Functions of the Python interface, which `oltpsim` offers: each asks a question and returns its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from oltpsim.scenarios.python.arguments import (
    Engine,
    FunctionDisplay,
    ProgressFunction,
    axis_values,
    counts,
    number,
    whole,
)
from oltpsim.scenarios.python.modules import (
    catalogue,
    comparing,
    explaining,
    fit,
    jobs,
    measuring,
    modelling,
    options,
    plan_page,
    planning,
    run_charts,
    run_record,
    run_records,
    running,
    scenario_files,
    sections,
    show_calibration,
    show_compare,
    show_explain,
    show_job,
    show_plan,
    show_prediction,
    show_sweep,
    summary,
    sweeping,
    words,
)
from oltpsim.scenarios.python.values import (
    Answer,
    Model,
    Predictions,
    Run,
    Runs,
    Scenario,
    calibration_of,
    description_of,
    scenarios_in,
    spec_with,
    with_engine,
)
from oltpsim.simulator.errors import InputError

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
LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
WIDTH = 80
"""columns of a table, as commands write it to a file"""


def library() -> list[str]:
    """Names of the scenarios that come with the program, for `load`."""
    return list(scenario_files.library_files())


def load(scenario: str | Path, values: Mapping[str, Any] | None = None) -> Scenario:
    """The scenario of a YAML file, or of the library by its name, with other `values` over it: see Scenario.changed.

    Raises InputError, with the nearest name if there is no such file.
    """
    path = scenario_files.scenario_path(str(scenario))
    found = Scenario(scenario_files.read_scenario_file(path), path.name)
    return found.changed(values or {})


def describe(line: str, values: Mapping[str, Any] | None = None) -> Scenario:
    """The scenario of a machine said in one line. What it doesn't say is guessed, as `oltpsim run` does.

        box = oltpsim.describe("8 cores, 32 GB, SSD, PostgreSQL", {"machine.disks.count": 2})
        box["notes"]

    The notes list what was guessed, and the intervals of answers hold it, but for `plan`, whose candidates have parts
    of their own and which takes the load as it stands. `values`: other values at keys, see
    Scenario.changed. Raises InputError for pieces that aren't understood or contradict each other.
    """
    return Scenario({}, line, (), line).changed(values or {})


def run(
    scenario: Scenario,
    *,
    model: Model | None = None,
    engine: Engine | None = None,
    seed: int = 1,
    replications: int = 1,
    workers: int = 1,
    progress: ProgressFunction | None = None,
) -> Run:
    """Simulate a scenario: its rate, what limits it, latencies, utilisations.

    `model`: a calibrated model, whose values and interval the answer has. `engine`: "kernel" simulates, "reference"
    does the same slowly in Python, "analytic" calculates in milliseconds; the scenario's own if None. The same scenario
    and seed give the same figures. `replications`: runs with seeds from `seed` on, whose mean the rate is, in so many
    `workers` (processes; above 1 only below `if __name__ == "__main__"`). `progress`: called now and then with the
    fraction of the work that is done, and words for it. A job (`job:` in the scenario) is calculated; of these options
    it has `model` and `seed` only. Raises InputError, also for a machine that can't run the load, with the reason in
    numbers.

        answer = oltpsim.run(oltpsim.load("v20z"))
        print(answer)
        answer.new_orders_per_min, answer.low_per_min, answer.high_per_min, answer.bottleneck
    """
    seed, replications, workers = counts(seed, replications, workers)
    chosen = with_engine(scenario, engine, "run")
    modelled = _modelled(chosen, model, with_job=True)
    machine = modelled.machine
    if machine.job is not None:
        if engine is not None or replications > 1:
            what = "replications" if engine is None else "engine"
            raise InputError(f"run: {what}: is for transactions; {machine.name!r} has a job: leave it out")
        return _job(modelled, seed)
    running.check_replications([machine], replications)
    display = FunctionDisplay(progress)
    runs = running.replicate(machine, seed, replications, workers, display)
    if len(runs) < replications:
        raise KeyboardInterrupt
    result = running.pool_replications(runs)
    assumed = modelling.assumed_of(modelled, display)
    expected = modelling.measurement_of(modelled, result, assumed.guesses)
    result = words.as_expected(result, expected)
    drawn = run_charts.throughput(result, None)
    main = next(each for each in result.classes if each.name == result.main_class)
    return Run(
        text=f"{assumed.text}\n" * bool(assumed.text) + summary.summary_text(result, machine, expected=expected),
        json_text=summary.answer_json(result, expected, assumed.rows),
        csv_text=summary.summary_csv(result, machine, expected),
        charts=() if drawn is None else (drawn,),
        value=result.rate_per_min.mean,
        unit=words.unit_of(result.main_class),
        low_per_min=None if isinstance(expected, str) else expected.rate.low,
        high_per_min=None if isinstance(expected, str) else expected.rate.high,
        bottleneck=result.bottleneck.name,
        p95_s=main.p95_s,
        warnings=tuple(result.warnings),
    )


def _modelled(scenario: Scenario, model: Model | None, *, with_job: bool = False) -> modelling.ModelledScenario:
    """The scenario with its description and model. Raises InputError."""
    calibration = None if model is None else calibration_of(model)
    return modelling.ModelledScenario(spec_with(scenario, (), with_job=with_job), calibration, description_of(scenario))


def _job(modelled: modelling.ModelledScenario, seed: int) -> Run:
    result = jobs.run_job(modelled.machine, seed)
    interval = modelled.job_interval(result.value)
    rows = f"figure,value,unit\n{result.figure},{result.value!r},{result.unit}\n"
    return Run(
        text=show_job.job_text(result, modelled.machine, interval=interval),
        json_text=show_job.job_json(result, modelled.machine, interval),
        csv_text=rows,
        value=result.value,
        unit=result.unit,
        low_per_min=None if interval is None else interval.rate.low,
        high_per_min=None if interval is None else interval.rate.high,
        bottleneck=result.limited_by,
    )


def sweep(  # noqa: PLR0913 - one argument per option
    scenario: Scenario,
    values: Mapping[str, Sequence[Any]],
    *,
    model: Model | None = None,
    engine: Engine | None = None,
    seed: int = 1,
    replications: int = 1,
    workers: int = 1,
    executor: Executor | None = None,
    progress: ProgressFunction | None = None,
) -> Answer:
    """Run a scenario over a grid of values of its keys.

        oltpsim.sweep(box, {"machine.memory_gib": [2, 4, 8], "machine.disks.count": [1, 2]})

    A row for each combination, the last key's values fastest, with its rate and interval (above 256 points chance's
    only); points that can't be run have the reason. `figure()` draws the rate over one or two varied keys. `executor`:
    one of concurrent.futures or a Dask client's, which has so many `workers` and stays open; without it they are
    processes that end with the sweep. The rest is as in `run`. Raises InputError for unknown keys, for a value that
    stands twice, and if no point can be.
    """
    seed, replications, workers = counts(seed, replications, workers)
    base = with_engine(scenario, engine, "sweep")
    if not values:
        raise InputError("sweep: nothing to vary; give a key and its values, as {'machine.disks.count': [1, 2]}")
    axes = [sweeping.Axis(key, axis_values(key, listed)) for key, listed in values.items()]
    calibration = None if model is None else calibration_of(model)
    display = FunctionDisplay(progress)
    points = sweeping.sweep_points(lambda settings: spec_with(base, settings), axes)
    calibrated = sweeping.calibrated_points(points, calibration, list(values))
    running.check_replications(
        (each.scenario for each in calibrated if not isinstance(each.scenario, InputError)), replications
    )
    with running.Store(None) as store:
        runner = sweeping.SweepRunner(calibrated, store, seed, sweeping.ReplicationRule(replications))
        if executor is None:
            runner.run(workers, display)
        else:
            runner.run_at(running.FuturesExecutor(executor, workers), display)
        found = runner.sweep(scenario.where, axes)
    if len(points) <= sweeping.MOST_MEASURED:
        found = sweeping.with_measurements(found, points, executor, calibration, partial(description_of, base))
    charts = (show_sweep.sweep_chart(found),) if len(axes) <= 2 else ()
    return Answer(show_sweep.sweep_table(found), sweeping.sweep_json(found), show_sweep.sweep_csv(found), charts)


def compare(
    scenarios: Sequence[Scenario],
    *,
    model: Model | None = None,
    engine: Engine | None = None,
    seed: int = 1,
    replications: int | None = None,
    workers: int = 1,
    progress: ProgressFunction | None = None,
) -> Answer:
    """Rates of two or more scenarios with the same seeds, and the ratio of each to the first, with its interval.

        oltpsim.compare([box, box.changed({"machine.disks.count": 2})])

    `replications`: 5 if None, or 1 if all are calculated. The rest is as in `run`. Raises InputError.
    """
    several = scenarios_in(scenarios, "compare")
    if not 2 <= len(several) <= len(LABELS):
        raise InputError(f"compare: got {len(several)} scenarios; give two or more, at most {len(LABELS)}")
    calibration = None if model is None else calibration_of(model)
    sides = []
    for label, each in zip(LABELS, several, strict=False):
        of = _modelled(with_engine(each, engine, "compare"), model)
        sides.append(
            comparing.ComparedScenario(label, each.where, each.settings, of.machine, None, of.scenario, of.description)
        )
    calculated = all(side.scenario.engine == "analytic" for side in sides)
    if replications is None:
        replications = 1 if calculated else 5
    seed, replications, workers = counts(seed, replications, workers)
    running.check_replications([side.scenario for side in sides] if calculated else [], replications)
    comparer = comparing.Comparer(sides, seed)
    comparer.run(replications, workers, FunctionDisplay(progress))
    compared = comparer.comparison()
    assert compared is not None
    found = comparing.measured_comparison(compared, calibration)
    return Answer(
        show_compare.comparison_table(found, WIDTH),
        show_compare.comparison_json(found),
        show_compare.comparison_csv(found),
    )


def explain(scenario: Scenario, *, model: Model | None = None, progress: ProgressFunction | None = None) -> Answer:
    """Where the time of a transaction goes, what limits the machine, and what one more of each part would bring.

        print(oltpsim.explain(oltpsim.load("v20z")))

    Calculated, whatever engine the scenario names. `figure(0)` is the rate over buffers with its cliff. `model`,
    `progress`: as in `run`. Raises InputError.
    """
    modelled = _modelled(with_engine(scenario, "analytic", "explain"), model)
    result = running.simulate(running.SimulationTask(modelled.machine, 1))
    display = FunctionDisplay(progress)
    expected = modelling.measurement_of(modelled, result, modelling.assumed_of(modelled, display).guesses)
    found = explaining.explain_scenario(modelled.machine, explaining.ExplainOptions(), display.step)
    words_of_it = show_explain.explanation_text(found, WIDTH, planning.current_date())
    return Answer(
        f"{show_explain.activity_bars(result, expected)}\n{words_of_it}",
        show_explain.explanation_json(result, expected, found),
        show_explain.explanation_csv(found, expected),
        tuple(show_explain.explanation_charts(found)),
    )


def plan(  # noqa: PLR0913 - one argument per option
    scenario: Scenario,
    target_per_min: float | None = None,
    *,
    p95: str | Sequence[str] | None = (),
    p99: str | Sequence[str] | None = (),
    data_size: str | None = None,
    active: str | None = None,
    growth: str = "0%",
    months: float = 0.0,
    budget: float | None = None,
    years: float = 3.0,
    spares: int = 0,
    sure: str = "80%",
    candidates: Sequence[str] = (),
    prices: Sequence[str] = ("aws-us-east-1", "us-2024"),
    pool: Sequence[str] = (),
    connections: int = 100,
    model: Model | None = None,
    confirm: int = 3,
    seed: int = 1,
    workers: int = 1,
    progress: ProgressFunction | None = None,
) -> Answer:
    """Cheapest machines that hold a load, with their bills and the probability that they do.

        oltpsim.plan(box, 30_000, p95="50 ms", data_size="200 GiB", candidates=["m7i.*"])

    `target_per_min`: new orders per minute; without it what does most for its cost. `p95`, `p99`: "50 ms", or
    "payment=20 ms", or several. `active`: share of the data in use, "25%". `growth` by the month, over `months`.
    `budget`: most that `years` may cost, with `spares` machines that stand by. `sure`: least probability of holding the
    target. `candidates`: names of instances, machines or chassis, * for anything; all that have a price if empty.
    `pool`: shares of memory for the buffer pool. `confirm`: how many of the best the kernel simulates, 0 for none,
    which takes a second. A description's table of what it assumes stands before the answer. `model`, `seed`,
    `workers`, `progress`: as in `run`. Raises InputError.
    """
    for name, listed in (("candidates", candidates), ("prices", prices), ("pool", pool)):
        if isinstance(listed, str):
            raise InputError(f"plan: {name}: got {listed!r}; give a list of {'shares' if name == 'pool' else 'names'}")
    spares, confirm = whole("spares", spares, 0, 100), whole("confirm", confirm, 0, options.MOST_CONFIRMED)
    connections, (seed, _, workers) = whole("connections", connections, 1, 100_000), counts(seed, 1, workers)
    months, years = number("months", months, 0.0, 600.0), number("years", years, 0.1, 20.0)
    budget = None if budget is None else number("budget", budget, 0.01)
    target_per_min = None if target_per_min is None else number("target_per_min", target_per_min, 0.01)
    calibration, base = None if model is None else calibration_of(model), with_engine(scenario, None, "plan")
    display = FunctionDisplay(progress)
    assumed = modelling.assumed_of(modelling.ModelledScenario(base.spec, calibration, description_of(base)), display)
    left = planning.ParameterUncertainty.after(base.spec, calibration)
    objectives = [
        planning.parse_objective(each, share, name, base.spec.workload.classes)
        for name, share, given in (("p95", 0.95, p95), ("p99", 0.99, p99))
        for each in ([given] if isinstance(given, str) else given or ())
    ]
    question = planning.plan_question(
        left.calibrated(base.spec),
        target_per_min,
        data_size,
        planning.parse_share(growth, "growth", may_be_0=True),
        months,
        connections,
        None if active is None else planning.parse_share(active, "active"),
        tuple(objectives),
    )
    question = replace(
        question,
        budget=budget,
        years=years,
        spares=spares,
        sure=planning.parse_share(sure, "sure"),
        pool_shares=tuple(planning.parse_share(each, "pool") for each in pool),
    )
    lists = catalogue.Prices(tuple(catalogue.price_list(each) for each in prices))
    stock = planning.candidate_stock(question, lists, candidates)
    found = planning.make_plan(stock, lists, left, planning.current_date(), display.advance)

    def simulate(simulations: planning.Simulations) -> bool:
        simulations.runner.run(workers, display)
        return False

    with running.Store(None) as store:
        found, _ = planning.confirmed_plan(found, confirm, seed, store, simulate)
    drawn = plan_page.cost_and_rate(found)
    return Answer(
        f"{assumed.text}\n" * bool(assumed.text) + show_plan.plan_table(found, WIDTH),
        show_plan.plan_json(found),
        show_plan.plan_csv(found),
        () if drawn is None else (drawn,),
    )


def read_runs(*places: str | Path, base: Scenario | None = None) -> Runs:
    """Records of measured runs: files, folders or names of those that come with the program.

    `base`: the scenario of what the records don't say. Harness output becomes records by `oltpsim import`. Raises
    InputError.
    """
    if not places:
        raise InputError("read_runs: got no file, folder or name; give one or more")
    spec = None if base is None else with_engine(base, None, "read_runs").spec
    records, scenarios = measuring.read_runs([str(place) for place in places], spec)
    names = "\n".join(record.name for record in records)
    return Runs(names, run_record.records_json(records), run_record.records_csv(records), (), tuple(records), scenarios)


def calibrate(
    runs: Runs,
    *,
    vary: Sequence[str] = (),
    mapping: str | Path | None = None,
    confirm: int = 3,
    seed: int = 1,
    progress: ProgressFunction | None = None,
) -> Model:
    """Fit a scenario to measured runs, which `read_runs(..., base=...)` gives.

    `vary`: numbers to fit, "KEY=LOW..HIGH"; path lengths, device times and memory if empty. `mapping`: a mapping file
    for what records have no key for. `confirm`: runs that the kernel simulates to correct the fit. `seed`, `progress`:
    as in `run`. Raises InputError.

        runs = oltpsim.read_runs("runs/", base=oltpsim.load("postgresql-15"))
        model = oltpsim.calibrate(runs, vary=["database.path.transaction_us=500..3000"])
    """
    if not runs.records:
        raise InputError("calibrate: got no run; read_runs(..., base=...) gives them")
    seed, confirm = whole("seed", seed, 0, options.MOST_SEED), whole("confirm", confirm, 0, options.MOST_REPLICATIONS)
    bases = list(runs.scenarios.values())
    varied, fixed = fit.parameters_to_fit(bases, None, vary)
    file = None if mapping is None else fit.read_mapping_file(Path(mapping), runs.records)
    task = fit.FitTask(
        runs=tuple(fit.measured_runs(runs.records, dict(runs.scenarios), fixed, file)),
        parameters=varied,
        seed=seed,
        confirm=confirm,
        bootstrap=0,
        code=run_records.fit_program(),
    )
    found = fit.run_fit(
        task, fit.StepJournal(None, task.digest), progress or fit.no_report, None, running.simulate_by_kernel
    )
    return _model(fit.calibration_of(found, bases[0]), "a model of this process")


def read_model(place: str | Path = "published") -> Model:
    """A model that `calibrate` or `oltpsim calibrate --save` has written, or one of the program's by name.

    Raises InputError.
    """
    return _model(fit.read_calibration(fit.calibration_path(Path(place))), str(place))


def _model(calibration: fit.Calibration, place: str) -> Model:
    rows = ["parameter,value,low,high,identified"]
    for each in calibration.parameters:
        ends = [] if each.low is None or each.high is None else [repr(each.low), repr(each.high)]
        rows.append(",".join([f'"{each.key}"', repr(each.value), *(ends or ["", ""]), str(each.identified)]))
    text = "\n".join(show_calibration.calibration_lines(calibration))
    return Model(text, fit.calibration_json(calibration), "\n".join(rows) + "\n", (), calibration, place)


def predict(model: Model, scenarios: Sequence[Scenario]) -> Predictions:
    """New orders per minute of scenarios by a calibrated model, with intervals and the distance from its runs.

        oltpsim.predict(oltpsim.read_model("published"), [box]).to_frame()

    Raises InputError if a scenario can't be run.
    """
    several = scenarios_in(scenarios, "predict")
    if not several:
        raise InputError("predict: got no scenario; give one or more")
    calibration = calibration_of(model)
    found = [
        modelling.predicted(calibration, scenario_files.AskedScenario(spec_with(each), description_of(each)))
        for each in several
    ]
    certificate = show_prediction.certificate_line(calibration, Path(model.place))
    answer = show_prediction.prediction_answer(calibration, found, certificate)
    return Predictions(
        sections.sections_text(answer, WIDTH),
        sections.sections_json(answer),
        sections.sections_csv(answer),
        (),
        tuple(each.rate.value for each in found),
        tuple(each.rate.low for each in found),
        tuple(each.rate.high for each in found),
    )
