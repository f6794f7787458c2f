"""Options that several commands share, so that they are called and explained alike."""

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from oltpsim.simulator.errors import InputError

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""Base of what typer raises for wrong words; it offers only some of its subclasses under a public name."""
MOST_SEED = 2**63 - 1
MOST_REPLICATIONS = 10_000
MOST_CONFIRMED = 50
"""candidates of a plan that are simulated"""


class Output(StrEnum):
    """What is written to stdout."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


class EngineName(StrEnum):
    """What answers for the model."""

    KERNEL = "kernel"
    REFERENCE = "reference"
    ANALYTIC = "analytic"


def settings(set_: list[str] | None, engine: EngineName | None) -> tuple[str, ...]:
    """All --set options; `--engine X` is short for `--set engine=X`."""
    return (*(set_ or ()), *(() if engine is None else (f"engine={engine}",)))


def typed_options(context: typer.Context) -> list[str]:
    """Long names of the options that the command line holds."""
    return [
        max(parameter.opts, key=len)
        for parameter in context.command.params
        if str(context.get_parameter_source(parameter.name or "")).endswith("COMMANDLINE")
    ]


def finite(value: float | None) -> float | None:
    """`value`, if it is a number one can compare with. Raises typer.BadParameter."""
    if value is not None and not 0 < value < math.inf:
        raise typer.BadParameter(f"got {value:g}; must be a number above 0")
    return value


def check_place(workers: int | None, cluster: str | None) -> None:
    """Refuse two places to run at. Raises InputError."""
    if cluster is not None and workers is not None:
        raise InputError("--cluster and --workers: give one of them; a cluster has its own workers")


ScenarioArgument = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help="A scenario file (YAML), the name of one in the library, or a line of 'quick'.",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change one field of the scenario; may be repeated."),
]
EngineOption = Annotated[
    EngineName | None,
    typer.Option(
        metavar="NAME",
        help="kernel (compiled) or reference (SimPy), which give the same result; analytic: formulas, at once.",
    ),
]
SeedOption = Annotated[int, typer.Option(metavar="N", help="Seed of all random streams.", min=0, max=MOST_SEED)]
ModelOption = Annotated[
    Path | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="The calibrated model that answers: a file of 'oltpsim calibrate --save', or 'published', 'postgresql', "
        "'mysql'.",
    ),
]
ReplicationsOption = Annotated[
    int, typer.Option(help="Runs with seeds SEED, SEED + 1, ...; the rate is their mean.", min=1, max=MOST_REPLICATIONS)
]
OutputOption = Annotated[Output, typer.Option("--output", "-o", help="Form of the answer on stdout.")]
ReportOption = Annotated[
    Path | None, typer.Option(metavar="FILE.html", help="Write the report, one HTML file; .pdf prints it (Chromium).")
]
SaveOption = Annotated[
    Path | None, typer.Option(metavar="FILE.json", help="Save the run for 'oltpsim report' and 'oltpsim explain'.")
]
ChanceOption = Annotated[
    bool,
    typer.Option(
        "--chance", help="The interval of chance alone, in place of the one in which a measurement would fall."
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
TargetOption = Annotated[
    float | None,
    typer.Option(metavar="N", help="New orders per minute to reach; exit status 1 if missed.", callback=finite),
]
ClusterOption = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Run on the Dask cluster whose scheduler is there (oltpsim[dask])."),
]
WorkersOption = Annotated[
    int | None, typer.Option(metavar="N", help="Processes that run at the same time; one per core if absent.", min=1)
]
