"""Options that several commands share, so that they are called and explained alike."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Output(StrEnum):
    """What is written to stdout."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


ScenarioArgument = Annotated[
    str, typer.Argument(metavar="SCENARIO", help="A scenario file (YAML), or the name of one in the library.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change one field of the scenario; may be repeated."),
]
SeedOption = Annotated[int, typer.Option(metavar="N", help="Seed of all random streams.", min=0)]
ReplicationsOption = Annotated[
    int,
    typer.Option(help="Runs with seeds SEED, SEED + 1, ...; the rate is their mean.", min=1),
]
OutputOption = Annotated[Output, typer.Option("--output", "-o", help="Form of the answer on stdout.")]
ReportOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE.html", help="Write the report, one HTML file."),
]
SaveOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE.json", help="Save the run for 'oltpsim report' and 'oltpsim explain'."),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
TargetOption = Annotated[
    float | None,
    typer.Option(metavar="N", help="New orders per minute to reach; exit status 1 if missed."),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(metavar="N", help="Processes that run at the same time; one per core if absent.", min=1),
]
