"""oltpsim machine: one line of description, one prediction."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenarios.commands.answer import terminal_width
from scenarios.commands.inputs import check_places
from scenarios.commands.options import Output, OutputOption, QuietOption, SetOption
from simulator.errors import InputError

if TYPE_CHECKING:
    from calibration.fit import Calibration

NO_MODEL = "none"
PUBLISHED = "published"


def machine(
    line: Annotated[
        str, typer.Argument(metavar="LINE", help="Pieces in any order, with commas: '2 x Opteron 244, 8 GB, 4 SATA'.")
    ],
    model: Annotated[
        str,
        typer.Option(
            metavar="MODEL",
            help="A file of 'oltpsim calibrate --save'; published: the program's own; none: the catalogue's values.",
        ),
    ] = PUBLISHED,
    set_: SetOption = None,
    output: OutputOption = Output.TABLE,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE.yaml", help="Write the scenario, commented, for 'oltpsim run'.")
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Predict a machine from a line that describes it, with an honest interval.

    Pieces: a name, processors ('2 x quad-core Xeon 5410 2.33 GHz', 'hyper-threading', 'under Xen'), memory ('8 GB'),
    disks ('4 SATA', 'RAID 5 of 4 SCSI 10k', 'NVMe'), operating system, engine, '120,000 buffers', '40 warehouses',
    '80 clients'; and if it isn't an hour from a fresh load: '30 min', 'in memory, 10,000 new orders each',
    'load of 20 warehouses', 'serial read'.

    What the line leaves open is guessed; each guess is shown with its source, and the interval holds it.
    """
    from calibration.predict import foresee
    from models.input import write_whole
    from models.reading import described
    from scenarios.run import display
    from scenarios.show import machine_json, machine_table, machine_yaml

    if output is Output.CSV:
        raise InputError("--output csv: a machine is more than a row; give table or json")
    description = described(line, set_ or ())
    check_places(save)
    calibration = _calibration(model)
    if save is not None:
        write_whole(save, machine_yaml(description))
    with display(quiet) as shown:
        found = foresee(description, calibration, shown.advance)
    if output is Output.JSON:
        text = machine_json(description, found, calibration)
    else:
        text = machine_table(description, found, calibration, terminal_width())
    typer.echo(text, nl=False)
    if save is not None and output is Output.TABLE:
        typer.echo(f"saved: {save}")


def _calibration(model: str) -> Calibration | None:
    """The calibrated model: of a file, the one that comes with the program if there is one, or none."""
    from importlib import resources

    from calibration.fit import read

    if model == NO_MODEL:
        return None
    if model != PUBLISHED:
        return read(Path(model))
    own = Path(str(resources.files("calibration"))) / "published" / "model.json"
    return read(own) if own.is_file() else None


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(machine)
