"""Sums of products in one order."""

import numpy as np
import pytest

from oltpsim.simulator.form.sums import matrix_product, weighted_sum


def test_a_weighted_sum_is_the_product_with_a_row_of_weights() -> None:
    values, weights = np.arange(12.0).reshape(3, 4) ** 1.5, np.array([0.1, 0.2, 0.3, 0.4])
    assert weighted_sum(values, weights) == pytest.approx(values @ weights, rel=1e-14)
    assert weighted_sum(values[0], weights).shape == ()
    assert weighted_sum(values, weights[::-1]) != pytest.approx(values @ weights)


def test_nothing_sums_to_zero() -> None:
    assert weighted_sum(np.zeros((2, 0)), np.zeros(0)).tolist() == [0.0, 0.0]


def test_a_product_of_matrices_is_numpys() -> None:
    left, right = np.random.default_rng(1).random((5, 2, 3)), np.random.default_rng(2).random((5, 3, 4))
    assert matrix_product(left, right) == pytest.approx(left @ right, rel=1e-14)
    assert matrix_product(left, right).shape == (5, 2, 4)
