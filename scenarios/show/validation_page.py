"""A validation as a page, and its charts: model against measured, residuals, baselines, gaps."""

import math
from collections.abc import Sequence
from pathlib import Path

from oltpsim.calibration.fit import Calibration, Certificate, Gap, JudgedRate
from oltpsim.models.input import write_whole
from oltpsim.scenarios.show import validation
from oltpsim.scenarios.show.chart import (
    BarSeries,
    Chart,
    Curve,
    Mark,
    Points,
    Scale,
    row_labels,
    row_scale,
    rows_px,
    ticks,
)
from oltpsim.scenarios.show.numbers import amount, share_tick, signed_share
from oltpsim.scenarios.show.page import html_page
from oltpsim.scenarios.show.palette import BLUE, GREEN, GREY, ORANGE, PINK, SKY, VERMILION
from oltpsim.simulator.analytic import CPU_PART, DEVICE_PART, MISSES_PART, READS_PART, WRITES_PART

MODEL = "the model"
REFITTED = {"run": "the model, refitted without the run", "machine": "the model, refitted without the run's machine"}
NOT_TOLD = "not told"
PART_COLOURS = {
    MISSES_PART: GREEN,
    READS_PART: SKY,
    WRITES_PART: ORANGE,
    CPU_PART: BLUE,
    DEVICE_PART: PINK,
    NOT_TOLD: GREY,
}
MARGIN = 1.12
MOST_LOG = 1.0
"""of measured to model; errors beyond are drawn at the edge"""
LINEAR_BELOW = 0.7
MANY_ROWS = 20
DENSE_PX = 17
"""height of a row that has its name at its left, where there are too many for a name above"""


def write_validation_page(path: Path, calibration: Calibration, found: Certificate, command: str) -> None:
    """Write the page whole or not at all. Raises InputError if the place can't be written."""
    write_whole(path, validation_page(calibration, found, command))


def validation_page(calibration: Calibration, found: Certificate, command: str) -> str:
    """The page: headline, runs, pictures, refits against baselines, coverage, range, how to reproduce."""
    charts = {
        "agreement": agreement_chart(found),
        "residuals": residuals_chart(found),
        "baselines": baselines(found),
        "gaps": gaps(found.gaps),
    }
    content = {
        "name": calibration.base.name,
        "found": found,
        "left": found.left_out_by("run"),
        "groups": [each for each in found.left_out if each.kind != "run"],
        "kinds": validation.NAMES,
        "coverage": validation.coverage_words(found),
        "baselines": [(each, validation.baseline_words(each)) for each in found.baselines],
        "limited_by": validation.limited_by,
        "change": lambda log: signed_share(math.expm1(log)),
        "pictures": charts,
        "command": command,
        "seed": calibration.seed,
    }
    return html_page("validation.html.j2", charts.values(), content)


def agreement_chart(found: Certificate, without: str = "run", unit: str = "new orders per minute") -> Chart:
    """Model over measured, and the model refitted without the run or its machine."""
    left = found.left_out_by(without).rows
    every: Sequence[JudgedRate] = (*found.runs, *left)
    low = min(min(each.measured, each.low) for each in every) / MARGIN
    high = max(max(each.measured, each.high) for each in every) * MARGIN
    refitted = f"{REFITTED[without]}, with its interval"
    marks: list[Mark] = [Curve(x=[low, high], y=[low, high], colour=GREY, dash="dash", width=1.5, label="as measured")]
    if left:
        marks.append(_points(left, "diamond", VERMILION, refitted, whiskers=True))
    marks.append(_points(found.runs, "circle-open", BLUE, f"{MODEL}, {unit}", whiskers=not left))
    runs = "; ".join(
        f"{each.name}: measured {amount(each.measured)}, model {amount(each.model)}" for each in found.runs
    )
    return Chart(
        key="agreement",
        title="Model against measured",
        alternative=f"Model against measured. {runs}.",
        marks=marks,
        x=Scale(low=low, high=high, log=True, title=f"measured, {unit}"),
        y=Scale(low=low, high=high, log=True),
        height_px=380,
        caption="Both scales are logarithmic: equal distances are equal factors.",
    )


def _points(rows: Sequence[JudgedRate], symbol: str, colour: str, name: str, *, whiskers: bool) -> Points:
    return Points(
        x=[each.measured for each in rows],
        y=[each.model for each in rows],
        symbol=symbol,
        colour=colour,
        label=name,
        low=[each.low for each in rows] if whiskers else None,
        high=[each.high for each in rows] if whiskers else None,
        hover=[f"{each.name}: {name} {amount(each.model)}" for each in rows],
    )


def residuals_chart(found: Certificate, without: str = "run", *, dense: bool = False) -> Chart:
    """Errors of the runs with their intervals, relative to what was measured; `dense`: names at the left of rows."""
    left: dict[str, JudgedRate] = {each.name: each for each in found.left_out_by(without).rows}
    labels, ends = [], [0.0]
    for run in found.runs:
        shown = left.get(run.name, run)
        ends += [shown.low / shown.measured - 1.0, shown.high / shown.measured - 1.0, run.error]
        labels.append((run.name, f"{signed_share(shown.error)}, {'inside' if shown.inside else 'OUTSIDE'}"))
    rows = {run.name: -float(number) for number, run in enumerate(found.runs)}
    y = row_scale(len(rows))
    if dense:
        names = {place: name.rpartition("/")[2] for name, place in rows.items()}
        y = Scale(low=0.3 - len(rows), high=0.7, ticks=names)
    marks: list[Mark] = [] if dense else row_labels(labels)
    if left:
        shift = 0.16 if dense else 0.0
        refitted = {name: place - shift for name, place in rows.items()}
        words = f"{REFITTED[without]}, with its interval"
        marks.append(_errors([*left.values()], refitted, "diamond", VERMILION, words, whiskers=True))
        rows = {name: place + shift for name, place in rows.items()}
    marks.append(_errors(found.runs, rows, "circle-open", BLUE, MODEL, whiskers=dense or not left))
    edge = " Those beyond are drawn at the edge." if math.log1p(max(ends)) > MOST_LOG else ""
    return Chart(
        key="residuals",
        title="Errors with their intervals",
        alternative=f"Errors. {'; '.join(f'{name} {value}' for name, value in labels)}.",
        marks=marks,
        x=_error_scale(min(ends), max(ends)),
        y=y,
        height_px=DENSE_PX * len(rows) + 44 if dense else rows_px(len(rows)),
        caption=f"Errors are model / measured - 1, logarithmic. An interval over 0 holds what was measured.{edge}",
    )


