"""Zeros of many functions of one unknown at once."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from simulator.form import FloatArray

MOST_STEPS: Final = 200
EVENLY: Final = np.linspace(0.0, 1.0, 17)
NEARBY: Final = 0.25 ** np.arange(2.0, 10.0)
PLACES: Final = len(EVENLY) + 2 * len(NEARBY)
"""at which `root_among` looks at once: some evenly between bounds, others the denser the nearer to the best guess"""
FARTHER: Final = 8.0
"""how many times as far it looks next if a zero lies beyond the bounds"""
LONGEST_STEP, LEAST_SLOPE = 0.2, 0.3
"""of `secant`"""


def root(
    function: Callable[[FloatArray], FloatArray],
    low: FloatArray,
    high: FloatArray,
    tolerance: float,
    enough: float = 1.0,
) -> FloatArray:
    """Where `function` is 0, to within `tolerance`, elementwise; it must have different signs at the bounds.

    The search ends when the share `enough` of them is found; the others are near then.
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
        if found.mean() >= enough:
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


def root_among(
    function: Callable[[FloatArray], FloatArray], guess: FloatArray, reach: float, most: FloatArray, tolerance: float
) -> FloatArray:
    """Where a rising `function` is 0, to about `tolerance`, elementwise; `most` where it isn't up to there.

    For functions that take about as long for many arguments as for one: it is asked about (any, `PLACES`) at once,
    first up to `reach` from the guess.
    """
    row, last, around = np.arange(len(guess)), PLACES - 1, np.full(len(guess), reach)
    low, high = guess - around, np.minimum(guess + around, most)
    for _ in range(MOST_STEPS):
        width = (high - low)[:, None]
        near = np.clip(guess[:, None] + width * np.concatenate([-NEARBY, NEARBY]), low[:, None], high[:, None])
        places = np.sort(np.concatenate([low[:, None] + width * EVENLY, near], axis=1), axis=1)
        values = function(places)
        above = np.clip((values < 0.0).sum(axis=1), 1, last)
        # a straight line between the two places around the zero, and a parabola that also goes through a third
        third = np.where(above > 1, above - 2, above + 1)
        low, high, other = places[row, above - 1], places[row, above], places[row, third]
        at_low, at_high, at_other = values[row, above - 1], values[row, above], values[row, third]
        with np.errstate(divide="ignore", invalid="ignore"):
            run = (high - low) / np.maximum(at_high - at_low, np.finfo(np.float64).tiny)
            straight = np.fmax(np.fmin(low - at_low * run, high), low)
            curved = straight + at_low * at_high * ((other - low) / (at_other - at_low) - run) / (at_other - at_high)
        fits = (curved >= low) & (curved <= high)
        guess = np.where(fits, curved, straight)
        error = np.where(fits, np.abs(curved - straight), high - low)
        below, beyond = at_low > 0.0, (at_high < 0.0) & (high < most)
        top = (at_high < 0.0) & ~beyond
        guess = np.where(top, high, guess)
        if (top | (error <= tolerance) & ~below & ~beyond).all():
            break
        around = np.where(below | beyond, FARTHER * around, around)
        low, high = np.where(below, low - around, low), np.where(beyond, np.minimum(high + around, most), high)
    return guess


def secant(
    function: Callable[[FloatArray], FloatArray], guess: FloatArray, slope: FloatArray, most: FloatArray, steps: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Where a rising `function` may be 0, elementwise; its slope there, and the length of the last step.

    Newton's method, first with the slope that is given and then with that of the last two places; the last step is
    one more than `steps`.
    """
    here, at_here = guess, function(guess)
    there = here - np.clip(at_here / slope, -LONGEST_STEP, LONGEST_STEP)
    for _ in range(steps):
        there = np.minimum(there, most)
        at_there = function(there)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.where(there == here, slope, np.maximum((at_there - at_here) / (there - here), LEAST_SLOPE))
        here, at_here, there = there, at_there, there - np.clip(at_there / slope, -LONGEST_STEP, LONGEST_STEP)
    return np.minimum(there, most), slope, np.abs(there - here)
