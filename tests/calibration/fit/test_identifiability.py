"""What figures can tell, on Jacobians written by hand."""

import numpy as np
import pytest
from numpy.typing import NDArray

from oltpsim.calibration.fit import Parameter, identify_parameters
from oltpsim.calibration.fit.identifiability import Identified, correlations, sentences

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
