"""Alias tables: what they draw is the distribution they were made from, and bad weights are refused."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from oltpsim.simulator.errors import InternalError
from oltpsim.simulator.form import cut_of
from oltpsim.simulator.form.samplers import CUT_ONE, alias_pmf, alias_table
from oltpsim.simulator.reference.streams import streams_of

DRAWS = 60_000
weights_lists = st.lists(st.floats(0, 1e6, allow_subnormal=False), min_size=1, max_size=60).filter(lambda w: sum(w) > 0)


@given(weights=weights_lists)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_table_holds_the_distribution_to_32_bits(weights: list[float]) -> None:
    table = alias_table(weights)
    expected = np.array(weights) / sum(weights)
    assert alias_pmf(table) == pytest.approx(expected, abs=2 * len(weights) / CUT_ONE)
    assert ((table[:, 0] >= 0) & (table[:, 0] <= CUT_ONE)).all()
    assert ((table[:, 1] >= 0) & (table[:, 1] < len(weights))).all()


def drawn(table: npt.NDArray[np.int64], start: int, length: int) -> npt.NDArray[np.int64]:
    [stream] = streams_of(1, "rows", 1)
    rows = table[start : start + length].tolist()
    return np.bincount([stream.alias(rows) for _ in range(DRAWS)], minlength=length)


def test_draws_follow_the_weights_wherever_the_table_lies() -> None:
    """Second of two tables laid end to end: chi-square against its own weights, and against even ones."""
    first, weights = [1.0, 9.0], np.array([5.0, 1.0, 0.0, 3.0, 0.5, 0.5])
    both = np.concatenate([alias_table(first), alias_table(weights)])
    counts = drawn(both, 2, len(weights))
    assert counts[2] == 0
    kept = weights > 0
    assert stats.chisquare(counts[kept], DRAWS * weights[kept] / weights.sum()).pvalue > 1e-4
    assert stats.chisquare(counts[kept]).pvalue < 1e-4
    slightly_off = weights[kept] * (1 + 0.05 * np.array([1, -1, 1, -1, 1]))
    assert stats.chisquare(counts[kept], DRAWS * slightly_off / slightly_off.sum()).pvalue < 1e-4
    assert stats.chisquare(drawn(both, 0, 2), [0.1 * DRAWS, 0.9 * DRAWS]).pvalue > 1e-4


@pytest.mark.parametrize("weights", [[], [0.0, 0.0], [1.0, -0.1], [[1.0, 2.0]], [float("nan")]])
def test_weights_that_are_no_distribution_are_refused(weights: list[float]) -> None:
    with pytest.raises(InternalError, match="alias table"):
        alias_table(weights)


def test_cuts() -> None:
    assert [cut_of(0.0), cut_of(0.5), cut_of(1.0)] == [0, CUT_ONE // 2, CUT_ONE]
    for wrong in (-0.01, 1.01, float("nan")):
        with pytest.raises(InternalError, match="not a probability"):
            cut_of(wrong)
