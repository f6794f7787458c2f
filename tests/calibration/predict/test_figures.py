"""Figures beside the rate: each has the interval of its kind, and none that no run has measured."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from oltpsim.calibration.fit import (
    Calibration,
    FigureKind,
    StepJournal,
    apply_calibration,
    calibration_path,
    no_report,
    read_calibration,
)
from oltpsim.calibration.predict import (
    CALIBRATED,
    MISSED,
    ONE_RUN,
    Component,
    FigureInterval,
    Guesses,
    measurement_interval,
    predict_scenario,
    predict_scenarios,
)
from oltpsim.calibration.predict.figures import NEAR_CAPACITY, SHAPE_SD, UNMEASURED, FigureError, figure_intervals
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build
from oltpsim.scenarios.library import load_scenario_file, scenario_path
from oltpsim.simulator.analytic import simulate
from oltpsim.simulator.form import System
from oltpsim.simulator.results import Result

BASE = "postgresql-15-400-iops"


def alike(sd: float) -> FigureError:
    """What a figure is wrong by, as a normal distribution."""
    return FigureError((Component("alike", sd),))


def scenario(*settings: str, name: str = BASE) -> ScenarioSpec:
    return load_scenario_file(scenario_path(name), ("engine=analytic", *settings))


@pytest.fixture(scope="module")
def model() -> Calibration:
    return read_calibration(calibration_path(Path("postgresql")))


def calculated(model: Calibration, *settings: str) -> Result:
    return simulate(build(apply_calibration(model, scenario(*settings))), 1)


def by_name(model: Calibration, *settings: str) -> dict[str, FigureInterval]:
    found = measurement_interval(scenario(*settings), calculated(model, *settings), model)
    return {each.name: each for each in found.figures}


def log_width(figure: FigureInterval, kind: FigureKind) -> float:
    assert figure.ends is not None
    low, high = figure.ends
    return math.log((high + kind.negligible) / (low + kind.negligible)) / 2.0


def test_every_kind_that_runs_measured_has_an_interval_and_others_say_why(model: Calibration) -> None:
    measured = {each.kind for run in model.runs for each in run.figures}
    assert FigureKind.BUSY not in measured
    found = by_name(model)
    assert list(found) == [
        "new_order_mean", "new_order_p95", "cpu_utilisation", "disk_utilisation", "reads", "writes", "pool_misses",
        "log_flushes",
    ]  # fmt: skip
    assert found["disk_utilisation"].reason == UNMEASURED
    assert found["disk_utilisation"].ends is None
    for name, each in found.items():
        if name != "disk_utilisation":
            assert each.ends is not None
            assert each.ends[0] < each.value < each.ends[1], name


def test_without_a_model_there_are_none() -> None:
    assert measurement_interval(scenario(), simulate(build(scenario()), 1)).figures == ()


def test_a_kind_is_as_uncertain_as_what_the_model_misses_of_it(model: Calibration) -> None:
    wider = {
        regime: {kind: each.model_copy(update={"scale": each.scale * (2.0 if kind == FigureKind.READS else 1.0)})
                 for kind, each in kinds.items()}
        for regime, kinds in model.missed_by_regime.items()
    }  # fmt: skip
    one, other = by_name(model), by_name(model.model_copy(update={"missed_by_regime": wider}))
    reads = [log_width(found["reads"], FigureKind.READS) for found in (one, other)]
    assert reads[1] > 1.3 * reads[0]
    assert one["writes"] == other["writes"]


def certain(system: System, seed: int) -> Result:
    """The formulas' result as if they had no error."""
    result = simulate(system, seed)
    rate = result.rate_per_min
    return replace(result, rate_per_min=replace(rate, low=0.999 * rate.mean, high=1.001 * rate.mean))


def test_without_think_time_the_response_is_as_uncertain_as_the_rate(model: Calibration) -> None:
    """Little's law: clients = rate x response. The formulas' error of both is left out: each has its own."""
    found = predict_scenario(model, scenario(), certain)
    mean = next(each for each in found.figures if each.name == "new_order_mean")
    assert mean.ends is not None
    own = math.hypot(*(found.rate.sd_of(what) for what in (CALIBRATED, ONE_RUN, MISSED)))
    assert mean.figure.sd == pytest.approx(own, rel=0.15)


