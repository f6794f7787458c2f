"""Predictions of a calibration for people, for programs and for tables."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from oltpsim.calibration.fit import ANSWERS, Calibration, answers_version, rate_changes, scenario_hash
from oltpsim.calibration.predict import CALIBRATED, MISSED, ONE_RUN, Predicted
from oltpsim.models.input import document_text
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.scenarios.show.numbers import between, count, plural, share
from oltpsim.scenarios.show.table import NATURAL, csv_text, flow
from oltpsim.scenarios.show.words import configuration_line, figure_columns, figure_words, unit_of

FORMAT = "oltpsim-prediction-1"
SAME_RATE = 1e-5
"""relative change of a rate up to which it counts as the same: less than any answer's digits show, more than another
path of the formulas' searches has moved a rate (0.0000024 in the published machines, when one became finer)"""
LEAST_SHOWN = 0.001
"""standard deviation of what no run had, below which it isn't printed"""


def certificate_line(calibration: Calibration, path: Path) -> str:
    """One line: what the model's certificate says, or that it has none and how to get one.

    What has changed since is in it: of the runs' steady rates by the analytic engine, jobs' figures too, how many have
    moved and the farthest; of the kernel only whether its rates of some scenarios are others.
    """
    found = calibration.certificate
    if found is None:
        return f"not validated: oltpsim validate {path} RUN... --save {path}"
    return "; ".join([found.line, *_changes_since(calibration, found.versions.get(ANSWERS))])


def _changes_since(calibration: Calibration, answers: str | None) -> Iterator[str]:
    files = library_files()
    names = [run.name for run in calibration.runs if run.name in files]
    changes = rate_changes(calibration, {name: load_scenario_file(files[name], jobs=True) for name in names})
    moved = {name: abs(change) for name, change in changes.items() if change is not None and abs(change) > SAME_RATE}
    unknown = sum(change is None for change in changes.values())
    if moved:
        farthest = max(moved, key=lambda name: moved[name])
        runs = f"{len(moved)} of {plural(len(changes), 'run')}"
        yield f"since the fit the rates of {runs} have moved, by up to {share(moved[farthest])} ({farthest})"
    if unknown:
        yield f"whether rates have moved since isn't known of {unknown} of {plural(len(changes), 'run')}"
    if answers != answers_version(calibration):
        yield "by a version of this program whose kernel gave other rates"


def prediction_table(
    calibration: Calibration, answers: Sequence[Predicted], certificate: str, changed: Sequence[str]
) -> str:
    """A block for each scenario, then the model. `changed`: what --set has changed of all scenarios."""
    lines = [line for answer in answers for line in (*_block(answer, changed), "")]
    runs = plural(len(calibration.runs), "run")
    lines += [
        f"model: {calibration.base.name}, fitted to {runs}, fit {calibration.task_hash}, seed {calibration.seed}",
        certificate,
    ]
    return "\n".join(lines) + "\n"


def _block(answer: Predicted, changed: Sequence[str]) -> list[str]:
    interval = f"[{between(*answer.rate.interval)}]"
    sds = _sds(answer)
    parts = (
        f"parameters {share(sds['parameters_sd'])}, run to run {share(sds['run_to_run_sd'])}, "
        f"what the model misses {share(sds['discrepancy_sd'])}"
    )
    if sds["guessed_sd"] > LEAST_SHOWN:
        parts += f", parts that no run had {share(sds['guessed_sd'])}"
    rate = f"{count(answer.rate.value)}  {interval}  {answer.rate.confidence:.0%} interval, {answer.model.role}"
    title = ", ".join([answer.scenario.name, *changed])
    lines = [title, f"  {configuration_line(answer.scenario)}"]
    lines += [
        *flow(unit_of(answer.scenario.workload.main_class), [rate], NATURAL),
        *flow("standard deviations", [parts], NATURAL),
    ]
    if answer.figures:
        lines += flow(f"{answer.rate.confidence:.0%} intervals", figure_words(answer.figures), NATURAL)
    for doubt in answer.doubts:
        lines += flow("in doubt", [doubt], NATURAL)
    for words in answer.model.outside:
        lines += flow("beyond the runs", [words], NATURAL)
    if answer.model.not_applied:
        keys = ", ".join(answer.model.not_applied)
        why = f"{keys}: the scenario's own value isn't the base's, the runs haven't seen it"
        lines += flow("not applied", [why], NATURAL)
    return lines


def prediction_json(
    calibration: Calibration, answers: Sequence[Predicted], certificate: str, changed: Sequence[str]
) -> str:
    """Model and predictions, with the whole certificate."""
    found = calibration.certificate
    content = {
        "set": [*changed],
        "model": {
            "base": calibration.base.name,
            "task_hash": calibration.task_hash,
            "seed": calibration.seed,
            "versions": calibration.versions,
            "validated": certificate,
        },
        "certificate": None if found is None else found.model_dump(mode="json"),
        "predictions": [
            _row(answer)
            | {
                "scenario_hash": scenario_hash(answer.scenario),
                "outside": answer.model.outside,
                "not_applied": answer.model.not_applied,
                "doubts": answer.doubts,
                "figures": [figure.to_json() for figure in answer.figures],
            }
            for answer in answers
        ],
    }
    return document_text(FORMAT, content)


def prediction_csv(answers: Sequence[Predicted], certificate: str) -> str:
    """One row for each scenario, with the columns of all."""
    rows: list[dict[str, object]] = [
        _row(answer)
        | {
            "outside": "; ".join(answer.model.outside),
            "not_applied": " ".join(answer.model.not_applied),
            "doubts": "; ".join(answer.doubts),
            "certificate": certificate,
        }
        | figure_columns(answer.figures)
        for answer in answers
    ]
    return csv_text(dict.fromkeys(column for row in rows for column in row), rows)


def _row(answer: Predicted) -> dict[str, object]:
    return {
        "scenario": answer.scenario.name,
        "role": answer.model.role,
        answer.scenario.workload.rate_key: answer.rate.value,
        "low": answer.rate.low,
        "high": answer.rate.high,
        "confidence": answer.rate.confidence,
        **_sds(answer),
    }


def _sds(answer: Predicted) -> dict[str, float]:
    """Standard deviations of the rate's logarithm, by what it is uncertain by."""
    names = {"parameters_sd": CALIBRATED, "run_to_run_sd": ONE_RUN, "discrepancy_sd": MISSED}
    guessed = (each.sd for each in answer.rate.components if each.what not in names.values())
    return {name: answer.rate.sd_of(what) for name, what in names.items()} | {"guessed_sd": math.hypot(*guessed)}
