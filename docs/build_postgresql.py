"""Fit PostgreSQL's model to its runs, judge it, and write it with docs/validation.md's part about it.

What is written is the model `postgresql` that comes with the program, calibration/postgresql/model.json. It is fitted
to calibration/runs/emulated_disks but for `NOT_FITTED`; what it is worth as a prediction is what its refits without
each run, and without each machine, say.

python docs/build_postgresql.py          fit, judge, write the model, draw (five minutes)
python docs/build_postgresql.py --draw   write the page again from the model
"""

from __future__ import annotations

import sys
from pathlib import Path

from calibration.fit import Calibration, Certificate, JudgedRate, read_calibration
from calibration.records import records_in
from docs.build import replaced
from scenarios.commands.cli import main as oltpsim
from scenarios.show.numbers import amount

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
PAGE = DOCS / "validation.md"
MODEL = ROOT / "calibration" / "postgresql" / "model.json"
PARAMETERS = MODEL.with_name("parameters.yaml")
RUNS = ROOT / "calibration" / "runs" / "emulated_disks"
NOT_FITTED = "io-w10-r1"
"""twice as fast as the model has it, with the reads that the model expects: it would bend the others"""
MAPPING = ["--mapping", str(ROOT / "calibration" / "runs" / "mappings" / "emulated_disks.yaml")]
BASE = "postgresql-15-400-iops"
BEGIN, END = (
    "<!-- begin of PostgreSQL's rows: python docs/build_postgresql.py -->\n",
    "<!-- end of PostgreSQL's rows -->\n",
)


def fit() -> None:
    """Fit and judge by the program's own commands, which go on where they were stopped."""
    store = ROOT / "out" / "postgresql" / "model.json"
    store.parent.mkdir(parents=True, exist_ok=True)
    runs = [str(path) for path in records_in(RUNS) if path.stem != NOT_FITTED]
    words = ["--base", BASE, *MAPPING, "--parameters", str(PARAMETERS), "--confirm", str(len(runs))]
    for command in (
        ["calibrate", *runs, *words, "--save", str(store)],
        ["validate", str(store), str(RUNS), *MAPPING, "--near", "--save", str(MODEL)],
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
    if "--draw" not in sys.argv:
        fit()
    calibration = read_calibration(MODEL)
    assert calibration.certificate is not None
    text = table(calibration, calibration.certificate)
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), BEGIN, END, text), encoding="utf-8")


if __name__ == "__main__":
    main()
