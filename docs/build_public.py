"""Hold shipped models against the files of public runs; write docs/evidence/public-files.md and its picture.

python docs/build_public.py                 some minutes
python docs/build_public.py --fit           the models first, each fitted again to its rows, and judged
python docs/build_public.py --fit percona   only this one, or several
python docs/build_public.py --specification only the table of what specification alone says of every row
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median

from docs.build import replaced
from oltpsim.calibration.fit import measured_runs, read_calibration, read_mapping_file
from oltpsim.calibration.judge import JudgedFile, measured_rate, public_files
from oltpsim.calibration.records import load_record, records_in
from oltpsim.models.wiring import build
from oltpsim.scenarios.commands.cli import main as oltpsim
from oltpsim.scenarios.commands.options import PlaceOptions
from oltpsim.scenarios.commands.validate import judged_public
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.scenarios.show.chart import Chart, Points, Scale, Segment
from oltpsim.scenarios.show.palette import SERIES_COLOURS
from oltpsim.scenarios.show.picture import write_picture
from oltpsim.scenarios.show.public import run_rows, summary_rows
from oltpsim.simulator import analytic

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
CALIBRATIONS = ROOT / "calibration"
PAGE, PICTURE = DOCS / "evidence" / "public-files.md", DOCS / "pictures" / "public.svg"
BEGIN, END = "<!-- begin of public files: python docs/build_public.py -->\n", "<!-- end of public files -->\n"
BEGIN_SPECIFIED = "<!-- begin of specification alone: python docs/build_public.py --specification -->\n"
END_SPECIFIED = "<!-- end of specification alone -->\n"
MOST = 4.0
"""a ratio beyond which a point is drawn at the picture's edge"""


def fit(names: Sequence[str]) -> None:
    """Fit models again to the rows that each is fitted to, and judge them by these; all models if none is named."""
    if unknown := set(names) - {file.model for file in public_files()}:
        sys.exit(f"no public file has the model {', '.join(sorted(unknown))}")
    for file in public_files():
        model, records = CALIBRATIONS / file.model / "model.json", CALIBRATIONS / "runs" / file.runs
        runs = [records / f"{run.name}.yaml" for run in read_calibration(model).runs]
        if (names and file.model not in names) or not all(run.exists() for run in runs):
            continue  # an entry of a model whose rows are another's
        store = ROOT / "out" / file.model / "model.json"
        store.parent.mkdir(parents=True, exist_ok=True)
        fitted = [str(run) for run in runs]
        mapping = ["--mapping", str(CALIBRATIONS / "runs" / "mappings" / file.mapping)] if file.mapping else []
        parameters = ["--parameters", str(model.with_name("parameters.yaml"))]
        for command in (
            ["calibrate", *fitted, "--base", file.base, *mapping, *parameters, "--confirm", "0", "--save", str(store)],
            ["validate", str(store), *fitted, *mapping, "--save", str(model)],
        ):
            if status := oltpsim(command):
                sys.exit(status)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows with a head as Markdown."""
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "".join(f"| {' | '.join(row)} |\n" for row in lines)


def chart(judged: Sequence[JudgedFile]) -> Chart:
    """Model by measured of each row, a column for each file, fitted and predicted."""
    marks: list[Points | Segment] = [Segment(y=(1.0, 1.0), width=1.0, colour="#888888", below=True)]
    for role, colour in zip(("fitted", "predicted"), SERIES_COLOURS, strict=False):
        x, y = [], []
        for place, each in enumerate(judged):
            rows = [row for row in each.rows if row.role == role]
            x += [place - 0.3 + 0.6 * (number + 0.5) / len(rows) for number in range(len(rows))]
            y += [min(max(row.model / row.measured, 1 / MOST), MOST) for row in rows]
        marks.append(Points(x=x, y=y, size=6, colour=colour, label=role))
    return Chart(
        key="public",
        title="model by measured",
        alternative="model by measured of each row of the public files",
        marks=marks,
        x=Scale(
            low=-0.5,
            high=len(judged) - 0.5,
            ticks={float(place): str(place + 1) for place in range(len(judged))},
            title="files in the order of the table",
            grid=False,
        ),
        y=Scale(low=1 / MOST / 1.1, high=MOST * 1.1, log=True, ticks={0.25: "1/4", 0.5: "1/2", 1: "1", 2: "2", 4: "4"}),
        height_px=330,
    )


def section(judged: Sequence[JudgedFile]) -> str:
    """The page's part: a line for each file, the picture, then all rows."""
    text = "`oltpsim validate public`:\n\n" + table(summary_rows(judged))
    text += "\n![model by measured, file by file](../pictures/public.svg)\n"
    for each in judged:
        text += f"\n**{each.file.title}** (`{each.file.name}`). {each.file.rule[0].upper()}{each.file.rule[1:]}.\n\n"
        text += table(run_rows(each.rows))
        if each.not_judged:
            text += f"\nNot judged: {', '.join(each.not_judged)}.\n"
    return text


def specified() -> str:
    """What the scenarios of the files say of their rows by the formulas, without any model: a line for each file."""
    rows, every, seen = [["file", "rows", "median error", "mean", "worst"]], list[float](), set[str]()
    library = library_files()
    for file in public_files():
        if file.runs in seen:
            continue  # the rows of an entry before, by another model
        seen.add(file.runs)
        records = [load_record(path) for path in records_in(CALIBRATIONS / "runs" / file.runs)]
        mapping = (
            read_mapping_file(CALIBRATIONS / "runs" / "mappings" / file.mapping, records) if file.mapping else None
        )
        errors = {}
        for run in measured_runs(records, load_scenario_file(library[file.base]), {}, mapping):
            measured = measured_rate(run)
            if measured is not None:
                errors[run.name] = analytic.simulate(build(run.scenario), 0).rate_per_min.mean / measured - 1.0
        every += [abs(error) for error in errors.values()]
        rows.append([file.runs, *_spread(errors)])
    rows.append(["all", str(len(every)), f"{median(every):.1%}", f"{fmean(every):.1%}", ""])
    return table(rows)


def _spread(errors: dict[str, float]) -> list[str]:
    sizes, worst = [abs(error) for error in errors.values()], max(errors, key=lambda name: abs(errors[name]))
    return [str(len(sizes)), f"{median(sizes):.1%}", f"{fmean(sizes):.1%}", f"{errors[worst]:+.0%} {worst}"]


def main() -> None:
    """Judge, write; fit the models before, if asked to."""
    names = [word for word in sys.argv[1:] if not word.startswith("-")]
    if "--specification" in sys.argv:
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(replaced(text, BEGIN_SPECIFIED, END_SPECIFIED, specified() + "\n"), encoding="utf-8")
        return
    if "--fit" in sys.argv:
        fit(names)
    elif names:
        sys.exit("give --fit with the names of models")
    judged = judged_public([], PlaceOptions(), quiet=False)
    assert all(math.isfinite(row.model) for each in judged for row in each.rows)
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), BEGIN, END, section(judged)), encoding="utf-8")
    write_picture(PICTURE, "Public runs and the shipped models", [chart(judged)])


if __name__ == "__main__":
    main()
