"""The command line: `oltpsim COMMAND ...`. Thin: what a command does is in scenarios/commands.

Exit status: 0 done; 1 a stated target was missed; 2 bad input; 70 a defect of this program; 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated

import typer

from scenarios.commands import (
    calibrate,
    catalog,
    compare,
    explain,
    import_runs,
    machine,
    next_run,
    plan,
    predict,
    quick,
    report,
    run,
    runs,
    schema,
    sensitivity,
    sweep,
    validate,
)
from scenarios.commands.usage import HELP_OF_ALL, UsageError, sentence
from simulator.errors import InputError

BAD_INPUT = 2
FOLDER_VARIABLE = "OLTPSIM_CATALOG"
"""as models.catalogue has it, which takes long to import"""
DEFECT = 70
INTERRUPTED = 130

app = typer.Typer(
    name="oltpsim",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"oltpsim {version('oltpsim')}")
        raise typer.Exit


def _use_catalogue(folder: str | None) -> None:
    if folder is not None:
        os.environ[FOLDER_VARIABLE] = folder  # so that processes started from here find it too


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Traceback when the program itself fails.")] = False,
    catalog_: Annotated[
        str | None,
        typer.Option(
            "--catalog",
            metavar="FOLDER",
            envvar=FOLDER_VARIABLE,
            callback=_use_catalogue,
            help="Your own catalogue, whose entries go before the program's.",
        ),
    ] = None,
) -> None:
    """Predict what a database will do on hardware you have not bought yet, and what will limit it."""


for _command in (
    quick,
    machine,
    run,
    sweep,
    plan,
    compare,
    explain,
    sensitivity,
    report,
    import_runs,
    runs,
    calibrate,
    next_run,
    predict,
    validate,
    catalog,
    schema,
):
    _command.register(app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (that of the process if None); returns the exit status, never raises."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    environment = os.environ.get(FOLDER_VARIABLE)
    try:
        arguments = [word for word in words if word != "--debug"]
        status = app(arguments, prog_name="oltpsim", standalone_mode=False, obj=arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    except UsageError as error:
        return _refused(sentence(error))
    except InputError as error:
        return _refused(str(error))
    except MemoryError:
        return _refused("this computer has too little memory to simulate that; make pool, clients or data smaller")
    except Exception as error:
        if debug:
            raise
        typer.echo(
            f"error: {type(error).__name__}: {error}\n"
            "This is a defect of oltpsim, not of your input. Please report it to its developers, with the\n"
            "scenario and what the same command prints as 'oltpsim --debug ...'.",
            err=True,
        )
        return DEFECT
    finally:
        if environment is None:
            os.environ.pop(FOLDER_VARIABLE, None)
        else:
            os.environ[FOLDER_VARIABLE] = environment
    if status == INTERRUPTED:
        typer.echo("interrupted", err=True)
    return status if isinstance(status, int) else 0


def _refused(text: str) -> int:
    """Say each problem on a line of its own; returns the exit status."""
    start = "" if text.startswith(HELP_OF_ALL) else "error: "
    typer.echo("\n".join(f"{start}{line}" for line in text.splitlines()), err=True)
    return BAD_INPUT
