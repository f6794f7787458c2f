"""Fit the published machines together, judge the model, and write it with docs/evidence/published.md's part about them.

What is written here is the model that comes with the program, calibration/published/model.json. Fits and refits that
are done are kept in out/published, for the same code.

python docs/build_published.py              fit, write the model, judge it (53 refits), write it with its certificate
python docs/build_published.py --fit        fit, write the model without a certificate; the page says so
python docs/build_published.py --kept-back  predict the rows that are in no fit, each without its machine (6 refits)
python docs/build_published.py --draw       write the page again from the model, but for those rows
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from dataclasses import replace
from math import sqrt
from pathlib import Path

from docs.build import replaced
from oltpsim.calibration.fit import (
    NEW_ORDERS,
    Calibration,
    Certificate,
    FigureKind,
    FitTask,
    JudgedRate,
    JudgedRun,
    MeasuredRun,
    StepJournal,
    calibration_of,
    judged_rate,
    measured_runs,
    parameters_to_fit,
    read_calibration,
    run_fit,
    write_calibration,
)
from oltpsim.calibration.judge import (
    Refits,
    machine_of,
    rates_without_machine,
    refits_digest,
    runs_to_judge,
    validate_calibration,
)
from oltpsim.calibration.predict import predict_scenario
from oltpsim.calibration.records import fit_program
from oltpsim.calibration.workers import worker_pool
from oltpsim.models.input import read_mapping, write_whole
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.scenarios.questions.measured import read_runs
from oltpsim.scenarios.run import default_workers, simulate_by_kernel
from oltpsim.scenarios.show.chart import Chart
from oltpsim.scenarios.show.numbers import amount
from oltpsim.scenarios.show.picture import picture_svg
from oltpsim.scenarios.show.progress import progress_display
from oltpsim.scenarios.show.validation_page import agreement_chart, residuals_chart

DOCS = Path(__file__).resolve().parent
PAGE, PICTURES = DOCS / "evidence" / "published.md", DOCS / "pictures"
NAME = "published"
FOLDER = DOCS.parent / "calibration" / NAME
STORE = DOCS.parent / "out" / NAME
BEGIN, END = "<!-- begin of {}: python docs/build_published.py -->\n", "<!-- end of {} -->\n"
IN_SIGHT = tuple(
    f"{NAME}/{each}"
    for each in ("smt", "bsbm", "mutex", "box-v20z", "buf", "v20z", "load-sol7", "load-fc4", "cpu-5130", "cpu-amd5900",
                 "cpu-5410-run", "threads-new")
)  # fmt: skip
"""rows with which in sight a catalogue value or a prior was chosen: left out, they say less than they seem to"""
KEPT_BACK = "kept-back"
"""rows that were kept back until 2026-11-22 and are in no fit"""
CONFIRM = 24
"""runs that the kernel simulates, of those that it simulates soon"""


def fitted() -> Calibration:
    """The joint fit of all rows."""
    records, bases = read_runs([NAME], None)
    scenarios = list(bases.values())
    varied, fixed = parameters_to_fit(scenarios, FOLDER / "parameters.yaml", ())
    runs = tuple(measured_runs(records, bases, fixed))
    task = FitTask(runs, varied, starts=1, confirm=CONFIRM, code=fit_program())
    STORE.mkdir(parents=True, exist_ok=True)
    with progress_display(quiet=False) as shown, worker_pool(default_workers()) as executor:
        found = run_fit(
            task, StepJournal(STORE / "fit.state", task.digest), shown.advance, executor, simulate_by_kernel
        )
    return calibration_of(found, scenarios[0])


def judged(calibration: Calibration) -> Certificate:
    """What the fit is worth: each machine, and each scenario, left out in turn."""
    records, bases = read_runs([NAME], None)
    kept = StepJournal(
        STORE / "refits.state", refits_digest(calibration, runs_to_judge(calibration, records, bases, None), near=True)
    )
    with progress_display(quiet=False) as shown, worker_pool(default_workers()) as executor:
        return validate_calibration(
            calibration,
            records,
            bases,
            None,
            kept,
            shown.advance,
            executor,
            near=True,
            simulate_model=simulate_by_kernel,
        )


def fitted_table(calibration: Calibration) -> str:
    """All rows of a model that hasn't been judged: measured, and as the fit has them."""
    lines = ["| row | measured | model | | error | row is |", "| --- | ---: | ---: | --- | ---: | --- |"]
    for run in calibration.runs:
        rate = next(each for each in run.figures if each.kind == FigureKind.RATE)
        cells = [run.name.partition("/")[2], amount(rate.measured), amount(rate.model), ""]
        lines.append("| " + " | ".join([*cells, f"{rate.model / rate.measured - 1.0:+.1%}", run.role]) + " |")
    return "\n".join(lines) + "\n"


