"""Hold machines described by a line against public measurements; write their part of docs/evidence/described.md.

docs/described/lines.yaml says for each file of measurements the line of a row. Lines are answered as
`oltpsim run LINE --engine analytic` does; docs/described/answers.csv gets every answer.

python docs/build_described.py               some minutes
python docs/build_described.py public.csv    only this file's lines, or several files'
python docs/build_described.py --draw        only the table, from the answers
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
from dataclasses import dataclass, field, fields
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

from docs.build import head, line, replaced
from oltpsim.calibration.predict import guesses_of, measurement_interval
from oltpsim.models.input import as_mapping, parse_yaml, written_whole
from oltpsim.models.reading import Description, read_description
from oltpsim.models.wiring import build
from oltpsim.scenarios.run import default_workers
from oltpsim.simulator import analytic
from oltpsim.simulator.errors import InputError

DOCS = Path(__file__).resolve().parent
DESCRIBED = DOCS / "described"
PAGE, LINES, ANSWERS = DOCS / "evidence" / "described.md", DESCRIBED / "lines.yaml", DESCRIBED / "answers.csv"
BEGIN = "<!-- begin of the described machines: python docs/build_described.py -->\n"
END = "<!-- end of the described machines -->\n"
PER_MIN = {"new orders/min": 1.0, "transactions/s": 60.0, "TPC-C transactions/s": 60.0 * 10 / 23}
"""Rate in the formulas' unit by the unit of the file; 10 of 23 TPC-C transactions of sysbench are new orders."""
SETTING = "--set "
SEED = 1
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
    def spread(self) -> float:
        """Standard deviation of the repeats' logarithms, 0 of a single run."""
        return stdev(map(math.log, self.rates_per_min)) if len(self.rates_per_min) > 1 else 0.0


@dataclass(frozen=True)
class Answer:
    """A line's answer beside its measurement, rates per minute; `refused`: the reason why there is none."""

    file: str
    line: str
    settings: str
    runs: int
    measured: float
    spread: float
    said: float | None = None
    low: float | None = None
    high: float | None = None
    spelt_otherwise: str = ""
    refused: str = ""

    @property
    def ratio(self) -> float:
        """Said rate by the measured one."""
        assert self.said is not None
        return self.said / self.measured

    @property
    def is_inside(self) -> bool:
        """Whether the measured rate lies in the interval."""
        assert self.low is not None
        assert self.high is not None
        return self.low <= self.measured <= self.high

    @property
    def half_width(self) -> float:
        """Half width of the interval as a factor."""
        assert self.low is not None
        assert self.high is not None
        return math.sqrt(self.high / self.low)


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


def answer(measured: Measured, with_interval: bool) -> Answer:
    """The formulas' answer to a described line, with the interval in which a measurement would fall if wanted."""
    spelling = Spelling(measured.pieces)
    said: dict[str, Any] = {}
    try:
        description = spelling.described()
        scenario = description.scenario.model_copy(update={"engine": "analytic"})
        result = analytic.simulate(build(scenario), SEED)
        said = {"said": result.rate_per_min.mean}
        if with_interval:
            interval = measurement_interval(scenario, result, None, guesses_of(description))
            said |= {"low": interval.rate.low, "high": interval.rate.high}
    except InputError as error:
        said = {"refused": first_line(error)}
    return Answer(
        measured.file, spelling.line, "; ".join(spelling.settings), len(measured.rates_per_min), measured.rate_per_min,
        measured.spread, **said, spelt_otherwise="; ".join(spelling.refused.values()),
    )  # fmt: skip


def answers_of(asked: Sequence[Measured]) -> list[Answer]:
    """Answers to lines, in a pool of processes."""
    os.environ.setdefault(BLAS_THREADS, "1")  # or a process for each core would have threads for each core
    numbers = {file: itertools.count() for file in sources()}
    every = {file: source.get("interval_every", 1) for file, source in sources().items()}
    bounded = [is_turn(next(numbers[each.file]), every[each.file]) for each in asked]
    with ProcessPoolExecutor(default_workers(), multiprocessing.get_context("spawn")) as executor:
        return list(executor.map(answer, asked, bounded, chunksize=2))


