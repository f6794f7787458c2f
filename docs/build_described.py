"""Hold machines described by a line against public measurements; write their part of docs/evidence/described.md.

docs/described/lines.yaml says for each file of measurements the line of a row. The formulas answer each line, and
calibration/atlas/runs.csv gets the answers beside the measurements: the atlas. Its kernel is fitted to them by --fit.
The table judges each run by the atlas without a fifth of all runs, drawn by lot, and without the run's whole source.

python docs/build_described.py          some minutes
python docs/build_described.py --fit    the kernel, too
python docs/build_described.py --draw   only the table, from runs.csv
"""

from __future__ import annotations

import csv
import itertools
import math
import multiprocessing
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import NormalDist, fmean, stdev
from typing import Any

import numpy as np

from docs.build import head, line, replaced
from oltpsim.calibration.atlas import (
    AtlasKernel,
    AtlasRun,
    assumed_facts,
    fitted_kernel,
    left_out,
    place_of,
    read_atlas_runs,
    write_atlas_runs,
)
from oltpsim.models.input import as_mapping, parse_yaml, written_whole
from oltpsim.models.reading import Description, read_description
from oltpsim.models.wiring import build
from oltpsim.scenarios.run import default_workers
from oltpsim.simulator import analytic
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import BoolArray, FloatArray

DOCS = Path(__file__).resolve().parent
DESCRIBED = DOCS / "described"
PAGE, LINES, REFUSED = DOCS / "evidence" / "described.md", DESCRIBED / "lines.yaml", DESCRIBED / "refused.csv"
BEGIN = "<!-- begin of the described machines: python docs/build_described.py -->\n"
END = "<!-- end of the described machines -->\n"
PER_MIN = {"new orders/min": 1.0, "transactions/s": 60.0, "TPC-C transactions/s": 60.0 * 10 / 23}
"""Rate in the formulas' unit by the unit of the file; 10 of 23 TPC-C transactions of sysbench are new orders."""
SETTING = "--set "
SEED = 1
FOLDS = 5
"""parts of the runs, by lot, of which each is predicted by the others"""
QUANTILE = NormalDist().inv_cdf(0.95)
"""ends of a 90 % interval in standard deviations"""
RUN_TO_RUN = 0.05
"""smallest standard deviation of one run's logarithm: assumption, as in calibration/fit"""
BLAS_THREADS = "OPENBLAS_NUM_THREADS"


@dataclass(frozen=True)
class Measured:
    """Measured rates of one described line. `pieces`: of the line, each with its further spellings."""

    file: str
    pieces: tuple[tuple[str, ...], ...]
    rates_per_min: tuple[float, ...]

    @property
    def rate_per_min(self) -> float:
        """Geometric mean of the repeats."""
        return math.exp(fmean(map(math.log, self.rates_per_min)))

    @property
    def noise_sd(self) -> float:
        """Standard deviation of the mean's logarithm."""
        spread = stdev(map(math.log, self.rates_per_min)) if len(self.rates_per_min) > 1 else 0.0
        return max(spread, RUN_TO_RUN) / math.sqrt(len(self.rates_per_min))


@dataclass(frozen=True)
class Refusal:
    """A line that the reader refused, or of which it refused pieces that have another spelling; with its reasons."""

    file: str
    line: str
    answered: bool
    reasons: str


@dataclass(frozen=True)
class Errors:
    """Errors of left-out runs: logarithms of the predicted by the measured rate, and their standard deviations."""

    logs: FloatArray
    sds: FloatArray

    @property
    def median(self) -> float:
        """Median of the rate's relative error."""
        return float(np.median(np.abs(np.expm1(self.logs))))

    @property
    def inside(self) -> float:
        """Share of measured rates in their 90 % interval."""
        return float(np.mean(np.abs(self.logs) <= QUANTILE * self.sds))

    @property
    def half_width(self) -> float:
        """Median half width of the 90 % interval, as a factor."""
        return float(np.exp(QUANTILE * np.median(self.sds)))

    def __getitem__(self, chosen: BoolArray) -> Errors:
        """Errors of chosen runs."""
        return Errors(self.logs[chosen], self.sds[chosen])


