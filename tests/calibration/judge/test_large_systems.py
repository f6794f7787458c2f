"""Figures of large systems: names, multiples of another system's figure, bounds, and what is kept."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from oltpsim.calibration.judge import (
    FigureRow,
    figure_rows,
    figure_values,
    large_system_key,
    measured_scenarios,
    read_large_systems,
    write_large_systems,
)
from oltpsim.calibration.judge.large_systems import measured_figures
from oltpsim.calibration.records import simulated_figure
from oltpsim.calibration.records.measured import OF_RESULT
from oltpsim.models.scenario import FigureSpec, ScenarioSpec
from oltpsim.models.scenario.scenario import MeasuredSpec
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.scenarios.questions.measured import measured_systems
from oltpsim.scenarios.show.large_systems import figure_amount, figure_error, large_system_lines
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results import Result
from tests.scenarios.example_result import example_result


def asked(figure: str, value: float = 1.0, **more: object) -> FigureSpec:
    return FigureSpec.model_validate(
        {"figure": figure, "value": value, "role": "predicted", "source": "a test", **more}
    )


def with_figures(scenario: ScenarioSpec, *figures: FigureSpec) -> ScenarioSpec:
    return scenario.model_copy(update={"measured": MeasuredSpec(figures=figures, role="predicted", source="a test")})


@pytest.fixture(scope="module")
def scenario() -> ScenarioSpec:
    return load_scenario_file(Path("tests/scenarios/tiny.yaml"))


@pytest.fixture(scope="module")
def result() -> Result:
    return example_result()


def test_figures_are_what_the_result_says(scenario: ScenarioSpec, result: Result) -> None:
    first = replace(result.devices[0], occupied_fraction=0.8, occupied_per_request_s=0.00013, mean_queue=2.0)
    changed = replace(result, devices=[first, *result.devices[1:]])
    expected = {
        "cpu_user_fraction": result.cpu.user,
        "partition_occupied_fraction_most": 0.8,
        "partition_service_ms": 0.13,
        "partition_queue": 2.0,
        "reads_by_writes": first.reads_per_s / first.writes_per_s,
        "requests_per_s": first.reads_per_s + first.writes_per_s,
    }
    assert scenario.machine.disks.files == 1
    for name, value in expected.items():
        assert simulated_figure(asked(name), scenario, changed) == pytest.approx(value)
    assert simulated_figure(asked("partition_queue"), scenario, result) != 2.0, "the negative twin: another queue"


def test_the_log_is_on_the_first_data_disk_unless_it_has_its_own(scenario: ScenarioSpec, result: Result) -> None:
    """What follows the data in a result is the log's disk, or else a disk of a RAID set."""
    data, other = (replace(result.devices[0], occupied_fraction=share) for share in (0.8, 0.3))
    of_set = replace(result, devices=[data, other])
    disk = scenario.machine.disks.disk
    own = scenario.model_copy(update={"machine": scenario.machine.model_copy(update={"log_disk": disk})})
    assert simulated_figure(asked("log_occupied_fraction"), scenario, of_set) == 0.8
    assert simulated_figure(asked("log_occupied_fraction"), own, of_set) == 0.3, "the negative twin: a disk of its own"
    assert simulated_figure(asked("log_occupied_fraction"), scenario, replace(result, devices=[data])) == 0.8


def test_an_unknown_figure_is_refused_with_those_that_are_known(scenario: ScenarioSpec, result: Result) -> None:
    with pytest.raises(InputError, match=r"no figure 'cpu_user_percent'; allowed: .*cpu_user_fraction"):
        simulated_figure(asked("cpu_user_percent"), scenario, result)


def test_a_multiple_is_of_the_other_systems_figure(scenario: ScenarioSpec, result: Result) -> None:
    figure = asked("cpu_user_fraction", 2.0, times_that_of="small")
    systems = {"large": with_figures(scenario, figure), "small": scenario}
    assert set(measured_scenarios(systems)) == {"large", "small"}
    assert set(figure_values("small", systems, result)) >= {"cpu_user_fraction"}
    values = {"large": {"cpu_user_fraction": 0.6}, "small": {"cpu_user_fraction": 0.3}}
    (row,) = [each for each in figure_rows(systems, values) if each.scenario == "large"]
    assert (row.simulated, row.error) == (pytest.approx(2.0), pytest.approx(0.0))
    with pytest.raises(InputError, match="no scenario small in the library"):
        measured_scenarios({"large": systems["large"]})


def test_bounds_hold_or_do_not() -> None:
    under = FigureRow("one", "mean_response_s", 1.0, "at_most", 0.9, "predicted")
    assert (under.holds, figure_error(under)) == (True, "holds")
    over = replace(under, simulated=1.1)
    assert (over.holds, figure_error(over)) == (False, "DOESN'T HOLD")
    assert replace(over, bound="at_least").holds


def test_shares_are_judged_in_points_and_others_in_percent() -> None:
    share = FigureRow("one", "cpu_user_fraction", 0.55, "about", 0.52, "predicted")
    assert (figure_amount(share, share.simulated), figure_error(share)) == ("52.0 %", "-3.0 points")
    rate = FigureRow("one", "new_orders_per_minute", 1_000_000, "about", 1_030_000, "predicted")
    assert (figure_amount(rate, rate.simulated), figure_error(rate)) == ("1,030,000", "+3.0%")
    assert any("+3.0%" in line for line in large_system_lines([share, rate]))


def test_kept_values_are_of_their_scenario(tmp_path: Path, scenario: ScenarioSpec) -> None:
    file = tmp_path / "kept.json"
    write_large_systems({large_system_key(scenario, 1): {"cpu_user_fraction": 0.5}}, file)
    assert read_large_systems(file)[large_system_key(scenario, 1)] == {"cpu_user_fraction": 0.5}
    other = load_scenario_file(Path("tests/scenarios/tiny.yaml"), ["workload.arrivals.clients=3"])
    assert large_system_key(other, 1) not in read_large_systems(file)
    assert read_large_systems(tmp_path / "none.json") == {}
    file.write_text(json.dumps({"format": "another"}), encoding="utf-8")
    with pytest.raises(InputError, match="take the file away"):
        read_large_systems(file)


def test_every_measured_figure_of_the_library_is_known_and_kept() -> None:
    """Rows of both published files are there; each name is a figure, each scenario's values are those of today."""
    systems = measured_systems()
    kept = read_large_systems()
    for name, each in systems.items():
        assert large_system_key(each, 1) in kept, f"{name}: run docs/build_large_systems.py"
        if each.job is None:
            assert {figure.figure for figure in measured_figures(each)} <= set(OF_RESULT)
    assert {name for name in library_files() if name.startswith(("ssd-arrays/", "scaleout/queries"))} <= set(systems)
