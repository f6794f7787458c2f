"""Arrays: their types, by the kind of number that they hold, and ranks of whole numbers."""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
StructuredArray = npt.NDArray[np.void]
"""rows of numbers, columns by name"""

SPARSE = 16
"""range by length above which whole numbers are sorted to rank them"""


def ranks(numbers: IntArray) -> IntArray:
    """Rank of each number among the different ones, from 0: the inverse of `np.unique`, in linear time if dense."""
    if not len(numbers):
        return numbers
    above = numbers - numbers.min()
    if above.max() > SPARSE * len(numbers):
        return np.unique(numbers, return_inverse=True)[1]
    present = np.bincount(above) > 0
    return np.asarray((np.cumsum(present) - 1)[above])
