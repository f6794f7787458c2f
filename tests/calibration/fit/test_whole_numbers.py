"""Whole numbers and members of lists among the parameters of a fit."""

from pathlib import Path

import numpy as np
import pytest

from oltpsim.calibration.fit import (
    FigureKind,
    FitTask,
    MappingFile,
    MeasuredRun,
    Parameter,
    RunMapping,
    StepJournal,
    calibration_of,
    measured_runs,
    parameters_to_fit,
    parse_vary,
    run_fit,
)
from oltpsim.calibration.fit.evaluate import AnalyticReader, figures
from oltpsim.calibration.fit.objective import parameter_bounds
from oltpsim.calibration.fit.parameters import mixture
from oltpsim.calibration.predict import CALIBRATED, predict_scenario
from oltpsim.models.reading import with_values
from oltpsim.simulator.errors import InputError
from tests.calibration.synthetic import base, parameters, record, runs, said_by

SLOW = ("database.io=direct", "workload.warehouses=4", "machine.disks.disk.read_latency_us=3000", "machine.cpu.cores=2")
REQUESTS = "machine.disks.disk.parallel_requests"
ROW = "database.path.row_operation_us"
CORES = "machine.cpu.cores"
CAP = "machine.volume_limits[requests].per_s"
LIMIT = "machine.volume_limits=[{of: requests, per_s: 900, source: 'assumption: for tests'}]"
SIZES = ((4, 400), (12, 400), (40, 400))
RATE = (FigureKind.RATE,)


def fit(some: list[MeasuredRun], varied: tuple[Parameter, ...]) -> dict[str, tuple[bool, object, object, object]]:
    """Of each parameter whether it is identified, its value and its interval."""
    found = run_fit(FitTask(tuple(some), varied, starts=2), StepJournal(None, ""), lambda _, __: None)
    calibration = calibration_of(found, some[0].scenario)
    return {each.key: (each.identified, each.value, each.low, each.high) for each in calibration.parameters}


def test_the_whole_number_that_is_the_truth_is_found() -> None:
    scenario = base(*SLOW)
    varied = parameters(scenario, f"{REQUESTS}=1..16", f"{CORES}=1..8")
    [requests, cores] = fit(runs(scenario, {REQUESTS: 3}, SIZES, RATE), varied).values()
    assert requests == (True, 3, 3, 3)
    assert cores[:2] == (False, None)  # a disk that holds everything up says nothing of them


def test_more_noise_leaves_several_whole_numbers() -> None:
    """Negative twin: the interval isn't one number whatever the runs say."""
    scenario = base(*SLOW)
    [true] = runs(scenario, {REQUESTS: 4}, SIZES[-1:], RATE)
    noise = {"new orders/min": {"log_sd": 0.3, "source": "a test"}}
    file = MappingFile.model_validate({"all": {"noise": noise}})
    one = record("one", {FigureKind.RATE: true.observations[0].value}, true.scenario, 40, 400 * 8 / (1 << 20))
    some = measured_runs([one], scenario, {}, file)
    [(known, value, low, high)] = fit(some, parameters(scenario, f"{REQUESTS}=1..16")).values()
    assert known
    assert isinstance(value, float)
    assert isinstance(low, float)
    assert isinstance(high, float)
    assert low < 4 < value + 2 < high + 2
    assert all(each.is_integer() for each in (value, low, high))


def test_a_member_of_a_list_is_found_by_its_name() -> None:
    scenario = base(*SLOW[:2], LIMIT)
    [(known, value, low, high)] = fit(
        runs(scenario, {CAP: 400.0}, SIZES, RATE), parameters(scenario, f"{CAP}=200..2000")
    ).values()
    assert known
    assert value == pytest.approx(400, rel=0.03)
    assert isinstance(low, float)
    assert isinstance(high, float)
    assert low < 400 < high


def test_what_the_mapping_sets_of_a_list_is_not_fitted() -> None:
    scenario = base(*SLOW[:2], LIMIT)
    [plain] = runs(scenario, {}, SIZES[:1], RATE)
    assert plain.open_keys([CAP, REQUESTS]) == (CAP, REQUESTS)
    for key, value in ((CAP, 300), ("machine.volume_limits[0].per_s", 300), ("machine.volume_limits", [])):
        file = MappingFile(all=RunMapping(settings={key: value}))
        [run] = measured_runs([record("run", said_by(scenario), scenario, 4, 400 * 8 / (1 << 20))], scenario, {}, file)
        assert run.open_keys([CAP, REQUESTS]) == (REQUESTS,), key


