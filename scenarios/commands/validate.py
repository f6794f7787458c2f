"""oltpsim validate: how well a calibration meets runs, and its certificate."""

from pathlib import Path
from typing import Annotated

import typer

from oltpsim.calibration.fit import (
    Calibration,
    StepJournal,
    calibration_path,
    measured_runs,
    parameters_to_fit,
    read_calibration,
    read_mapping_file,
    shipped_calibrations,
    write_calibration,
)
from oltpsim.calibration.judge import (
    BlindTest,
    FigureRow,
    JudgedFile,
    blind_calibration,
    judge_public_file,
    public_files,
    refits_digest,
    runs_to_judge,
    validate_calibration,
)
from oltpsim.models.input import did_you_mean
from oltpsim.scenarios.commands.answer import command_line
from oltpsim.scenarios.commands.calibrate import CONFIRM
from oltpsim.scenarios.commands.interruption import say_reused, saying_what_is_kept
from oltpsim.scenarios.commands.options import (
    ModelArgument,
    Output,
    OutputOption,
    PlaceOptions,
    QuietOption,
    ReportOption,
    with_records,
)
from oltpsim.scenarios.commands.output_files import check_places
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.scenarios.questions.measured import measured_systems, read_runs, system_rows
from oltpsim.scenarios.run import calls_executor, simulate_by_kernel
from oltpsim.scenarios.show.large_systems import large_system_lines
from oltpsim.scenarios.show.progress import progress_display
from oltpsim.scenarios.show.public import public_json, public_lines
from oltpsim.scenarios.show.validation import validation_json, validation_lines
from oltpsim.scenarios.show.validation_page import write_validation_page
from oltpsim.simulator.errors import InputError

PUBLISHED = "published"
PUBLIC = "public"
SEED = 1
"""of the searches of a blind test"""


@with_records
def validate(  # noqa: PLR0913 - one argument per option
    model: ModelArgument,
    *,
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN...",
            help="Run records, measured scenario files, their folders, or names; MODEL's own if it is a name.",
        ),
    ] = None,
    mapping: Annotated[
        Path | None, typer.Option(metavar="FILE.yaml", help="The mapping file that 'oltpsim calibrate' was given.")
    ] = None,
    blind: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="In the place of MODEL all are runs: calibrate on N of them, chosen one by one, predict the others.",
        ),
    ] = None,
    parameters: Annotated[
        Path | None, typer.Option(metavar="FILE.yaml", help="Of --blind: parameters with bounds, priors and sources.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Explain the gap of every run, not only of those outside their interval.")
    ] = False,
    near: Annotated[
        bool,
        typer.Option(
            "--near", help="Refits begin at the model, with its corrections by the kernel: faster, for many runs."
        ),
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="Write the model with its certificate, also over MODEL; resumable."),
    ] = None,
    simulate: Annotated[
        bool,
        typer.Option(
            "--simulate",
            help="Of the published large systems: simulate all again, which takes minutes, not only what changed.",
        ),
    ] = False,
    report: ReportOption = None,
    output: OutputOption = Output.TABLE,
    quiet: QuietOption = False,
    place: PlaceOptions,
) -> None:
    """Hold a calibrated model against runs: errors by regime, refits without each run, machine and device, baselines.

    Runs that the model was fitted to are called fitted, all others predicted. --save gives the model a certificate
    that every later prediction shows. 'public' in the place of MODEL: the files of calibration/public/files.yaml, each
    by the shipped model that it names; RUN: some of them by name. --blind N: a blind test of the runs alone, which must
    name their scenarios: the first calibrates, then those that 'oltpsim next-run' would choose, and all are judged.
    """
    if output is Output.CSV:
        raise InputError("--output csv: a validation is no table; give table or json")
    place.check()
    if str(model) == PUBLIC and not model.exists():
        _only_names(mapping=mapping, save=save, report=report, near=near or None, simulate=simulate or None)
        public = judged_public(runs or [], place, quiet)
        typer.echo(public_json(public) if output is Output.JSON else "\n".join(public_lines(public)))
        return
    check_places(save, report)
    every = not runs
    if blind is not None:
        runs = [str(model), *(runs or [])]
        calibration = _blind(runs, mapping, parameters, blind, place, quiet)
    else:
        calibration, runs = _model(model, runs, parameters)
    records, bases = read_runs(runs, None, calibration.base)
    file = read_mapping_file(mapping, records) if mapping is not None else None
    judged = runs_to_judge(calibration, records, bases, file)
    state = save.with_name(f".{save.name}.validation.state") if save is not None else None
    kept = StepJournal(state, refits_digest(calibration, judged, near))
    with (
        saying_what_is_kept(kept, "predictions and refits"),
        progress_display(quiet) as display,
        calls_executor(len(judged), place.processes, display, place.cluster) as executor,
    ):
        found = validate_calibration(
            calibration,
            records,
            bases,
            file,
            kept,
            display.advance,
            executor,
            explain_all=explain,
            near=near,
            simulate_model=simulate_by_kernel,
        )
    say_reused(kept.reused, "predictions and refits", state, quiet)
    if save is not None:
        write_calibration(save, calibration.model_copy(update={"certificate": found}))
        kept.close()
    words = ["oltpsim", "validate", *([] if blind else [str(model)]), *runs]
    options = {"--mapping": mapping, "--blind": blind, "--parameters": parameters}
    words += [word for name, value in options.items() if value is not None for word in (name, str(value))]
    if report is not None:
        write_validation_page(report, calibration, found, command_line([*words, "--report", report]))
    large: list[FigureRow] = []
    if every and str(model) == PUBLISHED:
        with progress_display(quiet) as display:
            large = system_rows(measured_systems(), place.processes, display, again=simulate, cluster=place.cluster)
    if output is Output.JSON:
        typer.echo(validation_json(found, large), nl=False)
    else:
        typer.echo("\n".join([*validation_lines(calibration, found), *large_system_lines(large)]))
    for path in (save, report):
        if path is not None:
            typer.echo(f"written: {path}", err=True)


