"""Fit of the model error on planted errors: weights, coverage by cross-validation, and what a missing feature does."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.error_fit import CONFIDENCE, Samples, are_held, fitted, fitted_scale

BASE, WEIGHT, COUNT = 0.01, 0.2, 4000
KINDS = 10


@pytest.fixture(scope="module")
def planted() -> Samples:
    """Student's errors whose scale grows with the first of two features."""
    rng = np.random.default_rng(1)
    features = rng.uniform(0.0, 1.0, (COUNT, 2))
    chances, folds = np.full(COUNT, 0.005), [number // KINDS % 5 for number in range(COUNT)]
    log_ratios = (BASE + WEIGHT * features[:, 0]) * rng.standard_t(3.0, COUNT) + chances * rng.standard_normal(COUNT)
    return Samples(features, log_ratios, chances, [str(number % KINDS) for number in range(COUNT)], folds)


def test_planted_weights_are_found(planted: Samples) -> None:
    """The feature that does nothing gets no weight; the kernel's chance isn't in the base."""
    base, weight, none = fitted_scale(planted).tolist()
    assert base == pytest.approx(BASE, rel=0.15)
    assert weight == pytest.approx(WEIGHT, rel=0.06)
    assert none == pytest.approx(0.0, abs=0.005)
    noisy = replace(planted, chances=np.zeros(COUNT))
    assert fitted_scale(noisy)[0] > 1.05 * base


def test_intervals_hold_what_they_promise_in_every_kind(planted: Samples) -> None:
    errors = fitted(planted)
    held = are_held(planted, errors.half_widths)
    assert held.mean() == pytest.approx(CONFIDENCE, abs=0.003)
    kinds = np.array(planted.kinds)
    assert all(abs(held[kinds == kind].mean() - CONFIDENCE) < 0.05 for kind in set(planted.kinds))
    assert are_held(planted, 0.7 * errors.half_widths).mean() < CONFIDENCE - 0.05
    np.testing.assert_allclose(errors.base + planted.features @ errors.weights, errors.half_widths, rtol=0.1)


def test_a_kind_that_no_feature_shows_is_not_held(planted: Samples) -> None:
    """Cross-validation by kind finds it out: its intervals are fitted to the others."""
    first = np.array(planted.kinds) == "0"
    worse = replace(planted, log_ratios=np.where(first, 3.0, 1.0) * planted.log_ratios)
    held = are_held(worse, fitted(worse).half_widths)
    assert held[first].mean() < 0.8
    shown = replace(worse, features=np.column_stack([worse.features, first * worse.features[:, 0]]))
    assert fitted_scale(shown)[3] == pytest.approx(2.0 * WEIGHT, rel=0.2)
