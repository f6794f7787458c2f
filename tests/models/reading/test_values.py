"""Numbers set in place of numbers: the scenario, and the refusal, that the whole document gives."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.input import set_value
from models.reading import continuous_keys, continuous_value, scenario_from_mapping, with_values
from models.scenario import ScenarioSpec
from scenarios.library import library_files, load_scenario_file
from simulator.errors import InputError

BASES = [load_scenario_file(library_files()[name]) for name in ("v20z", "postgresql-15")]
COUNTS = ("workload.arrivals.clients", "database.pool.buffers", "machine.cpu.cores", "workload.warehouses")


def by_the_document(scenario: ScenarioSpec, values: dict[str, object]) -> ScenarioSpec:
    data = scenario.model_dump(mode="json", exclude={"measured"})
    for key, value in values.items():
        set_value(data, key, value)
    return scenario_from_mapping(data, scenario.name)


def outcome(way: object, scenario: ScenarioSpec, values: dict[str, object]) -> object:
    assert callable(way)
    try:
        return way(scenario, values)
    except InputError as error:
        return str(error)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_numbers_give_what_the_document_gives(data: st.DataObject) -> None:
    scenario = data.draw(st.sampled_from(BASES))
    keys = data.draw(st.lists(st.sampled_from([*continuous_keys(scenario), *COUNTS]), min_size=1, max_size=4))
    factors = st.one_of(st.floats(0.5, 2.0), st.sampled_from([0, 1, True, -1.0, 1e9]))
    values: dict[str, object] = {}
    for key in keys:
        factor = data.draw(factors)
        before = continuous_value(scenario, key)
        values[key] = factor if isinstance(factor, bool) or before is None else factor * before + 0.0  # never -0.0
    found, wanted = (outcome(way, scenario, values) for way in (with_values, by_the_document))
    assert found == wanted
    if isinstance(found, ScenarioSpec) and isinstance(wanted, ScenarioSpec):
        assert found.model_dump_json() == wanted.model_dump_json(), "a whole number isn't left where a fraction stands"


def test_counts_are_numbers_too() -> None:
    values: dict[str, object] = {"workload.arrivals.clients": 4, "database.pool.buffers": 50_000}
    assert with_values(BASES[0], values) == by_the_document(BASES[0], values)


@pytest.mark.parametrize("value", [2.5, "4", None, True])
def test_what_is_no_count_is_refused_as_in_a_file(value: object) -> None:
    values = {"workload.arrivals.clients": value}
    assert outcome(with_values, BASES[0], values) == outcome(by_the_document, BASES[0], values)
