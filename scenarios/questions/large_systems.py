"""The published systems beyond the calibration's machines: simulated, or as they were when they were last simulated."""

from __future__ import annotations

from calibration.judge import (
    FigureRow,
    figure_rows,
    figure_values,
    large_system_key,
    measured_scenarios,
    read_large_systems,
    write_large_systems,
)
from models.jobs import run_job
from models.scenario import ScenarioSpec
from scenarios.library import library_files, load_scenario_file
from scenarios.run import Display, SimulationTask, run_all, simulate_store
from simulator.errors import InputError

SEED = 1


def measured_systems() -> dict[str, ScenarioSpec]:
    """The library's scenarios with measured figures of their own, by name."""
    return measured_scenarios(
        {name: load_scenario_file(path, jobs=True) for name, path in sorted(library_files().items())}
    )


def rows(scenarios: dict[str, ScenarioSpec], workers: int, display: Display, *, again: bool = False) -> list[FigureRow]:
    """All rows. What isn't kept is simulated and kept, if the program's folder can be written; `again`: everything."""
    kept = {} if again else read_large_systems()
    values = {
        name: found for name, each in scenarios.items() if (found := kept.get(large_system_key(each, SEED))) is not None
    }
    missing = [name for name in scenarios if name not in values]
    values |= {
        name: figure_values(name, scenarios, run_job(scenarios[name], SEED, simulate_store))
        for name in missing
        if scenarios[name].job is not None
    }
    simulated = [name for name in missing if name not in values]
    tasks = [SimulationTask(scenarios[name], SEED) for name in simulated]
    for number, outcome in run_all(tasks, workers, display):
        if isinstance(outcome, InputError):
            raise outcome
        name = simulated[number]
        values[name] = figure_values(name, scenarios, outcome)
        _keep(scenarios, values)
    if missing:
        _keep(scenarios, values)
    return figure_rows(scenarios, values)


def _keep(scenarios: dict[str, ScenarioSpec], values: dict[str, dict[str, float]]) -> None:
    """An installed program's folder may belong to somebody else: then the values are simulated again next time."""
    try:
        write_large_systems({large_system_key(scenarios[name], SEED): each for name, each in values.items()})
    except OSError:
        return
