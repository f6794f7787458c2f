"""Advice on the next run: a table for people, JSON, CSV, and the sentence with which a calibration's doubts end."""

from oltpsim.calibration.fit import Calibration
from oltpsim.calibration.predict import (
    CALIBRATED,
    MISSED,
    ONE_RUN,
    Advice,
    RunWorth,
    advise_next_run,
    candidates_around,
)
from oltpsim.models.input import document_text, last_word
from oltpsim.scenarios.show.numbers import between, count
from oltpsim.scenarios.show.table import aligned, csv_text
from oltpsim.simulator.errors import InputError

FORMAT = "oltpsim-next-run-1"
CSV_COLUMNS = (
    "name",
    "settings",
    "cost",
    "narrower_fraction",
    "left_sd",
    "open_sd",
    "low_per_min",
    "high_per_min",
    "tells",
    "reason",
)
MOST_NAMED = 3


def would_tell(calibration: Calibration) -> list[str]:
    """A sentence for each group of parameters that no run identifies: the usual run that would identify most of it.

    None for a group of which no usual run would identify any.
    """
    open_ones = [each for each in calibration.parameters if not each.identified]
    groups = sorted({tuple(sorted({each.key, *each.not_told_from})) for each in open_ones})
    choice = candidates_around(calibration)
    if not groups or not choice.candidates:
        return []
    try:
        runs = advise_next_run(calibration, choice, None, pairs=0).runs
    except InputError:
        return []  # the calibrated machine can do none of them
    lines = []
    for group in groups:
        best = max(runs, key=lambda run: len(_identified(group, run)))
        keys = _identified(group, best)
        if keys:
            apart = " from the others" if len(keys) < len(group) else " apart" if len(group) > 1 else ""
            lines.append(f"a run like {choice.like} with {best.candidate.name} would tell {_and(keys)}{apart}")
    return lines


def _identified(group: tuple[str, ...], run: RunWorth) -> tuple[str, ...]:
    """Keys of a group of parameters that a run would identify."""
    keys = {key for identified in run.tells for key in identified}
    return tuple(key for key in group if key in keys)


def next_run_text(advice: Advice) -> str:
    """What is open, the candidates, and which to make."""
    left_out = [f"left out: {each.name}: {each.reason}" for each in advice.impossible]
    return "\n".join([*_opening(advice), "", *_table(advice), *left_out, "", _sentence(advice)]) + "\n"


def next_run_json(advice: Advice) -> str:
    """Candidates with what each would give, and what was asked."""
    asked = advice.asked
    content = {
        "like": advice.like,
        "cost_unit": advice.cost_unit,
        "open_sd": advice.open_sd,
        "asked": None
        if asked is None
        else {
            "name": asked.scenario.name,
            "rate_per_min": asked.rate.value,
            "low_per_min": asked.rate.low,
            "high_per_min": asked.rate.high,
            "confidence": asked.rate.confidence,
            "parameters_sd": asked.rate.sd_of(CALIBRATED),
            "run_to_run_sd": asked.rate.sd_of(ONE_RUN),
            "discrepancy_sd": asked.rate.sd_of(MISSED),
        },
        "best": None if advice.best is None else advice.best.candidate.name,
        "candidates": [
            {
                "name": each.candidate.name,
                "settings": each.candidate.settings,
                "cost": each.candidate.cost,
                "left_sd": each.left_sd,
                "narrower_fraction": each.narrower,
                "low_per_min": each.low_per_min,
                "high_per_min": each.high_per_min,
                "tells": each.tells,
            }
            for each in advice.runs
        ],
        "impossible": {each.name: each.reason for each in advice.impossible},
    }
    return document_text(FORMAT, content)


def next_run_csv(advice: Advice) -> str:
    """One line per candidate with a header; the impossible ones last, with a reason in place of figures."""
    rows: list[list[object]] = [
        [
            each.candidate.name,
            _settings(each),
            each.candidate.cost,
            each.narrower,
            each.left_sd,
            advice.open_sd,
            each.low_per_min,
            each.high_per_min,
            "; ".join(" ".join(group) for group in each.tells),
            None,
        ]
        for each in advice.runs
    ]
    rows += [[one.name, *[None] * 8, one.reason] for one in advice.impossible]
    return csv_text(CSV_COLUMNS, rows)


def _opening(advice: Advice) -> list[str]:
    asked = advice.asked
    if asked is None:
        text = f"what the runs leave open of the parameters: {advice.open_sd:.2f} standard deviations of their priors"
        return [text]
    parts = {
        "parameters": asked.rate.sd_of(CALIBRATED),
        "one run from the next": asked.rate.sd_of(ONE_RUN),
        "what the model misses": asked.rate.sd_of(MISSED),
    }
    whole = max(sum(sd**2 for sd in parts.values()), 1e-300)
    shares = ", ".join(f"{name} {sd**2 / whole:.0%}" for name, sd in parts.items())
    interval = f"{asked.rate.confidence:.0%} interval {between(*asked.rate.interval)}"
    return [
        f"{asked.scenario.name}: {count(asked.rate.value)} new orders/min, {interval}",
        f"its variance: {shares}; a run can only take of the first",
    ]


def _table(advice: Advice) -> list[str]:
    costs = advice.cost_unit is not None
    open_of = "interval after it" if advice.asked is not None else "left open"
    rows = [["next run", *([advice.cost_unit or ""] if costs else []), open_of, "narrower by", "sets", "tells"]]
    for each in advice.runs:
        left = f"{each.left_sd:.2f}"
        if each.low_per_min is not None and each.high_per_min is not None:
            left = between(each.low_per_min, each.high_per_min)
        cost = [f"{each.candidate.cost:g}"] if costs else []
        tells = "; ".join(", ".join(map(last_word, group)) for group in each.tells) or "-"
        rows.append([each.candidate.name, *cost, left, f"{each.narrower:.0%}", _settings(each), tells])
    order = f"; best first, by what they give for their {advice.cost_unit}" if costs else "; best first"
    return [f"each like the run {advice.like} but for what it sets{order}", *aligned(rows)]


def _sentence(advice: Advice) -> str:
    best, asked = advice.best, advice.asked
    if best is None:
        if asked is None:
            return "no run of these tells more of the parameters than your runs do"
        source = "of what none of them shows"
        if asked.rate.sd_of(CALIBRATED) ** 2 < asked.rate.sd_of(ONE_RUN) ** 2 + asked.rate.sd_of(MISSED) ** 2:
            source = "of one run from the next and of what the model misses"
        return f"no run of these is worth making for {asked.scenario.name}: nearly all of its interval is {source}"
    distinctions = [f"tells {_and(group)}{' apart' if len(group) > 1 else ''}" for group in best.tells[:MOST_NAMED]]
    also = f"; it {', and '.join(distinctions)}" if distinctions else ""
    how = f"make a run like {advice.like} with {best.candidate.name}"
    if asked is None:
        return f"{how}: it leaves {best.left_sd:.2f} of {advice.open_sd:.2f} standard deviations open{also}"
    assert best.low_per_min is not None
    assert best.high_per_min is not None
    return (
        f"{how}: the interval of {asked.scenario.name} goes from {between(*asked.rate.interval)} "
        f"to about {between(best.low_per_min, best.high_per_min)}{also}"
    )


def _settings(each: RunWorth) -> str:
    return ", ".join(f"{key}={text}" for key, text in each.candidate.settings.items())


def _and(keys: tuple[str, ...]) -> str:
    names = [last_word(key) for key in keys]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
