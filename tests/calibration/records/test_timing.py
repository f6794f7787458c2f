"""Samples and the window: shares of intervals, and samples without times placed beside those that have them."""

import numpy as np
import pytest

from oltpsim.calibration.records import Meaning, MonitorSample, MonitorSamples
from oltpsim.calibration.records.timing import SYSTEM, USER, aligned, in_window, means

SHARE = Meaning("%", 0.01, "share")
MEANINGS = {USER: SHARE, SYSTEM: SHARE}


def series(shares: list[tuple[float, float]], start_s: float | None = None) -> MonitorSamples:
    """Intervals of 5 s with these user and system shares."""
    rows = []
    for at, (user, system) in enumerate(shares):
        begin_s = None if start_s is None else start_s + 5 * at
        end_s = None if begin_s is None else begin_s + 5
        rows.append(MonitorSample(f"row {at}", {USER: user, SYSTEM: system}, begin_s, end_s))
    return MonitorSamples(tuple(rows), MEANINGS)


def walk(length: int, seed: int) -> list[tuple[float, float]]:
    draw = np.random.default_rng(seed)
    return [(0.4 + 0.3 * draw.random(), 0.05 + 0.1 * draw.random()) for _ in range(length)]


def test_an_interval_counts_with_the_part_that_lies_in_the_window() -> None:
    samples = series([(0.1, 0), (0.5, 0), (0.9, 0), (0.2, 0)], start_s=0)
    assert [(row.place, seconds) for row, seconds in in_window(samples, (4, 12))] == [
        ("row 0", 1),
        ("row 1", 5),
        ("row 2", 2),
    ]
    mean = means(samples, (4, 12))[USER]
    assert (mean.value, mean.place, mean.covered_s) == (pytest.approx((0.1 + 2.5 + 1.8) / 8), "row 0 to row 2", 8)


def test_nothing_in_the_window_gives_no_mean() -> None:
    assert means(series([(0.1, 0)], start_s=0), (100, 200)) == {}


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("offset", [0, 3, -2])
def test_samples_are_placed_where_the_shares_agree(seed: int, offset: int) -> None:
    truth = walk(20, seed)
    noise = np.random.default_rng(1000 + seed)
    seen = [(user + noise.normal(0, 0.003), system + noise.normal(0, 0.003)) for user, system in truth]
    ours, theirs = series(seen[max(offset, 0) :]), series(truth[max(-offset, 0) :], start_s=1000)
    placed = aligned(ours, theirs)
    assert placed is not None
    first = placed.rows[0]
    index = int(first.place.split()[1]) + max(offset, 0) - max(-offset, 0)
    assert first.start_s == 1000 + 5 * index


@pytest.mark.parametrize("seed", range(20))
def test_samples_of_another_machine_are_not_placed(seed: int) -> None:
    assert aligned(series(walk(12, seed)), series(walk(12, 500 + seed), start_s=0)) is None


def test_a_machine_that_is_always_the_same_tells_nothing() -> None:
    assert aligned(series([(0.5, 0.1)] * 10), series([(0.5, 0.1)] * 12, start_s=0)) is None
