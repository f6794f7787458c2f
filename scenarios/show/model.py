"""The calibrated model behind an answer, and the figures that it gives intervals of."""

from calibration.predict import ModelUsed
from scenarios.show.numbers import plural
from scenarios.show.table import flow, sentence_flow
from scenarios.show.words import Expected, figure_words


def model_lines(model: ModelUsed, width: int) -> list[str]:
    """The calibration behind an answer, and how far that is from its runs."""
    runs = plural(model.runs, "run")
    lines = flow("model", [f"{model.base}, fitted to {runs}, fit {model.task_hash}"], width)
    for words in model.outside:
        lines += sentence_flow("beyond the runs", words, width)
    if model.not_applied:
        lines += sentence_flow("not applied", f"{', '.join(model.not_applied)}: not the base's part or value", width)
    return lines


def figure_lines(expected: Expected, width: int) -> list[str]:
    """The figures beside the rate that a model gives intervals of, each with its own; none without a model."""
    if isinstance(expected, str) or not expected.figures:
        return []
    return flow(f"{expected.confidence:.0%} intervals", figure_words(expected.figures), width)
