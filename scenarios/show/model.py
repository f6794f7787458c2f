"""The calibrated model behind an answer."""

from calibration.predict import ModelUsed
from scenarios.show.numbers import plural
from scenarios.show.table import flow, sentence_flow


def model_lines(model: ModelUsed, width: int) -> list[str]:
    """The calibration behind an answer, and how far that is from its runs."""
    runs = plural(model.runs, "run")
    lines = flow("model", [f"{model.base}, fitted to {runs}, fit {model.task_hash}"], width)
    for words in model.outside:
        lines += sentence_flow("beyond the runs", words, width)
    if model.not_applied:
        lines += sentence_flow("not applied", f"{', '.join(model.not_applied)}: not the base's part or value", width)
    return lines
