"""Fixed points of many small systems of equations at once: damped steps, accelerated as soon as that helps."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Step = Callable[[Floats], Floats]
Distance = Callable[[Floats, Floats], Floats]

REMEMBERED = 4
REGULARISATION = 1e-13


@dataclass(frozen=True)
class FixedPoint:
    """Where an iteration ended: `state` (systems, unknowns), evaluations, and the last `distance` (systems)."""

    state: Floats
    iterations: int
    residual: Floats


def fixed_point(
    step: Step, distance: Distance, start: Floats, *, tolerance: float, steps: int, damping: float
) -> FixedPoint:
    """Go on from `start` towards step(x) = x: damped steps, then as many accelerated ones; the best of these is kept.

    Anderson, "Iterative procedures for nonlinear integral equations", Journal of the ACM 12 (1965). No row has an
    influence on another one. A map whose damped steps converge does so here too, if this is called again from where
    it ended: steps that accelerate badly are thrown away.

    Args:
        step: Maps (systems, unknowns), all >= 0, to the same shape.
        distance: Between two states, old and new; (systems).
        start: (systems, unknowns).
        tolerance: Ends when the distances of all rows are below it.
        steps: Most damped steps, and again as many accelerated ones.
        damping: Part of a step that is gone, in (0, 1].
    """
    state = image = start
    length, iteration = np.full(start.shape[0], np.inf), 0
    for iteration in range(1, steps + 1):
        image = step(state)
        length = distance(state, image)
        if np.all(length < tolerance):
            return FixedPoint(image, iteration, length)
        state = state + damping * (image - state)
    best, shortest = image, length
    changes: list[Floats] = []
    image_changes: list[Floats] = []
    last_image, last_change = image, np.zeros_like(image)
    for iteration in range(steps + 1, 2 * steps + 1):
        image = step(state)
        length = distance(state, image)
        better = length < shortest
        shortest = np.where(better, length, shortest)
        best = np.where(better[:, None], image, best)
        if np.all(shortest < tolerance):
            break
        change = image - state
        if iteration > steps + 1:
            changes = [*changes, change - last_change][-REMEMBERED:]
            image_changes = [*image_changes, image - last_image][-REMEMBERED:]
        last_image, last_change = image, change
        state = np.maximum(_accelerated(image, change, changes, image_changes), 0.0)
    return FixedPoint(best, iteration, shortest)


def _accelerated(image: Floats, change: Floats, changes: list[Floats], image_changes: list[Floats]) -> Floats:
    """The combination of the last images whose changes cancel best."""
    if not changes:
        return image
    differences = np.stack(changes, axis=1)
    products = differences @ differences.swapaxes(1, 2)
    sizes = np.einsum("bii->b", products)
    products += (REGULARISATION * sizes + np.finfo(float).tiny)[:, None, None] * np.eye(len(changes))
    weights = np.linalg.solve(products, np.einsum("bkd,bd->bk", differences, change)[..., None])[..., 0]
    return image - np.einsum("bk,bkd->bd", weights, np.stack(image_changes, axis=1))
