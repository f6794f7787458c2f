"""What can be taken away of a question: its scenario, its figures, its report."""

from collections.abc import Callable
from typing import Any

from oltpsim.models.input import yaml_text
from oltpsim.scenarios.page.folder import PageFolder
from oltpsim.scenarios.page.model import ModelledQuestion, measurement_of, modelled_question
from oltpsim.scenarios.page.question import PageQuestion
from oltpsim.scenarios.questions.explain import advise
from oltpsim.scenarios.run import SavedRun, SimulationTask, simulate
from oltpsim.scenarios.show.report import report_html
from oltpsim.scenarios.show.summary import summary_csv
from oltpsim.simulator.errors import InputError


def scenario_yaml(question: PageQuestion, folder: PageFolder) -> tuple[str, str]:
    """The scenario as a file for `oltpsim run`, with the values of the model that answers."""
    scenario = _modelled(question, folder, "kernel").machine
    data: dict[str, Any] = scenario.model_dump(mode="json", exclude_none=True, exclude_defaults=False)
    return yaml_text(data), "application/yaml"


def answer_csv(question: PageQuestion, folder: PageFolder) -> tuple[str, str]:
    """The figures as `oltpsim run --output csv` has them."""
    run = _run(question, folder)
    expected = measurement_of(_modelled(question, folder, run.scenario.engine), run.result)
    return summary_csv(run.result, run.scenario, expected), "text/csv"


def report(question: PageQuestion, folder: PageFolder) -> tuple[str, str]:
    """The one-file report."""
    run = _run(question, folder)
    model = folder.model(question)
    words = [f"--model {model.name}"] if model is not None else []
    words += [f"--set {each}" for each in question.settings]
    command = f"oltpsim run '{question.machine}' {' '.join(words)} --engine {run.scenario.engine} --seed 1"
    try:
        advised: Any = advise(_modelled(question, folder, "analytic").machine, {})
    except InputError as error:
        advised = str(error)
    expected = measurement_of(_modelled(question, folder, run.scenario.engine), run.result)
    return report_html(run.result, run.scenario, command, expected, advised), "text/html"


def _modelled(question: PageQuestion, folder: PageFolder, engine: str) -> ModelledQuestion:
    return modelled_question(question, folder.model(question), engine)


def _run(question: PageQuestion, folder: PageFolder) -> SavedRun:
    """The confirmed run of a question, else the calculated one."""
    found = folder.confirmed(question)
    if found is not None:
        return found
    machine = _modelled(question, folder, "analytic").machine
    return SavedRun(machine, simulate(SimulationTask(machine, 1)))


DOWNLOADS: dict[str, Callable[[PageQuestion, PageFolder], tuple[str, str]]] = {
    "scenario.yaml": scenario_yaml,
    "answer.csv": answer_csv,
    "report.html": report,
}
"""by the names of the files"""