def fitted_summary(calibration: Calibration) -> str:
    """What the fit alone says, and that it hasn't been judged."""
    rates = [each for run in calibration.runs for each in run.figures if each.kind == FigureKind.RATE]
    errors = [abs(each.model / each.measured - 1.0) for each in rates]
    told = sum(each.identified for each in calibration.parameters)
    return (
        f"**Not judged since the model has changed**: no machine was left out of this fit of {len(rates)} rows "
        f"by {len(calibration.parameters)} parameters, {told} of them told by the rows, so that nothing here says how "
        f"well it predicts. Fitted rows are {statistics.mean(errors):.1%} off in the mean, "
        f"{statistics.median(errors):.1%} in the median, {max(errors):.1%} at worst.\n"
    )


def table(found: Certificate) -> str:
    """All rows: measured, by the model, and by the model refitted without the row's machine or without the row."""
    machines = {row.name: row for row in found.left_out_by("machine").rows}
    lines = [
        "| row | measured | model | 90 % interval | error | row is | without its machine | interval | error | |",
        "| --- | ---: | ---: | --- | ---: | --- | ---: | --- | ---: | --- |",
    ]
    lines += [_row(row, machines.get(row.name)) for row in found.runs]
    return "\n".join(lines) + "\n"


def _row(row: JudgedRun, left: JudgedRate | None) -> str:
    unit = "" if row.unit == NEW_ORDERS else f" {row.unit}"
    cells = [
        row.name.partition("/")[2],
        amount(row.measured) + unit,
        amount(row.model),
        _ends(row),
        f"{row.error:+.1%}",
    ]
    cells.append(row.role)
    if left is None:
        cells += ["", "", "", ""]
    else:
        cells += [amount(left.model), _ends(left), f"{left.error:+.1%}", "" if left.inside else "outside"]
    return "| " + " | ".join(cells) + " |"


def _ends(row: JudgedRate) -> str:
    return f"{amount(row.low)} .. {amount(row.high)}"


def summary(calibration: Calibration, found: Certificate) -> str:
    """Three numbers: fitted rows, left-out machines, left-out rows; parameters against rows."""
    figures = sum(len(run.figures) for run in calibration.runs)
    told = sum(each.identified for each in calibration.parameters)
    by_role = {role: [abs(row.error) for row in found.runs if row.role == role] for role in ("fitted", "predicted")}
    counted = f"{len(calibration.parameters)} parameters, {told} of them told by the rows, the others near their priors"
    lines = [
        f"{counted}; {len(calibration.runs)} rows with {figures} figures.",
        "",
        "| errors of | rows | mean | median | worst | in their 90 % interval | median half width |",
        "| --- | ---: | ---: | ---: | --- | ---: | ---: |",
    ]
    for role, errors in by_role.items():
        if errors:
            rows = [row for row in found.runs if row.role == role]
            lines.append(_errors(f"{role} rows", rows))
    machines = found.left_out_by("machine").rows
    lines.append(_errors("rows of a machine that was left out", machines))
    unseen = [row for row in machines if not row.name.startswith(IN_SIGHT)]
    lines.append(_errors("of these, rows in whose sight no value or prior was chosen", unseen))
    lines.append(
        _errors("rows that were left out with all that was measured of their scenario", found.left_out_by("run").rows)
    )
    return "\n".join(lines) + "\n"


