"""Modules behind oltpsim.py, each imported when one of its names is first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plotly import graph_objects

    import calibration.predict as predicting
    import calibration.records as run_records
    import models.input as input_forms
    import models.scenario as specs
    import scenarios.commands.modelled as modelling
    import scenarios.library as scenario_files
    import scenarios.questions.compare as comparing
    import scenarios.questions.explain as explaining
    import scenarios.questions.measured as measuring
    import scenarios.questions.plan as planning
    import scenarios.questions.sweep as sweeping
    import scenarios.run as running
    import scenarios.show.calibration as show_calibration
    import scenarios.show.compare as show_compare
    import scenarios.show.explain as show_explain
    import scenarios.show.job as show_job
    import scenarios.show.machine as show_machine
    import scenarios.show.plan as show_plan
    import scenarios.show.prediction as show_prediction
    import scenarios.show.sweep as show_sweep
    from calibration import fit
    from models import catalogue, jobs, reading
    from scenarios.commands import options
    from scenarios.show import chart, picture, plan_page, run_charts, run_record, summary, words
else:

    class _Module:
        """Module that is imported when one of its names is first used."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            return getattr(import_module(self._name), name)

    LAZY_MODULES = {
        "graph_objects": "plotly.graph_objects",
        "fit": "calibration.fit",
        "predicting": "calibration.predict",
        "run_records": "calibration.records",
        "catalogue": "models.catalogue",
        "input_forms": "models.input",
        "jobs": "models.jobs",
        "reading": "models.reading",
        "specs": "models.scenario",
        "modelling": "scenarios.commands.modelled",
        "options": "scenarios.commands.options",
        "scenario_files": "scenarios.library",
        "comparing": "scenarios.questions.compare",
        "explaining": "scenarios.questions.explain",
        "measuring": "scenarios.questions.measured",
        "planning": "scenarios.questions.plan",
        "sweeping": "scenarios.questions.sweep",
        "running": "scenarios.run",
        "show_calibration": "scenarios.show.calibration",
        "chart": "scenarios.show.chart",
        "show_compare": "scenarios.show.compare",
        "show_explain": "scenarios.show.explain",
        "show_job": "scenarios.show.job",
        "show_machine": "scenarios.show.machine",
        "picture": "scenarios.show.picture",
        "show_plan": "scenarios.show.plan",
        "plan_page": "scenarios.show.plan_page",
        "show_prediction": "scenarios.show.prediction",
        "run_charts": "scenarios.show.run_charts",
        "run_record": "scenarios.show.run_record",
        "summary": "scenarios.show.summary",
        "show_sweep": "scenarios.show.sweep",
        "words": "scenarios.show.words",
    }
    globals().update({name: _Module(module) for name, module in LAZY_MODULES.items()})
