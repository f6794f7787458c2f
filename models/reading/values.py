"""Numbers of a scenario by their dotted keys: which there are, what they are, the scenario with others.

`KEY@PART` is a number of one part, as the catalogue has it: `machine.cpu.relative_speed@Pentium 3, 0.6 GHz` is that of
every machine with the processor, and of no other.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeGuard, TypeVar

from pydantic import ValidationError

from oltpsim.models.input import Spec, key_words, set_value, values_along
from oltpsim.models.reading.consistency import check_consistency
from oltpsim.models.reading.loading import scenario_from_mapping
from oltpsim.models.scenario import ScenarioSpec

AnySpec = TypeVar("AnySpec", bound=Spec)


def names_a_part(key: str) -> bool:
    """Whether a key is that of one part, `KEY@PART`."""
    return "@" in key


def numeric_value(scenario: ScenarioSpec, key: str) -> float | int | None:
    """The number at a key, an int where only whole ones may stand; None if there is none, or if it is another part's.

    Keys: see `oltpsim.models.input.keys`.
    """
    path, _, part = key.partition("@")
    along = list(values_along(scenario, path))
    if len(along) < len(key_words(path)) or not all(isinstance(each, Spec | tuple) for each in along[:-1]):
        return None
    name = None
    for spec in along:
        name = getattr(spec, "name", getattr(spec, "model", name))
    return along[-1] if _is_number(along[-1]) and (not names_a_part(key) or part == name) else None


def numeric_keys(spec: Spec, before: str = "") -> list[str]:
    """Keys of all numbers of a spec, those of lists' members by their numbers."""
    keys = []
    for name in type(spec).model_fields:
        value = getattr(spec, name)
        members = value if isinstance(value, tuple) else ()
        below = [(before + name, value), *((f"{before}{name}[{at}]", each) for at, each in enumerate(members))]
        for key, each in below:
            if isinstance(each, Spec):
                keys += numeric_keys(each, f"{key}.")
            elif _is_number(each):
                keys.append(key)
    return keys


def with_values(scenario: ScenarioSpec, values: Mapping[str, object]) -> ScenarioSpec:
    """The scenario with values set at dotted keys, checked; its measured figure is dropped. Raises InputError.

    Values of parts that it hasn't are left aside. Where numbers stand in place of numbers only the specs that have
    them are made again; other values, and those that some spec refuses, go the way of a whole document.
    """
    taken = {
        key.partition("@")[0]: value
        for key, value in values.items()
        if not names_a_part(key) or numeric_value(scenario, key) is not None
    }
    if (changed := _with_numbers(scenario, taken)) is not None:
        check_consistency(changed, scenario.name)
        return changed
    data = scenario.model_dump(mode="json", exclude={"measured"})
    if {"interval.duration_s", "interval.new_orders_per_client"} & taken.keys():
        data["interval"].pop("sustained", None)  # a length that is said is no sustained rate's
    for key, value in taken.items():
        set_value(data, key, value)
    return scenario_from_mapping(data, scenario.name)


def _with_numbers(scenario: ScenarioSpec, values: Mapping[str, object]) -> ScenarioSpec | None:
    """The scenario with other numbers where numbers are, and without its measured figure; None if that isn't all."""
    changes: dict[str, Any] = {}
    for key, value in values.items():
        along = list(values_along(scenario, key))
        in_a_spec = len(along) == len(key_words(key)) and all(isinstance(each, Spec) for each in along[:-1])
        if not (in_a_spec and _is_number(along[-1]) and _is_number(value)):
            return None
        set_value(changes, key, value)
    fields = {**vars(scenario), "measured": None}
    try:
        for name, change in changes.items():
            below = isinstance(fields[name], Spec)
            fields[name] = _changed(fields[name], _frozen(change)) if below else change
        return type(scenario).model_validate(fields)
    except ValidationError:
        return None


def _is_number(value: object) -> TypeGuard[float | int]:
    return isinstance(value, float | int) and not isinstance(value, bool)


def _frozen(change: Any) -> Any:
    """Nested changes of specs as pairs, so that they have a hash; a number as it is."""
    return tuple((name, _frozen(each)) for name, each in change.items()) if isinstance(change, dict) else change


@lru_cache(maxsize=1024)
def _changed(spec: AnySpec, changes: tuple[tuple[str, Any], ...]) -> AnySpec:
    """A spec with these fields, of which those of specs below it are nested; validated. The others are as they were.

    Of the runs of a fit, and of most steps of its search, most specs are the same ones.
    """
    fields = {**vars(spec)}
    for name, change in changes:
        fields[name] = _changed(fields[name], change) if isinstance(fields[name], Spec) else change
    return type(spec).model_validate(fields)
