"""Discrete samplers as data: alias tables laid end to end in one array.

Row i of a table is (cut, other): draw a column i and 32 bits; below the cut the answer is i, else `other`.
Source: Walker 1977; Vose, "A linear algorithm for generating random numbers with a given distribution", 1991.
"""

# pyright: reportReturnType=false
# compiled code must say np.int64 where a plain int would become unsigned or float

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from simulator.compiled import compiled
from simulator.errors import InternalError
from simulator.streams import next_bits

CUT_ONE = 1 << 32
_SHIFT_32 = np.uint64(32)
_LOW_32 = np.uint64(0xFFFFFFFF)


def cut_of(probability: float) -> int:
    """A probability as the 32-bit cut that `chance` and alias tables compare with."""
    if not 0.0 <= probability <= 1.0:
        raise InternalError(f"not a probability: {probability!r}")
    return round(probability * CUT_ONE)


def alias_table(weights: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Alias table, shape (n, 2), of `n` non-negative weights that need not sum to 1."""
    share = np.asarray(weights, dtype=np.float64)
    if share.ndim != 1 or share.size == 0 or (share < 0).any() or not share.sum() > 0:
        raise InternalError("alias table: weights must be a non-empty list of non-negative numbers, not all zero")
    scaled = share * (share.size / share.sum())
    table = np.empty((share.size, 2), dtype=np.int64)
    table[:, 0], table[:, 1] = CUT_ONE, np.arange(share.size)
    small = [int(i) for i in np.flatnonzero(scaled < 1.0)]
    large = [int(i) for i in np.flatnonzero(scaled >= 1.0)]
    while small and large:
        low, high = small.pop(), large[-1]
        table[low] = round(scaled[low] * CUT_ONE), high
        scaled[high] -= 1.0 - scaled[low]
        if scaled[high] < 1.0:
            small.append(large.pop())
    return table


def alias_pmf(table: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The distribution that a table draws from, to check it against the weights."""
    keep = table[:, 0] / CUT_ONE
    pmf = keep.copy()
    np.add.at(pmf, table[:, 1], 1.0 - keep)
    return pmf / len(table)


@compiled
def draw_alias(
    streams: npt.NDArray[np.uint64], stream: int, alias: npt.NDArray[np.int64], start: int, length: int
) -> int:
    """A draw from the table in rows start .. start+length-1 of `alias`."""
    bits = next_bits(streams, stream)
    column = np.int64(((bits >> _SHIFT_32) * np.uint64(length)) >> _SHIFT_32)
    if np.int64(bits & _LOW_32) < alias[start + column, 0]:
        return column
    return alias[start + column, 1]
