"""The scenario that a command is asked about, and the calibrated model that answers for it."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from oltpsim.calibration.fit import (
    CALIBRATION_FORMAT,
    INTERVAL_CONFIDENCE,
    Calibration,
    apply_calibration,
    calibration_path,
    read_calibration,
    shipped_calibrations,
)
from oltpsim.calibration.predict import (
    Guesses,
    MeasurementInterval,
    Moves,
    Predicted,
    guess_moves,
    guesses_of,
    measurement_interval,
    predict_scenario,
    unseen_moves,
)
from oltpsim.models.reading import Description, scenario_from_mapping
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.commands.options import Output
from oltpsim.scenarios.library import AskedScenario, asked_scenario, is_line, library_files
from oltpsim.scenarios.run import Display, SimulationTask, simulate, simulate_by_kernel
from oltpsim.scenarios.show.machine import answered_by, assumption_words, description_text, understood_rows
from oltpsim.scenarios.show.words import Expected, uncertainty_words
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results import Estimate, Result

NO_MODEL = "none"
MODELS = {"virtuoso": "published"}
"""calibrations of the program's own that answer for a line unasked, by engine: of runs on machines of every size"""


@dataclass(frozen=True)
class ModelledScenario:
    """A scenario as it was asked for, and the model that answers, if one was named.

    `description`: what the line comes to that it was asked for by; None of a file.
    """

    scenario: ScenarioSpec
    calibration: Calibration | None
    description: Description | None = None

    @property
    def machine(self) -> ScenarioSpec:
        """The scenario with the calibrated values. Raises InputError if it can't take them."""
        return self.scenario if self.calibration is None else apply_calibration(self.calibration, self.scenario)

    def job_interval(self, value: float, guesses: Guesses | None = None) -> MeasurementInterval | None:
        """Where a measured figure of the scenario's job would fall, by the model; None without one."""
        if self.calibration is None:
            return None
        figure = Estimate(value, value, value, INTERVAL_CONFIDENCE, "calculated")
        return measurement_interval(self.scenario, figure, self.calibration, guesses)


def read_model(model: Path | None) -> Calibration | None:
    """The calibration of --model; None of 'none', whose values are the catalogue's. Raises InputError."""
    return None if model is None or str(model) == NO_MODEL else read_calibration(calibration_path(model))


def _model_of_line(scenario: ScenarioSpec, model: Path | None) -> Calibration | None:
    """The model that answers for a line: that of --model, else the program's own for the line's engine, if any."""
    own = MODELS.get(re.split(r"[\W_]", scenario.database.name.lower())[0])
    return read_model(model) if model is not None or own is None else read_calibration(shipped_calibrations()[own])


def modelled_scenario(
    name: str, overrides: tuple[str, ...], model: Path | None = None, *, jobs: bool = False
) -> ModelledScenario:
    """What SCENARIO means (`asked_scenario`); or a model in its place, whose base it then is. Raises InputError."""
    if not is_model(name):
        asked = asked_scenario(name, overrides, jobs)
        of_line = asked.description is not None
        calibration = _model_of_line(asked.scenario, model) if of_line else read_model(model)
        return ModelledScenario(asked.scenario, calibration, asked.description)
    if model is not None:
        raise InputError(f"--model {model}: {name} is a model already; give one of them")
    calibration = read_calibration(calibration_path(Path(name)))
    return ModelledScenario(scenario_or_base(calibration, None, overrides).scenario, calibration)


def scenario_or_base(calibration: Calibration, name: str | None, overrides: Sequence[str]) -> AskedScenario:
    """What SCENARIO means; without a name the calibration's base, without what was measured. Raises InputError."""
    if name is not None:
        return asked_scenario(name, overrides)
    data = calibration.base.model_dump(mode="json", exclude={"measured"})
    return AskedScenario(scenario_from_mapping(data, calibration.base.name, overrides))


@dataclass(frozen=True)
class Assumed:
    """What a line that describes a machine leaves open; nothing of a scenario's file."""

    text: str = ""
    """the table"""
    rows: Sequence[Mapping[str, object]] | None = None
    """the same for a JSON document"""
    words: tuple[str, ...] = ()
    """each assumption in a few words, those first that move the rate most"""
    guesses: Guesses | None = None
    """parts of the intervals; None of a file"""
    notes: tuple[str, ...] = ()

    def say(self, output: Output, quiet: bool) -> None:
        """Before an answer: the table on stdout before another table; else the notes on stderr, unless `quiet`."""
        if output is Output.TABLE:
            typer.echo(f"{self.text}\n" if self.text else "", nl=False)
        elif not quiet:
            for note in self.notes:
                typer.echo(note, err=True)


def assumed_of(modelled: ModelledScenario, display: Display) -> Assumed:
    """What the scenario's line leaves open, and what that does to the rate."""
    description, calibration = modelled.description, modelled.calibration
    if description is None:
        return Assumed()
    try:
        moves = guess_moves(description, display.advance, calibration)
    except InputError:  # no formulas for it: the interval says so
        moves = {}
    return Assumed(
        description_text(description, moves, answered_by(calibration)),
        understood_rows(description, moves),
        assumption_words(description, moves),
        guesses_of(description, calibration, moves),
        modelled.scenario.notes,
    )


def predicted(calibration: Calibration, asked: AskedScenario) -> Predicted:
    """The prediction by a model, with parts that no run of it had; of a description with what that leaves open.

    Raises InputError.
    """
    left: Moves = unseen_moves(calibration, asked.scenario)
    if asked.description is not None:
        left = {**guesses_of(asked.description, calibration).left_open, **left}
    found = predict_scenario(calibration, asked.scenario, simulate_by_kernel, left)
    if asked.description is None:
        return found
    doubt = f"the interval holds what its description leaves open: {'; '.join(uncertainty_words(found.rate))}"
    return replace(found, doubts=(*found.doubts, doubt))


def is_model(name: str) -> bool:
    """Whether a word is that of a calibrated model: one of the program's, or a file with a calibration's format."""
    return document_format(name) == CALIBRATION_FORMAT if Path(name).is_file() else name in shipped_calibrations()


def is_system(name: str) -> bool:
    """Whether a word is one that 'run' takes: a line, a file, a folder, a scenario of the library, a model."""
    is_file = name.endswith((".yaml", ".yml", ".json")) or Path(name).exists()
    return is_file or is_model(name) or name in library_files() or is_line(name)


def document_format(name: str) -> str | None:
    """The format of a JSON file; None of anything else."""
    path = Path(name)
    if path.suffix != ".json" or not path.is_file():
        return None
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, OSError):
        return None
    return str(document.get("format")) if isinstance(document, dict) else None


def calculated(modelled: ModelledScenario, seed: int) -> Result:
    """The formulas' answer, whatever the scenario's engine is. Raises InputError where they know no such system."""
    return simulate(SimulationTask(modelled.machine.model_copy(update={"engine": "analytic"}), seed))


def measurement_of(modelled: ModelledScenario, result: Result, guesses: Guesses | None = None) -> Expected:
    """Where a measurement would fall, or why that can't be said. `guesses`: what a description leaves open."""
    try:
        return measurement_interval(modelled.scenario, result, modelled.calibration, guesses)
    except InputError as error:
        return f"where a measurement would fall can't be said: {'; '.join(str(error).splitlines())}"
