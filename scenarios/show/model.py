"""The calibrated model behind an answer, and the figures that it gives intervals of."""

from oltpsim.calibration.predict import ModelUsed
from oltpsim.scenarios.show.numbers import plural
from oltpsim.scenarios.show.table import flow, sentence_flow
from oltpsim.scenarios.show.words import Expected, figure_words


def model_rows(model: ModelUsed) -> list[tuple[str, str]]:
    """The calibration behind an answer, and how far that is from its runs: terms and sentences."""
    runs = plural(model.runs, "run")
    rows = [("model", f"{model.base}, fitted to {runs}, fit {model.task_hash}")]
    rows += [("beyond the runs", words) for words in model.outside]
    if model.not_applied:
        rows.append(("not applied", f"{', '.join(model.not_applied)}: not the base's part or value"))
    return rows


def model_lines(model: ModelUsed, width: int) -> list[str]:
    """The same in lines."""
    [(term, words), *others] = model_rows(model)
    lines = flow(term, [words], width)
    return lines + [line for term, words in others for line in sentence_flow(term, words, width)]


def figure_lines(expected: Expected, width: int) -> list[str]:
    """The figures beside the rate that a model gives intervals of, each with its own; none without a model."""
    if isinstance(expected, str) or not expected.figures:
        return []
    return flow(f"{expected.rate.confidence:.0%} intervals", figure_words(expected.figures), width)
