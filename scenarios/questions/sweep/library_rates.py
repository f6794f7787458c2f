"""What others measured on the machine of a sweep: scenarios of the library that differ in the varied field alone."""

from collections.abc import Sequence
from dataclasses import dataclass

from oltpsim.models.input import set_value, values_along
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.library import library_files, load_scenario_file, read_scenario_file
from oltpsim.scenarios.questions.sweep.design import Axis, SampledAxis, SweepPoint

WORDS = {"name", "notes", "measured", "engine"}
"""keys of a scenario that say nothing of the machine"""


@dataclass(frozen=True)
class MeasuredPoint:
    """Value of the varied field, new orders per minute that were measured there, and whether a fit has seen them."""

    value: float
    rate_per_min: float
    role: str
    scenario: str


def measured_points(axes: Sequence[Axis | SampledAxis], points: Sequence[SweepPoint]) -> tuple[MeasuredPoint, ...]:
    """Measured rates by the one varied field; none if it isn't a number, or of several fields."""
    first = next((each.scenario for each in points if isinstance(each.scenario, ScenarioSpec)), None)
    if len(axes) != 1 or first is None:
        return ()
    found = []
    for name, path in library_files().items():
        if "new_orders_per_minute" not in (read_scenario_file(path).get("measured") or {}):
            continue
        scenario = load_scenario_file(path)
        value = _number_at(scenario, axes[0].key)
        measured = scenario.measured
        if value is None or measured is None or measured.new_orders_per_minute is None:
            continue
        if _machine(scenario, axes[0].key) == _machine(first, axes[0].key):
            found.append(MeasuredPoint(value, measured.new_orders_per_minute, measured.role, name))
    return tuple(sorted(found, key=lambda point: (point.value, point.scenario)))


def _number_at(scenario: ScenarioSpec, key: str) -> float | None:
    along = list(values_along(scenario, key))
    is_there = len(along) == key.count(".") + 1
    return float(along[-1]) if is_there and isinstance(along[-1], int | float) else None


def _machine(scenario: ScenarioSpec, key: str) -> dict[str, object]:
    """All that is asked but for the value at a key."""
    data = scenario.model_dump(mode="json", exclude=WORDS)
    set_value(data, key, None)
    return data
