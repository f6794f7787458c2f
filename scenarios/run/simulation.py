"""One simulation: a scenario and a seed, answered by the scenario's engine.

Simulation of a partitioned store by the kernel: what `models.jobs.run_job` calculates its figures from.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from models.build import build, failover_of, scenario_remarks
from models.jobs import StoreRun, StoreState
from models.scenario import ScenarioSpec
from scenarios.run.engines import load_engine, must_compile, why_not_cached
from simulator.form import Model, OnProgress
from simulator.results import Result

KERNEL_STEP = "kernel (compiled once)"
MODEL_STEP = "model"
START_STEP = "caches at the start"
SLOW_ENGINE = (
    "by the reference engine, which is slower: the kernel's machine code can't be kept in {}; "
    "let XDG_CACHE_HOME name a folder that can be written"
)
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
    if result.engine != scenario.engine:
        warnings.append(SLOW_ENGINE.format(why_not_cached()))
    return replace(result, warnings=warnings)


def _by_events(task: SimulationTask, on_progress: OnProgress | None = None, on_step: OnStep | None = None) -> Result:
    on_step = on_step or (lambda _: None)
    on_step(MODEL_STEP)
    model = build(task.scenario)
    on_step(KERNEL_STEP if must_compile(task.scenario.engine) else START_STEP)
    engine = load_engine("reference" if why_not_cached() else task.scenario.engine)
    result: Result = engine.simulate(model, task.seed, on_progress)
    return result


def simulate_store(model: Model, seed: int) -> StoreRun:
    """Run of a store's model by the kernel."""
    kernel = load_engine("kernel")
    engine = kernel.KernelEngine(model, seed)
    engine.run(None)
    program, state = engine.model.program, engine.state
    left = StoreState(
        program,
        {name: kernel.counter_values(state, program, name) for name in program.counter_names},
        {name: kernel.register_values(state, program, name) for name in program.registers},
    )
    return StoreRun(engine.record.result(), left, np.array([each.histogram for each in engine.record.classes]))
