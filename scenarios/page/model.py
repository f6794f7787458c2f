"""A question's scenario with the calibrated model that answers it, and where a measurement of it would fall."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from oltpsim.calibration.fit import Calibration, apply_calibration, read_calibration
from oltpsim.calibration.predict import Guesses, guesses_of, measurement_interval
from oltpsim.models.reading import Description
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.page.question import PageQuestion
from oltpsim.scenarios.show.model import model_rows
from oltpsim.scenarios.show.prediction import certificate_line
from oltpsim.scenarios.show.words import ROLES, Expected, figure_words
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results import Result

MOST_MODELS = 16
"""that a process keeps"""
TAKEN_AWAY = Path("model.json")
"""name under which a model is taken away"""


@dataclass(frozen=True)
class ModelFile:
    """File of a calibrated model, and the hash of its content. `name`: for --model."""

    path: Path
    digest: str
    name: str


@dataclass(frozen=True)
class ModelledQuestion:
    """A question's scenario, the same with the model's values, and the model, if one is to answer."""

    scenario: ScenarioSpec
    machine: ScenarioSpec
    calibration: Calibration | None
    description: Description | None


@lru_cache(maxsize=MOST_MODELS)
def calibration_in(model: ModelFile) -> Calibration:
    """The model of a file. Raises InputError."""
    return read_calibration(model.path)


@lru_cache(maxsize=MOST_MODELS)
def certificate_words(model: ModelFile) -> str:
    """What the model's certificate says, or that it has none."""
    return certificate_line(calibration_in(model), Path(model.name))


def modelled_question(question: PageQuestion, model: ModelFile | None, engine: str) -> ModelledQuestion:
    """A question for an engine, answered by a model or by the parts' own numbers. Raises InputError."""
    asked = question.scenario(engine)
    calibration = None if model is None else calibration_in(model)
    machine = asked.scenario if calibration is None else apply_calibration(calibration, asked.scenario)
    return ModelledQuestion(asked.scenario, machine, calibration, asked.description)


def measurement_of(modelled: ModelledQuestion, result: Result) -> Expected:
    """Where a measurement would fall, with what a description leaves open; or why that can't be said."""
    try:
        guesses = None if modelled.description is None else guesses_of(modelled.description, modelled.calibration)
        return measurement_interval(modelled.scenario, result, modelled.calibration, guesses)
    except InputError as error:
        return f"where a measurement would fall can't be said: {'; '.join(str(error).splitlines())}"


def is_corrected(modelled: ModelledQuestion) -> bool:
    """Whether measured runs may correct the rate: of a described machine without a calibrated model."""
    is_described = modelled.description is not None and modelled.calibration is None
    return is_described and modelled.scenario.job is None


def beside_runs(modelled: ModelledQuestion, result: Result) -> Result:
    """The result of a described machine as measured runs of machines alike correct it."""
    if not is_corrected(modelled):
        return result
    return measurement_interval(modelled.scenario, result, None, Guesses({}, {})).applied(result)


def model_words(expected: Expected, model: ModelFile | None) -> tuple[tuple[str, str], ...]:
    """What a model's answer must say of itself, as terms and sentences; empty without a model."""
    if model is None or isinstance(expected, str) or expected.model is None:
        return ()
    used = expected.model
    figures = "; ".join(figure_words(expected.figures))
    return (
        *model_rows(used),
        ("role", ROLES[used.role]),
        ("certificate", certificate_words(model)),
        *([(f"{expected.rate.confidence:.0%} intervals", figures)] if figures else []),
    )
