"""Rows of arrays in dataclasses: some of the configurations."""

from dataclasses import dataclass

import numpy as np

from oltpsim.simulator.analytic import rows
from oltpsim.simulator.form import FloatArray


@dataclass(frozen=True)
class Inner:
    one: FloatArray


@dataclass(frozen=True)
class Outer:
    two: FloatArray
    inner: Inner


def test_rows_of_nested_arrays_are_taken() -> None:
    whole = Outer(np.arange(8.0).reshape(4, 2), Inner(np.arange(4.0)))
    part = rows(whole, np.array([3, 1]))
    assert part.two.tolist() == [[6.0, 7.0], [2.0, 3.0]]
    assert part.inner.one.tolist() == [3.0, 1.0]
    assert whole.inner.one.tolist() == [0.0, 1.0, 2.0, 3.0]
