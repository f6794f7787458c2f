"""From file to scenario: what is read, what is left at its default, and that no number passes that breaks the build."""

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oltpsim.models.input import parse_yaml
from oltpsim.models.reading import load_scenario, scenario_from_mapping
from oltpsim.models.wiring import build
from oltpsim.simulator.errors import Infeasible, InputError

LIBRARY = sorted((Path(__file__).resolve().parents[3] / "scenarios" / "library").glob("*.yaml"))
Change = Callable[..., dict[str, Any]]
EXTREMES = (0, -1, 0.5, 1e-300, 1e-12, 1e6, 1e12, 1e18, 1e300, 10**18, 10**400, float("nan"), float("inf"), True)
MOST_NS = 2**62
"""What the compiled engine can still add to without leaving 64 bits."""


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.stem)
def test_library_scenarios_load_and_survive_being_written(path: Path) -> None:
    scenario = load_scenario(path)
    assert scenario.measured is not None
    assert scenario_from_mapping(scenario.model_dump(mode="json"), "again") == scenario


def test_a_scenario_is_what_its_file_says(tiny: dict[str, Any]) -> None:
    scenario = scenario_from_mapping(tiny, "tiny")
    assert scenario.machine.memory_gib == 1
    assert scenario.machine.disks.disk.kind == "rotating"
    assert scenario.workload.arrivals.kind == "closed"
    assert scenario.workload.mix.new_order == 0.45
    assert scenario.interval.warm_up_s == 5


def test_what_is_left_out_has_its_default(tiny: dict[str, Any]) -> None:
    scenario = scenario_from_mapping(tiny, "tiny")
    assert scenario.machine.log_disk is None
    assert scenario.machine.hardware_share_lost == 0
    assert scenario.machine.network.clients_on_server
    assert scenario.workload.tpcc.remote_stock_fraction == 0.01
    assert scenario.operating_system.page_cache.merged_write_kib == 128
    assert scenario.database.pool.replacement == "lru"


def test_units_are_those_of_the_field(changed: Change) -> None:
    data = changed("database.checkpoint.interval_s", "20 min")
    data["operating_system"]["memory_per_client_mib"] = "0.5 GiB"
    data["machine"]["memory_gib"] = "4096 MiB"
    scenario = scenario_from_mapping(data, "tiny")
    assert scenario.database.checkpoint.interval_s == 1200
    assert scenario.operating_system.memory_per_client_mib == 512
    assert scenario.machine.memory_gib == 4


def test_a_scenario_cannot_be_changed(tiny: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="frozen"):
        scenario_from_mapping(tiny, "tiny").machine.__setattr__("memory_gib", 5)


def test_a_machine_too_small_is_told_from_a_file_that_is_wrong(changed: Change) -> None:
    with pytest.raises(Infeasible, match=r"database\.pool\.buffers: 300000 buffers"):
        scenario_from_mapping(changed("database.pool.buffers", 300_000), "tiny")
    with pytest.raises(Infeasible, match=r"workload\.warehouses: 100,000 warehouses"):
        scenario_from_mapping(changed("workload.warehouses", 100_000), "tiny")
    with pytest.raises(InputError) as caught:
        scenario_from_mapping(changed("workload.mix.payment", 0.5), "tiny")
    assert not isinstance(caught.value, Infeasible)


def test_all_contradictions_are_told_at_once(changed: Change) -> None:
    data = changed("workload.mix.payment", 0.5)
    data["database"]["page_kib"] = 7
    data["workload"]["active_warehouses"] = 5
    with pytest.raises(InputError) as caught:
        scenario_from_mapping(data, "tiny")
    assert len(str(caught.value).splitlines()) == 3


def numbers(data: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[str]:
    """Dotted keys of all numbers."""
    for key, value in data.items():
        if isinstance(value, dict):
            yield from numbers(value, (*above, key))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield ".".join((*above, key))


def integers(value: Any) -> Iterator[int]:
    """All whole numbers of a model, tables of the program left out."""
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from integers(getattr(value, field.name))
    elif isinstance(value, tuple | list):
        for part in value:
            yield from integers(part)
    elif isinstance(value, int):
        yield value


def test_every_number_is_refused_in_one_line_or_can_be_built(tiny: dict[str, Any], changed: Change) -> None:
    keys = list(numbers(tiny))
    assert len(keys) > 50
    refusals = []
    for key, number in itertools.product(keys, EXTREMES):
        if number == 1e6 and key.endswith((".clients", ".buffers", ".warehouses")):
            continue  # a model of that size is right and takes its time
        try:
            scenario = scenario_from_mapping(changed(key, number), "tiny")
        except InputError as error:
            refusals.append(str(error))
        else:
            assert number not in (-1, math.inf), key
            assert number is not True, key
            assert number == pytest.approx(number), key
            assert max(integers(build(scenario))) < MOST_NS, (key, number)
    assert [line for line in refusals if "\n" in line] == []
    assert len(refusals) > len(keys) * len(EXTREMES) / 2


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=10), below, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_stands_at_a_key_nothing_but_a_sentence_comes_out(
    data: st.DataObject, tiny: dict[str, Any], changed: Change
) -> None:
    paths = ["machine", "machine.cpu", "machine.disks", "machine.disks.disk", "machine.log_disk", "machine.network",
             "machine.memory_gib", "operating_system", "database", "database.pool", "database.log.commit", "workload",
             "workload.mix", "workload.layout", "workload.arrivals", "workload.arrivals.kind", "workload.tpcc",
             "interval", "interval.start", "measured", "notes", "name", "nonsense"]  # fmt: skip
    key, value = data.draw(st.sampled_from(paths)), data.draw(PLAIN)
    try:
        scenario_from_mapping(changed(key, value), "tiny")
    except InputError as error:
        said = str(error)
    else:
        said = "tiny: accepted"
    assert all(line.startswith("tiny: ") and line.isprintable() for line in said.split("\n"))


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet="ab:-[]{}#&*!|>'\"%@` \t\n0.?,", max_size=40))
def test_whatever_stands_in_a_file_nothing_but_a_sentence_comes_out(text: str) -> None:
    try:
        parse_yaml(text, "x")
    except InputError as error:
        said = str(error)
    else:
        said = "x: accepted"
    assert said.startswith("x: ")
    assert "\n" not in said


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("20:00", "20:00"),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        ("010", "010"),
        ("no", "no"),
        ("on", "on"),
        ("2004-01-01", "2004-01-01"),
        ("1e3", 1000.0),
        ("true", True),
        ("~", None),
    ],
)
def test_yaml_has_no_surprises(text: str, value: object) -> None:
    read = parse_yaml(text, "x")
    assert read == value
    assert type(read) is type(value)
