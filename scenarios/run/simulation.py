"""One simulation: a scenario and a seed, answered by the scenario's engine."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build, failover_of, scenario_error, scenario_remarks
from oltpsim.scenarios.run.engines import load_engine
from oltpsim.scenarios.run.sustained import beginning_of, simulate_sustained
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import OnProgress
from oltpsim.simulator.results import Result, Series

MODEL_STEP = "model"
START_STEP = "caches at the start"
OnStep = Callable[[str], None]


@dataclass(frozen=True)
class SimulationTask:
    """Scenario to simulate, and its seed."""

    scenario: ScenarioSpec
    seed: int


def simulate(task: SimulationTask, on_progress: OnProgress | None = None, on_step: OnStep | None = None) -> Result:
    """Build the model and let its engine answer. Raises InputError (Infeasible) if the machine cannot run it.

    The analytic engine reports neither progress nor steps: it is done before anybody could read them.
    """
    scenario = task.scenario
    if scenario.engine == "analytic":
        result: Result = load_engine("analytic").simulate(build(scenario), task.seed)
    elif scenario.interval.sustained:
        scenario, result = simulate_sustained(
            scenario, lambda asked: _by_events(SimulationTask(asked, task.seed), on_progress, on_step)
        )
    else:
        result = _by_events(task, on_progress, on_step)
    beginning = beginning_of(task.scenario) if task.scenario.interval.sustained else None
    warnings = [*result.warnings, *scenario_remarks(scenario, result)]
    if scenario.cluster is not None:
        lost = failover_of(scenario, result, lambda after: _by_events(SimulationTask(after, task.seed)))
        warnings += [lost.sentence()] if lost else []
    return replace(
        result, series=_named(result.series, scenario.workload.rate_key), warnings=warnings, beginning=beginning
    )


def _named(series: Series, rate_key: str) -> Series:
    """The series with the main class's rate under the workload's key."""
    values = {rate_key if key == series.rate_key else key: value for key, value in series.values.items()}
    return replace(series, values=values)


def _by_events(task: SimulationTask, on_progress: OnProgress | None = None, on_step: OnStep | None = None) -> Result:
    on_step = on_step or (lambda _: None)
    on_step(MODEL_STEP)
    model = build(task.scenario)
    on_step(START_STEP)
    try:
        result: Result = load_engine(task.scenario.engine).simulate(model, task.seed, on_progress)
    except InputError as error:
        raise scenario_error(task.scenario, error) from error
    return result
