"""A validation for people: each run, errors by regime, what was left out, coverage, baselines, gaps."""

import math
from collections.abc import Sequence

from oltpsim.calibration.fit import (
    NEW_ORDERS,
    Baseline,
    Calibration,
    Certificate,
    Coverage,
    Errors,
    Gap,
    JudgedRate,
    JudgedRun,
    LeaveOut,
    error_summary,
)
from oltpsim.calibration.judge import FigureRow, figure_rows_json
from oltpsim.models.input import document_text
from oltpsim.scenarios.show.numbers import amount, plural
from oltpsim.scenarios.show.table import aligned

NAMES = {"run": "leave one run out", "machine": "leave one machine out", "device": "leave one device out"}


def validation_json(found: Certificate, large_systems: Sequence[FigureRow]) -> str:
    """The certificate as a document, with figures of large systems if there are any."""
    large = {"large_systems": figure_rows_json(large_systems)} if large_systems else {}
    return document_text(found.format, found.model_dump(mode="json") | large)


def validation_lines(calibration: Calibration, found: Certificate) -> list[str]:
    """All of it."""
    interval = f"{found.confidence:.0%} interval"
    rows = [["run", "measured", "model", "error", interval, "inside", "role", "limited by"]]
    rows += [[*_judged(row), "yes" if row.inside else "no", row.role, limited_by(row)] for row in found.runs]
    lines = [
        f"{calibration.base.name}: {plural(len(found.runs), 'run')} in new orders per minute, or the unit named",
        "",
        *aligned(rows),
        *(f"  beyond the calibrated range: {row.name}: {text}" for row in found.runs for text in row.outside),
        *(f"  in doubt: {row.name}: {text}" for row in found.runs for text in row.doubts),
        *(f"  {text}" for text in found.not_judged),
        *_fitted_but_not_judged(calibration, found),
        "",
        *_regimes(found),
    ]
    for one in found.left_out:
        lines += ["", *_left_out(one)]
    lines += ["", coverage_words(found), "", *_baselines(found)]
    if found.gaps:
        lines += ["", "where a gap comes from (parts multiply to the whole)"]
        lines += [f"  {gap_line(gap)}" for gap in found.gaps]
    return [*lines, "", f"certificate: {found.line}", f"fit {found.task_hash} · model {found.calibration_hash}"]


def _judged(row: JudgedRate) -> list[str]:
    """Name, measured, model, error and interval."""
    ends = f"{amount(row.low)} .. {amount(row.high)}"
    return [row.name, measured_words(row), amount(row.model), f"{row.error:+.1%}", ends]


def measured_words(row: JudgedRate) -> str:
    """What was measured, with its unit if it isn't new orders per minute."""
    return amount(row.measured) + ("" if row.unit == NEW_ORDERS else f" {row.unit}")


def limited_by(row: JudgedRun) -> str:
    """Regime and bottleneck; once if they have one name."""
    return row.regime if row.regime == row.bottleneck else f"{row.regime} ({row.bottleneck})"


def _fitted_but_not_judged(calibration: Calibration, found: Certificate) -> list[str]:
    fitted = sum(row.role == "fitted" for row in found.runs)
    missing = len(calibration.runs) - fitted
    if missing <= 0:
        return []
    return [f"  of the {plural(len(calibration.runs), 'run')} that were fitted {missing} aren't judged here"]


def _regimes(found: Certificate) -> list[str]:
    rows = [["errors of", "limited by", "runs", "mean", "median", "worst", ""]]
    regimes: list[tuple[str, str, Errors]] = [(f"{each.role} runs", each.regime, each) for each in found.regimes]
    for role in ("fitted", "predicted"):
        every = error_summary([(row.name, row.error) for row in found.runs if row.role == role])
        regimes += [(f"all {role} runs", "", every)] if every is not None else []
    rows += [
        [what, regime, str(each.count), f"{each.mean:.1%}", f"{each.median:.1%}", f"{each.worst:+.1%}", each.worst_name]
        for what, regime, each in regimes
    ]
    return aligned(rows)


def _left_out(one: LeaveOut) -> list[str]:
    lines = [f"{NAMES[one.kind]}: {errors_words(one.errors)}" if one.errors else f"{NAMES[one.kind]}: not possible"]
    if one.rows:
        lines += aligned([[*_judged(row), "inside" if row.inside else "outside"] for row in one.rows], indent=2)
        inside = sum(row.inside for row in one.rows)
        lines += [f"  {inside} of {len(one.rows)} are inside"]
    return lines + [f"  {text}" for text in one.not_done]


def errors_words(errors: Errors) -> str:
    """Median, mean and worst error."""
    return f"median error {errors.median:.1%}, mean {errors.mean:.1%}, worst {errors.worst:+.1%} ({errors.worst_name})"


def coverage_words(found: Certificate) -> str:
    """How many left-out runs are inside of their intervals, and whether that agrees with the claim."""
    cover = found.coverage
    if cover is None:
        return "coverage: no run was left out"
    words = (
        f"coverage: {cover.inside} of {cover.count} left-out runs are inside their {cover.claimed:.0%} intervals; the "
        f"true share is {cover.low:.0%} to {cover.high:.0%}: {cover.verdict}{_half_width(cover)}"
    )
    machine = found.coverage_by_machine
    if machine is None:
        return words
    return (
        f"{words}; with their machine left out {machine.inside} of {machine.count} on {machine.groups} machines, the "
        f"true share is {machine.low:.0%} to {machine.high:.0%}: {machine.verdict}{_half_width(machine)}"
    )


def _half_width(cover: Coverage) -> str:
    return "" if cover.half_width is None else f" (median half width {math.expm1(cover.half_width):.0%})"


def _baselines(found: Certificate) -> list[str]:
    lines = ["baselines, from the same other runs (median error, the model's on the same runs)"]
    if not found.baselines:
        return ["baselines: no run was left out"]
    for each in found.baselines:
        lines.append(f"  {each.name}: {baseline_words(each)}")
        lines += [
            f"    {row.name}: {row.rate:,.0f} ({row.error:+.1%}) from {row.why}"
            for row in each.rows
            if row.rate is not None and row.error is not None
        ]
    return lines


def baseline_words(each: Baseline) -> str:
    """How the model compares, or why nothing can be compared."""
    if each.errors is None or each.model is None:
        reasons = list(dict.fromkeys(row.why for row in each.rows))
        return f"not applicable: {'; '.join(reasons)}"
    verdict = "the model is better" if each.beaten else "THE MODEL DOESN'T BEAT IT"
    runs = plural(each.errors.count, "run")
    return (
        f"{each.errors.median:.1%} on {runs}, the model {each.model.median:.1%} and nearer on {each.nearer}: {verdict}"
    )


def gap_line(gap: Gap) -> str:
    """One run's gap in one line."""
    whole = f"{gap.name}: measured {gap.measured:,.0f}, model {gap.model:,.0f} ({change(gap.log)})"
    if not gap.parts:
        return f"{whole}: not told, the record has nothing but the rate"
    parts = ", ".join(f"{part.name} {change(part.log)}" for part in gap.parts)
    return f"{whole}: {parts}, not told {change(gap.not_told_log)} (no figure of {', '.join(gap.not_told)})"


def change(log: float) -> str:
    """A logarithm as a relative change with its sign."""
    return f"{math.expm1(log):+.1%}"
