"""What can be taken away of a question: its scenario, its figures, its report."""

from collections.abc import Callable
from typing import Any

from calibration.predict import guesses_of, run_measurement
from models.input import yaml_text
from scenarios.page.folder import PageFolder
from scenarios.page.question import PageQuestion
from scenarios.questions.explain import advise
from scenarios.run import SavedRun, SimulationTask, simulate
from scenarios.show.report import report_html
from scenarios.show.summary import summary_csv
from scenarios.show.words import Expected
from simulator.errors import InputError


def scenario_yaml(question: PageQuestion, _folder: PageFolder) -> tuple[str, str]:
    """The scenario as a file for `oltpsim run`."""
    scenario = question.scenario("kernel").scenario
    data: dict[str, Any] = scenario.model_dump(mode="json", exclude_none=True, exclude_defaults=False)
    return yaml_text(data), "application/yaml"


def answer_csv(question: PageQuestion, folder: PageFolder) -> tuple[str, str]:
    """The figures as `oltpsim run --output csv` has them."""
    run = _run(question, folder)
    return summary_csv(run.result, run.scenario, _expected(question, run)), "text/csv"


def report(question: PageQuestion, folder: PageFolder) -> tuple[str, str]:
    """The one-file report."""
    run = _run(question, folder)
    settings = " ".join(f"--set {each}" for each in question.settings)
    command = f"oltpsim run '{question.machine}' {settings} --engine {run.scenario.engine} --seed 1"
    try:
        advised: Any = advise(question.scenario("analytic").scenario, {})
    except InputError as error:
        advised = str(error)
    return report_html(run.result, run.scenario, command, _expected(question, run), advised), "text/html"


def _run(question: PageQuestion, folder: PageFolder) -> SavedRun:
    """The confirmed run of a question, else the calculated one."""
    found = folder.confirmed(question)
    if found is not None:
        return found
    scenario = question.scenario("analytic").scenario
    return SavedRun(scenario, simulate(SimulationTask(scenario, 1)))


def _expected(question: PageQuestion, run: SavedRun) -> Expected:
    described = question.scenario(run.scenario.engine)
    try:
        guesses = guesses_of(described.description) if described.description else None
        return run_measurement(described.scenario, run.result, None, guesses)
    except InputError as error:
        return f"where a measurement would fall can't be said: {'; '.join(str(error).splitlines())}"


DOWNLOADS: dict[str, Callable[[PageQuestion, PageFolder], tuple[str, str]]] = {
    "scenario.yaml": scenario_yaml,
    "answer.csv": answer_csv,
    "report.html": report,
}
"""by the names of the files"""
