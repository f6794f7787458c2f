"""oltpsim system: what engines get of a scenario."""

from pathlib import Path
from typing import Annotated

import typer

from oltpsim.models.reading import scenario_from_mapping
from oltpsim.models.wiring import build
from oltpsim.scenarios.commands.options import Output, OutputOption, SetOption
from oltpsim.scenarios.commands.output_files import check_places
from oltpsim.scenarios.library import asked_scenario
from oltpsim.scenarios.run import read_saved_run
from oltpsim.scenarios.show.table import rows_text
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import System, listing, load, save

SUFFIX = ".npz"
LISTING_FORMAT = "oltpsim-listing-1"


def system(
    what: Annotated[
        str, typer.Argument(metavar="SCENARIO|RESULT.json|SYSTEM.npz", help="A scenario, a saved run, or a system.")
    ],
    set_: SetOption = None,
    save_: Annotated[Path | None, typer.Option("--save", metavar="FILE.npz", help="Write it as a file, too.")] = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """List the system that a scenario becomes: its parts, its tables of pages, and its clients' program.

    Every engine gets this and nothing else. The last line is its hash, which results name as their model. With --save
    it is a file of named arrays and JSON.
    """
    check_places(save_)
    if save_ is not None and save_.suffix != SUFFIX:
        raise InputError(f"--save {save_}: the name must end with {SUFFIX}")
    found = _system(what, set_ or [])
    if save_ is not None:
        with save_.open("wb") as file:
            save(found, file)
    if output is Output.TABLE:
        typer.echo(f"{listing(found)}\nmodel {found.digest()}")
        return
    rows = [{"line": line.strip()} for line in listing(found).splitlines() if line]
    rows.append({"line": f"model {found.digest()}"})
    typer.echo(rows_text(LISTING_FORMAT, ("line",), rows, output is Output.JSON), nl=False)


def _system(what: str, overrides: list[str]) -> System:
    if what.endswith(SUFFIX):
        if overrides:
            raise InputError(
                f"system {what} --set {overrides[0]}: a system can't be changed; --set goes with a scenario"
            )
        try:
            with Path(what).open("rb") as file:
                return load(file, what)
        except OSError as error:
            raise InputError(f"{what}: {error.strerror}; give the file that --save has written") from error
    if what.endswith(".json"):
        saved = read_saved_run(Path(what)).scenario.model_dump(mode="json")
        return build(scenario_from_mapping(saved, what, overrides))
    return build(asked_scenario(what, overrides).scenario)