def test_between_two_whole_numbers_lies_what_lies_between_their_figures() -> None:
    scenario = base(*SLOW)
    [run] = runs(scenario, {}, SIZES[1:2], RATE)
    varied = parameters(scenario, f"{REQUESTS}=1..16", f"{CORES}=1..8")

    def logs(requests: float, cores: float) -> float:
        place = np.array([[varied[0].place(requests), varied[1].place(cores)]])
        [[found]] = figures([run], varied, place, AnalyticReader()).tolist()
        return float(found)

    def machine(requests: int, cores: int) -> float:
        return float(np.log(said_by(with_values(run.scenario, {REQUESTS: requests, CORES: cores}))[FigureKind.RATE]))

    assert logs(3, 2) == pytest.approx(machine(3, 2), abs=1e-12)
    assert logs(3.25, 2) == pytest.approx(0.75 * machine(3, 2) + 0.25 * machine(4, 2), abs=1e-9)
    wanted = 0.4 * machine(3, 2) + 0.35 * machine(4, 2) + 0.25 * machine(4, 3)
    assert logs(3.6, 2.25) == pytest.approx(wanted, abs=1e-9)
    assert logs(3.6, 2.25) != pytest.approx(machine(4, 2), abs=1e-3)


def test_shares_of_a_mixture_are_those_of_its_place() -> None:
    varied = [Parameter(name, 4, 1, 9, 2.0, None, "a test", True) for name in "abc"]
    place = [each.place(value) for each, value in zip(varied, (2.5, 7.0, 3.9), strict=True)]
    found = mixture(varied, place)
    assert sum(share for share, _ in found) == pytest.approx(1.0)
    assert [sum(share * values[name] for share, values in found) for name in "abc"] == pytest.approx([2.5, 7.0, 3.9])
    assert all(isinstance(value, int) for _, values in found for value in values.values())
    assert len(found) == 3
    assert len(mixture(varied, [each.place(5) for each in varied])) == 1


def test_bounds_of_whole_numbers_are_whole() -> None:
    scenario = base(*SLOW)
    few, wide = parameters(scenario, f"{REQUESTS}=3.4..8.9", f"{CORES}=0.2..9")
    assert (few.low, few.high, few.value) == (4, 8, 8)
    assert (wide.low, wide.value) == (1, 2)
    low, high = parameter_bounds([few, wide])
    assert few.at(float(high[0])) == pytest.approx(8)
    assert wide.at(float(low[1])) == pytest.approx(1)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"{REQUESTS}=3.2..3.8", "a whole number, so give bounds with two of them"),
        ("machine.disks.disk.parallel_request=1..9", r"did you mean 'machine\.disks\.disk\.parallel_requests'"),
        ("machine.disks=1..2", r"is a part, no number; .* can be varied: machine\.disks\."),
        ("database.log.commit=1..2", r"is 'buffered', no number; what can be varied: database\.log\."),
        (
            "machine.volume_limits=1..2",
            r"is a list of 1; .* machine\.volume_limits\[0\]; .*\[0\]\.per_s",
        ),
        ("machine.volume_limits[1].per_s=1..2", "has no such number"),
        ("machine.volume_limits[mib].per_s=1..2", "has no such number"),
        ("machine.volume_limits[0].of=1..2", "is 'requests', no number"),
        ("machine.disks.disk.limits=1..2", "is an empty list"),
    ],
)
def test_keys_that_cannot_be_varied_are_refused_with_those_that_can(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        parse_vary(text, base(LIMIT))


def test_a_file_has_whole_numbers_too(tmp_path: Path) -> None:
    path = tmp_path / "parameters.yaml"
    text = f"parameters:\n  {REQUESTS}: {{low: 1, high: 16, factor: 2, vary: %s, source: x%s}}\n"
    path.write_text(text % ("true", ""))
    [varied], _ = parameters_to_fit([base()], path, ())
    assert (varied.whole, varied.value) == (True, 8)
    path.write_text(
        text % ("false", ", value: 5") + "  database.path.row_operation_us: {low: 5, high: 90, factor: 2, source: x}\n"
    )
    _, fixed = parameters_to_fit([base()], path, ())
    assert fixed == {REQUESTS: 5}
    [run] = measured_runs([record("run", said_by(base()), base(), 4, 0.01)], base(), fixed)
    assert run.scenario.machine.disks.disk.parallel_requests == 5  # type: ignore[union-attr]
    path.write_text(text % ("true", ", value: 5.5"))
    with pytest.raises(InputError, match=r"parallel_requests: value: got 5\.5; must be a whole number"):
        parameters_to_fit([base()], path, ())


def test_what_a_record_says_is_not_fitted() -> None:
    scenario = base(*SLOW)
    some = runs(scenario, {}, SIZES, RATE)
    with pytest.raises(InputError, match=r"clients: can't be fitted, since .* 'ignored: \[workload\.cl"):
        fit(some, parameters(scenario, "workload.arrivals.clients=1..50"))


def test_a_prediction_takes_the_whole_number_and_moves_by_one() -> None:
    scenario = base(*SLOW)
    varied = parameters(scenario, f"{REQUESTS}=1..16")
    some = runs(scenario, {REQUESTS: 3}, SIZES, RATE)
    found = run_fit(FitTask(tuple(some), varied, starts=1), StepJournal(None, ""), lambda _, __: None)
    answer = predict_scenario(calibration_of(found, scenario), some[1].scenario)
    assert answer.scenario.machine.disks.disk.parallel_requests == 3  # type: ignore[union-attr]
    assert 0.001 < answer.rate.sd_of(CALIBRATED) < 0.2
