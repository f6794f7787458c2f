"""How `run` and `quick` answer: the same shape on stdout, the same files, the same exit status."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from scenarios.commands.options import Output

if TYPE_CHECKING:
    from models.specs import ScenarioSpec
    from simulator.results import Result


@dataclass(frozen=True)
class Wanted:
    """What to do with a result. `command` gives the same result again."""

    output: Output
    report: Path | None
    save: Path | None
    target: float | None
    command: str


def command_line(words: Sequence[object]) -> str:
    """A command as one would type it."""
    return shlex.join(str(word) for word in words)


def give(scenario: ScenarioSpec, result: Result, wanted: Wanted) -> None:
    """Write files and stdout. Raises typer.Exit(1) if the target is missed."""
    from scenarios import saved

    if wanted.save is not None:
        saved.write(wanted.save, saved.SavedRun(scenario, result))
    if wanted.report is not None:
        from scenarios.report import write_report

        write_report(result, scenario, wanted.report, wanted.command)
    typer.echo(text_of(scenario, result, wanted), nl=False)
    check_target(result, wanted.target)


def text_of(scenario: ScenarioSpec, result: Result, wanted: Wanted) -> str:
    """What goes to stdout."""
    if wanted.output is Output.JSON:
        from simulator.results import to_json

        return to_json(result)
    if wanted.output is Output.CSV:
        from scenarios.summary import summary_csv

        return summary_csv(result, scenario)
    from scenarios.summary import summary_text

    lines = [summary_text(result, scenario).rstrip("\n")]
    if wanted.report is not None:
        lines.append(f"report: {wanted.report}")
    if wanted.save is not None:
        lines.append(f"saved: {wanted.save}")
    lines.append(f"again, same bytes: {wanted.command}")
    return "\n".join(lines) + "\n"


def check_target(result: Result, target: float | None) -> None:
    """Raises typer.Exit(1), with one line on stderr, if the mean rate is below the target."""
    rate = result.rate_per_min
    if target is not None and rate.mean < target:
        typer.echo(
            f"target missed: {rate.mean:,.0f} [{rate.low:,.0f} .. {rate.high:,.0f}] new orders per minute,"
            f" target {target:,.0f}",
            err=True,
        )
        raise typer.Exit(1)
