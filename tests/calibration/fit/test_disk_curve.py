"""Curves of disks by depth: their limits."""

import pytest

from oltpsim.calibration.fit.disk_curve import arm_of, arm_service_s, arms_per_s, cache_per_s, flash_per_s


def test_limits_of_the_closed_network() -> None:
    assert flash_per_s(1, 80.0, 20.0, 300_000.0) == pytest.approx(12_500, rel=0.01)
    assert flash_per_s(4096, 80.0, 1000.0, 300_000.0) == pytest.approx(300_000, rel=0.01)
    few = [flash_per_s(4096, 80.0, dies, 1e6) for dies in (4.0, 8.0)]
    assert few[1] == pytest.approx(2 * few[0], rel=0.02), "dies decide"
    rates = [flash_per_s(n, 80.0, 20.0, 300_000.0) for n in range(1, 200)]
    assert rates == sorted(rates)


def test_a_cache_drains_at_one_rate() -> None:
    assert [float(cache_per_s(n, 1000.0, 1500.0)) for n in (1, 2, 64)] == [1000.0, 1500.0, 1500.0]


def test_an_arm_gains_by_sorting_and_arms_by_their_number() -> None:
    service_s = arm_service_s(arm_of(7200.0, 8.2))
    alone = arms_per_s(1, service_s, 32.0, 1.0)
    assert alone == pytest.approx(80, rel=0.03), "seek, half a turn, overhead"
    assert arms_per_s(32, service_s, 32.0, 1.0) > 1.8 * alone
    assert arms_per_s(4096, service_s, 1.0, 8.0) == pytest.approx(8 * alone, rel=0.01)
