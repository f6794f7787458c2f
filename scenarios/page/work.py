"""What background jobs do, in processes of their own; each writes its answer whole, or nothing."""

from collections.abc import Sequence
from pathlib import Path

from oltpsim.calibration.fit import (
    Calibration,
    FitTask,
    StepJournal,
    calibration_of,
    measured_runs,
    parameters_to_fit,
    run_fit,
    write_calibration,
)
from oltpsim.calibration.importers import find_runs
from oltpsim.calibration.judge import refits_digest, runs_to_judge, validate_calibration
from oltpsim.calibration.records import RunRecord, check_record, fit_program, load_record, merge_readings, save_records
from oltpsim.models.catalogue import Prices, price_list
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.page.drawing import Drawing, Exhibit, drawing_of, write_exhibit
from oltpsim.scenarios.page.jobs import report_share
from oltpsim.scenarios.page.model import ModelFile, calibration_in, modelled_question
from oltpsim.scenarios.page.question import PageQuestion
from oltpsim.scenarios.questions.plan import (
    ParameterUncertainty,
    candidate_stock,
    current_date,
    make_plan,
    parse_objective,
    plan_question,
)
from oltpsim.scenarios.run import SavedRun, SimulationTask, simulate, simulate_by_kernel, write_saved_run
from oltpsim.scenarios.show.calibration import calibration_lines
from oltpsim.scenarios.show.plan import plan_table
from oltpsim.scenarios.show.plan_page import cost_and_rate, rejected, short_list, write_plan_page
from oltpsim.scenarios.show.run_record import file_lines, record_lines
from oltpsim.scenarios.show.validation import validation_lines
from oltpsim.scenarios.show.validation_page import agreement_chart, residuals_chart
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import Progress

SEED, CONNECTIONS, CONFIRMED_RUNS = 1, 100, 3
LISTS = ("aws-us-east-1", "us-2024")
FITTED_SHARE = 0.6
"""of the work of a calibration, before its certificate"""
WIDTH = 100
"""letters of a table"""
RECORD_SUFFIXES = (".yaml", ".yml")


def confirm(question: PageQuestion, model: ModelFile | None, path: Path) -> None:
    """Simulate a question by the kernel, with a model's values if there is one; write the run. Raises InputError."""

    def tell(progress: Progress) -> None:
        report_share(progress.simulated_s / progress.end_s)

    scenario = modelled_question(question, model, "kernel").machine
    result = simulate(SimulationTask(scenario, SEED), tell)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_saved_run(path, SavedRun(scenario, result))


def find_machines(
    question: PageQuestion,
    model: ModelFile | None,
    target_per_min: float | None,
    p95: str,
    data_size: str,
    path: Path,
) -> None:
    """Plan for the load of a question; writes what is shown, and beside it the plan's own page. Raises InputError."""
    scenario = question.scenario("analytic").scenario
    left = ParameterUncertainty.after(scenario, None if model is None else calibration_in(model))
    objectives = (parse_objective(p95, 0.95, "p95", scenario.workload.classes),) if p95 else ()
    asked = plan_question(
        left.calibrated(scenario), target_per_min, data_size or None, 0.0, 0.0, CONNECTIONS, None, objectives
    )
    lists = Prices(tuple(price_list(each) for each in LISTS))
    found = make_plan(
        candidate_stock(asked, lists, ()), lists, left, current_date(), lambda share, _words: report_share(share)
    )
    words = [f"--target {target_per_min:g}"] if target_per_min is not None else []
    words += [f"--p95 '{p95}'"] if p95 else []
    words += [f"--data-size '{data_size}'"] if data_size else []
    words += [f"--model {model.name}"] if model is not None else []
    words += [f"--set {each}" for each in question.settings]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_plan_page(found, path.with_suffix(".html"), " ".join([f"oltpsim plan '{question.machine}'", *words]))
    charts = [cost_and_rate(found), short_list(found), rejected(found)]
    drawings = tuple(drawing_of(each) for each in charts if each is not None)
    write_exhibit(path, Exhibit("Machines for the load", plan_table(found, WIDTH), drawings))


def recognise(upload: Path) -> None:
    """Read the runs of an upload: writes their records, and what each file was taken for. Raises InputError."""
    folder = upload / "run"
    files = sorted(each for each in folder.rglob("*") if each.is_file())
    lines: list[str] = []
    records: list[RunRecord] = []
    if all(each.suffix in RECORD_SUFFIXES for each in files):
        records = [load_record(each) for each in files]
        lines = [line for record in records for line in [*record_lines(record), ""]]
    else:
        for each in find_runs(sorted(folder.iterdir())):
            record = merge_readings(each.name, each.readings).record
            title, *others = record_lines(record)
            lines += [title, *file_lines(each), *others, ""]
            records.append(record)
    if not records:
        raise InputError("upload: holds no run that is recognised; see 'oltpsim import --help' for what is")
    broken = [
        f"{each.name}: {law.law}: {law.text}" for each in records for law in check_record(each) if law.holds is False
    ]
    lines += [f"breaks a law: {each}; correct the record, or leave the run out" for each in broken]
    (upload / "records").mkdir(exist_ok=True)
    save_records(records, upload / "records")
    write_exhibit(upload / "recognised.json", Exhibit("What was recognised", "\n".join(lines)))


def calibrate_runs(upload: Path, question: PageQuestion, path: Path) -> None:
    """Fit a question's scenario to the runs of an upload; writes the model with its certificate. Raises InputError."""
    records = [load_record(each) for each in sorted((upload / "records").iterdir())]
    scenario = question.scenario("kernel").scenario
    bases = {each.name: scenario for each in records}
    varied, fixed = parameters_to_fit([scenario], None, ())
    task = FitTask(
        runs=tuple(measured_runs(records, bases, fixed, None)),
        parameters=varied,
        seed=SEED,
        confirm=CONFIRMED_RUNS,
        bootstrap=0,
        code=fit_program(),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = StepJournal(path.with_suffix(".state"), task.digest)
    farthest = 0.0

    def tell(share: float, _words: str) -> None:
        nonlocal farthest  # each round of corrections begins anew, which says nothing of the whole
        farthest = max(farthest, share)
        report_share(FITTED_SHARE * farthest)

    found = run_fit(task, kept, tell, None, simulate_by_kernel)
    calibration = calibration_of(found, scenario)
    lines = calibration_lines(calibration)
    judged, charts = _judged(calibration, records, bases)
    write_calibration(path.with_suffix(".model.json"), judged)
    if judged.certificate is not None:
        lines += ["", *validation_lines(calibration, judged.certificate)]
    title = f"{scenario.name}, calibrated by {', '.join(each.name for each in records)[:120]}"
    write_exhibit(path, Exhibit(title, "\n".join(lines), charts))
    kept.close()


def _judged(
    calibration: Calibration, records: Sequence[RunRecord], bases: dict[str, ScenarioSpec]
) -> tuple[Calibration, tuple[Drawing, ...]]:
    """The calibration with a certificate by its own runs, and the charts of that; without one where it has no rate."""
    journal = StepJournal(None, refits_digest(calibration, runs_to_judge(calibration, records, bases, None), False))
    try:
        found = validate_calibration(
            calibration,
            records,
            bases,
            None,
            journal,
            lambda share, _words: report_share(FITTED_SHARE + (1.0 - FITTED_SHARE) * share),
            simulate_model=simulate_by_kernel,
        )
    except InputError:
        return calibration, ()
    drawings = (drawing_of(agreement_chart(found)), drawing_of(residuals_chart(found)))
    return calibration.model_copy(update={"certificate": found}), drawings
