"""The answer to one scenario on stdout, and the files and the exit status that go with it."""

import shlex
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import typer

from oltpsim.scenarios.commands.lazy_parts import write_report_file
from oltpsim.scenarios.commands.modelled import Assumed, ModelledScenario, measurement_of
from oltpsim.scenarios.commands.options import AnswerOptions, Output
from oltpsim.scenarios.run import SavedRun, write_saved_run
from oltpsim.scenarios.show.numbers import milliseconds
from oltpsim.scenarios.show.summary import DISAGREE, Beside, answer_json, summary_csv, summary_text
from oltpsim.scenarios.show.words import Expected, as_expected, is_calculated, rate_words, unit_of
from oltpsim.simulator.results import Result

NARROWEST = 60
"""Narrower than this the figures would not fit beside their labels."""


@dataclass(frozen=True)
class RunAnswer:
    """A result of a scenario, with what it rests on.

    `calculated`: the formulas' answer beside a simulated one. `command`: gives the same result again.
    """

    modelled: ModelledScenario
    result: Result
    assumed: Assumed
    expected: Expected
    calculated: Result | None
    command: str
    certificate: str | None = None
    """certificate of the model of --model: its errors on its runs"""


@dataclass
class TimedAnswers:
    """The results of a block, and how long it took when it is over."""

    results: list[Result] = field(default_factory=list)
    wall_s: float = 0.0


def command_line(words: Sequence[object]) -> str:
    """A command as one would type it."""
    return shlex.join(str(word) for word in words)


@contextmanager
def timed(quiet: bool) -> Iterator[TimedAnswers]:
    """Says on stderr, unless `quiet`, how fast an engine was with the results that the block puts into the list."""
    block = TimedAnswers()
    began = time.monotonic()
    yield block
    block.wall_s = max(time.monotonic() - began, 1e-9)
    for result in [] if quiet else block.results:
        typer.echo(f"{result.engine}: {_speed(result, block.wall_s)}", err=True)


def _speed(result: Result, wall_s: float) -> str:
    if is_calculated(result):
        return f"answered in {milliseconds(wall_s)} ms"
    simulated_s = result.warm_up_s + result.duration_s
    times = simulated_s / wall_s
    speed = f"{times:,.0f}" if times >= 10 else f"{times:.2g}"
    return (
        f"{simulated_s:,.0f} s simulated in {wall_s:,.1f} s, {speed} times"
        f" real time, {result.transactions_per_s * simulated_s / wall_s:,.0f} transactions/s"
    )


def expected_of(modelled: ModelledScenario, result: Result, assumed: Assumed, options: AnswerOptions) -> Expected:
    """Where a measurement would fall; empty if only chance was asked for."""
    return "" if options.chance else measurement_of(modelled, result, assumed.guesses)


def give(answered: RunAnswer, options: AnswerOptions, report: Path | None, save: Path | None) -> None:
    """Write files and stdout."""
    scenario, result = answered.modelled.machine, answered.result
    if save is not None:
        write_saved_run(save, SavedRun(scenario, as_expected(result, answered.expected)))
    if report is not None:
        write_report_file(SavedRun(scenario, result), answered.expected, report, answered.command, options.quiet)
    if options.output is Output.JSON:
        typer.echo(answer_json(result, answered.expected, answered.assumed.rows, answered.certificate), nl=False)
    elif options.output is Output.CSV:
        typer.echo(summary_csv(result, scenario, answered.expected), nl=False)
        for warning in result.warnings:  # of which CSV has the number only; table and JSON hold them
            typer.echo(f"warning: {warning}", err=True)
    else:
        files = [f"{what}: {file}" for what, file in (("report", report), ("saved", save)) if file is not None]
        typer.echo("\n".join([_table(answered), *files, f"reproduce: {answered.command}"]))


def _table(answer: RunAnswer) -> str:
    """The answer on one screen; in colour what limits it by either engine, where they disagree."""
    beside = Beside(answer.calculated, answer.assumed.words, answer.certificate)
    text = summary_text(answer.result, answer.modelled.machine, terminal_width(), answer.expected, beside).rstrip("\n")
    if not sys.stdout.isatty():
        return text
    lines = (typer.style(line, fg="yellow") if line.startswith(f"  {DISAGREE}") else line for line in text.split("\n"))
    return "\n".join(lines)


def terminal_width() -> int:
    """Columns of the terminal; in a file or a pipe 80, so that the same command writes the same bytes."""
    return max(NARROWEST, shutil.get_terminal_size().columns) if sys.stdout.isatty() else 80


def check_target(result: Result, target: float | None, expected: Expected) -> None:
    """Raises typer.Exit(1), with one line on stderr, if the mean rate is below the target."""
    rate = as_expected(result, expected).rate_per_min
    if target is not None and rate.mean < target:
        words = ", ".join(rate_words(rate, expected, is_calculated(result)))
        unit = unit_of(result.main_class)
        typer.echo(f"target missed: {rate.mean:,.0f} {unit} {words}; target {target:,.0f}", err=True)
        raise typer.Exit(1)
