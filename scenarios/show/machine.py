"""Prediction of a machine described in one line: table, JSON, and the scenario as a commented YAML file."""

import math
from typing import Any

from oltpsim.calibration.fit import Calibration, FigureKind, scenario_hash
from oltpsim.calibration.predict import DescribedPrediction, Moves
from oltpsim.models.input import document_text, yaml_text
from oltpsim.models.jobs import JobResult
from oltpsim.models.reading import Description, Origin
from oltpsim.scenarios.show.numbers import count, four_digits, plural, share
from oltpsim.scenarios.show.table import aligned, csv_text, flow
from oltpsim.scenarios.show.words import bottleneck_details, uncertainty_words, unit_of

FORMAT = "oltpsim-machine-1"
ASSUMED = "assumed"
OF_CATALOGUE = "the catalogue's values"
MOST_LETTERS = 34
"""of a cell of the table"""
LEAST_MOVE = 0.005
"""of a rate's logarithm that the table shows"""
HEADS = ("", "value", "from", "rate")


def answered_by(calibration: Calibration | None) -> str:
    """Whose values answer: a model's, or the catalogue's."""
    return OF_CATALOGUE if calibration is None else f"a model fitted to {plural(len(calibration.runs), 'run')}"


def description_text(description: Description, moves: Moves, answers: str = "") -> str:
    """What a description comes to, a line each: what was said, what is assumed, and what else that might be.

    `moves`: of figures, by the keys of guesses. `answers`: see `answered_by`.
    """
    cells: list[tuple[str, ...]] = [HEADS]
    for row in description.rows:
        move = moves.get(row.key, {}).get(FigureKind.RATE, 0.0)
        effect = f"±{share(math.expm1(move))}" if move >= LEAST_MOVE else ""
        origin = ASSUMED if row.piece is None else f"'{row.piece}'"
        might_be = f", {row.uncertainty.replace('times or divided by', 'x or /')}" if row.uncertainty else ""
        cells.append((row.what, _short(row.value), _short(origin + might_be), effect))
    cells += [("answered by", answers, "", "")] if answers else []
    return "\n".join([description.scenario.machine.name, *aligned(cells, indent=2)]) + "\n"


def machine_table(
    description: Description, found: DescribedPrediction, calibration: Calibration | None, width: int
) -> str:
    """What the description comes to, and the prediction with interval and bottleneck.

    `calibration` None: predicted by the catalogue's values.
    """
    lines = [description_text(description, found.moves, answered_by(calibration)), *_figures(found, width)]
    for text in () if found.model is None else found.model.outside:
        lines += flow("beyond the runs", [text], width)
    if found.model is not None and found.model.not_applied:
        lines += flow("not calibrated", [", ".join(found.model.not_applied)], width)
    if calibration is not None:
        lines += flow("model", [f"fit {calibration.task_hash}"], width)
    return "\n".join(lines) + "\n"


def machine_csv(found: DescribedPrediction) -> str:
    """The predicted figure as a line of CSV."""
    figure, _ = _figure(found)
    low, high = ("", "") if found.model is None else found.rate.interval
    row = {"scenario": found.scenario.name, "figure": figure, "value": found.rate.value, "low": low, "high": high,
           "limited_by": _limit(found)}  # fmt: skip
    return csv_text(row, [row])


def understood_rows(description: Description, moves: Moves) -> list[dict[str, Any]]:
    """What the description comes to as plain JSON; `rate_sd` of the logarithm."""
    names = ("what", "key", "value", "piece", "source", "factor", "others")
    of_rate = {key: by_kind[FigureKind.RATE] for key, by_kind in moves.items()}
    return [
        {name: getattr(row, name) for name in names} | {"rate_sd": of_rate.get(row.key)} for row in description.rows
    ]


def _figures(found: DescribedPrediction, width: int) -> list[str]:
    """Lines of the predicted figure with its interval, its bottleneck, and the largest uncertainties."""
    figure, value = _figure(found)
    interval = "no interval: no calibrated model"
    if found.model is not None:
        ends = f"[{four_digits(found.rate.low)} .. {four_digits(found.rate.high)}]"
        interval = f"{ends}  {found.rate.confidence:.0%} interval, {found.model.role}"
    lines = flow(figure, [value, interval], width)
    lines += flow("limited by", [_limit(found)], width)
    parts = uncertainty_words(found.rate)
    return lines + flow("uncertain by", parts or ["nothing that the line leaves open"], width)


def machine_json(description: Description, found: DescribedPrediction, calibration: Calibration | None) -> str:
    """Values read or guessed and the prediction as an oltpsim-machine-1 document; `parts_sd` are of the logarithm."""
    figure, _ = _figure(found)
    model, ends = found.model, (None, None) if found.model is None else found.rate.interval
    content = {
        "line": description.line,
        "understood": understood_rows(description, found.moves),
        "scenario": found.scenario.model_dump(mode="json", exclude={"measured"}),
        "scenario_hash": scenario_hash(found.scenario),
        "figure": figure,
        "value": found.rate.value,
        "low": ends[0],
        "high": ends[1],
        "confidence": None if model is None else found.rate.confidence,
        "role": "predicted" if model is None else model.role,
        "limited_by": _limit(found),
        "parts_sd": [{"what": part.what, "sd": part.sd} for part in found.rate.parts],
        "outside": () if model is None else model.outside,
        "not_applied": () if model is None else model.not_applied,
        "model": None if calibration is None else {"base": calibration.base.name, "task_hash": calibration.task_hash},
    }
    return document_text(FORMAT, content)


def machine_yaml(description: Description) -> str:
    """The scenario as a file for `oltpsim run`, with a comment above each value that was guessed or read from the line.

    A value that stands in a list gets none: comments are placed by keys.
    """
    comments = {row.key: _comment(row) for row in description.rows}
    text = yaml_text(description.data)
    lines = [f"# {description.line}"]
    path: list[str] = []
    for line in text.splitlines():
        key, colon, _ = line.strip().partition(":")
        indent = len(line) - len(line.lstrip())
        if colon and line.lstrip()[0] not in "-'\"" and indent % 2 == 0 and indent // 2 <= len(path):
            path = [*path[: indent // 2], key]
            place = ".".join(path)
            while place.endswith(".base"):
                place = place.removesuffix(".base")
            comment = comments.pop(place, "")
            if comment:
                lines.append(f"{' ' * indent}# {comment}")
        lines.append(line)
    return "\n".join(lines) + "\n"


def _comment(row: Origin) -> str:
    known = f"; {row.uncertainty}" if row.uncertainty else ""
    origin = f"'{row.piece}'" if row.piece is not None else ASSUMED
    return f"{row.what}: {row.value}, {origin}{': ' if row.source else ''}{row.source}{known}"


def _short(text: str) -> str:
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 3]}..."


def _figure(found: DescribedPrediction) -> tuple[str, str]:
    """Name of the predicted figure, and its value with the unit."""
    if isinstance(found.answer, JobResult):
        return found.answer.figure, f"{four_digits(found.rate.value)} {found.answer.unit}"
    return unit_of(found.answer.main_class), count(found.rate.value)


def _limit(found: DescribedPrediction) -> str:
    if isinstance(found.answer, JobResult):
        return found.answer.limited_by
    return f"{found.answer.bottleneck.name}: {', '.join(bottleneck_details(found.answer))}"