@dataclass
class Spelling:
    """A line as its pieces are spelt at the moment; `refused`: pieces that the reader refused, with its reason."""

    pieces: Sequence[Sequence[str]]
    chosen: list[int] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.chosen = [0] * len(self.pieces)

    @property
    def _words(self) -> list[str]:
        return [each[at] for each, at in zip(self.pieces, self.chosen, strict=True)]

    @property
    def line(self) -> str:
        """The line, without its settings."""
        return ", ".join(each for each in self._words if each and not each.startswith(SETTING))

    @property
    def settings(self) -> list[str]:
        """Settings in the place of pieces."""
        return [each.removeprefix(SETTING) for each in self._words if each.startswith(SETTING)]

    def described(self) -> Description:
        """The description by the first spelling that the reader takes. Raises InputError if it takes none."""
        while True:
            try:
                return read_description(self.line, self.settings)
            except InputError as error:
                self._respell(error)

    def _respell(self, error: InputError) -> None:
        """Spell the piece that an error quotes otherwise. Raises the error if it quotes none that can be."""
        for at, (words, spellings) in enumerate(zip(self._words, self.pieces, strict=True)):
            quotes = {words, *words.split(", "), *words.split(" + ")}
            if self.chosen[at] + 1 < len(spellings) and any(f"'{each}'" in str(error) for each in quotes):
                self.refused[words] = first_line(error)
                self.chosen[at] += 1
                return
        raise error


def first_line(error: InputError) -> str:
    """What is wrong, without the reader's list of pieces."""
    return str(error).splitlines()[0].partition("; pieces, with")[0]


def rows_of(file: str) -> Iterator[dict[str, str]]:
    """Rows of a file of measurements."""
    with (DESCRIBED / file).open(encoding="utf-8", newline="") as text:
        yield from csv.DictReader(each for each in text if not each.startswith("#"))


def spellings(piece: str | Sequence[str], row: Mapping[str, str], words: Mapping[str, Any]) -> tuple[str, ...]:
    """Spellings of a piece in a row: of the template, and of the words for the columns' values in it."""
    found: list[str] = []
    for template in [piece] if isinstance(piece, str) else piece:
        named = [column for column in row if f"{{{column}}}" in template]
        choices = [words.get(column, {}).get(row[column], row[column]) for column in named]
        for chosen in itertools.product(*([each] if isinstance(each, str) else each for each in choices)):
            values = {column: each.format(**row) for column, each in zip(named, chosen, strict=True)}
            found.append(template.format(**values))
    return tuple(found)


def sources() -> dict[str, dict[str, Any]]:
    """Files of measurements, with the lines that describe their rows."""
    return as_mapping(parse_yaml(LINES.read_text(encoding="utf-8"), LINES.name), LINES.name)


def measurements() -> list[Measured]:
    """Every described line with its repeats."""
    found: dict[tuple[str, tuple[tuple[str, ...], ...]], list[float]] = {}
    for file, source in sources().items():
        for row in rows_of(file):
            if any(row[column] != value for column, value in source.get("only", {}).items()):
                continue
            pieces = tuple(spellings(piece, row, source.get("words", {})) for piece in source["pieces"])
            rate = float(row[source["rate"]]) * PER_MIN[source["unit"].format(**row)]
            found.setdefault((file, pieces), []).append(rate)
    return [Measured(*key, tuple(rates)) for key, rates in found.items()]


def answer(measured: Measured) -> tuple[AtlasRun | None, Refusal | None]:
    """The run beside the formulas' answer to its line, and what the reader refused of it."""
    spelling = Spelling(measured.pieces)
    run = None
    reasons: list[str] = []
    try:
        description = spelling.described()
        scenario = description.scenario.model_copy(update={"engine": "analytic"})
        result = analytic.simulate(build(scenario), SEED)
        run = AtlasRun(
            source=measured.file,
            line="; ".join((spelling.line, *spelling.settings)),
            repeats=len(measured.rates_per_min),
            measured_per_min=measured.rate_per_min,
            calculated_per_min=result.rate_per_min.mean,
            noise_sd=measured.noise_sd,
            assumed=frozenset(assumed_facts(description).values()),
            place=place_of(scenario, result),
        )
    except InputError as error:
        reasons = [first_line(error)]
    reasons = [*spelling.refused.values(), *reasons]
    refusal = Refusal(measured.file, spelling.line, run is not None, "; ".join(reasons)) if reasons else None
    return run, refusal


