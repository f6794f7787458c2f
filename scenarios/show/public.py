"""Public files beside their predictions: a line of errors for each file, and all rows."""

from collections.abc import Sequence

from oltpsim.calibration.fit import Errors, JudgedRun
from oltpsim.calibration.judge import JudgedFile, all_errors
from oltpsim.models.input import document_text
from oltpsim.scenarios.show.numbers import amount
from oltpsim.scenarios.show.table import aligned
from oltpsim.scenarios.show.validation import limited_by

PUBLIC_FORMAT = "oltpsim-public-1"


def public_lines(judged: Sequence[JudgedFile]) -> list[str]:
    """For a terminal."""
    lines = aligned(summary_rows(judged))
    for each in judged:
        lines += ["", f"{each.file.name}: {each.file.title}", f"  {each.file.rule}", *aligned(run_rows(each.rows))]
        if each.not_judged:
            lines.append(f"  not judged: {', '.join(each.not_judged)}")
    return lines


def public_json(judged: Sequence[JudgedFile]) -> str:
    """As a document."""
    files = [
        {
            **each.file.model_dump(mode="json"),
            "rows": [row.model_dump(mode="json") for row in each.rows],
            "not_judged": each.not_judged,
        }
        for each in judged
    ]
    return document_text(PUBLIC_FORMAT, {"files": files})


def summary_rows(judged: Sequence[JudgedFile]) -> list[list[str]]:
    """A row for each file, with a head: errors of fitted and predicted rows, and intervals that hold."""
    rows = [["file", "model", "fitted", "mean error", "predicted", "mean error", "median", "worst", "inside"]]
    for each in judged:
        fitted, predicted, held = each.errors("fitted"), each.errors("predicted"), each.coverage()
        inside = f"{held.inside} of {held.count}" if held else ""
        rows.append([each.file.name, each.file.model, *_count(fitted), *_count(predicted), *_spread(predicted), inside])
    errors, held = all_errors(judged)
    if errors is not None and held is not None:
        rows.append(["all", "", "", "", *_count(errors), *_spread(errors), f"{held.inside} of {held.count}"])
    return rows


def run_rows(rows: Sequence[JudgedRun]) -> list[list[str]]:
    """A row for each run, with a head."""
    return [
        ["run", "measured", "model", "error", "90 % interval", "inside", "role", "limited by"],
        *(
            [
                row.name,
                amount(row.measured),
                amount(row.model),
                f"{row.error:+.1%}",
                f"{amount(row.low)} .. {amount(row.high)}",
                "yes" if row.inside else "no",
                row.role,
                limited_by(row),
            ]
            for row in rows
        ),
    ]


def _count(errors: Errors | None) -> list[str]:
    return ["0", ""] if errors is None else [str(errors.count), f"{errors.mean:.1%}"]


def _spread(errors: Errors | None) -> list[str]:
    return ["", ""] if errors is None else [f"{errors.median:.1%}", f"{errors.worst:+.0%} {errors.worst_name}"]
