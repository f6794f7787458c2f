"""Disks' curves by depth from four points: known truths are found again, fio's by kinds, and the rule's points."""

from __future__ import annotations

import pytest

from oltpsim.calibration.fit.disk_curve import (
    ARM,
    CACHE,
    FLASH,
    IN_FLIGHT,
    CurvePoint,
    arm_per_s,
    cache_per_s,
    fit_curve,
    fitted_points,
    flash_per_s,
)


def test_the_rule_takes_as_many_jobs_as_each_has_in_flight() -> None:
    grid = [CurvePoint(depth, jobs, 1.0) for depth in (1, 2, 4, 16) for jobs in (1, 2, 4, 16)]
    assert [(point.depth, point.jobs) for point in fitted_points(grid)] == [(1, 1), (2, 2), (4, 4), (16, 16)]
    assert [point.in_flight for point in fitted_points(grid[:4])] == [1, 4, 16], "what isn't there isn't fitted"


def test_known_truths_are_found_again_with_their_kind() -> None:
    truths = (
        (FLASH, False, lambda n: flash_per_s(n, 0.0, 80.0, 20.0, 300_000.0), (80.0, 20.0, 300_000.0)),
        (ARM, False, lambda n: arm_per_s(n, 7200.0, 8.5, 32.0), (8.5, 32.0)),
        (CACHE, True, lambda n: cache_per_s(n, 0.0, 1000.0, 150.0), None),
    )
    for kind, write, truth, values in truths:
        points = [CurvePoint(n, 1, truth(n)) for n in IN_FLIGHT]
        best = fit_curve(points, write)[0]
        if values is not None:
            assert best.kind is kind
            assert best.values == pytest.approx(values, rel=0.1)
            assert all(low <= value <= high for value, (low, high) in zip(best.values, best.intervals, strict=True))
        assert best.per_s(64) == pytest.approx(truth(64), rel=0.05)


def test_limits_of_the_closed_network() -> None:
    assert flash_per_s(1, 0.0, 80.0, 20.0, 300_000.0) == pytest.approx(12_500, rel=0.01)
    assert flash_per_s(4096, 0.0, 80.0, 1000.0, 300_000.0) == pytest.approx(300_000, rel=0.01)
    few = [flash_per_s(4096, 0.0, 80.0, dies, 1e6) for dies in (4.0, 8.0)]
    assert few[1] == pytest.approx(2 * few[0], rel=0.02), "dies decide"
    rates = [flash_per_s(n, 0.0, 80.0, 20.0, 300_000.0) for n in range(1, 200)]
    assert rates == sorted(rates)


def test_an_arm_gains_by_sorting_and_arms_by_their_number() -> None:
    assert arm_per_s(1, 7200.0, 8.2, 32.0) == pytest.approx(80, rel=0.03), "seek, half a turn, overhead"
    assert arm_per_s(32, 7200.0, 8.2, 32.0) > 1.8 * arm_per_s(1, 7200.0, 8.2, 32.0)
    assert arm_per_s(4096, 7200.0, 8.2, 1.0, 8.0) == pytest.approx(8 * arm_per_s(1, 7200.0, 8.2, 1.0), rel=0.01)
