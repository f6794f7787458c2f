"""The command line: `oltpsim COMMAND ...`.

Exit status: 0 done; 1 a stated target was missed; 2 bad input; 70 a defect of this program; 74 output that can't be
written; 130 interrupted; 141 a reader of the output that has gone (`| head`), as of other programs.
"""

import errno
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from oltpsim.simulator.errors import InputError, InstallationError

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""Base of what typer raises for wrong words; it offers only some of its subclasses under a public name."""
BAD_INPUT = 2
BLAS_VARIABLE = "OPENBLAS_NUM_THREADS"
"""NumPy's threads lose time on matrices as small as a fit's, and take it from the worker processes"""
FOLDER_VARIABLE = "OLTPSIM_CATALOG"
"""as models.catalogue has it, which takes long to import"""
DEFECT = 70
UNWRITABLE = 74
"""of <sysexits.h>: an error of input or output"""
INTERRUPTED = 130
NO_READER = 141
CANNOT_WRITE = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)

COMMANDS = {
    "run": ("run:run", "Answer for one system: its rate, how sure, what limits it."),
    "sweep": ("sweep:sweep", "Simulate a scenario over a grid or samples of values."),
    "plan": ("plan:plan", "Find the machine for a load."),
    "compare": ("compare:compare", "Compare scenarios with the same seeds."),
    "explain": ("explain:explain", "Show where time goes, what limits, what would help."),
    "system": ("system:system", "List what engines get of a scenario: parts and program."),
    "sensitivity": ("sensitivity:sensitivity", "Show which numbers of a scenario its rate depends on."),
    "report": ("report:report", "Write the report of a run as one HTML file."),
    "import": ("import_runs:import_", "Read runs of load generators and their monitors."),
    "measure": ("measure:measure_", "Run a load generator and record what database and machine do."),
    "lab": ("lab:app", "Measure scenarios on emulated machines (Linux, root)."),
    "runs": ("runs:app", "List, show and check records of measured runs."),
    "calibrate": ("calibrate:calibrate", "Fit a scenario to measured runs."),
    "next-run": ("next_run:next_run", "Rank possible runs by what they would tell."),
    "validate": ("validate:validate", "Hold a calibrated model against runs."),
    "serve": ("serve:serve_", "Ask in a browser: sliders, pictures, confirmation."),
    "catalog": ("catalog:app", "List, show, import and check parts and prices."),
    "schema": ("schema:schema", "Print the JSON schema of scenario files."),
}
"""By name: the module of scenarios.commands and the function or app in it, imported when the command is called; and
its line in the list of commands."""
MOVED = {
    name: f"oltpsim {name}: {what}\n{remedy}\n{also}"
    for name, what, remedy, also in (
        (
            "quick",
            "this command is part of 'run': formulas answer at once, the simulation confirms",
            "type: oltpsim run '8 cores, 32 GB, NVMe, PostgreSQL 17'; --engine analytic leaves the simulation out",
            "options are pieces of the line: '64 clients', '500 warehouses', 'pool 8 GB', '1 min'",
        ),
        (
            "predict",
            "this command is part of 'run', which takes a model",
            "type: oltpsim run SCENARIO --model MODEL; or oltpsim run MODEL, for its base",
            "several scenarios side by side: oltpsim compare A B --model MODEL",
        ),
        (
            "machine",
            "a machine in one line is a system of 'run'",
            "type: oltpsim run '2 x Opteron 244, 8 GB, 4 SATA'",
            "--save-scenario FILE.yaml writes what the line comes to",
        ),
    )
}
"""Names of former commands, and what to type instead."""


HELP = "Usage:"
"""begins what typer answers to a command without words"""
IS_SYSTEM = "modelled:is_system"
"""Function that tells whether a word that is no command is a system"""
SENTENCE = "usage:usage_sentence"
"""Function that tells of wrong words, imported when there are some"""


def _load(place: str) -> Any:
    module, _, attribute = place.partition(":")
    return getattr(import_module(f"oltpsim.scenarios.commands.{module}"), attribute)


class LazyCommands(Mapping[str, Any]):
    """Commands by name, each loaded when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        command = _load(COMMANDS[name][0])
        if not isinstance(command, typer.Typer):
            app = typer.Typer(add_completion=False, rich_markup_mode=None)
            app.command(name)(command)
            command = app
        return typer.main.get_command(command)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class LazyGroup(TyperGroup):
    """Command group that lists its commands without loading them."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = LazyCommands()

    def list_commands(self, _: typer.Context) -> list[str]:  # type: ignore[override]
        """Names, in the order of help."""
        return list(COMMANDS)

    def format_commands(self, _: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """Write the list of commands into the help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]
        """The command of the first word, or 'run' if that is a system. Raises InputError for a former command."""
        if args[0] in MOVED and not Path(args[0]).exists():
            raise InputError(MOVED[args[0]])
        if args[0] not in COMMANDS and not args[0].startswith("-") and _load(IS_SYSTEM)(args[0]):
            args = ["run", *args]
        return super().resolve_command(ctx, args)

    def format_usage(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """Write both forms of a command line into the help."""
        formatter.write_usage(ctx.command_path, "[OPTIONS] COMMAND [ARGS]...")
        formatter.write_usage(ctx.command_path, "SYSTEM [ARGS]...   (short for 'run SYSTEM')", prefix="       ")


app = typer.Typer(
    name="oltpsim",
    cls=LazyGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"oltpsim {version_of('oltpsim')}")
        raise typer.Exit


def _use_catalogue(folder: str | None) -> None:
    if folder is not None:
        os.environ[FOLDER_VARIABLE] = folder  # so that processes started from here find it too


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Traceback when the program itself fails.")] = False,
    catalog: Annotated[
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
    """Predict what a database will do on hardware you have not bought yet, and what will limit it.

    Rates are new orders per minute (NOPM) of a TPC-C-like load, with the interval in which a measurement would fall 9
    times of 10. They are not tpmC, which belongs to audited results, nor a harness's TPM, which counts all commits.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (that of the process if None); returns the exit status, never raises."""
    _replace_closed_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    os.environ.setdefault(BLAS_VARIABLE, "1")  # before NumPy is imported, also by processes started from here
    environment = os.environ.get(FOLDER_VARIABLE)
    try:
        arguments = [word for word in words if word != "--debug"]
        with _terminated_like_interrupted():
            status = app(arguments, prog_name="oltpsim", standalone_mode=False, obj=arguments)
        sys.stdout.flush()  # what can't be written fails here, where it can be told
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):
            return NO_READER  # click has made it a 1
        return stop.code if isinstance(stop.code, int) else 0
    except UsageError as error:
        text = str(error.format_message())  # type: ignore[attr-defined]
        return _refused(text if text.startswith(HELP) else _load(SENTENCE)(error))
    except (InputError, InstallationError) as error:
        return _refused(str(error))
    except MemoryError:
        return _refused("this computer has too little memory to simulate that; make pool, clients or data smaller")
    except Exception as error:
        if debug:
            raise
        if isinstance(error, OSError) and error.errno in CANNOT_WRITE and error.filename is None:
            return _unwritten(error)
        return _failed(error)
    finally:
        if environment is None:
            os.environ.pop(FOLDER_VARIABLE, None)
        else:
            os.environ[FOLDER_VARIABLE] = environment
    if status == INTERRUPTED:
        _say("interrupted")
    return status if isinstance(status, int) else 0


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """A request to end, as batch systems make it (SIGTERM), is taken like Ctrl-C: what is done is kept, and said."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _refused(text: str) -> int:
    """Write each problem on a line of its own; returns the exit status."""
    start = "" if text.startswith(HELP) else "error: "
    _say("\n".join(f"{start}{line}" for line in text.splitlines()))
    return BAD_INPUT


def _failed(error: Exception) -> int:
    _say(
        f"error: {type(error).__name__}: {error}\n"
        "This is a defect of oltpsim, not of your input. Please report it to its developers, with the\n"
        "scenario and what the same command prints as 'oltpsim --debug ...'."
    )
    return DEFECT


def _unwritten(error: OSError) -> int:
    """Send to nowhere what a stream still holds, lest the interpreter's end fails on it, and say why.

    An input/output error without a file's name is output's only if a stream still can't be written: reading has it too.
    """
    nowhere, is_output = os.open(os.devnull, os.O_WRONLY), error.errno != errno.EIO
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            is_output = True
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
    if isinstance(error, BrokenPipeError):
        return NO_READER
    if not is_output:
        _say(f"error: {error.strerror}: a file can't be read or written; the system log may name its disk")
        return UNWRITABLE
    _say(f"error: output: can't be written: {error.strerror}; make room, or write it elsewhere")
    return UNWRITABLE


def _say(text: str) -> None:
    """Write to stderr; if nobody takes it, the exit status alone tells."""
    with suppress(OSError):
        typer.echo(text, err=True)


def _replace_closed_streams() -> None:
    """A stream that the caller has closed takes everything and keeps nothing."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - as long as the program
