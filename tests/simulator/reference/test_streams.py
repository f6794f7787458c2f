"""Random streams: the published generator, one stream per name, and draws that have the distribution they should."""

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from oltpsim.simulator.form import ZIGGURAT_LAYERS
from oltpsim.simulator.reference.streams import DENSITIES, EDGES, Stream, streams_of

DRAWS = 40_000
PUBLISHED = {
    1234567: [
        6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
    ],
    0: [16294208416658607535, 7960286522194355700, 487617019471545679],
}  # fmt: skip
"""First outputs of SplitMix64 by the reference implementation (Vigna, splitmix64.c) from two seeds."""
GAMMA = 0x9E3779B97F4A7C15
TWO_64 = 1 << 64


def uniforms(stream: Stream, count: int = DRAWS) -> npt.NDArray[np.float64]:
    return np.array([stream.bits() for _ in range(count)], dtype=np.uint64).astype(np.float64) / TWO_64


def states(streams: list[Stream]) -> list[int]:
    return [stream.state for stream in streams]


@pytest.mark.parametrize("seed", PUBLISHED)
def test_generator_gives_the_published_numbers(seed: int) -> None:
    streams = [Stream(seed), Stream(seed + 1)]
    assert [streams[0].bits() for _ in PUBLISHED[seed]] == PUBLISHED[seed]
    assert streams[1].state == seed + 1, "drawing from one stream leaves the other alone"
    assert streams[1].bits() != PUBLISHED[seed][0]


def test_a_stream_depends_on_seed_purpose_and_index_alone() -> None:
    """More clients or another purpose move nobody's draws; another seed moves all."""
    rows = states(streams_of(1, "rows", 100))
    assert rows == states(streams_of(1, "rows", 1000))[:100]
    assert rows == states(streams_of(1, "rows", 100))
    others = [streams_of(2, "rows", 100), streams_of(1, "branches", 100), streams_of(11, "/rows", 100)]
    assert all(not set(rows) & set(states(other)) for other in others)


def test_streams_start_far_apart_on_the_cycle() -> None:
    """All streams walk one cycle of 2^64 steps: of 3000, no two start within 2^32 steps of each other."""
    inverse = pow(GAMMA, -1, TWO_64)

    def nearest(states: list[int]) -> int:
        places = sorted(state * inverse % TWO_64 for state in states)
        return min(b - a for a, b in itertools.pairwise(places))

    begin = [s for purpose in ("rows", "branches", "think") for s in states(streams_of(1, purpose, 1000))]
    assert nearest(begin) > 1 << 32
    walked = Stream(begin[0])
    for _ in range(1000):
        walked.bits()
    assert nearest([begin[0], walked.state]) == 1000, "a stream that another runs into is found"


