"""Predictions of a calibration as sections, and what the certificate of a model is worth today."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from oltpsim.calibration.fit import ANSWERS, Calibration, answers_version, rate_changes, scenario_hash
from oltpsim.calibration.predict import CALIBRATED, MISSED, ONE_RUN, Predicted
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.scenarios.questions.sections import AnswerColumn, AnswerTable, Sections
from oltpsim.scenarios.show.numbers import between, count, plural, share
from oltpsim.scenarios.show.words import configuration_line, figure_words, unit_of

GUESSED = "what no run had"
SAME_RATE = 1e-5
"""relative change of a rate up to which it counts as the same: less than any answer's digits show, more than another
path of the formulas' searches has moved a rate (0.0000024 in the published machines, when one became finer)"""


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


def prediction_answer(calibration: Calibration, answers: Sequence[Predicted], certificate: str) -> Sections:
    """Predictions of scenarios by a model, then the model with its whole certificate."""
    found = calibration.certificate
    runs = plural(len(calibration.runs), "run")
    model = f"{calibration.base.name}, fitted to {runs}, fit {calibration.task_hash}, seed {calibration.seed}"
    return Sections(
        question="predict",
        headline=[line for each in answers for line in _headline(each)],
        facts={
            "model": {
                "base": calibration.base.name,
                "task_hash": calibration.task_hash,
                "seed": calibration.seed,
                "versions": calibration.versions,
                "validated": certificate,
            },
            "certificate": None if found is None else found.model_dump(mode="json"),
        },
        tables=(AnswerTable("predictions", COLUMNS, [_row(each) for each in answers]),),
        remarks=[
            *((f"{each.scenario.name}, {term}", words) for each in answers for term, words in _remarks(each)),
            ("model", model),
            ("certificate", certificate),
        ],
    )


COLUMNS = (
    AnswerColumn("scenario", "scenario"),
    AnswerColumn("machine"),
    AnswerColumn("role"),
    AnswerColumn("rate_per_min"),
    *(AnswerColumn("", what, share) for what in (CALIBRATED, ONE_RUN, MISSED, GUESSED)),
    *map(AnswerColumn, ("unit", "figures", "outside", "not_applied", "doubts", "scenario_hash")),
)


def _row(answer: Predicted) -> tuple[object, ...]:
    rate = answer.rate
    guessed = math.hypot(*(each.sd for each in rate.components if each.what not in (CALIBRATED, ONE_RUN, MISSED)))
    return (
        answer.scenario.name,
        configuration_line(answer.scenario),
        answer.model.role,
        rate,
        *(rate.sd_of(what) for what in (CALIBRATED, ONE_RUN, MISSED)),
        guessed,
        unit_of(answer.scenario.workload.main_class),
        {f"{each.name}_{each.unit}": each.value if each.reason else each.figure for each in answer.figures},
        answer.model.outside,
        answer.model.not_applied,
        answer.doubts,
        scenario_hash(answer.scenario),
    )


def _headline(answer: Predicted) -> tuple[str, str]:
    """The scenario's rate with its interval, then the machine."""
    rate = answer.rate
    ends = f"[{between(*rate.interval)}]  {rate.confidence:.0%} interval, {answer.model.role}"
    figure = f"{count(rate.value)} {unit_of(answer.scenario.workload.main_class)}  {ends}"
    return f"{answer.scenario.name}: {figure}", f"  {configuration_line(answer.scenario)}"


def _remarks(answer: Predicted) -> Iterator[tuple[str, str]]:
    if answer.figures:
        yield f"{answer.rate.confidence:.0%} intervals", "   ".join(figure_words(answer.figures))
    yield from (("in doubt", doubt) for doubt in answer.doubts)
    yield from (("beyond the runs", words) for words in answer.model.outside)
    if answer.model.not_applied:
        keys = ", ".join(answer.model.not_applied)
        yield "not applied", f"{keys}: the scenario's own value isn't the base's, the runs haven't seen it"
