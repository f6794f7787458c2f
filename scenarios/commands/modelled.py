"""The scenario that a command is asked about, and the calibrated model that answers for it."""

import json
from dataclasses import dataclass
from pathlib import Path

from calibration.fit import (
    CALIBRATION_FORMAT,
    INTERVAL_CONFIDENCE,
    Calibration,
    apply_calibration,
    calibration_path,
    read_calibration,
    shipped_calibrations,
)
from calibration.predict import MeasurementInterval, Moves, measurement_interval, run_measurement
from models.reading import scenario_from_mapping
from models.scenario import ScenarioSpec
from scenarios.library import load_scenario_file, scenario_path
from scenarios.show.words import Expected
from simulator.errors import InputError
from simulator.results import Estimate, Result


@dataclass(frozen=True)
class ModelledScenario:
    """A scenario as it was asked for, and the model that answers, if one was named."""

    scenario: ScenarioSpec
    calibration: Calibration | None

    @property
    def machine(self) -> ScenarioSpec:
        """The scenario with the calibrated values. Raises InputError if it can't take them."""
        return self.scenario if self.calibration is None else apply_calibration(self.calibration, self.scenario)

    def job_interval(self, value: float) -> MeasurementInterval | None:
        """Where a measured figure of the scenario's job would fall, by the model; None without one."""
        if self.calibration is None:
            return None
        figure = Estimate(value, value, value, INTERVAL_CONFIDENCE, "calculated")
        return measurement_interval(self.scenario, figure, self.calibration)


def read_model(model: Path | None) -> Calibration | None:
    """The calibration of --model. Raises InputError."""
    return None if model is None else read_calibration(calibration_path(model))


def modelled_scenario(
    name: str, overrides: tuple[str, ...], model: Path | None = None, *, jobs: bool = False
) -> ModelledScenario:
    """A scenario file or one of the library; or a model in its place, whose base it then is. Raises InputError."""
    if not is_model(name):
        return ModelledScenario(load_scenario_file(scenario_path(name), overrides, jobs=jobs), read_model(model))
    if model is not None:
        raise InputError(f"--model {model}: {name} is a model already; give one of them")
    calibration = read_calibration(calibration_path(Path(name)))
    return ModelledScenario(scenario_or_base(calibration, None, list(overrides)), calibration)


def scenario_or_base(calibration: Calibration, name: str | None, overrides: list[str]) -> ScenarioSpec:
    """The scenario of a file or of the library; without a name the calibration's base, without what was measured."""
    if name is not None:
        return load_scenario_file(scenario_path(name), overrides)
    data = calibration.base.model_dump(mode="json", exclude={"measured"})
    return scenario_from_mapping(data, calibration.base.name, overrides)


def is_model(name: str) -> bool:
    """Whether a word is that of a calibrated model: one of the program's, or a file with a calibration's format."""
    path = Path(name)
    if not path.is_file():
        return name in shipped_calibrations()
    if path.suffix != ".json":
        return False
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, OSError):
        return False
    return isinstance(document, dict) and document.get("format") == CALIBRATION_FORMAT


def measurement_of(modelled: ModelledScenario, result: Result, guesses: Moves | None = None) -> Expected:
    """Where a measurement would fall, or why that can't be said. `guesses`: what a description leaves open."""
    try:
        return run_measurement(modelled.scenario, result, modelled.calibration, guesses)
    except InputError as error:
        return f"where a measurement would fall can't be said: {'; '.join(str(error).splitlines())}"