def _errors(words: str, some: Sequence[JudgedRate]) -> str:
    errors = sorted(abs(row.error) for row in some)
    worst = max(some, key=lambda row: abs(row.error))
    median = (errors[(len(errors) - 1) // 2] + errors[len(errors) // 2]) / 2.0
    inside = sum(row.inside for row in some)
    width = sqrt(statistics.median(row.high / row.low for row in some)) - 1.0
    return (
        f"| {words} | {len(some)} | {sum(errors) / len(errors):.1%} | {median:.1%} | {worst.error:+.1%} "
        f"({worst.name.partition('/')[2]}) | {inside} of {len(some)} | {width:.1%} |"
    )


def predict_kept_back(calibration: Calibration, fitted: tuple[MeasuredRun, ...]) -> list[JudgedRate]:
    """The rows that are in no fit, each by the model without the row's machine, as far as `fitted` has runs of it."""
    unseen = runs_to_judge(calibration, *read_runs([KEPT_BACK], None), None)
    refits = Refits(calibration, fitted, near=True, simulate_model=simulate_by_kernel)
    machines: dict[str, list[MeasuredRun]] = {}
    for run in unseen:
        machines.setdefault(machine_of(run.scenario)[0], []).append(run)
    rows: list[JudgedRate] = []
    with progress_display(quiet=False) as shown, worker_pool(default_workers()) as executor:
        for found in executor.map(rates_without_machine, [refits] * len(machines), machines.values()):
            rows += found
            shown.advance(len(rows) / len(unseen), f"{len(rows)} of {len(unseen)} rows")
    return sorted(rows, key=lambda row: row.name)


def kept_back_section(calibration: Calibration) -> str:
    """Their errors, then all of them, beside what was predicted before they were seen."""
    records, bases = read_runs([KEPT_BACK], None)
    untouched = {
        record.name for record in records if (found := bases[record.name].measured) and found.role == "predicted"
    }
    fitted = tuple(runs_to_judge(calibration, *read_runs([NAME], None), None))
    by_whole_fit, without_machine = predict_kept_back(calibration, ()), predict_kept_back(calibration, fitted)
    figures = read_mapping(FOLDER / "kept_back.yaml")["predicted_blind"]
    blind = [
        judged_rate(row.name, row.measured, tuple(figures[row.name.partition("/")[2]]), row.unit)
        for row in by_whole_fit
    ]
    lines = [f"By the fit `{calibration.task_hash}`:", ""]
    lines += ["| errors | rows | mean | median | worst | in their 90 % interval | median half width |"]
    lines += ["| --- | ---: | ---: | ---: | --- | ---: | ---: |"]
    for words, rows in (
        ("predicted blind, 2026-11-22", blind),
        ("today, by the whole fit", by_whole_fit),
        ("today, without the row's machine", without_machine),
    ):
        lines.append(_errors(words, rows))
        lines.append(_errors("of these, predicted rows", [row for row in rows if row.name in untouched]))
    lines += [
        "",
        "| row | measured | predicted blind | 90 % interval | error | without its machine | 90 % interval | error |",
    ]
    lines += ["| --- | ---: | ---: | --- | ---: | ---: | --- | ---: |"]
    for before, row in zip(blind, without_machine, strict=True):
        unit = "" if row.unit == NEW_ORDERS else f" {row.unit}"
        cells = [
            row.name.partition("/")[2] + ("" if row.name in untouched else " (fitted)"),
            amount(row.measured) + unit,
        ]
        cells += [cell for each in (before, row) for cell in (amount(each.model), _ends(each), f"{each.error:+.1%}")]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


READINGS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("box-fc4-4sata", "1 GB as printed, 57,000 buffers", ("machine.memory_gib=1", "database.pool.buffers=57000")),
    ("box-fc4-4sata", "2 GB as another article says (the row above)", ()),
    ("box-fc4-2sata", "1 GB as printed (the row above)", ()),
    ("box-fc4-2sata", "2 GB, 120,000 buffers", ("machine.memory_gib=2", "database.pool.buffers=120000")),
    ("box-dell", "RAID 5 (the row above)", ()),
    (
        "box-dell",
        "RAID 5 behind a controller's write cache of 64 MiB",
        ("machine.disks.controller_cache={mib: 64, source: 'assumption: controllers of 2000 had 64 to 128 MB'}",),
    ),
    ("box-dell", "RAID 10", ("machine.disks.level=raid10",)),
    ("box-dell", "four independent disks", ("machine.disks.level=independent",)),
    ("box-sol7", "43,000 buffers as printed (the row above)", ()),
    ("box-sol7", "35,000 buffers", ("database.pool.buffers=35000",)),
    ("box-sm7045-40w", "the engine of the other boxes (the row above)", ()),
    ("box-sm7045-40w", "Virtuoso 5.0", ("database=virtuoso-5", "database.pool.buffers=480000")),
)
"""conditions that the articles leave open or contradict themselves in"""


def readings(calibration: Calibration) -> str:
    """What the model says of each reading of the doubtful conditions."""
    lines = ["| row | read as | measured | model | 90 % interval |", "| --- | --- | ---: | ---: | --- |"]
    for name, words, settings in READINGS:
        path = library_files()[f"{NAME}/{name}"]
        said, measured = (
            predict_scenario(calibration, load_scenario_file(path, settings), simulate_by_kernel),
            load_scenario_file(path).measured,
        )
        assert measured is not None
        assert measured.new_orders_per_minute is not None
        ends = f"{amount(said.rate.low)} .. {amount(said.rate.high)}"
        figures = f"{amount(measured.new_orders_per_minute)} | {amount(said.rate.value)} | {ends}"
        lines.append(f"| {name} | {words} | {figures} |")
    return "\n".join(lines) + "\n"


def parameters(calibration: Calibration) -> str:
    """What was fitted, and what the rows tell of it."""
    lines = ["| parameter | before | fitted | 90 % interval |", "| --- | --- | ---: | --- |"]
    for each in calibration.parameters:
        prior = f"{each.prior_value:.3g}" + (
            f" ×/÷ {each.prior_factor:.3g}" if each.prior_factor else f" ± {each.prior_sd:.2g}"
        )
        if each.value is None or each.low is None or each.high is None:
            lines.append(f"| {each.key.replace('|', ' ')} | {prior} | not told | |")
        else:
            lines.append(f"| {each.key} | {prior} | {each.value:.3g} | {each.low:.3g} .. {each.high:.3g} |")
    return "\n".join(lines) + "\n"


def pictures(found: Certificate) -> dict[str, tuple[str, list[Chart]]]:
    """Titles and charts of the pictures by their names."""
    against = agreement_chart(found, "machine", "each row in its own unit")
    errors = residuals_chart(found, "machine", dense=True)
    return {
        "published": (
            "Published rows: the model beside what was measured",
            [replace(against, title="", height_px=520)],
        ),
        "published-residuals": ("Published rows: errors of the model", [replace(errors, title="")]),
    }


def main() -> None:
    """Fit, judge, write."""
    model, chosen = FOLDER / "model.json", sys.argv[1:]
    if chosen == ["--kept-back"]:
        _write_kept_back(read_calibration(model))
        return
    if chosen != ["--draw"]:
        calibration = fitted()
        certificate = judged(calibration) if chosen != ["--fit"] else None
        write_calibration(model, calibration.model_copy(update={"certificate": certificate}))
    calibration = read_calibration(model)
    page, found = PAGE.read_text(encoding="utf-8"), calibration.certificate
    page = replaced(page, BEGIN, END, parameters(calibration), "the published parameters")
    if found is None:
        page = replaced(page, BEGIN, END, fitted_summary(calibration), "the published errors")
        page = replaced(page, BEGIN, END, fitted_table(calibration), "the published rows")
        page = replaced(page, BEGIN, END, "Not predicted since the model has changed.\n", "the rows kept back")
        write_whole(PAGE, page)
        return
    for name, (title, charts) in pictures(found).items():
        write_whole(PICTURES / f"{name}.svg", picture_svg(title, charts))
    page = replaced(page, BEGIN, END, table(found), "the published rows")
    page = replaced(page, BEGIN, END, summary(calibration, found), "the published errors")
    page = replaced(page, BEGIN, END, readings(calibration), "the published readings")
    write_whole(PAGE, page)
    if not chosen:
        _write_kept_back(calibration)


def _write_kept_back(calibration: Calibration) -> None:
    page = PAGE.read_text(encoding="utf-8")
    write_whole(PAGE, replaced(page, BEGIN, END, kept_back_section(calibration), "the rows kept back"))


if __name__ == "__main__":
    main()
