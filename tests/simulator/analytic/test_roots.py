"""Zeros of many functions at once, by each of the ways to look for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from simulator.analytic import rows
from simulator.analytic.configurations import with_rows
from simulator.analytic.roots import root, root_among, secant
from simulator.form import FloatArray

ZEROS = np.array([-3.0, -0.2, 0.001, 0.7, 2.5])
SLOPES = np.array([0.4, 1.0, 3.0, 10.0, 80.0])
MOST = np.full(5, 4.0)


def steps(x: FloatArray) -> FloatArray:
    """Rises from -1 to 1 around `ZEROS`, the steeper the further to the right; (5,) or (5, any)."""
    shape = (5,) + (1,) * (x.ndim - 1)
    return np.tanh(SLOPES.reshape(shape) * (x - ZEROS.reshape(shape)) * (1.0 + 0.1 * np.sin(x)))


@pytest.mark.parametrize("tolerance", [1e-3, 1e-9])
def test_zeros_between_bounds(tolerance: float) -> None:
    found = root(steps, MOST - 25.0, MOST, tolerance)
    np.testing.assert_allclose(found, ZEROS, atol=2 * tolerance)
    assert not np.allclose(found, ZEROS + 0.01, atol=2 * tolerance)


def test_a_search_may_end_when_enough_are_found() -> None:
    seen = []

    def counted(x: FloatArray) -> FloatArray:
        seen.append(x)
        return steps(x)

    root(counted, MOST - 25.0, MOST, 1e-9)
    every = len(seen)
    found = root(counted, MOST - 25.0, MOST, 1e-9, enough=0.6)
    assert len(seen) - every < every
    assert (np.abs(found - ZEROS) < 1e-8).sum() >= 3


@pytest.mark.parametrize("reach", [0.01, 0.2, 25.0])
@pytest.mark.parametrize("guess", [-6.0, 0.0, 3.9])
def test_zeros_among_many_places_wherever_the_search_begins(reach: float, guess: float) -> None:
    found = root_among(steps, np.full(5, guess), reach, MOST, 1e-8)
    np.testing.assert_allclose(found, ZEROS, atol=1e-7)
    assert not np.allclose(found, ZEROS + 1e-6, atol=1e-7)


def test_the_upper_bound_where_there_is_no_zero_below_it() -> None:
    most = np.array([-5.0, -0.1, 0.0, 1.0, 2.0])
    found = root_among(steps, most - 0.1, 0.2, most, 1e-8)
    np.testing.assert_allclose(found, np.minimum(ZEROS, most), atol=1e-7)


def test_newtons_steps_from_nearby_and_how_sure_they_are() -> None:
    found, slope, step = secant(steps, ZEROS + 0.003, 1.1 * SLOPES, MOST, 3)
    np.testing.assert_allclose(found, ZEROS, atol=1e-5)
    np.testing.assert_allclose(slope, SLOPES * (1.0 + 0.1 * np.sin(ZEROS)), rtol=0.05)
    assert (step < 1e-3).all()
    _, _, lost = secant(steps, ZEROS - 2.0, SLOPES, MOST, 2)
    assert (lost > 0.05).all()


@dataclass(frozen=True)
class Inner:
    one: FloatArray


@dataclass(frozen=True)
class Outer:
    two: FloatArray
    inner: Inner


def test_rows_of_nested_arrays_are_taken_and_put_back() -> None:
    whole = Outer(np.arange(8.0).reshape(4, 2), Inner(np.arange(4.0)))
    some = np.array([3, 1])
    part = rows(whole, some)
    assert part.two.tolist() == [[6.0, 7.0], [2.0, 3.0]]
    assert part.inner.one.tolist() == [3.0, 1.0]
    changed = with_rows(whole, some, Outer(-part.two, Inner(-part.inner.one)))
    assert changed.inner.one.tolist() == [0.0, -1.0, 2.0, -3.0]
    assert changed.two[:, 0].tolist() == [0.0, -2.0, 4.0, -6.0]
    assert whole.inner.one.tolist() == [0.0, 1.0, 2.0, 3.0]
