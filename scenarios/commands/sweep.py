"""oltpsim sweep: one scenario over values of its fields."""

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from oltpsim.scenarios.commands.interruption import is_interrupted, say_reused
from oltpsim.scenarios.commands.modelled import ModelledScenario, assumed_of, read_model
from oltpsim.scenarios.commands.options import (
    MOST_REPLICATIONS,
    AnswerOptions,
    Output,
    PlaceOptions,
    ScenarioArgument,
    SeedOption,
    SystemOptions,
    with_records,
)
from oltpsim.scenarios.commands.output_files import check_places, check_store
from oltpsim.scenarios.library import asked_scenario, description_loader, is_line, scenario_loader
from oltpsim.scenarios.questions.sweep import (
    MOST_MEASURED,
    MOST_UNTIL,
    ReplicationRule,
    Sweep,
    SweepPoint,
    SweepRunner,
    calibrated_points,
    measured_points,
    parse_axes,
    sweep_json,
    sweep_points,
    with_measurements,
)
from oltpsim.scenarios.run import Display, Store, calls_executor, check_replications
from oltpsim.scenarios.show.picture import check_picture, write_picture
from oltpsim.scenarios.show.progress import progress_display
from oltpsim.scenarios.show.sweep import sweep_chart, sweep_csv, sweep_table, sweep_title
from oltpsim.scenarios.show.sweep_export import check_export, write_sweep, write_sweep_runs, write_sweep_series
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import GIB, KIB

FEW = 16
"""points whose intervals this process calculates"""


@with_records
def sweep(  # noqa: PLR0913 - one argument per option
    scenario: ScenarioArgument,
    vary: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=VALUES",
            help="A field and its values: a,b,c, start:stop:step, or low..high[:log] for samples; repeat for more.",
        ),
    ],
    *,
    samples: Annotated[
        int | None, typer.Option(metavar="N", help="Sobol samples of every low..high; best a power of two.", min=1)
    ] = None,
    seed: SeedOption = 1,
    replications: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Runs with seeds SEED, SEED + 1, ...; the rate is their mean. With --until the most (100 if absent).",
            min=1,
            max=MOST_REPLICATIONS,
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE", help="Replicate each point until half its interval is at most this share of the rate: 2%."
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE.sqlite", help="Keep every run there; a stopped sweep goes on where it was."),
    ] = None,
    export: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the rows: .csv, or .parquet (oltpsim[parquet]).")
    ] = None,
    series: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the series of all runs over time: .csv or .parquet.")
    ] = None,
    runs: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write each run as 'oltpsim report' and 'explain' take it.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw rate against the varied field: .html, .svg, .png, .pdf.")
    ] = None,
    system: SystemOptions,
    options: AnswerOptions,
    place: PlaceOptions,
) -> None:
    """Simulate a scenario over a grid or samples of values.

    Points that cannot be run are listed with the reason. The result is the same on any number of workers, and on a
    cluster.
    """
    place.check()
    files = Files(export, series, runs, picture)
    files.check(len(vary))
    check_places(save)
    axes = parse_axes(vary, samples)
    rule = _rule(replications, until)
    calibration, fixed = read_model(system.model), system.settings
    uncalibrated = sweep_points(scenario_loader(scenario, fixed), axes, samples, seed)
    points = calibrated_points(uncalibrated, calibration, [axis.key for axis in axes])
    check_replications((each.scenario for each in points if not isinstance(each.scenario, InputError)), rule.most)
    if is_line(scenario):
        asked = asked_scenario(scenario, fixed)
        with progress_display(options.quiet) as display:
            assumed = assumed_of(ModelledScenario(asked.scenario, calibration, asked.description), display)
        assumed.say(options.output, options.quiet)
    if samples is not None and balance_note(samples) and not options.quiet:
        typer.echo(balance_note(samples), err=True)
    with Store(save) as store:
        runner = SweepRunner(points, store, seed, rule)
        with progress_display(options.quiet) as display:
            interrupted = is_interrupted(runner, place, save, display)
        say_reused(runner.reused, "runs", save, options.quiet)
        if interrupted and not runner.finished:
            raise typer.Exit(130)
        answer = runner.sweep(scenario, axes, samples)
        if not (options.chance or interrupted) and len(points) <= MOST_MEASURED:
            with progress_display(options.quiet) as display, _calls(len(points), place, display) as executor:
                display.step("where measurements would fall")
                answer = with_measurements(
                    answer, uncalibrated, executor, calibration, description_loader(scenario, fixed)
                )
        elif not (options.chance or interrupted or options.quiet):
            most = f"of more than {MOST_MEASURED} points only chance's intervals are given"
            typer.echo(f"{most}, not those in which measurements would fall", err=True)
        write = {Output.JSON: sweep_json, Output.CSV: sweep_csv, Output.TABLE: sweep_table}
        typer.echo(write[options.output](answer), nl=False)
        files.write(answer, runner, uncalibrated)
    if interrupted:
        raise typer.Exit(130)


