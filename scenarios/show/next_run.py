"""Advice on the next run as sections, and the sentence with which a calibration's doubts end."""

from collections.abc import Mapping, Sequence

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
from oltpsim.models.input import last_word
from oltpsim.scenarios.questions.sections import AnswerColumn, AnswerTable, Sections
from oltpsim.scenarios.show.numbers import between, count
from oltpsim.simulator.errors import InputError

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


def next_run_answer(advice: Advice) -> Sections:
    """What is open, the candidates with what each would give, and which to make."""
    return Sections(
        question="next-run",
        headline=_opening(advice),
        facts={
            "like": advice.like,
            "cost_unit": advice.cost_unit,
            "open_sd": advice.open_sd,
            "asked": None if advice.asked is None else advice.asked.scenario.name,
            "rate_per_min": None if advice.asked is None else advice.asked.rate,
            "best": None if advice.best is None else advice.best.candidate.name,
        },
        tables=(_candidates(advice), _impossible(advice)),
        remarks=[("left out", f"{each.name}: {each.reason}") for each in advice.impossible],
        next_step=_sentence(advice),
    )


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


def _candidates(advice: Advice) -> AnswerTable:
    costs = advice.cost_unit is not None
    open_of = "interval after it" if advice.asked is not None else "left open"
    order = f"; best first, by what they give for their {advice.cost_unit}" if costs else "; best first"
    columns = (
        AnswerColumn("name", "next run"),
        AnswerColumn("cost", advice.cost_unit, lambda cost: f"{cost:g}"),
        AnswerColumn("", open_of),
        AnswerColumn("narrower_fraction", "narrower by", lambda narrower: f"{narrower:.0%}"),
        AnswerColumn("settings", "sets", _settings),
        AnswerColumn(
            "tells", "tells", lambda groups: "; ".join(", ".join(map(last_word, group)) for group in groups) or "-"
        ),
        AnswerColumn("left_sd"),
        AnswerColumn("low_per_min"),
        AnswerColumn("high_per_min"),
    )
    rows = [
        (
            each.candidate.name,
            each.candidate.cost,
            f"{each.left_sd:.2f}"
            if each.low_per_min is None or each.high_per_min is None
            else between(each.low_per_min, each.high_per_min),
            each.narrower,
            each.candidate.settings,
            each.tells,
            each.left_sd,
            each.low_per_min,
            each.high_per_min,
        )
        for each in advice.runs
    ]
    return AnswerTable("candidates", columns, rows, f"each like the run {advice.like} but for what it sets{order}")


def _impossible(advice: Advice) -> AnswerTable:
    """Candidates that can't be run, for programs; people read them as remarks."""
    rows = [(each.name, each.reason) for each in advice.impossible]
    return AnswerTable("impossible", [AnswerColumn("name"), AnswerColumn("reason")], rows)


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


def _settings(settings: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={text}" for key, text in settings.items())


def _groups(groups: Sequence[Sequence[str]]) -> str:
    return "; ".join(", ".join(map(last_word, group)) for group in groups) or "-"


def _and(keys: tuple[str, ...]) -> str:
    names = [last_word(key) for key in keys]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
