"""Zeros of many functions of one unknown at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
MOST_STEPS: Final = 200


def root(
    function: Callable[[FloatArray], FloatArray], low: FloatArray, high: FloatArray, tolerance: float
) -> FloatArray:
    """Where `function` is 0, to within `tolerance`, elementwise; it must have different signs at the bounds.

    Inverse quadratic interpolation, or else bisection (Chandrupatla, "A new hybrid quadratic/bisection algorithm for
    finding the zero of a nonlinear function", Advances in Engineering Software 28, 1997).
    """
    # One bound is the latest guess, the other one has the other sign, the third is what the latest replaced.
    guess, other = np.array(low), np.array(high)
    at_guess, at_other = function(guess), function(other)
    step: Any = 0.5
    for _ in range(MOST_STEPS):
        tried = guess + step * (other - guess)
        at_tried = function(tried)
        same = np.sign(at_tried) == np.sign(at_guess)
        third, at_third = np.where(same, guess, other), np.where(same, at_guess, at_other)
        other, at_other = np.where(same, other, guess), np.where(same, at_other, at_guess)
        guess, at_guess = tried, at_tried
        width = np.abs(other - guess)
        found = (width <= tolerance) | (at_guess == 0.0)
        if found.all():
            break
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            near = tolerance / (2.0 * width)
            across, along = (guess - other) / (third - other), (at_guess - at_other) / (at_third - at_other)
            smooth = (along**2 < across) & ((1.0 - along) ** 2 < 1.0 - across)
            curved = at_guess / (at_other - at_guess) * at_third / (at_other - at_third) + (third - guess) / (
                other - guess
            ) * at_guess / (at_third - at_guess) * at_other / (at_third - at_other)
            step = np.where(found, 0.0, np.where(smooth, np.clip(curved, near, 1.0 - near), 0.5))
    return guess
