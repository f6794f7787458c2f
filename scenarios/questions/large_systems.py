"""The published systems beyond the calibration's machines: simulated, or as they were when they were last simulated."""

from __future__ import annotations

from calibration.judge import FigureRow, large_systems
from models.jobs import run_job
from models.scenario import ScenarioSpec
from scenarios.library import library, load
from scenarios.run import Display, Task, run_all
from simulator.errors import InputError

SEED = 1


def measured_systems() -> dict[str, ScenarioSpec]:
    """The library's scenarios with measured figures of their own, by name."""
    return large_systems.measured_figures({name: load(path, jobs=True) for name, path in sorted(library().items())})


def rows(scenarios: dict[str, ScenarioSpec], workers: int, display: Display, *, again: bool = False) -> list[FigureRow]:
    """All rows. What isn't kept is simulated and kept, if the program's folder can be written; `again`: everything."""
    kept = {} if again else large_systems.read()
    values = {
        name: found
        for name, each in scenarios.items()
        if (found := kept.get(large_systems.key_of(each, SEED))) is not None
    }
    missing = [name for name in scenarios if name not in values]
    values |= {
        name: large_systems.values_of(name, scenarios, run_job(scenarios[name]))
        for name in missing
        if scenarios[name].job is not None
    }
    simulated = [name for name in missing if name not in values]
    tasks = [Task(scenarios[name], SEED) for name in simulated]
    for number, outcome in run_all(tasks, workers, display):
        if isinstance(outcome, InputError):
            raise outcome
        name = simulated[number]
        values[name] = large_systems.values_of(name, scenarios, outcome)
        _keep(scenarios, values)
    if missing:
        _keep(scenarios, values)
    return large_systems.rows_of(scenarios, values)


def _keep(scenarios: dict[str, ScenarioSpec], values: dict[str, dict[str, float]]) -> None:
    """An installed program's folder may belong to somebody else: then the values are simulated again next time."""
    try:
        large_systems.write({large_systems.key_of(scenarios[name], SEED): each for name, each in values.items()})
    except OSError:
        return
