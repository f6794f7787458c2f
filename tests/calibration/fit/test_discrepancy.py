"""What a model misses, on residuals written by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calibration.fit import FigureKind, assumed_sd, engine_errors
from calibration.fit.discrepancy import Scatter, assumed, estimated, over
from calibration.fit.objective import FitData


def data_of(count: int, sd: float) -> FitData:
    nothing = np.zeros(count)
    no, run = np.zeros(count, dtype=bool), np.zeros(count, dtype=np.int64)
    return over(
        FitData(nothing, nothing + sd, no, (FigureKind.RATE,) * count, run, nothing, nothing),
        assumed(),
        nothing.tolist(),
        1.0,
    )


def test_scatter_beyond_noise_is_what_has_to_be_added_to_it() -> None:
    """Equal noise and many runs: sum of squares / degrees of freedom = noise^2 + discrepancy^2."""
    residuals = np.random.default_rng(1).normal(0.0, 0.1, 4000)
    found = estimated(data_of(4000, 0.03), residuals, np.zeros((4000, 1)))[FigureKind.RATE]
    assert found.from_runs == 4000
    assert (found.scale * FigureKind.RATE.missed_sd) ** 2 + 0.03**2 == pytest.approx(
        float((residuals**2).mean()), rel=2e-3
    )


def test_parameters_take_degrees_of_freedom_as_far_as_the_data_tell_them() -> None:
    slopes = np.zeros((40, 2))
    slopes[0, 0], slopes[1, 1] = 1000.0, 1.0
    assert estimated(data_of(40, 0.03), np.ones(40), slopes)[FigureKind.RATE].from_runs == pytest.approx(38.5, abs=1e-3)


def test_noise_alone_leaves_next_to_nothing_of_the_assumption() -> None:
    few, many = (
        estimated(data_of(count, 0.1), np.full(count, 0.05), np.zeros((count, 1)))[FigureKind.RATE]
        for count in (4, 400)
    )
    assert many.scale < few.scale < 1.0
    assert many.scale < 0.2


def test_without_runs_of_a_kind_its_assumption_stays() -> None:
    assert estimated(data_of(1, 0.03), np.ones(1), np.zeros((1, 1)))[FigureKind.CPU] == Scatter()


def test_one_kind_that_is_missed_does_not_blur_the_others() -> None:
    data = over(
        replace(data_of(20, 0.03), kinds=(FigureKind.RATE,) * 10 + (FigureKind.WRITES,) * 10),
        assumed(),
        [0.0] * 20,
        1.0,
    )
    residuals = np.array([0.02] * 10 + [1.5] * 10)
    found = estimated(data, residuals, np.zeros((20, 1)))
    assert found[FigureKind.RATE].scale < 1.0
    assert found[FigureKind.WRITES].scale * FigureKind.WRITES.missed_sd > 1.0


def test_where_no_kernel_corrects_it_the_engines_error_is_missed_too() -> None:
    """And nothing is missed of runs that the model itself has made."""
    assert assumed_sd(FigureKind.RATE, 0.12, 1.0) == pytest.approx(0.13)
    assert assumed_sd(FigureKind.CPU, 0.0, 1.0) == FigureKind.CPU.missed_sd
    assert engine_errors()[FigureKind.CPU] > 0.0
    assert over(data_of(3, 0.03), assumed(), [0.0] * 3, 0.0).discrepancy.tolist() == [0.0] * 3
