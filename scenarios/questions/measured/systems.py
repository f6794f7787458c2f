"""The published systems beyond the calibration's machines: simulated, or as they were when they were last simulated."""

from contextlib import suppress

from oltpsim.calibration.judge import (
    FigureRow,
    figure_rows,
    figure_values,
    large_system_key,
    measured_scenarios,
    read_large_systems,
    write_large_systems,
)
from oltpsim.models.jobs import run_job
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.scenarios.run import Display, SimulationTask, run_all
from oltpsim.simulator.errors import InputError

SYSTEMS_SEED = 1


def measured_systems() -> dict[str, ScenarioSpec]:
    """The library's scenarios with measured figures of their own, by name."""
    return measured_scenarios(
        {name: load_scenario_file(path, jobs=True) for name, path in sorted(library_files().items())}
    )


def system_rows(
    scenarios: dict[str, ScenarioSpec],
    workers: int,
    display: Display,
    *,
    again: bool = False,
    cluster: str | None = None,
) -> list[FigureRow]:
    """All rows. What isn't stored is simulated and stored, if the program's folder can be written; `again`: all is."""
    stored = {} if again else read_large_systems()
    keys = {name: large_system_key(scenario, SYSTEMS_SEED) for name, scenario in scenarios.items()}
    values = {name: stored[key] for name, key in keys.items() if key in stored}
    missing = [name for name in scenarios if name not in values]
    jobs = [name for name in missing if scenarios[name].job is not None]
    simulated = [name for name in missing if scenarios[name].job is None]

    def store() -> None:
        # An installed program's folder may belong to somebody else: then they are simulated again next time.
        with suppress(OSError):
            write_large_systems({keys[name]: figures for name, figures in values.items()})

    for name in jobs:
        values[name] = figure_values(name, scenarios, run_job(scenarios[name], SYSTEMS_SEED))
    tasks = [SimulationTask(scenarios[name], SYSTEMS_SEED) for name in simulated]
    for number, outcome in run_all(tasks, workers, display, cluster):
        if isinstance(outcome, InputError):
            raise outcome
        values[simulated[number]] = figure_values(simulated[number], scenarios, outcome)
        store()
    if jobs:
        store()
    return figure_rows(scenarios, values)
