"""Measured figures of systems that are simulated as their scenarios say, apart from any fit: rows, kept values.

Values are kept under the hash of their scenario and the seed, so that a changed scenario is simulated again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from oltpsim.calibration.fit import scenario_hash
from oltpsim.calibration.records import simulated_figure
from oltpsim.models.input import read_document, write_document
from oltpsim.models.jobs import JobResult
from oltpsim.models.scenario import FigureSpec, ScenarioSpec
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results import Result

FILE = Path(__file__).parents[1] / "published" / "large_systems.json"
FORMAT = "oltpsim-large-systems-1"


@dataclass(frozen=True)
class FigureRow:
    """A measured figure beside the simulated one; of a multiple both are multiples."""

    scenario: str
    figure: str
    measured: float
    bound: str
    simulated: float
    role: str

    @property
    def error(self) -> float:
        """Relative to what was measured."""
        return self.simulated / self.measured - 1.0

    @property
    def holds(self) -> bool | None:
        """Whether a bound holds; None of a value."""
        if self.bound == "about":
            return None
        return self.simulated >= self.measured if self.bound == "at_least" else self.simulated <= self.measured


def measured_scenarios(scenarios: Mapping[str, ScenarioSpec]) -> dict[str, ScenarioSpec]:
    """Scenarios by name that have measured figures, and those that they are compared with."""
    own = {name: each for name, each in scenarios.items() if each.measured is not None and each.measured.figures}
    others = {figure.times_that_of for each in own.values() for figure in measured_figures(each)} - {None}
    missing = sorted(str(name) for name in others - set(scenarios))
    if missing:
        raise InputError(f"measured.figures: times_that_of: no scenario {', '.join(missing)} in the library")
    return {name: each for name, each in scenarios.items() if name in own or name in others}


def measured_figures(scenario: ScenarioSpec) -> tuple[FigureSpec, ...]:
    """The measured figures of a scenario, its rate among them."""
    measured = scenario.measured
    if measured is None:
        return ()
    rate = measured.new_orders_per_minute
    if rate is None or scenario.job is not None:
        return measured.figures
    first = FigureSpec(figure="new_orders_per_minute", value=rate, role=measured.role, source=measured.source)
    return (first, *measured.figures)


def figure_values(name: str, scenarios: Mapping[str, ScenarioSpec], result: Result | JobResult) -> dict[str, float]:
    """Figures of a scenario's result that it, or a scenario that is compared with it, has measured."""
    own = list(measured_figures(scenarios[name]))
    own += [each for other in scenarios.values() for each in measured_figures(other) if each.times_that_of == name]
    return {each.figure: simulated_figure(each, scenarios[name], result) for each in own}


def figure_rows(scenarios: Mapping[str, ScenarioSpec], values: Mapping[str, Mapping[str, float]]) -> list[FigureRow]:
    """The rows of all scenarios from their values by name."""
    rows = []
    for name, scenario in scenarios.items():
        for each in measured_figures(scenario):
            simulated = values[name][each.figure]
            if each.times_that_of is not None:
                simulated /= values[each.times_that_of][each.figure]
            rows.append(FigureRow(name, each.figure, each.value, each.bound, simulated, each.role))
    return rows


def large_system_key(scenario: ScenarioSpec, seed: int) -> str:
    """Key of a stored value: the scenario's hash and the seed."""
    return f"{scenario_hash(scenario)} {seed}"


def read_large_systems(path: Path = FILE) -> dict[str, dict[str, float]]:
    """Kept values by key; none if there is no such file. Raises InputError for a file of something else."""
    if not path.exists():
        return {}
    content = read_document(path, FORMAT, "a file of simulated figures", "take the file away, and it is made again")
    values: dict[str, dict[str, float]] = content["values"]
    return values


def write_large_systems(values: Mapping[str, Mapping[str, float]], path: Path = FILE) -> None:
    """Keep values by key."""
    write_document(path, FORMAT, {"values": values})


def figure_rows_json(rows: Sequence[FigureRow]) -> list[dict[str, object]]:
    """The rows with their errors."""
    return [{**asdict(row), "error": row.error, "holds": row.holds} for row in rows]
