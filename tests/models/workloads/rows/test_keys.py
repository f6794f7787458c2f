"""Distributions of keys against what their drivers' sources draw."""

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oltpsim.models.input import validated
from oltpsim.models.workloads.rows.keys import KeySpec, ages_pmf, popularity
from oltpsim.models.workloads.tpcc import nurand_pmf
from oltpsim.simulator.errors import InputError

ROWS, DRAWS = 1000, 400_000
KEYS = (
    KeySpec(),
    KeySpec(distribution="special", hot_fraction=0.01, hot_share=0.75),
    KeySpec(distribution="hot_spot", hot_fraction=0.2, hot_share=0.8),
    KeySpec(distribution="pareto", skew=0.2),
    KeySpec(distribution="zipf", skew=0.8),
    KeySpec(distribution="zipf", skew=0.99, ranks=10**10, scattered=True),
    KeySpec(distribution="exponential", skew=5.0),
    KeySpec(distribution="gaussian", skew=2.5),
    KeySpec(distribution="nurand", bits=8),
)


def draws(key: KeySpec) -> np.ndarray:
    """Rows as the drivers draw them: sysbench's sb_rand.c, pgbench.c, TPC-C's clause 2.1.6."""
    random = np.random.default_rng(5)
    u = random.random(DRAWS)
    match key.distribution:
        case "special":
            means = random.random((DRAWS, 12)).mean(axis=1)
            middle = 0.5 + 0.01 * (random.random(DRAWS) - 0.5)
            return (np.where(u < 0.75, middle, means) * ROWS).astype(int)
        case "hot_spot":
            place = random.random(DRAWS)
            return (np.where(u < 0.8, place * 0.2, 0.2 + place * 0.8) * ROWS).astype(int)
        case "pareto":
            return (ROWS * u ** (math.log(0.2) / math.log(0.8))).astype(int)
        case "exponential":
            return (-np.log(1.0 - u * (1.0 - math.exp(-5.0))) / 5.0 * ROWS).astype(int)
        case "gaussian":
            normal = random.standard_normal(3 * DRAWS)
            normal = normal[abs(normal) < 2.5][:DRAWS]
            return ((normal / 2.5 + 1.0) / 2.0 * ROWS).astype(int)
        case "nurand":
            return (random.integers(0, 256, DRAWS) | random.integers(0, ROWS, DRAWS)) % ROWS
        case _:
            return (u * ROWS).astype(int)


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.distribution)
def test_shares_are_those_of_all_draws(key: KeySpec) -> None:
    """They sum to 1, row by row or page by page, and pages have their rows' shares, but where rows are scattered."""
    rows, pages = popularity(key, ROWS, 1), popularity(key, ROWS, 37)
    assert len(rows) == ROWS
    assert len(pages) == 28
    assert rows.sum() == pytest.approx(1.0)
    assert pages.sum() == pytest.approx(1.0)
    assert (rows >= 0).all()
    if not key.scattered:
        assert pages == pytest.approx(np.add.reduceat(rows, np.arange(0, ROWS, 37)), abs=1e-12)


@pytest.mark.parametrize("key", [key for key in KEYS if key.distribution not in ("zipf", "nurand")], ids=str)
def test_rows_are_drawn_as_the_driver_draws_them(key: KeySpec) -> None:
    counted = np.bincount(draws(key), minlength=ROWS) / DRAWS
    shares = popularity(key, ROWS, 1)
    noise = np.sqrt(np.maximum(shares, 1.0 / DRAWS) / DRAWS)
    assert np.abs(counted - shares).max() < 6.0 * noise.max()
    other = popularity(KeySpec(distribution="pareto", skew=0.25), ROWS, 1)
    assert np.abs(counted - other).max() > 6.0 * noise.max()


def test_nurand_is_tpccs() -> None:
    assert popularity(KEYS[-1], ROWS, 1) == pytest.approx(nurand_pmf(255, 0, ROWS - 1), abs=1e-12)


def test_a_zipf_draw_has_its_ranks() -> None:
    """Against the sum itself; and of YCSB's scrambled one the most popular key has 3.8 %."""
    weights = np.arange(1, 5001) ** -0.8
    assert popularity(KeySpec(distribution="zipf", skew=0.8), 5000, 1) == pytest.approx(
        weights / weights.sum(), rel=1e-3
    )
    ycsb = popularity(KeySpec(distribution="zipf", skew=0.99, ranks=10**10, scattered=True), 1_000_000, 1)
    assert ycsb.max() == pytest.approx(0.038, abs=0.001)
    assert np.argmax(ycsb) != 0
    assert ages_pmf(KeySpec(distribution="latest", skew=1.0), 3) == pytest.approx(np.array([6.0, 3.0, 2.0]) / 11.0)


def test_a_fifth_of_the_rows_draws_what_its_name_says() -> None:
    assert popularity(KeySpec(distribution="pareto", skew=0.2), ROWS, 200)[0] == pytest.approx(0.8)
    assert popularity(KeySpec(distribution="hot_spot", hot_fraction=0.2, hot_share=0.7), ROWS, 200)[0] == pytest.approx(
        0.7
    )


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(KEYS), st.integers(1, 3000), st.integers(1, 200))
def test_any_size_has_shares(key: KeySpec, rows: int, per_part: int) -> None:
    if key.distribution == "nurand" and rows < 2:
        return
    shares = popularity(key, rows, per_part)
    assert shares.sum() == pytest.approx(1.0)
    assert (shares >= -1e-12).all()
    assert len(shares) == -(-rows // per_part)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"distribution": "zipf"}, "the distribution zipf needs skew"),
        ({"distribution": "uniform", "skew": 1}, "the distribution uniform has no skew"),
        ({"distribution": "special", "hot_share": 0.5}, "needs hot_fraction"),
        ({"distribution": "pareto", "skew": 2}, "needs a skew below 1"),
        ({"distribution": "uniform", "scattered": True}, "its rows aren't scattered"),
        ({"distribution": "nurand"}, "needs bits"),
        ({"distribution": "normal"}, "got 'normal'"),
    ],
)
def test_a_distribution_without_its_parameters_is_refused(keys: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        validated(KeySpec, keys, "key")
