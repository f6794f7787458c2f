"""A machine with a number changed is that of a scenario built from scratch, whatever was read and built before."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oltpsim.calibration.fit import AnalyticReader
from oltpsim.models.reading import load_scenario, numeric_keys, numeric_value, scenario_from_mapping, with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build
from oltpsim.models.workloads.tpcc.program import tpcc_outline, tpcc_program
from oltpsim.simulator.analytic import Parameters, parameters_of, read_workload, simulate
from oltpsim.simulator.errors import InputError
from tests.calibration.synthetic import DURABLE, FLASH, TINY
from tests.simulator.analytic.columns import by_name

MACHINES = {
    "flash, durable": (FLASH, DURABLE, "database.critical_section={share_of_path: 0.1, entries_per_transaction: 2}"),
    "arm": ("interval={start: warm, duration_s: 60}", "machine.disks.disk=sata-7200-2005"),
    "limited volume, direct": (
        FLASH,
        "machine.volume_limits=[{of: requests, per_s: 900, source: 'assumption: for tests'}]",
        "database.io=direct",
        "machine.log_disk=nvme",
        DURABLE,
    ),
    "network": (FLASH, "machine.network={clients_on_server: false}"),
}
READER = AnalyticReader()
"""of all examples, so that each meets what others have left"""


@cache
def base(name: str) -> ScenarioSpec:
    return load_scenario(TINY, MACHINES[name])


def from_scratch(scenario: ScenarioSpec) -> tuple[Parameters, str]:
    """The machine of the scenario's document with nothing kept, and its system's digest."""
    tpcc_program.cache_clear()
    tpcc_outline.cache_clear()
    system = build(scenario_from_mapping(scenario.model_dump(mode="json"), scenario.name))
    return parameters_of(system, read_workload(system)), system.digest()


def moved(scenario: ScenarioSpec, key: str, factor: float) -> float | int:
    """The number at a key times a factor; one that is 0 is set a little above."""
    value = numeric_value(scenario, key) or 0
    return round(factor * value) + 1 if isinstance(numeric_value(scenario, key), int) else factor * (value or 0.01)


def check(scenario: ScenarioSpec, values: dict[str, float]) -> None:
    """The same machine either way; nothing to compare if these values make none."""
    try:
        changed = with_values(scenario, values)
    except InputError:
        return
    point = READER.read(changed)
    wanted, digest = from_scratch(changed)
    assert point.system.digest() == digest, values
    found = by_name(point.parameters)
    for name, expected in by_name(wanted).items():
        np.testing.assert_allclose(found[name], expected, rtol=1e-9, atol=0, err_msg=f"{name}: {values}")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MACHINES))
def test_every_number_changed_makes_the_machine_that_a_whole_build_makes(name: str) -> None:
    scenario = base(name)
    for key in numeric_keys(scenario):
        check(scenario, {key: moved(scenario, key, 1.07)})


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(MACHINES)), st.data())
def test_changed_numbers_make_the_machine_that_a_whole_build_makes(name: str, data: st.DataObject) -> None:
    scenario = base(name)
    keys = data.draw(st.lists(st.sampled_from(numeric_keys(scenario)), min_size=1, max_size=3, unique=True))
    check(scenario, {key: moved(scenario, key, data.draw(st.floats(0.5, 2.0))) for key in keys})


def test_disks_are_changed_without_reading_the_program_again_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    monkeypatch.setattr(
        "oltpsim.calibration.fit.evaluate.read_workload", lambda model: read.append(1) or read_workload(model)
    )
    reader = AnalyticReader()
    one, three = (with_values(base("arm"), {"machine.disks.count": count}) for count in (1, 3))
    first, other, again = reader.read(one), reader.read(three), reader.read(one)
    assert len(read) == 1
    assert again.workload is first.workload
    wanted = read_workload(build(three))
    assert np.array_equal(other.workload.groups.beside, wanted.groups.beside)
    assert not np.array_equal(first.workload.groups.beside, wanted.groups.beside)


def test_more_programs_than_are_kept_are_read_again_and_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AnalyticReader, "MOST_KEPT", 2)
    reader = AnalyticReader()
    scenarios = [with_values(base("arm"), {"workload.warehouses": count}) for count in (1, 2, 3, 1)]
    found = [reader.read(each).workload for each in scenarios]
    assert found[3] is not found[0]
    assert np.array_equal(found[3].groups.rate, found[0].groups.rate)


def test_a_result_is_calculated_once_for_a_scenario_and_again_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    solved = []
    monkeypatch.setattr(
        "oltpsim.calibration.fit.evaluate.simulate", lambda *given, **kept: solved.append(1) or simulate(*given, **kept)
    )
    monkeypatch.setattr(AnalyticReader, "MOST_RESULTS", 2)
    reader = AnalyticReader()
    one, other, third = (with_values(base("arm"), {"machine.disks.count": count}) for count in (1, 2, 3))
    assert reader.result(one) is reader.result(one)
    assert len(solved) == 1
    assert reader.result(other).rate_per_min != reader.result(one).rate_per_min
    reader.result(third)
    assert len(solved) == 3
    reader.result(one)
    assert len(solved) == 4, "the oldest had to go"
