"""A system described in one line: what is said and what is assumed, and the scenario as a commented YAML file."""

import math
from typing import Any

from oltpsim.calibration.fit import Calibration, FigureKind
from oltpsim.calibration.predict import Moves
from oltpsim.models.input import yaml_text
from oltpsim.models.reading import Description, Origin
from oltpsim.scenarios.show.numbers import plural, share
from oltpsim.scenarios.show.table import aligned

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


def understood_rows(description: Description, moves: Moves) -> list[dict[str, Any]]:
    """What the description comes to as plain JSON; `rate_sd` of the logarithm."""
    names = ("what", "key", "value", "piece", "source", "factor", "others")
    of_rate = {key: by_kind[FigureKind.RATE] for key, by_kind in moves.items()}
    return [
        {name: getattr(row, name) for name in names} | {"rate_sd": of_rate.get(row.key)} for row in description.rows
    ]


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