def _model(model: Path, runs: list[str] | None, parameters: Path | None) -> tuple[Calibration, list[str]]:
    """A model that is there, and the runs that it is held against. Raises InputError."""
    if parameters is not None:
        raise InputError("--parameters: is of --blind; a model that is there has its own")
    calibration = read_calibration(calibration_path(model))
    if not runs and str(model) not in shipped_calibrations():
        raise InputError(f"{model}: give the runs that the model is held against: validate {model} RUN...")
    return calibration, runs or [str(model)]


def _blind(
    runs: list[str],
    mapping: Path | None,
    parameters: Path | None,
    most: int,
    place: PlaceOptions,
    quiet: bool,
) -> Calibration:
    """A model of a few of the runs. Raises InputError."""
    records, bases = read_runs(runs, None)
    file = read_mapping_file(mapping, records) if mapping is not None else None
    scenario, *others = bases.values()
    varied, fixed = parameters_to_fit([scenario, *others], parameters, ())
    measured = measured_runs(records, bases, fixed, file)
    with (
        progress_display(quiet) as display,
        calls_executor(len(measured), place.processes, display, place.cluster) as executor,
    ):
        test = BlindTest(tuple(measured), scenario, tuple(varied), SEED, CONFIRM, simulate_by_kernel)
        return blind_calibration(test, most, display.advance, executor)


def judged_public(names: list[str], place: PlaceOptions, quiet: bool) -> list[JudgedFile]:
    """The public files of these names, or all, by their models. Raises InputError for a name that there isn't."""
    files = public_files()
    known = [each.name for each in files]
    for name in names:
        if name not in known:
            raise InputError(f"{name}: no public file{did_you_mean(name, known)}; there are {', '.join(known)}")
    chosen = [each for each in files if not names or each.name in names]
    library = library_files()
    bases = {each.base: load_scenario_file(library[each.base]) for each in chosen}
    found: list[JudgedFile] = []
    with (
        progress_display(quiet) as display,
        calls_executor(place.processes, place.processes, display, place.cluster) as executor,
    ):
        for number, each in enumerate(chosen):
            begin = number / len(chosen)

            def report(share: float, words: str, begin: float = begin, name: str = each.name) -> None:
                display.advance(begin + share / len(chosen), f"{name}: {words}")

            found.append(judge_public_file(each, bases, report, executor, simulate_by_kernel))
    return found


def _only_names(**options: object) -> None:
    """Refuse options that mean nothing for public files."""
    for name, value in options.items():
        if value is not None:
            raise InputError(f"--{name}: is of one model's runs; 'validate public' takes names of files only")
