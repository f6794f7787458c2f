"""oltpsim lab: scenarios measured on machines that this host emulates, with a real database."""

import signal
from pathlib import Path
from typing import Annotated

import typer

from oltpsim.calibration.importers import find_runs
from oltpsim.calibration.lab import Laboratory, clean, emulated
from oltpsim.calibration.measure import terminal
from oltpsim.calibration.records import merge_readings, save_records
from oltpsim.scenarios.commands.import_runs import give_runs
from oltpsim.scenarios.commands.options import Output, OutputOption, QuietOption
from oltpsim.scenarios.library import library_files, scenario_loader
from oltpsim.scenarios.show.table import rows_text
from oltpsim.simulator.errors import InputError

CLEAN_FORMAT = "oltpsim-lab-clean-1"
app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Measure scenarios on emulated machines with a real database (Linux, root).",
)


@app.command("run")
def run(
    scenarios: Annotated[
        list[str], typer.Argument(metavar="SCENARIO...", help="Scenario files, or names of the library.")
    ],
    folder: Annotated[
        Path, typer.Option("--folder", metavar="DIR", help="The laboratory: loaded databases, measured runs.")
    ] = Path("laboratory"),
    repeats: Annotated[
        int, typer.Option(metavar="N", help="Runs of each scenario, each with a seed of its own.", min=1, max=1000)
    ] = 1,
    first_repeat: Annotated[
        int,
        typer.Option("--first-repeat", metavar="N", help="Number of the first one, for more runs.", min=1, max=1000),
    ] = 1,
    output: OutputOption = Output.TABLE,
    quiet: QuietOption = False,
) -> None:
    """Measure scenarios on the machines that they describe.

    Cores, memory, disks and the limit of dirty pages are emulated on this host; PostgreSQL or MariaDB is started from a
    restored state with the scenario's settings, and sysbench loads it with TPC-C, or pgbench with its own. What can't
    be emulated is refused by its key. DIR/runs/NAME.rN holds what was recorded, with record.yaml for 'oltpsim
    calibrate' and 'validate'. Runs that are there are kept: a call that was stopped goes on where it was. It takes a
    host that nothing else uses. Exit status 1 if a run breaks a law, such as Little's.
    """
    known = library_files()
    asked = {Path(name).stem: (scenario_loader(name)(()), name if name in known else None) for name in scenarios}
    if len(asked) < len(scenarios):
        raise InputError("lab: two scenarios have one file name, and runs are kept by it: rename one")
    for stem, (scenario, _) in asked.items():
        emulated(scenario, stem)
    signal.signal(signal.SIGHUP, signal.default_int_handler)
    lab = Laboratory(folder, (lambda _: None) if quiet else (lambda text: typer.echo(f"  {text}", err=True)))
    folders = []
    for repeat in range(first_repeat, first_repeat + repeats):
        for stem, (scenario, library) in asked.items():
            name = f"{stem}.r{repeat}"
            folders.append(lab.run_folder(name))
            if lab.is_measured(scenario, name):
                continue
            if not quiet:
                typer.echo(f"{name}: {scenario.name}", err=True)
            lab.measure(scenario, name, library, repeat, terminal(quiet))
            [found] = find_runs(folders[-1:])
            save_records([merge_readings(name, found.readings).record], folders[-1] / "record.yaml")
    give_runs(find_runs(folders), None, output, quiet)


@app.command("clean")
def clean_(output: OutputOption = Output.TABLE) -> None:
    """End what a killed laboratory has left: processes, mounts, loop devices, swap and control groups of its own."""
    found = clean()
    if output is Output.TABLE:
        typer.echo("\n".join(found) if found else "nothing was left")
        return
    rows = [{"left": each} for each in found]
    typer.echo(rows_text(CLEAN_FORMAT, ("left",), rows, output is Output.JSON), nl=False)
