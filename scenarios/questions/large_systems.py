"""The published systems beyond the calibration's machines: simulated, or as they were when they were last simulated."""

from __future__ import annotations

from calibration.judge import FigureRow, large_systems
from models.jobs import run_job
from models.scenario import ScenarioSpec
from scenarios.library import library, load
from scenarios.run import Display, SimulationTask, run_all
from scenarios.show.validation import table
from simulator.errors import InputError

SEED = 1
WORDS = {"at_least": "at least ", "at_most": "at most "}
SHARES, WHOLE_FROM = "fraction", 1000.0


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
    tasks = [SimulationTask(scenarios[name], SEED) for name in simulated]
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


def lines(found: list[FigureRow]) -> list[str]:
    """A table of all rows, and how far off they are."""
    cells = [["scenario", "figure", "measured", "simulated", "error", "role"]]
    cells += [
        [row.scenario, row.figure, WORDS.get(row.bound, "") + amount(row, row.measured), amount(row, row.simulated),
         error(row), row.role]
        for row in found
    ]  # fmt: skip
    return ["large systems, each simulated as its scenario says", "", *table(cells)]


def amount(row: FigureRow, value: float) -> str:
    """A value of a row's figure; shares in percent."""
    if SHARES in row.figure or row.figure.endswith(", share"):
        return f"{100 * value:.1f} %"
    return f"{value:,.0f}" if abs(value) >= WHOLE_FROM else f"{value:.3g}"


def error(row: FigureRow) -> str:
    """How far off a row is: points of a share, percent of everything else, or whether its bound holds."""
    if row.holds is not None:
        return "holds" if row.holds else "DOESN'T HOLD"
    if SHARES in row.figure or row.figure.endswith(", share"):
        return f"{100 * (row.simulated - row.measured):+.1f} points"
    return f"{row.error:+.1%}"
