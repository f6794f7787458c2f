"""Sums of products in one order on every machine: BLAS takes another for each processor and number of threads."""

import numpy as np
import numpy.typing as npt

from oltpsim.simulator.form.arrays import FloatArray


def weighted_sum(values: npt.ArrayLike, weights: npt.ArrayLike) -> FloatArray:
    """Sums of values times weights along the last axis, as `values @ weights` for one row of weights."""
    return np.asarray(np.add.reduce(np.multiply(values, weights, dtype=np.float64), axis=-1))


def matrix_product(left: FloatArray, right: FloatArray) -> FloatArray:
    """The product `left @ right` of matrices, (..., i, j) and (..., j, k), of which j is small."""
    product: FloatArray = left[..., :, 0, None] * right[..., None, 0, :]
    for j in range(1, left.shape[-1]):
        product = product + left[..., :, j, None] * right[..., None, j, :]
    return product