def _errors(
    shown: Sequence[JudgedRate], rows: dict[str, float], symbol: str, colour: str, name: str, *, whiskers: bool
) -> Points:
    """Errors in the rows of their runs."""
    known = [each for each in shown if each.name in rows]
    return Points(
        x=_logs(*(each.error for each in known)),
        y=[rows[each.name] for each in known],
        symbol=symbol,
        colour=colour,
        label=name,
        size=8 if len(rows) > MANY_ROWS else 11,
        upright=False,
        low=_logs(*(each.low / each.measured - 1.0 for each in known)) if whiskers else None,
        high=_logs(*(each.high / each.measured - 1.0 for each in known)) if whiskers else None,
        hover=[f"{each.name}: {name.partition(', with')[0]} {signed_share(each.error)}" for each in known],
    )


def baselines(found: Certificate) -> Chart | None:
    """Errors of the model and of the baselines on left-out runs; None if nothing was left out."""
    left = found.left_out_by("run")
    if left.errors is None:
        return None
    shown = [(REFITTED["run"], [(row.name, row.error) for row in left.rows], left.errors.median)]
    for each in found.baselines:
        if each.errors is not None:
            rows = [(row.name, row.error) for row in each.rows if row.error is not None]
            shown.append((each.name, rows, each.errors.median))
    labels = [(name, f"median {middle:.1%} of {len(errors)}") for name, errors, middle in shown]
    marks = [
        Points(
            x=_logs(*(error for _, error in errors)),
            y=[-float(number)] * len(errors),
            symbol="circle" if number else "diamond",
            colour=GREY if number else VERMILION,
            hover=[f"{name}: {run} {signed_share(error)}" for run, error in errors],
        )
        for number, (name, errors, _) in enumerate(shown)
    ]
    every = [0.0, *(error for _, errors, _ in shown for _, error in errors)]
    return Chart(
        key="baselines",
        title="Errors of left-out runs beside baselines",
        alternative=f"Errors of left-out runs. {'; '.join(f'{name}: {value}' for name, value in labels)}.",
        marks=[*row_labels(labels), *marks],
        x=_error_scale(min(every), max(every)),
        y=row_scale(len(labels)),
        height_px=rows_px(len(labels)),
        caption="One mark is one run, predicted from the others. Baselines that no run allows are listed below.",
    )


def gaps(found: Sequence[Gap]) -> Chart | None:
    """Parts of each gap as a stacked bar, those that make the model too slow to the left; None if there are none."""
    if not found:
        return None
    parts = [{part.name: part.log for part in gap.parts} | {NOT_TOLD: gap.not_told_log} for gap in found]
    labels = [(gap.name, signed_share(math.expm1(gap.log))) for gap in found]
    marks: list[Mark] = [
        BarSeries(
            places=[-float(number) for number in range(len(found))],
            values=[logs.get(name, 0.0) for logs in parts],
            colour=colour,
            label=name,
            hover=[
                f"{gap.name}: {name} {validation.change(logs.get(name, 0.0))}"
                for gap, logs in zip(found, parts, strict=True)
            ],
        )
        for name, colour in PART_COLOURS.items()
        if any(name in logs for logs in parts)
    ]
    sums = [sum(log for log in logs.values() if log * sign > 0) for logs in parts for sign in (1, -1)]
    return Chart(
        key="gaps",
        title="Where a gap comes from",
        alternative=f"Gaps. {'; '.join(f'{name} {value}' for name, value in labels)}.",
        marks=[*row_labels(labels), *marks],
        x=_error_scale(math.expm1(min([0.0, *sums])), math.expm1(max([0.0, *sums]))),
        y=row_scale(len(labels)),
        height_px=rows_px(len(labels)),
        caption="Parts to the left make the model slower than what was measured, to the right faster.",
    )


def _logs(*errors: float) -> list[float]:
    """Places of relative errors: logarithms, so that twice and half are as far from nothing; the rest at the edge."""
    return [min(max(math.log1p(max(error, -0.99)), -MOST_LOG), MOST_LOG) for error in errors]


def _error_scale(low: float, high: float) -> Scale:
    """Relative errors at their logarithms, with ticks at round errors."""
    room = 0.06 * max(high - low, 0.02)
    begin, end = _logs(low - room, high + room)
    low, high = math.expm1(begin), math.expm1(end)
    marks = ticks(low, high) if end - begin < LINEAR_BELOW else [at - 1.0 for at in ticks(1 + low, 1 + high, log=True)]
    labels = dict(zip(_logs(*marks), map(share_tick, marks), strict=True))
    edge = 0.02 * MOST_LOG
    return Scale(low=begin - edge, high=end + edge, ticks=labels, zero=True)
