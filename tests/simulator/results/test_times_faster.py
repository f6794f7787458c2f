"""A result whose transactions are times faster: rates times the factor, times by it, parts as they were."""

from __future__ import annotations

import pytest

from oltpsim.simulator.results import main_class_of, times_faster
from tests.scenarios.example_result import example_result

FACTOR = 1.25


def test_rates_and_times_change_together_and_parts_do_not() -> None:
    result = example_result()
    found = times_faster(result, FACTOR)
    before, after = main_class_of(result), main_class_of(found)
    assert found.rate_per_min.mean == pytest.approx(result.rate_per_min.mean * FACTOR)
    assert after.rate_per_min * after.mean_s == pytest.approx(before.rate_per_min * before.mean_s)
    assert sum(after.time_by_s.values()) == pytest.approx(sum(before.time_by_s.values()) / FACTOR)
    assert found.series.values[found.series.rate_key][-1] == result.series.values[result.series.rate_key][-1] * FACTOR
    assert (found.devices, found.cpu, found.bottleneck) == (result.devices, result.cpu, result.bottleneck)


def test_a_factor_of_one_changes_nothing() -> None:
    assert times_faster(example_result(), 1.0) == example_result()
