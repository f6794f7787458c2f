"""Fit the shipped model of PostgreSQL, judge it, and write it with its part of docs/evidence/postgresql.md.

What is written are the models that come with the program, calibration/NAME/model.json. What one is worth as a
prediction is what its refits without each run, and without each machine, say.

python docs/build_models.py                fit, judge, write the models, draw (ten minutes)
python docs/build_models.py postgresql     only this one
python docs/build_models.py --draw         write the page again from the models
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from docs.build import replaced
from oltpsim.calibration.fit import Calibration, Certificate, JudgedRate, read_calibration
from oltpsim.calibration.records import records_in
from oltpsim.scenarios.commands.cli import main as oltpsim
from oltpsim.scenarios.show.numbers import amount

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
PAGE = DOCS / "evidence" / "postgresql.md"
RUNS = ROOT / "calibration" / "runs"


@dataclass(frozen=True)
class ShippedModel:
    """A model that comes with the program, of records over one base."""

    name: str
    title: str
    runs: Path
    base: str
    mapping: Path | None = None

    @property
    def file(self) -> Path:
        """Where it lies."""
        return ROOT / "calibration" / self.name / "model.json"

    @property
    def marks(self) -> tuple[str, str]:
        """Lines between which the page has its rows."""
        begin = f"<!-- begin of {self.title}'s rows: python docs/build_models.py {self.name} -->\n"
        return begin, f"<!-- end of {self.title}'s rows -->\n"


MODELS = (
    ShippedModel(
        "postgresql",
        "PostgreSQL",
        RUNS / "emulated_disks",
        "postgresql-15-400-iops",
        RUNS / "mappings" / "emulated_disks.yaml",
    ),
)


def fit(model: ShippedModel) -> None:
    """Fit and judge by the program's own commands, which go on where they were stopped."""
    store = ROOT / "out" / model.name / "model.json"
    store.parent.mkdir(parents=True, exist_ok=True)
    runs = [str(path) for path in records_in(model.runs)]
    mapping = ["--mapping", str(model.mapping)] if model.mapping else []
    parameters = ["--parameters", str(model.file.with_name("parameters.yaml"))]
    for command in (
        [
            "calibrate",
            *runs,
            "--base",
            model.base,
            *mapping,
            *parameters,
            "--confirm",
            str(len(runs)),
            "--save",
            str(store),
        ],
        ["validate", str(store), str(model.runs), *mapping, "--near", "--save", str(model.file)],
    ):
        if status := oltpsim(command):
            sys.exit(status)


def table(calibration: Calibration, found: Certificate) -> str:
    """Each run: measured, fitted, and as predicted without it and without its machine; what was fitted."""
    kinds = {kind: {row.name: row for row in found.left_out_by(kind).rows} for kind in ("run", "machine")}
    lines = [
        "| run | measured | model | error | row is "
        + "".join(f"| {words} | interval | error " for words in ("without it", "without its machine"))
        + "|",
        "| --- | ---: | ---: | ---: | --- | ---: | --- | ---: | ---: | --- | ---: |",
    ]
    for row in found.runs:
        cells = [row.name, amount(row.measured), amount(row.model), f"{row.error:+.1%}", row.role]
        for rows in kinds.values():
            cells += _left_out(rows[row.name]) if row.name in rows else ["", "", ""]
        lines.append("| " + " | ".join(cells) + " |")
    fitted = ", ".join(_words(each.key, each.value, each.low, each.high) for each in calibration.parameters)
    return "\n".join([*lines, "", f"Fitted: {fitted}.", "", f"Certificate: {found.line}.", ""])


def _left_out(row: JudgedRate) -> list[str]:
    error = f"{row.error:+.1%}" + ("" if row.inside else ", outside")
    return [amount(row.model), f"{amount(row.low)} .. {amount(row.high)}", error]


def _words(key: str, value: float | None, low: float | None, high: float | None) -> str:
    if value is None or low is None or high is None:
        return f"`{key}` not told by the runs"
    return f"`{key}` {value:.3g} ({low:.3g} .. {high:.3g})"


def main() -> None:
    """Fit, judge, write."""
    names = [word for word in sys.argv[1:] if not word.startswith("-")]
    for model in MODELS:
        if names and model.name not in names:
            continue
        if "--draw" not in sys.argv:
            fit(model)
        calibration = read_calibration(model.file)
        assert calibration.certificate is not None
        text = table(calibration, calibration.certificate)
        PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), *model.marks, text), encoding="utf-8")


if __name__ == "__main__":
    main()
