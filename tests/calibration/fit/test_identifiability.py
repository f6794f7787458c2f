"""What figures can tell, on Jacobians written by hand; what a model misses, on residuals written by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from calibration.fit import FigureKind, Parameter, assumed_sd, engine_errors, identify_parameters
from calibration.fit.discrepancy import Scatter, assumed, estimated, over
from calibration.fit.identifiability import Identified, correlations, sentences
from calibration.fit.objective import FitData

NAMES = ("one.a_us", "one.b_us", "two.c_ms", "two.d_ms")
PARAMETERS = tuple(Parameter(name, 10.0, 1.0, 100.0, 2.0, None, "test") for name in NAMES)


def identified(slopes: NDArray[np.float64]) -> Identified:
    count = slopes.shape[1]
    return identify_parameters(slopes, np.zeros(count, dtype=bool), np.ones(count, dtype=bool))


def said(slopes: NDArray[np.float64]) -> list[str]:
    return sentences(PARAMETERS, identified(slopes), correlations(slopes)[1])


def test_two_pairs_are_named_as_two_pairs_whatever_vectors_span_them() -> None:
    slopes = np.array([[10.0, 10.0, 0, 0], [5, 5, 0, 0], [0, 0, 8, -8], [0, 0, 4, -4]])
    found = identified(slopes)
    assert found.identified.tolist() == [False] * 4
    assert found.confused_with == ((1,), (0,), (3,), (2,))
    first, second = said(slopes)
    assert "one." in first
    assert "two." not in first
    assert "two.c_ms times 2.00" in second
    assert "two.d_ms times 2.00" in second


def test_a_figure_that_tells_a_pair_apart_lifts_the_refusal() -> None:
    slopes = np.array([[10.0, 10.0, 0, 0], [10, -10, 0, 0], [0, 0, 8, 2], [0, 0, 1, 9]])
    found = identified(slopes)
    assert found.identified.all()
    assert found.confused_with == ((), (), (), ())
    assert found.share == pytest.approx(np.sqrt(np.diag(np.linalg.inv(slopes.T @ slopes))))
    assert not said(slopes)


def test_pairs_that_are_told_apart_badly_are_named() -> None:
    slopes = np.array([[100.0, 100.0, 0, 0], [3, -3, 0, 0], [0, 0, 10, 0], [0, 0, 0, 10]])
    [line] = said(slopes)
    assert line.startswith("one.a_us and one.b_us are told apart, but badly")


def test_more_parameters_than_figures_are_one_sentence() -> None:
    [line] = said(np.array([[10.0, 10.0, 10.0, 10.0]]))
    assert line.startswith("your runs can't tell one.")
    assert all(name in line for name in NAMES)
    assert "they fix 1 of 4 combinations" in line


def test_weak_and_silent_parameters_are_called_so() -> None:
    slopes = np.diag([10.0, 1.5, 0.7, 0.0])
    found = identified(slopes)
    assert found.identified.tolist() == [True, False, False, False]
    assert found.seen.tolist() == [True, True, False, False]
    weak, next_to_nothing, nothing = sorted(said(slopes), key=lambda line: ("little" not in line, "next" not in line))
    assert weak == "your runs say little of one.b_us: 67% of what its prior leaves open stays open"
    assert next_to_nothing.startswith("your runs say next to nothing of two.c_ms: it stays at its prior")
    assert nothing.startswith("your runs say nothing of two.d_ms: it stays at its prior")


def test_what_was_stopped_or_held_is_not_identified() -> None:
    nobody, first = np.zeros(4, dtype=bool), np.array([True, False, False, False])
    slopes = np.diag([10.0] * 4)
    assert identify_parameters(slopes, first, ~nobody).identified.tolist() == [False, True, True, True]
    assert identify_parameters(slopes, nobody, ~first).identified.tolist() == [False, True, True, True]


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