def test_with_think_time_a_machine_at_its_limit_knows_its_response_less(model: Calibration) -> None:
    """Rate x (response + think) = clients: what the rate is wrong by is more of a response that is a part of it."""
    think = ("workload.arrivals.think_time_s=1.0", "workload.arrivals.clients=100")
    plain = by_name(model)["new_order_mean"]
    found = by_name(model, *think)["new_order_mean"]
    assert plain.ends is not None
    assert found.ends is not None
    assert found.figure.sd > 1.5 * plain.figure.sd


def test_what_a_description_leaves_open_counts_by_kind(model: Calibration) -> None:
    result = calculated(model)
    guess = {"clients": {kind: 0.5 if kind == FigureKind.RESPONSE else 0.0 for kind in FigureKind}}
    plain, open_ = (measurement_interval(scenario(), result, model, each) for each in (None, Guesses(guess, {})))
    assert plain.rate.low == open_.rate.low
    sds = [{each.name: each.figure.sd for each in found.figures} for found in (plain, open_)]
    assert sds[1]["new_order_mean"] == pytest.approx(math.hypot(sds[0]["new_order_mean"], 0.5))
    assert sds[1]["reads"] == sds[0]["reads"]


def test_a_share_stays_a_share(model: Calibration) -> None:
    """What would be beyond full is full; the lower end is that of the work."""
    result = calculated(model)
    busy = replace(result, cpu=replace(result.cpu, user=0.9, system=0.05, idle=0.05, iowait=0.0))
    for each, sd in ((result, 0.1), (busy, 0.1), (busy, 0.5)):
        [cpu] = [one for one in figure_intervals(each, {FigureKind.CPU: alike(sd)}, 0.9)
                 if one.name == "cpu_utilisation"]  # fmt: skip
        assert cpu.ends is not None
        low, high = cpu.ends
        assert 0.0 < low < cpu.value < high <= 1.0
        assert math.log((cpu.value + 0.01) / (low + 0.01)) == pytest.approx(1.645 * sd, rel=0.01)
    idle = replace(result, cpu=replace(result.cpu, user=0.0, system=0.001, idle=0.999, iowait=0.0))
    [cpu] = [one for one in figure_intervals(idle, {FigureKind.CPU: alike(0.5)}, 0.9) if one.name == "cpu_utilisation"]
    assert cpu.ends is not None
    assert cpu.ends[0] == 0.0


def test_a_response_that_hangs_on_a_hair_has_no_interval(model: Calibration) -> None:
    found = figure_intervals(calculated(model), {FigureKind.RESPONSE: alike(math.inf)}, 0.9)
    assert found[0].reason == NEAR_CAPACITY
    assert found[0].ends is None


def test_a_percentile_is_known_less_than_the_mean(model: Calibration) -> None:
    found = by_name(model)
    mean, p95 = found["new_order_mean"].figure.sd, found["new_order_p95"].figure.sd
    assert p95 == pytest.approx(math.hypot(mean, SHAPE_SD))


def test_a_percentile_that_the_engine_does_not_know_is_left_out(model: Calibration) -> None:
    result = calculated(model)
    classes = [replace(each, p95_s=None) for each in result.classes]
    names = [each.name for each in measurement_interval(scenario(), replace(result, classes=classes), model).figures]
    assert "new_order_p95" not in names
    assert "new_order_mean" in names


def test_predictions_survive_their_journal(model: Calibration, tmp_path: Path) -> None:
    """What a journal gives back is what was predicted; a journal of another task gives nothing back."""
    asked = {"pool": scenario()}
    found, kept, again = (
        predict_scenarios(model, asked, StepJournal(tmp_path / "journal", task), lambda *_: None, None, calculate)[
            "pool"
        ]
        for task, calculate in (("this", simulate), ("this", _fails), ("another", simulate))
    )
    assert found.figures
    assert found == predict_scenario(model, scenario(), simulate)
    assert kept == found == again
    with pytest.raises(AssertionError, match="calculated again"):
        predict_scenarios(model, asked, StepJournal(None, "this"), no_report, None, _fails)


def _fails(*_: object) -> Result:
    raise AssertionError("calculated again")
