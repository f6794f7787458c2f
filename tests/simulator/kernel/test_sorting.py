"""Sorting in place against Python's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.kernel.sorting import sort_first

Numbers = st.one_of(
    st.lists(st.integers(-(2**31), 2**31 - 1), max_size=300),
    st.lists(st.integers(0, 3), max_size=300),
)


@settings(derandomize=True, deadline=None, database=None)
@given(numbers=Numbers, share=st.floats(0, 1), wide=st.booleans())
def test_the_first_numbers_are_sorted_and_the_others_stay(numbers: list[int], share: float, wide: bool) -> None:
    count = int(share * len(numbers))
    values = np.array(numbers, dtype=np.int64 if wide else np.int32)
    sort_first(values, count)
    assert values.tolist() == sorted(numbers[:count]) + numbers[count:]


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4096, 100_000])
@pytest.mark.parametrize("shape", ["up", "down", "equal", "any"])
def test_no_shape_is_a_bad_case(size: int, shape: str) -> None:
    shapes = {
        "up": np.arange(size),
        "down": np.arange(size)[::-1],
        "equal": np.full(size, 7),
        "any": np.random.default_rng(1).integers(0, 2**62, size),
    }
    values = shapes[shape].astype(np.int64)
    expected = np.sort(values)
    sort_first(values, size)
    assert np.array_equal(values, expected)
