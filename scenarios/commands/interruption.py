"""Work that was stopped: what of it is kept, and where."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from oltpsim.calibration.fit import StepJournal
from oltpsim.scenarios.commands.options import PlaceOptions
from oltpsim.scenarios.questions.sweep import SweepRunner
from oltpsim.scenarios.run import Display


def say_kept(done: str, file: Path | None) -> None:
    """Say where the work that is done has gone. `done`: how much of what, as in '3 of 8 runs'."""
    where = f" and kept in {file}; the same command goes on from there" if file else "; --save would have kept them"
    typer.echo(f"{done} are done{where}", err=True)


@contextmanager
def saying_what_is_kept(kept: StepJournal, what: str) -> Iterator[None]:
    """Context of work whose steps are kept: says how many are, and where, if it doesn't come to its end.

    Ctrl-C becomes exit status 130. `what`: name of the steps.
    """
    try:
        yield
    except KeyboardInterrupt:
        say_kept(f"{kept.finished:,} {what}", kept.path)
        raise typer.Exit(130) from None
    except BaseException:
        if kept.finished:
            say_kept(f"{kept.finished:,} {what}", kept.path)
        raise


def say_reused(reused: int, what: str, file: Path | None, quiet: bool) -> None:
    """Say how many pieces of work, `what` they are called, were in a file before; nothing of none."""
    if reused and not quiet:
        typer.echo(f"{reused:,} {what} were in {file} already", err=True)


def is_interrupted(runner: SweepRunner, place: PlaceOptions, save: Path | None, display: Display) -> bool:
    """Run what a runner's store doesn't hold; whether Ctrl-C ended it. Says what is kept if something did."""
    ended = False
    try:
        runner.run(place.processes, display, place.cluster)
        ended = True
    except KeyboardInterrupt:
        return True
    finally:
        for run in runner.store.damaged:
            typer.echo(f"{save}: run {run} is damaged; it is run again", err=True)
        runner.store.damaged.clear()
        if not ended and runner.runs_needed:
            say_kept(f"{runner.finished:,} of {runner.runs_needed:,} runs", save)
    return False
