"""Options that several commands share, in one record a topic, so that they are called and explained alike."""

import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from oltpsim.scenarios.run import default_workers
from oltpsim.simulator.errors import InputError

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


ScenarioArgument = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help="A line, '8 cores, 32 GB, NVMe, PostgreSQL 17', a scenario file (YAML), or the name of one in the "
        "library.",
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
        help="Calibrated model that answers: a file of 'oltpsim calibrate --save', or 'published', 'postgresql', "
        "'mysql'; 'none': the catalogue's values.",
    ),
]
ModelArgument = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL", help="A file that 'oltpsim calibrate --save' made; 'published', 'postgresql' or 'mysql'."
    ),
]
OutputOption = Annotated[Output, typer.Option("--output", "-o", help="Form of the answer on stdout.")]
ReplicationsOption = Annotated[
    int, typer.Option(help="Runs with seeds SEED, SEED + 1, ...; the rate is their mean.", min=1, max=MOST_REPLICATIONS)
]
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


@dataclass(frozen=True)
class SystemOptions:
    """The system that is asked about: changes of its scenario, the values and the engine that answer."""

    set_: SetOption = None
    model: ModelOption = None
    engine: EngineOption = None

    @property
    def settings(self) -> tuple[str, ...]:
        """All --set options; `--engine X` is short for `--set engine=X`."""
        return (*(self.set_ or ()), *(() if self.engine is None else (f"engine={self.engine}",)))

    @property
    def engine_setting(self) -> str | None:
        """The setting that chooses an engine, if one does."""
        return next((each for each in self.settings if each.partition("=")[0].strip() == "engine"), None)


@dataclass(frozen=True)
class AnswerOptions:
    """The form of an answer."""

    output: OutputOption = Output.TABLE
    chance: ChanceOption = False
    quiet: QuietOption = False


@dataclass(frozen=True)
class PlaceOptions:
    """The processes that simulate: here or on a cluster."""

    workers: WorkersOption = None
    cluster: ClusterOption = None

    @property
    def processes(self) -> int:
        """Processes that run here at the same time."""
        return self.workers or default_workers()

    def check(self) -> None:
        """Refuse two places. Raises InputError."""
        if self.cluster is not None and self.workers is not None:
            raise InputError("--cluster and --workers: give one of them; a cluster has its own workers")


def with_records(command: Callable[..., None]) -> Callable[..., None]:
    """The command with each parameter that is a record of options replaced by the record's fields, for typer."""
    parameters = inspect.signature(command, eval_str=True).parameters
    records: dict[str, Any] = {
        name: each.annotation for name, each in parameters.items() if is_dataclass(each.annotation)
    }

    def flat() -> Iterator[inspect.Parameter]:
        for name, each in parameters.items():
            yield from _fields(records[name]) if name in records else [each]

    def call(**values: Any) -> None:
        made = {
            name: record(**{each.name: values.pop(each.name) for each in fields(record)})
            for name, record in records.items()
        }
        command(**values, **made)

    call.__name__, call.__doc__ = command.__name__, command.__doc__
    signature = inspect.Signature([each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in flat()])
    call.__signature__ = signature  # type: ignore[attr-defined]
    call.__annotations__ = {name: each.annotation for name, each in signature.parameters.items()}
    return call


def _fields(record: Any) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(record, include_extras=True)
    for each in fields(record):
        default = inspect.Parameter.empty if each.default is MISSING else each.default
        yield inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[each.name])