def is_turn(number: int, every: int) -> bool:
    """Whether a line by its number is one of those that have an interval: the middle one of so many."""
    return every > 0 and number % every == every // 2


def write_answers(answers: Iterable[Answer]) -> None:
    """Write the answers as CSV."""
    with written_whole(ANSWERS) as path, path.open("w", encoding="utf-8", newline="") as text:
        table = csv.writer(text, lineterminator="\n")
        table.writerow(each.name for each in fields(Answer))
        for each in answers:
            values = (getattr(each, column.name) for column in fields(Answer))
            table.writerow(f"{value:.6g}" if isinstance(value, float) else value for value in values)


def read_answers() -> list[Answer]:
    """The answers of the last build."""
    numbers = {"measured", "spread", "said", "low", "high"}
    found = []
    for row in rows_of(ANSWERS.name):
        values = {key: float(value) if value else None for key, value in row.items() if key in numbers}
        found.append(Answer(**{**row, **values, "runs": int(row["runs"])}))
    return found


def summary(answers: Sequence[Answer]) -> tuple[str, ...]:
    """Cells for answers: lines, runs, refused ones, errors, bias, share inside, half width."""
    given = [each for each in answers if each.said is not None]
    counts = (f"{len(answers)}", f"{sum(each.runs for each in answers)}", f"{len(answers) - len(given)}")
    if not given:
        return (*counts, "", "", "", "", "")
    errors = [abs(each.ratio - 1.0) for each in given]
    bias = math.exp(fmean(math.log(each.ratio) for each in given))
    cells = (*counts, f"{median(errors):.0%}", f"{fmean(errors):.0%}", f"{bias:.2f}")
    bounded = [each for each in given if each.low is not None]
    if not bounded:
        return (*cells, "", "")
    inside = fmean(each.is_inside for each in bounded)
    return (*cells, f"{inside:.0%}", f"{median(each.half_width for each in bounded):.2f}")


def tables(answers: Sequence[Answer]) -> str:
    """A row for each file, pieces that the reader refuses, and each file's source and conditions."""
    of_file = {file: [each for each in answers if each.file == file] for file in sources()}
    text = head(
        "measured", "lines", "runs", "refused", "median error", "mean error", "said / measured, geometric mean",
        "inside 90 % interval", "median half width, factor", figures=True,
    )  # fmt: skip
    for file, source in sources().items():
        text += line(source["title"], *summary(of_file[file]))
    text += line("all", *summary(answers)) + "\n"
    text += "Pieces that the reader refuses, and lines without an answer:\n\n"
    reasons = dict.fromkeys(
        reason for each in answers for reason in (*each.spelt_otherwise.split("; machine: "), each.refused) if reason
    )
    text += "".join(f"- {reason.removeprefix('machine: ')}\n" for reason in reasons) + "\n"
    for file, source in sources().items():
        first = (DESCRIBED / file).read_text(encoding="utf-8").splitlines()[0].removeprefix("# source: ")
        text += f"- {source['title']} ({file}): {first}. No line says: {', '.join(source['unsaid'])}.\n"
    return text


def main() -> None:
    """Answer the lines of all files, or of those named, and write the answers and the tables."""
    named = sys.argv[1:] or list(sources())
    if "--draw" not in named:
        measured = measurements()
        answered = iter(answers_of([each for each in measured if each.file in named]))
        kept = iter([each for each in read_answers() if each.file not in named] if len(named) < len(sources()) else ())
        write_answers(next(answered if each.file in named else kept) for each in measured)
    page = replaced(PAGE.read_text(encoding="utf-8"), BEGIN, END, tables(read_answers()))
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
