"""Numbers set in place of numbers: the scenario, and the refusal, that the whole document gives."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oltpsim.models.input import set_value
from oltpsim.models.reading import numeric_keys, numeric_value, scenario_from_mapping, with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.simulator.errors import InputError

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
    keys = data.draw(st.lists(st.sampled_from([*numeric_keys(scenario), *COUNTS]), min_size=1, max_size=4))
    factors = st.one_of(st.floats(0.5, 2.0), st.sampled_from([0, 1, True, -1.0, 1e9]))
    values: dict[str, object] = {}
    for key in keys:
        factor = data.draw(factors)
        before = numeric_value(scenario, key)
        values[key] = factor if isinstance(factor, bool) or before is None else factor * before + 0.0  # never -0.0
    found, wanted = (outcome(way, scenario, values) for way in (with_values, by_the_document))
    assert found == wanted
    if isinstance(found, ScenarioSpec) and isinstance(wanted, ScenarioSpec):
        assert found.model_dump_json() == wanted.model_dump_json(), "a whole number isn't left where a fraction stands"


def test_members_of_lists_are_numbers_by_their_place_and_by_their_name() -> None:
    limits = [{"of": "requests", "per_s": 900, "source": "x"}, {"of": "mib", "per_s": 90, "source": "x"}]
    scenario = scenario_from_mapping(BASES[1].model_dump(mode="json") | {"name": "limited"}, "x")
    scenario = with_values(scenario, {"machine.volume_limits": limits})
    assert "machine.volume_limits[1].per_s" in numeric_keys(scenario)
    for key in ("machine.volume_limits[1].per_s", "machine.volume_limits[mib].per_s"):
        assert numeric_value(scenario, key) == 90
        changed = with_values(scenario, {key: 60})
        assert [each.per_s for each in changed.machine.volume_limits] == [900, 60]
    for key in (
        "machine.volume_limits[2].per_s",
        "machine.volume_limits[iops].per_s",
        "machine.volume_limits[0].of",
        "machine.volume_limits[0]",
        "machine.volume_limits.0.per_s",
        "machine.cpu[0].cores",
    ):
        assert numeric_value(scenario, key) is None, key
    both = with_values(scenario, {"machine.volume_limits": [limits[0], {**limits[0], "direction": "read"}]})
    assert numeric_value(both, "machine.volume_limits[requests].per_s") is None, "which of the two isn't said"


def test_flags_and_words_are_no_numbers() -> None:
    for key in ("database.log.commit", "database.io", "machine.cpu", "workload.active_warehouses"):
        assert numeric_value(BASES[0], key) is None, key
    assert all(not isinstance(numeric_value(BASES[0], key), bool | None) for key in numeric_keys(BASES[0]))


def test_counts_are_numbers_too() -> None:
    values: dict[str, object] = {"workload.arrivals.clients": 4, "database.pool.buffers": 50_000}
    assert with_values(BASES[0], values) == by_the_document(BASES[0], values)


@pytest.mark.parametrize("value", [2.5, "4", None, True])
def test_what_is_no_count_is_refused_as_in_a_file(value: object) -> None:
    values = {"workload.arrivals.clients": value}
    assert outcome(with_values, BASES[0], values) == outcome(by_the_document, BASES[0], values)