def _calls(points: int, place: PlaceOptions, display: Display) -> AbstractContextManager[Executor | None]:
    """Where intervals are calculated: here if there are few, as other processes would start in more time."""
    return nullcontext() if points < FEW else calls_executor(points, place.processes, display, place.cluster)


def balance_note(samples: int) -> str:
    """What to say of a number of samples that isn't a power of two; empty for one that is."""
    if samples & (samples - 1) == 0:
        return ""
    below = 1 << (samples.bit_length() - 1)
    return f"--samples {samples}: Sobol samples are balanced at powers of two; {below} or {2 * below} tell more a run"


def _rule(replications: int | None, until: str | None) -> ReplicationRule:
    if until is None:
        return ReplicationRule(1 if replications is None else replications)
    number, percent, rest = until.strip().partition("%")
    try:
        fraction = float(number) / (100 if percent else 1)
    except ValueError:
        fraction = math.nan
    if rest.strip() or not 0 < fraction < 1:
        raise InputError(f"--until {until!r}: expected a share of the rate above 0 and below 1, as in 2% or 0.02")
    return ReplicationRule(MOST_UNTIL if replications is None else replications, fraction)


def _gib_per_buffer(points: Sequence[SweepPoint]) -> float | None:
    """Memory of a buffer, if it is the same at all points."""
    sizes = {
        each.scenario.database.pool.memory_per_buffer_kib
        for each in points
        if not isinstance(each.scenario, InputError)
    }
    return sizes.pop() * KIB / GIB if len(sizes) == 1 else None


@dataclass(frozen=True)
class Files:
    """What is written beside stdout, where it is wanted."""

    export: Path | None
    series: Path | None
    runs: Path | None
    picture: Path | None

    def check(self, fields: int) -> None:
        """Refuse what can't be written, before the work."""
        check_picture(self.picture, "--picture")
        if self.picture is not None and fields > 2:
            raise InputError("--picture shows one or two varied fields; leave it out for more")
        check_export(self.export, "--export")
        check_export(self.series, "--series")
        check_places(self.picture, self.export, self.series)
        check_store(self.runs)

    def write(self, answer: Sweep, runner: SweepRunner, points: Sequence[SweepPoint]) -> None:
        """Write each, and say so."""
        if self.export is not None:
            write_sweep(answer, self.export)
            typer.echo(f"rows: {self.export}", err=True)
        if self.series is not None:
            write_sweep_series(runner, answer.axes, self.series)
            typer.echo(f"series: {self.series}", err=True)
        if self.runs is not None:
            typer.echo(f"{write_sweep_runs(runner, answer.axes, self.runs):,} runs: {self.runs}", err=True)
        if self.picture is not None:
            beside = measured_points(answer.axes, points)
            chart = sweep_chart(answer, beside, _gib_per_buffer(points))
            write_picture(self.picture, sweep_title(answer), [chart])
            typer.echo(f"picture: {self.picture}", err=True)
