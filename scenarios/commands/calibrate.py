"""oltpsim calibrate: a model of one's own system from its runs."""

from pathlib import Path
from typing import Annotated

import typer

from oltpsim.calibration.fit import (
    FitTask,
    StepJournal,
    calibration_json,
    calibration_of,
    measured_runs,
    parameters_to_fit,
    read_mapping_file,
    run_fit,
    write_calibration,
)
from oltpsim.calibration.records import RunRecord, check_record, fit_program
from oltpsim.scenarios.commands.interruption import say_reused, saying_what_is_kept
from oltpsim.scenarios.commands.options import (
    Output,
    OutputOption,
    PlaceOptions,
    QuietOption,
    SeedOption,
    SetOption,
    with_records,
)
from oltpsim.scenarios.commands.output_files import check_places
from oltpsim.scenarios.library import asked_scenario
from oltpsim.scenarios.questions.measured import read_runs
from oltpsim.scenarios.run import calls_executor, simulate_by_kernel
from oltpsim.scenarios.show.calibration import calibration_lines
from oltpsim.scenarios.show.next_run import would_tell
from oltpsim.scenarios.show.progress import progress_display
from oltpsim.simulator.errors import InputError

MOST_BOOTSTRAP = 1000
CONFIRM = 3
"""runs, from the slowest to the fastest, that the kernel simulates unless told otherwise"""


@with_records
def calibrate(  # noqa: PLR0913 - one argument per option
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...",
            help="Run records, measured scenario files, their folders, or names of either that come with the program.",
        ),
    ],
    *,
    base: Annotated[
        str | None,
        typer.Option(
            metavar="SCENARIO",
            help="What the runs don't say: a scenario file or one of the library; scenarios as runs need none.",
        ),
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=LOW..HIGH", help="Fit this number of the scenario; may be repeated."),
    ] = None,
    parameters: Annotated[
        Path | None, typer.Option(metavar="FILE.yaml", help="Parameters with bounds, priors and sources.")
    ] = None,
    mapping: Annotated[
        Path | None, typer.Option(metavar="FILE.yaml", help="Settings of the runs that their records don't say.")
    ] = None,
    set_: SetOption = None,
    confirm: Annotated[
        int, typer.Option(metavar="N", help="Runs that the kernel simulates to correct the fit; 0: none.", min=0)
    ] = CONFIRM,
    bootstrap: Annotated[
        int,
        typer.Option(metavar="N", help="Check the intervals by N fits to drawn figures.", min=0, max=MOST_BOOTSTRAP),
    ] = 0,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="Write the calibration; a stopped fit goes on where it was."),
    ] = None,
    seed: SeedOption = 1,
    output: OutputOption = Output.TABLE,
    quiet: QuietOption = False,
    place: PlaceOptions,
) -> None:
    """Fit a scenario to measured runs: values with intervals, and what the runs can't tell.

    Without --vary and --parameters the path lengths, device times and memory are fitted that the scenario has. A number
    that the runs don't identify stays at its prior and is not printed as a result.
    """
    if output is Output.CSV:
        raise InputError("--output csv: a calibration is no table; give table or json")
    place.check()
    check_places(save)
    records, bases = read_runs(runs, asked_scenario(base, tuple(set_ or ())).scenario if base is not None else None)
    if base is None and set_:
        raise InputError("--set: changes the base; give one with --base")
    scenario, *others = bases.values()
    varied, fixed = parameters_to_fit([scenario, *others], parameters, vary or ())
    _say_broken_laws(records)
    file = read_mapping_file(mapping, records) if mapping is not None else None
    task = FitTask(
        runs=tuple(measured_runs(records, bases, fixed, file)),
        parameters=varied,
        seed=seed,
        confirm=confirm,
        bootstrap=bootstrap,
        code=fit_program(),
    )
    state = save.with_name(f".{save.name}.state") if save is not None else None
    kept = StepJournal(state, task.digest)
    with (
        saying_what_is_kept(kept, "steps of the fit"),
        progress_display(quiet) as display,
        calls_executor(len(task.runs), place.processes, display, place.cluster) as executor,
    ):
        found = run_fit(task, kept, display.advance, executor, simulate_by_kernel)
        answer = calibration_of(found, scenario)
    say_reused(kept.reused, "steps", state, quiet)
    if confirm and not answer.by_kernel:
        typer.echo(
            f"warning: no run was simulated (--confirm {confirm}): each takes the kernel too long; the formulas alone "
            "are fitted. Give records of shorter runs, or --confirm 0",
            err=True,
        )
    if save is not None:
        write_calibration(save, answer)
        kept.close()
    text = (
        calibration_json(answer)
        if output is Output.JSON
        else "\n".join(calibration_lines(answer, would_tell(answer))) + "\n"
    )
    typer.echo(text, nl=False)
    if save is not None:
        typer.echo(f"written: {save}", err=True)


def _say_broken_laws(records: list[RunRecord]) -> None:
    """A record with a wrong unit or a mixed-up counter would bend the fit: it is used, and said."""
    for record in records:
        for finding in check_record(record):
            if finding.holds is False:
                typer.echo(
                    f"warning: {record.name}: {finding.law}: {finding.text}; correct the record, or leave the run out",
                    err=True,
                )
