"""Sorting in place, for compiled code that makes no arrays."""

from typing import Any

import numpy.typing as npt

from simulator.kernel.compiled import compiled


@compiled
def sort_first(values: npt.NDArray[Any], count: int) -> None:
    """Sort the first `count` integers in ascending order. Heapsort: no recursion, no memory, no bad case."""
    for root in range(count // 2 - 1, -1, -1):
        _sift(values, root, count)
    for end in range(count - 1, 0, -1):
        values[0], values[end] = values[end], values[0]
        _sift(values, 0, end)


@compiled
def _sift(values: npt.NDArray[Any], root: int, count: int) -> None:
    value = values[root]
    while True:
        child = 2 * root + 1
        if child >= count:
            break
        if child + 1 < count and values[child + 1] > values[child]:
            child += 1
        if values[child] <= value:
            break
        values[root] = values[child]
        root = child
    values[root] = value
