"""Continuous numbers of a scenario by their dotted keys: which there are, what they are, the scenario with others.

`KEY@PART` is a number of one part, as the catalogue has it: `machine.cpu.relative_speed@Pentium 3, 0.6 GHz` is that of
every machine with the processor, and of no other.
"""

from collections.abc import Mapping

from models.input import Spec, set_value, values_along
from models.reading.loading import scenario_from_mapping
from models.scenario import ScenarioSpec


def names_a_part(key: str) -> bool:
    """Whether a key is that of one part, `KEY@PART`."""
    return "@" in key


def continuous_value(scenario: ScenarioSpec, key: str) -> float | None:
    """The number at a key; None if there is none that can be varied continuously, or if it is another part's."""
    path, _, part = key.partition("@")
    along = list(values_along(scenario, path))
    if len(along) <= path.count(".") or not all(isinstance(spec, Spec) for spec in along[:-1]):
        return None
    name = None
    for spec in along:
        name = getattr(spec, "name", getattr(spec, "model", name))
    return along[-1] if isinstance(along[-1], float) and (not names_a_part(key) or part == name) else None


def continuous_keys(spec: Spec, before: str = "") -> list[str]:
    """Keys of all numbers of a spec that can be varied continuously."""
    keys = []
    for name in type(spec).model_fields:
        value = getattr(spec, name)
        if isinstance(value, Spec):
            keys += continuous_keys(value, f"{before}{name}.")
        elif isinstance(value, float):
            keys.append(before + name)
    return keys


def with_values(scenario: ScenarioSpec, values: Mapping[str, object]) -> ScenarioSpec:
    """The scenario with values set at dotted keys, checked; its measured figure is dropped. Raises InputError.

    Values of parts that it hasn't are left aside.
    """
    data = scenario.model_dump(mode="json", exclude={"measured"})
    for key, value in values.items():
        if not names_a_part(key) or continuous_value(scenario, key) is not None:
            set_value(data, key.partition("@")[0], value)
    return scenario_from_mapping(data, scenario.name)
