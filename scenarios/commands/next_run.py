"""oltpsim next-run: which run would tell most, of those that can be made."""

from pathlib import Path
from typing import Annotated

import typer

from oltpsim.calibration.fit import Calibration, StepJournal, calibration_path, read_calibration
from oltpsim.calibration.predict import (
    CandidateSet,
    advice_digest,
    advise_next_run,
    candidates_around,
    candidates_named,
    read_candidates,
)
from oltpsim.models.input import last_word
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.commands.answer import terminal_width
from oltpsim.scenarios.commands.interruption import say_reused, saying_what_is_kept
from oltpsim.scenarios.commands.modelled import scenario_or_base
from oltpsim.scenarios.commands.options import (
    ModelArgument,
    Output,
    OutputOption,
    PlaceOptions,
    QuietOption,
    SetOption,
    with_records,
)
from oltpsim.scenarios.commands.output_files import check_places
from oltpsim.scenarios.questions.sweep import parse_axis
from oltpsim.scenarios.run import calls_executor, simulate_by_kernel
from oltpsim.scenarios.show.next_run import next_run_answer
from oltpsim.scenarios.show.progress import progress_display
from oltpsim.scenarios.show.sections import sections_form
from oltpsim.simulator.errors import InputError

WORTH_A_PROCESS = 100
"""parameters times runs that are looked at in more time than a process takes to start"""
MOST_LETTERS = 60
"""of settings that are written into a scenario's name; longer lists are counted"""


@with_records
def next_run(  # noqa: PLR0913 - one argument per option
    model: ModelArgument,
    *,
    for_: Annotated[
        str | None,
        typer.Option(
            "--for", metavar="SCENARIO", help="Whose rate you want to know; with --set alone the calibrated base."
        ),
    ] = None,
    set_: SetOption = None,
    could: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=V1,V2,...", help="Runs that you could make: each value one; may be repeated."),
    ] = None,
    grid: Annotated[bool, typer.Option("--grid", help="Every combination of the values of all --could.")] = False,
    candidates: Annotated[
        Path | None, typer.Option(metavar="FILE.yaml", help="Runs that you could make, by name, with their costs.")
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep what runs would tell there; a stopped command goes on from it."),
    ] = None,
    output: OutputOption = Output.TABLE,
    quiet: QuietOption = False,
    place: PlaceOptions,
) -> None:
    """Rank the runs that you could make by what they would tell.

    With --for or --set: by how much the interval of that rate would shrink. Without: by what the runs so far can't
    tell. Candidates are one of your runs with something changed; without --could and --candidates: other numbers of
    clients, pools and warehouses.
    """
    place.check()
    check_places(save)
    calibration = read_calibration(calibration_path(model))
    target = _target_scenario(calibration, for_, set_ or [])
    choice = _choice(calibration, could or [], grid, candidates)
    processes = len(choice.candidates) * len(calibration.parameters) // WORTH_A_PROCESS
    kept = StepJournal(save, advice_digest(calibration, choice, target))
    with (
        saying_what_is_kept(kept, "predictions and runs"),
        progress_display(quiet) as display,
        calls_executor(processes, place.processes, display, place.cluster) as executor,
    ):
        advice = advise_next_run(
            calibration,
            choice,
            target,
            report=display.advance,
            simulate_model=simulate_by_kernel,
            journal=kept,
            executor=executor,
        )
    say_reused(kept.reused, "predictions and runs", save, quiet)
    typer.echo(sections_form(next_run_answer(advice), output, terminal_width()), nl=False)


def _target_scenario(calibration: Calibration, name: str | None, settings: list[str]) -> ScenarioSpec | None:
    """The scenario whose rate is to be predicted better, if one is named; its settings become part of its name.

    They make another machine of it.
    """
    if name is None and not settings:
        return None
    scenario = scenario_or_base(calibration, name, settings).scenario
    parts = [setting.partition("=") for setting in settings]
    changed = ", ".join(f"{last_word(key)}={value}" for key, _, value in parts)
    if len(changed) > MOST_LETTERS:
        changed = f"{len(parts)} settings"
    return scenario.model_copy(update={"name": f"{scenario.name} with {changed}" if changed else scenario.name})


def _choice(calibration: Calibration, could: list[str], grid: bool, file: Path | None) -> CandidateSet:
    """Candidates of a file, of --could, or the usual ones. Raises InputError for options that exclude each other."""
    if file is not None and could:
        raise InputError("--could and --candidates: give one of them; the file can hold all candidates")
    if grid and not could:
        raise InputError("--grid: combines the values of --could; give some")
    if file is not None:
        return read_candidates(file, calibration)
    if not could:
        return candidates_around(calibration)
    axes = [parse_axis(text, "--could") for text in could]
    return candidates_named(calibration, [(axis.key, axis.values) for axis in axes], grid)
