"""A calibration for people: a table of parameters, what the runs can't tell, how the model meets each run."""

from collections.abc import Sequence

from oltpsim.calibration.fit import Calibration, FigureKind, FittedParameter, FittedRun
from oltpsim.models.input import last_word
from oltpsim.scenarios.show.numbers import plural, signed_share
from oltpsim.scenarios.show.table import aligned

MOST_NAMED = 2
MOST_MISSED = 0.25
"""of the rate; a model that misses more is of another system"""


def calibration_lines(calibration: Calibration, would_tell: Sequence[str] = ()) -> list[str]:
    """All of it. A parameter that the runs don't identify has no value in it. `would_tell`: runs that would."""
    lines = [
        f"{calibration.base.name}: {len(calibration.parameters)} parameters, {plural(len(calibration.runs), 'run')}",
        "",
        *_table(calibration),
        "",
        *calibration.said,
        *would_tell,
        *([""] if calibration.said else []),
        *_runs(calibration),
        "",
        _missed(calibration),
        _searches(calibration),
        _engines(calibration),
        *_difference(calibration),
        *(f"in doubt: {run.name}: {text}" for run in calibration.runs for text in run.doubts),
    ]
    versions = calibration.versions
    lines.append(f"oltpsim {versions.get('oltpsim', '?')} · seed {calibration.seed} · fit {calibration.task_hash}")
    return lines


def _table(calibration: Calibration) -> list[str]:
    rows = [["parameter", "value", f"{calibration.confidence:.0%} interval", "prior", "identified"]]
    rows += [_row(each) for each in calibration.parameters]
    return aligned(rows)


END_WORDS = {"bound": "at its bound", "no machine": "no machine beyond", "not found": "open: end not found, its bound"}
"""of an open end of an interval"""


def _row(each: FittedParameter) -> list[str]:
    prior = each.parameter.prior
    if not each.identified:
        others = each.not_told_from
        names = ", ".join(map(last_word, others)) if len(others) <= MOST_NAMED else f"{len(others)} others"
        why = f"no: not told from {names}" if others else "no"
        return [each.key, "-", "-", prior, why]
    assert each.value is not None
    assert each.low is not None
    assert each.high is not None
    low = f"{f'{END_WORDS[each.low_stop]} ' if each.low_open else ''}{each.low:.4g}"
    high = f"{each.high:.4g}{f' {END_WORDS[each.high_stop]}' if each.high_open else ''}"
    checked = ""
    if each.bootstrap_low is not None and each.bootstrap_high is not None:
        checked = f" (bootstrap {each.bootstrap_low:.4g} .. {each.bootstrap_high:.4g})"
    return [each.key, f"{each.value:.4g}", f"{low} .. {high}{checked}", prior, f"yes, {each.told_share:.0%} of prior"]


def _runs(calibration: Calibration) -> list[str]:
    width = max(len(run.name) for run in calibration.runs)
    lines = ["runs, all fitted: measured, model, (model - measured) in standard deviations"]
    for run in calibration.runs:
        lines.append(f"  {run.name.ljust(width)}  {'; '.join(_figures(run, calibration.base.workload.rate_words))}")
        by_server = [
            (key, value, who) for key, (value, who) in sorted(run.settings.items()) if "engine.settings." in who
        ]
        lines += [f"  {' ' * width}  set: {key} {value}, by {who}" for key, value, who in by_server]
        lines += [f"  {' ' * width}  noted: {text}" for text in run.left_aside]
    return lines


def _figures(run: FittedRun, rate_words: str) -> list[str]:
    found = []
    for each in run.figures:
        number = "{:,.0f}" if each.kind == FigureKind.RATE else "{:.3g}"
        least = "at least " if each.at_least else ""
        measured, model = number.format(each.measured), number.format(each.model)
        name = rate_words if each.kind == FigureKind.RATE else str(each.kind)
        found.append(f"{name} {least}{measured}, {model} ({each.residual_sigmas:+.1f})")
    return found


def _missed(calibration: Calibration) -> str:
    missed = calibration.missed[FigureKind.RATE]
    far = missed.sd > MOST_MISSED
    return (
        f"model discrepancy: {missed.sd:.1%} of the rate beyond noise, {missed.scale:.2g} times what was assumed; "
        f"{missed.freedom:.1f} degrees of freedom, {missed.from_runs:.1f} of them from the runs"
        + ("; the base scenario doesn't describe these runs: look at its machine and workload" if far else "")
    )


def _searches(calibration: Calibration) -> str:
    alike, count = calibration.searches_alike, len(calibration.searches)
    if alike == count:
        return f"searches: all {count} ended at the same fit"
    return f"searches: {alike} of {count} ended at the best fit; the others are worse"


def _engines(calibration: Calibration) -> str:
    if calibration.by_kernel:
        others = len(calibration.runs) - len(calibration.by_kernel)
        rest = f"; the other {others} by what these showed of runs that are limited alike" if others else ""
        names = ", ".join(calibration.by_kernel)
        return f"fitted by the analytic engine, corrected by the kernel's runs of {names}, and refitted{rest}"
    return (
        f"fitted by the analytic engine alone, whose rates of machines like these lie {calibration.engine_sd:.0%} from "
        "the kernel's (a standard deviation): what is fitted holds that; --confirm N lets the kernel correct it"
    )


def _difference(calibration: Calibration) -> list[str]:
    """How far the engines are from each other on the machines at hand, as far as both have answered."""
    ratios = [run.engines_ratio for run in calibration.runs if run.engines_ratio is not None]
    if not ratios:
        return []
    ends = [signed_share(each - 1.0) for each in (min(ratios), max(ratios))]
    by = ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
    simulated = f"{len(ratios)} of {plural(len(calibration.runs), 'run')}, those that were simulated"
    return [f"engines: the kernel's rates are {by} from the analytic engine's, on {simulated}"]
