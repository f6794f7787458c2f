"""Modules behind oltpsim.py, each imported when one of its names is first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plotly import graph_objects

    import oltpsim.calibration.predict as predicting
    import oltpsim.calibration.records as run_records
    import oltpsim.models.input as input_forms
    import oltpsim.models.scenario as specs
    import oltpsim.scenarios.commands.modelled as modelling
    import oltpsim.scenarios.library as scenario_files
    import oltpsim.scenarios.questions.compare as comparing
    import oltpsim.scenarios.questions.explain as explaining
    import oltpsim.scenarios.questions.measured as measuring
    import oltpsim.scenarios.questions.plan as planning
    import oltpsim.scenarios.questions.sweep as sweeping
    import oltpsim.scenarios.run as running
    import oltpsim.scenarios.show.calibration as show_calibration
    import oltpsim.scenarios.show.compare as show_compare
    import oltpsim.scenarios.show.explain as show_explain
    import oltpsim.scenarios.show.job as show_job
    import oltpsim.scenarios.show.machine as show_machine
    import oltpsim.scenarios.show.plan as show_plan
    import oltpsim.scenarios.show.prediction as show_prediction
    import oltpsim.scenarios.show.sweep as show_sweep
    from oltpsim.calibration import fit
    from oltpsim.models import catalogue, jobs, reading
    from oltpsim.scenarios.commands import options
    from oltpsim.scenarios.show import chart, picture, plan_page, run_charts, run_record, sections, summary, words
else:

    class _Module:
        """Module that is imported when one of its names is first used."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            return getattr(import_module(self._name), name)

    LAZY_MODULES = {
        "graph_objects": "plotly.graph_objects",
        "fit": "oltpsim.calibration.fit",
        "predicting": "oltpsim.calibration.predict",
        "run_records": "oltpsim.calibration.records",
        "catalogue": "oltpsim.models.catalogue",
        "input_forms": "oltpsim.models.input",
        "jobs": "oltpsim.models.jobs",
        "reading": "oltpsim.models.reading",
        "specs": "oltpsim.models.scenario",
        "modelling": "oltpsim.scenarios.commands.modelled",
        "options": "oltpsim.scenarios.commands.options",
        "scenario_files": "oltpsim.scenarios.library",
        "comparing": "oltpsim.scenarios.questions.compare",
        "explaining": "oltpsim.scenarios.questions.explain",
        "measuring": "oltpsim.scenarios.questions.measured",
        "planning": "oltpsim.scenarios.questions.plan",
        "sweeping": "oltpsim.scenarios.questions.sweep",
        "running": "oltpsim.scenarios.run",
        "show_calibration": "oltpsim.scenarios.show.calibration",
        "chart": "oltpsim.scenarios.show.chart",
        "show_compare": "oltpsim.scenarios.show.compare",
        "show_explain": "oltpsim.scenarios.show.explain",
        "show_job": "oltpsim.scenarios.show.job",
        "show_machine": "oltpsim.scenarios.show.machine",
        "picture": "oltpsim.scenarios.show.picture",
        "show_plan": "oltpsim.scenarios.show.plan",
        "plan_page": "oltpsim.scenarios.show.plan_page",
        "show_prediction": "oltpsim.scenarios.show.prediction",
        "run_charts": "oltpsim.scenarios.show.run_charts",
        "run_record": "oltpsim.scenarios.show.run_record",
        "sections": "oltpsim.scenarios.show.sections",
        "summary": "oltpsim.scenarios.show.summary",
        "show_sweep": "oltpsim.scenarios.show.sweep",
        "words": "oltpsim.scenarios.show.words",
    }
    globals().update({name: _Module(module) for name, module in LAZY_MODULES.items()})