def answers_of(asked: Sequence[Measured]) -> list[tuple[AtlasRun | None, Refusal | None]]:
    """Answers to lines, in a pool of processes."""
    os.environ.setdefault(BLAS_THREADS, "1")  # or a process for each core would have threads for each core
    with ProcessPoolExecutor(default_workers(), multiprocessing.get_context("spawn")) as executor:
        return list(executor.map(answer, asked, chunksize=4))


def write_refusals(refusals: Iterable[Refusal]) -> None:
    """Write refusals as CSV."""
    with written_whole(REFUSED) as path, path.open("w", encoding="utf-8", newline="") as text:
        table = csv.writer(text, lineterminator="\n")
        table.writerow(["file", "line", "answered", "reasons"])
        table.writerows([each.file, each.line, each.answered or "", each.reasons] for each in refusals)


def read_refusals() -> list[Refusal]:
    """The refusals of the last build."""
    return [Refusal(**{**row, "answered": bool(row["answered"])}) for row in rows_of(REFUSED.name)]


def errors_of(runs: Sequence[AtlasRun], kernel: AtlasKernel) -> tuple[Errors, Errors, Errors]:
    """Errors of the formulas alone, of the atlas without a fifth of the runs, and without the run's source."""
    missed = np.array([run.missed for run in runs])
    alone = [math.sqrt(kernel.variance(run.place)) for run in runs]
    lot = np.random.default_rng(SEED).integers(0, FOLDS, len(runs)).astype(str).tolist()
    found = [Errors(-missed, np.array(alone))]
    for groups in (lot, [run.source for run in runs]):
        mean, sd = left_out(kernel, runs, groups)
        found.append(Errors(mean - missed, sd))
    return found[0], found[1], found[2]


def summary(errors: Sequence[Errors], chosen: BoolArray) -> tuple[str, ...]:
    """Cells for chosen runs: the formulas' median error and bias, then the atlas's errors in both ways."""
    formulas, fifth, source = (each[chosen] for each in errors)
    cells = [f"{formulas.median:.0%}", f"{math.exp(formulas.logs.mean()):.2f}"]
    for each in (fifth, source):
        cells += [f"{each.median:.0%}", f"{each.inside:.0%}", f"{each.half_width:.2f}"]
    return tuple(cells)


def tables(runs: Sequence[AtlasRun], refusals: Sequence[Refusal], kernel: AtlasKernel) -> str:
    """A row for each source, pieces that the reader refuses, and each file's source and conditions."""
    errors = errors_of(runs, kernel)
    of_file = np.array([run.source for run in runs])
    text = head(
        "measured", "lines", "runs", "refused", "formulas: median error", "said / measured",
        "atlas without a fifth: median error", "inside 90 %", "half width, factor",
        "atlas without the source: median error", "inside 90 %", "half width, factor", figures=True,
    )  # fmt: skip
    for file, title in [*((file, source["title"]) for file, source in sources().items()), ("", "all")]:
        chosen: BoolArray = of_file == file if file else np.ones(len(runs), dtype=np.bool_)
        refused = sum(not each.answered and file in ("", each.file) for each in refusals)
        repeats = sum(run.repeats for run, is_chosen in zip(runs, chosen, strict=True) if is_chosen)
        cells = summary(errors, chosen) if chosen.any() else ("",) * 8
        text += line(title, f"{chosen.sum()}", f"{repeats}", f"{refused}", *cells)
    text += "\nPieces that the reader refuses, and lines without an answer:\n\n"
    reasons = dict.fromkeys(reason for each in refusals for reason in each.reasons.split("; machine: "))
    text += "".join(f"- {reason.removeprefix('machine: ')}\n" for reason in reasons) + "\n"
    for file, source in sources().items():
        first = (DESCRIBED / file).read_text(encoding="utf-8").splitlines()[0].removeprefix("# source: ")
        text += f"- {source['title']} ({file}): {first}. No line says: {', '.join(source['unsaid'])}.\n"
    return text


def main() -> None:
    """Answer all lines unless only the table is drawn, fit the kernel if asked to, and write the table."""
    if "--draw" not in sys.argv:
        answers = answers_of(measurements())
        write_atlas_runs(run for run, _ in answers if run is not None)
        write_refusals(refusal for _, refusal in answers if refusal is not None)
    if "--fit" in sys.argv:
        fitted_kernel(read_atlas_runs()).write()
    table = tables(read_atlas_runs(), read_refusals(), AtlasKernel.read())
    page = replaced(PAGE.read_text(encoding="utf-8"), BEGIN, END, table)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
