"""What runs share of what is missed of them, and what repeats say of noise: closed formulas and runs made again."""

from dataclasses import replace

import numpy as np
import pytest

from oltpsim.calibration.fit import Circumstances, FigureKind, FitTask, MeasuredRun, StepJournal, no_report, run_fit
from oltpsim.calibration.fit.covariance import (
    JOB,
    MACHINE_SHARE,
    OTHER_REGIME,
    REACH,
    circumstances_of,
    setup_hash,
    shared_correlation,
    shared_correlations,
)
from oltpsim.calibration.fit.discrepancy import assumed_discrepancy, with_discrepancy
from oltpsim.calibration.fit.objective import data_of
from oltpsim.calibration.fit.repeats import ASSUMED_FREEDOM, FROM_REPEATS, with_noise_of_repeats
from oltpsim.models.reading import with_values
from tests.calibration.synthetic import ROWS, base, parameters, runs

SYSTEM = ("database.io=direct", "machine.cpu.cores=2", "workload.warehouses=2", "workload.arrivals.clients=8")
ONE = Circumstances("a machine", "one", "disk", (0.0, 0.0))


def measured(*factors: float, buffers: int = 1500) -> list[MeasuredRun]:
    """One scenario's run, made again and again: its rate times a factor each."""
    [run] = runs(base(*SYSTEM), {}, ((8, buffers),), (FigureKind.RATE,))
    [rate] = run.observations
    return [
        replace(run, name=f"{buffers} buffers, {number}", observations=(replace(rate, value=rate.value * factor),))
        for number, factor in enumerate(factors)
    ]


def test_a_run_made_again_shares_all_and_one_of_another_machine_nothing() -> None:
    assert shared_correlation(ONE, replace(ONE, machine="another name of it")) == 1.0
    assert shared_correlation(ONE, replace(ONE, setup="two", machine="another")) == 0.0
    assert shared_correlation(ONE, replace(ONE, setup="two")) == MACHINE_SHARE


def test_runs_of_a_machine_share_less_the_farther_apart_they_are() -> None:
    far = replace(ONE, setup="two", sizes=(0.6 * REACH, 0.8 * REACH))
    assert shared_correlation(ONE, far) == pytest.approx(MACHINE_SHARE / np.e)
    assert shared_correlation(ONE, replace(far, regime="cpu")) == pytest.approx(OTHER_REGIME * MACHINE_SHARE / np.e)
    assert shared_correlation(ONE, replace(ONE, setup="two", regime=f"{JOB}load")) == 0.0


def test_shared_correlations_are_correlations_whatever_the_runs() -> None:
    rng = np.random.default_rng(2)
    some = [
        Circumstances(f"{rng.integers(2)}", f"{rng.integers(9)}", ("disk", "cpu")[rng.integers(2)], ())
        for _ in range(12)
    ]
    sized = {each.setup: tuple(rng.normal(size=2)) for each in some}
    machines = {each.setup: (each.machine, each.regime) for each in some}
    some = [Circumstances(machines[x.setup][0], x.setup, machines[x.setup][1], sized[x.setup]) for x in some]
    assert np.linalg.eigvalsh(shared_correlations(some, some)).min() > -1e-9


def test_a_longer_run_is_the_same_setup_and_another_load_is_not() -> None:
    scenario = base(*SYSTEM)
    assert setup_hash(scenario) == setup_hash(scenario.model_copy(update={"name": "measured again"}))
    assert setup_hash(scenario) == setup_hash(base(*SYSTEM, "interval.duration_s=20"))
    assert setup_hash(scenario) != setup_hash(with_values(scenario, {"workload.arrivals.clients": 9}))


def test_independent_residuals_have_the_sum_of_squares_of_the_whole_covariance() -> None:
    some = [*measured(1.0, 1.1), *measured(0.9, buffers=5000)]
    where = [circumstances_of(run.scenario, "cpu") for run in some]
    data = with_discrepancy(data_of(some).with_shared(where), assumed_discrepancy(), [0.0] * 3, 1.0)
    away = np.array([0.1, -0.05, 0.02])
    sd = FigureKind.RATE.missed_sd
    whole = np.diag(data.sd**2) + sd**2 * shared_correlations(where, where)
    assert (data.residuals(data.measured + away) ** 2).sum() == pytest.approx(away @ np.linalg.solve(whole, away))
    assert np.isnan(data.residuals(np.array([[0.1, np.nan, 0.0]]))).all()


def test_a_censored_figure_shares_nothing() -> None:
    some = measured(1.0, 1.1)
    some[1] = replace(some[1], observations=(replace(some[1].observations[0], at_least=True),))
    data = data_of(some).with_shared([circumstances_of(run.scenario, "cpu") for run in some])
    assert data.shared is not None
    assert data.shared[0, 1] == 0.0


def spread(some: list[MeasuredRun]) -> float:
    """A path length's standard deviation by a fit, with what the model misses as assumed."""
    varied = parameters(base(*SYSTEM), ROWS)
    task = FitTask(tuple(some), varied, starts=1, intervals=False, corrections=((0.0, 0.0),) * len(some))
    return float(np.sqrt(run_fit(task, StepJournal(None, ""), no_report).covariance[0, 0]))


def test_repeats_leave_a_parameter_nearly_as_open_as_one_run() -> None:
    """Drawn afresh for each, what is missed was halved by four repeats: 0.355 to 0.187 where 0.347 is right."""
    once = spread(measured(1.0, buffers=5000))
    again = spread(measured(1.0, 1.03, 0.97, 1.0, buffers=5000))
    assert 0.85 * once < again <= once * 1.05


def test_repeats_say_what_noise_is() -> None:
    factors = np.array([1.15, 0.85, 1.1, 0.9])
    far = with_noise_of_repeats(measured(*factors.tolist()))
    squares = float(((np.log(factors) - np.log(factors).mean()) ** 2).sum())
    sd = np.sqrt((ASSUMED_FREEDOM * FigureKind.RATE.noise_sd**2 + squares) / (ASSUMED_FREEDOM + 3))
    for run in far:
        [rate] = run.observations
        assert rate.sd == pytest.approx(sd)
        assert rate.noise.startswith(FROM_REPEATS)
    near = with_noise_of_repeats(measured(1.0, 1.002, 0.998, 1.004))
    assert near[0].observations[0].sd < FigureKind.RATE.noise_sd
    assert with_noise_of_repeats(far) == far


def test_other_scenarios_and_one_measurement_printed_twice_are_no_repeats() -> None:
    some = [*measured(1.0), *measured(0.8, buffers=5000)]
    assert list(with_noise_of_repeats(some)) == some
    twice = measured(1.0, 1.0001)
    assert list(with_noise_of_repeats(twice)) == twice


def test_what_a_mapping_file_says_of_noise_stays() -> None:
    some = measured(1.15, 0.85)
    said = [replace(run, observations=(replace(run.observations[0], noise="15 repeats"),)) for run in some]
    assert list(with_noise_of_repeats(said)) == said