def dependence(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float:
    """Probability of such cells by chance: a chi-square test of independence over 8 x 8 of them."""
    counts, _, _ = np.histogram2d(a, b, bins=8, range=[[0, 1], [0, 1]])
    answer: Any = stats.chi2_contingency(counts)
    return float(answer.pvalue)


def test_streams_of_different_names_are_independent() -> None:
    """Neighbouring clients, different purposes, seeds one apart: no dependence; a stream depends on its own past."""
    pairs = [
        (streams_of(1, "rows", 2)[0], streams_of(1, "rows", 2)[1]),
        (streams_of(1, "rows", 1)[0], streams_of(1, "think", 1)[0]),
        (streams_of(1, "rows", 1)[0], streams_of(2, "rows", 1)[0]),
    ]
    for ours, theirs in pairs:
        a, b = uniforms(ours), uniforms(theirs)
        assert abs(float(np.corrcoef(a, b)[0, 1])) < 4 / math.sqrt(DRAWS)
        assert dependence(a, b) > 1e-4
        assert dependence(a[:-1], a[1:]) > 1e-4
    same = uniforms(streams_of(1, "rows", 1)[0])
    assert dependence(same, 0.9 * same + 0.1 * uniforms(streams_of(1, "think", 1)[0])) < 1e-4


def test_integers_below_a_bound_are_even() -> None:
    [stream] = streams_of(1, "rows", 1)
    for bound in (1, 2, 7, 10):
        counts = np.bincount([stream.below(bound) for _ in range(DRAWS)], minlength=bound)
        assert len(counts) == bound
        assert bound == 1 or stats.chisquare(counts).pvalue > 1e-4
    skewed = np.bincount([stream.below(7) % 5 for _ in range(DRAWS)], minlength=5)
    assert stats.chisquare(skewed).pvalue < 1e-4


@pytest.mark.parametrize("probability", [0.0, 0.01, 0.5, 1.0])
def test_chance_is_its_cut(probability: float) -> None:
    [stream] = streams_of(3, "branches", 1)
    cut = round(probability * (1 << 32))
    found = sum(stream.chance(cut) for _ in range(DRAWS)) / DRAWS
    error = math.sqrt(probability * (1 - probability) / DRAWS)
    assert abs(found - probability) <= 4 * error
    assert abs(found - (probability + 0.02)) > 4 * error


@pytest.mark.parametrize(
    ("kind", "a", "b", "mean", "variation"),
    [
        ("constant", 5000, 0, 5000, 0.0),
        ("exponential", 5000, 0, 5000, 1.0),
        ("uniform", 2000, 8000, 5000, 0.2 * math.sqrt(3)),
        ("erlang", 5000, 4, 5000, 0.5),
    ],
)
def test_times_have_their_mean_and_variation(kind: str, a: int, b: int, mean: float, variation: float) -> None:
    """Mean and coefficient of variation within 4 standard errors (1 ns for rounding down); a changed one is refused."""
    [stream] = streams_of(5, kind, 1)
    times = np.array([stream.time_ns(kind, a, b) for _ in range(DRAWS)], dtype=np.float64)
    error = variation * mean / math.sqrt(DRAWS)
    assert abs(times.mean() - mean) < 4 * error + 2
    assert abs(times.mean() - 1.05 * mean) > 4 * error + 2
    assert times.std() / times.mean() == pytest.approx(variation, abs=0.02)
    assert times.min() >= 0


def test_exponential_times_pass_a_test_that_others_fail() -> None:
    [stream] = streams_of(6, "think", 1)
    times = [stream.exponential_ns(1_000_000) / 1e6 for _ in range(DRAWS)]
    assert stats.kstest(times, "expon").pvalue > 1e-4
    erlang = [stream.time_ns("erlang", 1_000_000, 2) / 1e6 for _ in range(DRAWS)]
    assert stats.kstest(erlang, "expon").pvalue < 1e-4


def test_exponential_times_are_right_in_every_layer_and_beyond_the_last() -> None:
    """Two million draws in 500 cells of equal probability, and in the tail; a mean of 2 % more is refused."""
    cells = -np.log1p(-np.arange(500) / 500)
    [stream] = streams_of(9, "think", 1)
    times = np.array([stream.exponential_ns(10**9) for _ in range(2_000_000)]) / 1e9

    def chance_of(values: npt.NDArray[np.float64]) -> float:
        inside, _ = np.histogram(values, bins=[*cells, np.inf])
        return float(stats.chisquare(inside).pvalue)

    assert chance_of(times) > 1e-4
    assert chance_of(1.02 * times) < 1e-4
    for edge in (4.0, EDGES[1], 9.0):
        expected = math.exp(-edge) * len(times)
        assert abs(int((times > edge).sum()) - expected) < 4 * math.sqrt(expected)


def test_layers_of_the_ziggurat_have_equal_areas() -> None:
    """The lowest has the tail in it; with another area the layers would not end at the top of the curve."""
    areas = np.array(EDGES[1:-1]) * np.diff(DENSITIES)[1:]
    assert areas == pytest.approx(np.full(ZIGGURAT_LAYERS - 1, areas[0]), rel=1e-9)
    assert EDGES[1] * DENSITIES[1] + math.exp(-EDGES[1]) == pytest.approx(areas[0], rel=1e-9)
    assert EDGES[0] * DENSITIES[1] == pytest.approx(areas[0], rel=1e-9)
    assert areas[-1] != pytest.approx(1.001 * areas[0], rel=1e-9)
