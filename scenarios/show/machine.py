"""Prediction of a machine described in one line: table, JSON, and the scenario as a commented YAML file."""

from calibration.fit import Calibration, scenario_hash
from calibration.predict import DescribedPrediction
from models.input import document_text, yaml_text
from models.jobs import JobResult
from models.reading import Description, Origin
from scenarios.show.numbers import count, four_digits, plural
from scenarios.show.table import aligned, flow
from scenarios.show.words import bottleneck_details, uncertainty_words, unit_of

FORMAT = "oltpsim-machine-1"
GUESSED = "guessed"
MOST_LETTERS = 32
"""of a piece of the line in the table"""
COLUMNS = ("piece", "key", "value", "uncertainty")


def machine_table(
    description: Description, found: DescribedPrediction, calibration: Calibration | None, width: int
) -> str:
    """Table of the values read or guessed, the reasons of guesses, and the prediction with interval and bottleneck.

    Lines of reasons are at most `width` columns wide. `calibration` None: predicted by the catalogue's values.
    """
    rows = description.rows
    cells = [(_piece(row.piece), row.key, row.value, row.uncertainty) for row in rows]
    lines = [found.scenario.machine.name, "", *aligned([COLUMNS, *cells]), ""]
    reasons = [row for row in rows if row.piece is None and row.source]
    lines += ["guessed, because the line doesn't say it:"] if reasons else []
    for row in reasons:
        lines += flow(row.what, [row.source], width)
    lines += [""] if reasons else []
    lines += _figures(found, width)
    for text in found.outside:
        lines += flow("beyond the runs", [text], width)
    if found.not_applied:
        lines += flow("not calibrated", [", ".join(found.not_applied)], width)
    if calibration is not None:
        runs = plural(len(calibration.runs), "run")
        lines += flow("model", [f"{calibration.base.name}, fitted to {runs}, fit {calibration.task_hash}"], width)
    return "\n".join(lines) + "\n"


def _figures(found: DescribedPrediction, width: int) -> list[str]:
    """Lines of the predicted figure with its interval, its bottleneck, and the largest uncertainties."""
    figure, value = _figure(found)
    interval = "no interval: no calibrated model"
    if found.low is not None and found.high is not None:
        ends = f"[{four_digits(found.low)} .. {four_digits(found.high)}]"
        interval = f"{ends}  {found.confidence:.0%} interval, {found.role}"
    lines = flow(figure, [value, interval], width)
    lines += flow("limited by", [_limit(found)], width)
    parts = uncertainty_words(found.parts, found.sd)
    return lines + flow("uncertain by", parts or ["nothing that the line leaves open"], width)


def machine_json(description: Description, found: DescribedPrediction, calibration: Calibration | None) -> str:
    """Values read or guessed and the prediction as an oltpsim-machine-1 document; `parts_sd` are of the logarithm."""
    figure, _ = _figure(found)
    content = {
        "line": description.line,
        "understood": [
            {name: getattr(row, name) for name in ("what", "key", "value", "piece", "source", "factor", "others")}
            for row in description.rows
        ],
        "scenario": found.scenario.model_dump(mode="json", exclude={"measured"}),
        "scenario_hash": scenario_hash(found.scenario),
        "figure": figure,
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "confidence": found.confidence if found.low is not None else None,
        "role": found.role,
        "limited_by": _limit(found),
        "parts_sd": [{"what": part.what, "sd": part.sd} for part in found.parts],
        "outside": found.outside,
        "not_applied": found.not_applied,
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
    origin = f"'{row.piece}'" if row.piece is not None else GUESSED
    return f"{row.what}: {row.value}, {origin}{': ' if row.source else ''}{row.source}{known}"


def _piece(piece: str | None) -> str:
    text = GUESSED if piece is None else piece
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 3]}..."


def _figure(found: DescribedPrediction) -> tuple[str, str]:
    """Name of the predicted figure, and its value with the unit."""
    if isinstance(found.answer, JobResult):
        return found.answer.figure, f"{four_digits(found.value)} {found.answer.unit}"
    return unit_of(found.answer.main_class), count(found.value)


def _limit(found: DescribedPrediction) -> str:
    if isinstance(found.answer, JobResult):
        return found.answer.limited_by
    return f"{found.answer.bottleneck.name}: {', '.join(bottleneck_details(found.answer))}"
