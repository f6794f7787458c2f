"""Ranks of whole numbers."""

import numpy as np
import pytest

from oltpsim.simulator.form import ranks


@pytest.mark.parametrize("spread", [3, 10_000_000])
def test_ranks_are_the_inverse_of_the_different_numbers(spread: int) -> None:
    numbers = np.random.default_rng(1).integers(-5, 6, 200) * spread
    different, inverse = np.unique(numbers, return_inverse=True)
    np.testing.assert_array_equal(ranks(numbers), inverse)
    np.testing.assert_array_equal(different[ranks(numbers)], numbers)


def test_no_numbers_have_no_ranks() -> None:
    assert not len(ranks(np.zeros(0, dtype=np.int64)))
