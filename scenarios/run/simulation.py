"""One simulation: a scenario and a seed, answered by the scenario's engine.

Simulation of a partitioned store by the kernel: what `models.jobs.run_job` calculates its figures from.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from models.build import build, failover_of, scenario_remarks
from models.jobs import StoreRun, StoreState
from models.scenario import ScenarioSpec
from scenarios.run.engines import load_engine
from simulator.form import OnProgress, System
from simulator.results import Result

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
    else:
        result = _by_events(task, on_progress, on_step)
    warnings = [*result.warnings, *scenario_remarks(scenario, result)]
    if scenario.cluster is not None:
        lost = failover_of(scenario, result, lambda after: _by_events(SimulationTask(after, task.seed)))
        warnings += [lost.sentence()] if lost else []
    return replace(result, warnings=warnings)


def _by_events(task: SimulationTask, on_progress: OnProgress | None = None, on_step: OnStep | None = None) -> Result:
    on_step = on_step or (lambda _: None)
    on_step(MODEL_STEP)
    model = build(task.scenario)
    on_step(START_STEP)
    result: Result = load_engine(task.scenario.engine).simulate(model, task.seed, on_progress)
    return result


def simulate_store(model: System, seed: int) -> StoreRun:
    """Run of a store's model by the kernel."""
    engine = load_engine("kernel").KernelEngine(model, seed)
    engine.run(None)
    left = StoreState(
        model.program,
        {name: engine.counter(name) for name in model.program.counter_names},
        {name: engine.register(name) for name in model.program.registers},
    )
    return StoreRun(engine.record.result(), left, np.array([each.histogram for each in engine.record.classes]))
