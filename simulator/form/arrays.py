"""Types of arrays, by the kind of number that they hold."""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
StructuredArray = npt.NDArray[np.void]
"""rows of numbers, columns by name"""
