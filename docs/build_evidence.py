"""Write the summary of docs/validation.md and README's picture from the tables of docs/evidence/.

It simulates nothing: the other scripts write those tables, and this one counts them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from docs.build import head, line, replaced
from docs.build_described import QUANTILE, Errors, errors_of
from oltpsim.calibration.atlas import AtlasKernel, AtlasRun, read_atlas_runs
from oltpsim.models.input import write_whole
from oltpsim.scenarios.show.chart import Chart, Curve, Points, Scale
from oltpsim.scenarios.show.palette import GREY, SERIES_COLOURS
from oltpsim.scenarios.show.picture import picture_digest, picture_svg

DOCS = Path(__file__).resolve().parent
PAGE, EVIDENCE, PICTURE = DOCS / "validation.md", DOCS / "evidence", DOCS / "pictures" / "evidence.svg"
BEGIN, END = "<!-- begin of the summary: python docs/build_evidence.py -->\n", "<!-- end of the summary -->\n"
TITLE = "Predicted against measured rates of public runs"


@dataclass(frozen=True)
class EvidenceRow:
    """A measured rate with its prediction and the ends of its interval."""

    measured: float
    model: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """Size of the relative error."""
        return abs(self.model / self.measured - 1.0)


@dataclass(frozen=True)
class Group:
    """Rows of one kind of evidence, and the page that has them."""

    question: str
    page: str
    rows: Sequence[EvidenceRow]

    @property
    def median_error(self) -> float:
        """Median of the errors' sizes."""
        return median(row.error for row in self.rows)

    def cells(self) -> tuple[str, ...]:
        """Cells of the summary's line."""
        inside = sum(row.low <= row.measured <= row.high for row in self.rows)
        width = median(math.sqrt(row.high / row.low) for row in self.rows)
        return (
            self.question, f"{len(self.rows)}", f"{self.median_error:.0%}", f"{inside} of {len(self.rows)}",
            f"{1 / width:.2f} to {width:.2f} times", f"[rows](evidence/{self.page})",
        )  # fmt: skip


def table_rows(page: Path, *columns: str) -> Iterator[list[str]]:
    """Cells of the rows of a page's tables whose head begins with some columns."""
    is_wanted = False
    for text in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in text.strip("|").split("|")]
        if not text.startswith("|"):
            is_wanted = False
        elif cells[: len(columns)] == list(columns):
            is_wanted = True
        elif is_wanted and cells[0] != "---":
            yield cells


def number(cell: str) -> float:
    """The number that a cell begins with."""
    found = re.match(r"[\d,.]+", cell)
    assert found is not None, cell
    return float(found[0].replace(",", ""))


def row(measured: str, model: str, interval: str) -> EvidenceRow:
    """A row from the cells of a table."""
    low, high = interval.split(" .. ")
    return EvidenceRow(number(measured), number(model), number(low), number(high))


def judged(page: str, role: str) -> list[EvidenceRow]:
    """Rows of a page with runs that weren't fitted to."""
    columns = ("run", "measured", "model", "error", "90 % interval", "inside", role)
    return [
        row(cells[1], cells[2], cells[4]) for cells in table_rows(EVIDENCE / page, *columns) if cells[6] == "predicted"
    ]


def described(runs: Sequence[AtlasRun], errors: Errors) -> list[EvidenceRow]:
    """Rows of described machines, predicted by the runs of others."""
    rows = []
    for run, error, width in zip(runs, errors.logs, QUANTILE * errors.sds, strict=True):
        model = run.measured_per_min * math.exp(error)
        ends = (model, model * math.exp(-width), model * math.exp(width))
        rows.append(EvidenceRow(run.measured_per_min, *(float(f"{each:.4g}") for each in ends)))
    return rows


def groups() -> list[Group]:
    """Kinds of evidence, from a line of text to a model of one's own runs."""
    runs = read_atlas_runs()
    _, fifth, source = errors_of(runs, AtlasKernel.read())
    columns = ("row", "measured", "model", "90 % interval", "error", "row is", "without its machine")
    left_out = [row(cells[1], cells[6], cells[7]) for cells in table_rows(EVIDENCE / "published.md", *columns)]
    return [
        Group("a machine described by a line, without its source's runs", "described.md", described(runs, source)),
        Group("the same, with other runs of its source", "described.md", described(runs, fifth)),
        Group("published servers of 2004 to 2009, each without its own runs", "published.md", left_out),
        Group("public sweeps, by a model of a few of their rows", "public-files.md", judged("public-files.md", "role")),
        Group("our laboratory, by six runs of it", "laboratory-blind.md", judged("laboratory-blind.md", "row is")),
    ]


def summary(evidence: Sequence[Group]) -> str:
    """The table of the page."""
    text = head("prediction of", "rows", "median error", "inside 90 % interval", "interval, median", "", figures=True)
    return text + "".join(line(*group.cells()) for group in evidence)


def chart(evidence: Sequence[Group]) -> Chart:
    """Predicted against measured rates: lines of text, and models of a few rows."""
    lines, beside, _, calibrated, _ = evidence
    shown = (
        (lines, "one line, without its source's runs", "circle-open", SERIES_COLOURS[1]),
        (beside, "one line, with other runs of its source", "circle-open", SERIES_COLOURS[4]),
        (calibrated, "model of a few other runs", "circle", SERIES_COLOURS[0]),
    )
    rates = [rate for group, *_ in shown for row in group.rows for rate in (row.measured, row.model)]
    low, high = min(rates) / 1.3, max(rates) * 1.3
    marks: list[Curve | Points] = [
        Curve(x=[low, high], y=[low, high], colour=GREY, width=1.5, label="predicted = measured"),
        Curve(x=[low, high], y=[2 * low, 2 * high], colour=GREY, width=1.0, dash="dash", label="twice, half"),
        Curve(x=[low, high], y=[low / 2, high / 2], colour=GREY, width=1.0, dash="dash"),
    ]
    for group, label, symbol, colour in shown:
        legend = f"{label}: median error {group.median_error:.0%} ({len(group.rows)} rows)"
        x, y = [row.measured for row in group.rows], [row.model for row in group.rows]
        marks.append(Points(x=x, y=y, size=6, symbol=symbol, opacity=0.7, colour=colour, label=legend))
    powers = {10.0**power: f"{10**power:,}" for power in range(1, 10) if low <= 10.0**power <= high}
    return Chart(
        key="evidence",
        title="Each point is one machine with its settings",
        alternative=f"predicted against measured rates: median error {lines.median_error:.0%} from a line of text, "
        f"{calibrated.median_error:.0%} by a model of a few runs",
        marks=marks,
        x=Scale(low=low, high=high, log=True, ticks=powers, title="measured, transactions or new orders per minute"),
        y=Scale(low=low, high=high, log=True, ticks=powers, title="predicted"),
        height_px=460,
    )


def main() -> None:
    """Write the table and draw the picture."""
    evidence = groups()
    write_whole(PAGE, replaced(PAGE.read_text(encoding="utf-8"), BEGIN, END, summary(evidence)))
    write_whole(PICTURE, picture_svg(TITLE, [chart(evidence)]))


def digest() -> str:
    """Hash of what the picture shows, which its SVG names."""
    return picture_digest(TITLE, [chart(groups())])


if __name__ == "__main__":
    main()
