"""Discrete samplers as data: alias tables laid end to end in one array.

Row i of a table is (cut, other): draw a column i and 32 bits; below the cut the answer is i, else `other`. Drawing is
`kernel.streams.draw_alias`; here nothing is compiled, so that who builds a system doesn't wait for the compiler.
Source: Walker 1977; Vose, "A linear algorithm for generating random numbers with a given distribution", 1991.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from oltpsim.simulator.errors import InternalError

CUT_ONE = 1 << 32


def cut_of(probability: float) -> int:
    """A probability as the 32-bit cut that `chance` and alias tables compare with."""
    if not 0.0 <= probability <= 1.0:
        raise InternalError(f"not a probability: {probability!r}")
    return round(probability * CUT_ONE)


def alias_table(weights: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Alias table, shape (n, 2), of `n` non-negative weights that need not sum to 1; read-only."""
    share = np.asarray(weights, dtype=np.float64)
    if share.ndim != 1 or share.size == 0 or (share < 0).any() or not share.sum() > 0:
        raise InternalError("alias table: weights must be a non-empty list of non-negative numbers, not all zero")
    return _table_of(share.tobytes())


@lru_cache(maxsize=64)
def _table_of(weights: bytes) -> npt.NDArray[np.int64]:
    """A table, made once: models of one workload that differ elsewhere ask for the same again and again."""
    share = np.frombuffer(weights, dtype=np.float64)
    scaled = (share * (share.size / share.sum())).tolist()
    cuts, others = [CUT_ONE] * share.size, list(range(share.size))
    small = [i for i in others if scaled[i] < 1.0]
    large = [i for i in others if scaled[i] >= 1.0]
    while small and large:
        low, high = small.pop(), large[-1]
        cuts[low], others[low] = round(scaled[low] * CUT_ONE), high
        scaled[high] -= 1.0 - scaled[low]
        if scaled[high] < 1.0:
            small.append(large.pop())
    table = np.column_stack((cuts, others)).astype(np.int64)
    table.flags.writeable = False
    return table


def alias_pmf(table: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The distribution that a table draws from, to check it against the weights."""
    keep = table[:, 0] / CUT_ONE
    pmf = keep.copy()
    np.add.at(pmf, table[:, 1], 1.0 - keep)
    return pmf / len(table)
