"""Distributions of integers, by counting."""

import numpy as np
import pytest

from oltpsim.simulator.expectation.values import Numbers, affine


@pytest.mark.parametrize("size", [1, 5, 7, 9])
@pytest.mark.parametrize("low", [-8, 0, 3])
@pytest.mark.parametrize("add", [-9, 0, 4, 6])
@pytest.mark.parametrize("factor", [1, 2])
def test_a_number_modulo_another_is_counted(size: int, low: int, add: int, factor: int) -> None:
    modulus, shares = 7, np.random.default_rng(size).random(size)
    found = affine(Numbers(low, shares), factor, add, modulus)
    assert isinstance(found, Numbers)
    counted = np.zeros(modulus)
    for place, share in enumerate(shares.tolist()):
        counted[((low + place) * factor + add) % modulus] += share
    np.testing.assert_array_equal(np.bincount(found.low + np.arange(len(found.share)), found.share, modulus), counted)
    assert found.share[[0, -1]].all()
