"""How a statement's row is chosen: distributions over the rows of a table, as drivers of benchmarks draw them."""

import math
from functools import lru_cache
from typing import Literal, Self

import numpy as np
import scipy
from pydantic import Field, model_validator

from oltpsim.models.input import Fraction, Number, Spec, WholeNumber
from oltpsim.models.workloads.tpcc import nurand_pmf
from oltpsim.simulator.form import FloatArray, IntArray

SPECIAL_DRAWS = 12
"""numbers whose mean sysbench's `special` takes where it doesn't hit its hot rows (sb_rand.c, rand-spec-iter)"""
SINGLE_RANKS = 2_000_000
"""ranks of a Zipf distribution whose rows are placed one by one; all others count as equally popular"""
SCATTER_SEED = 17
PARAMETERS = {
    "uniform": (),
    "special": ("hot_fraction", "hot_share"),
    "hot_spot": ("hot_fraction", "hot_share"),
    "pareto": ("skew",),
    "zipf": ("skew",),
    "exponential": ("skew",),
    "gaussian": ("skew",),
    "latest": ("skew",),
    "nurand": ("bits",),
}
"""of each distribution: what it needs besides its name"""


class KeySpec(Spec):
    """A choice among the rows of a table (of one unit of its scale, if its units are large; see `TableSpec`).

    `special` (sysbench before 1.1): `hot_share` of the draws fall evenly on the `hot_fraction` of rows in the middle,
    the others are means of twelve even draws. `hot_spot`: `hot_share` evenly on the first `hot_fraction`, the others on
    the rest. `pareto` (sysbench): h = `skew`, of 0.2 the first fifth of rows draws 80 %. `zipf`: exponent `skew`, by
    rank. `exponential`, `gaussian`: pgbench's, with its parameter as `skew`. `latest` (YCSB): Zipf by age, the rows
    inserted last most often. `nurand`: TPC-C's, of `bits` bits. `scattered`: popular rows lie anywhere (hashed keys),
    not at the beginning.
    """

    distribution: Literal[
        "uniform", "special", "hot_spot", "pareto", "zipf", "exponential", "gaussian", "latest", "nurand"
    ] = "uniform"
    skew: Number | None = Field(default=None, gt=0, le=1000)
    hot_fraction: Fraction | None = Field(default=None, gt=0, lt=1)
    hot_share: Fraction | None = Field(default=None, gt=0, le=1)
    bits: WholeNumber | None = Field(default=None, ge=1, le=30)
    ranks: WholeNumber | None = Field(
        default=None, ge=1, description="of a Zipf distribution; as many as rows if absent"
    )
    scattered: bool = False

    @model_validator(mode="after")
    def _its_parameters(self) -> Self:
        needed = PARAMETERS[self.distribution]
        for name in ("skew", "hot_fraction", "hot_share", "bits"):
            if (getattr(self, name) is not None) != (name in needed):
                word = "needs" if name in needed else "has no"
                raise ValueError(f"the distribution {self.distribution} {word} {name}")
        if self.distribution != "zipf" and (self.ranks is not None or self.scattered):
            raise ValueError(f"the distribution {self.distribution} has no ranks, and its rows aren't scattered")
        if self.distribution == "pareto" and not (self.skew or 0.0) < 1.0:
            raise ValueError("the distribution pareto needs a skew below 1: the share of rows that draws the others'")
        return self


@lru_cache(maxsize=32)
def popularity(key: KeySpec, rows: int, rows_per_part: int) -> FloatArray:
    """Share of the draws that falls on each so many rows, one behind the other; shape (parts,), the last has fewer."""
    edges = np.minimum(np.arange(-(-rows // rows_per_part) + 1) * rows_per_part, rows)
    return np.asarray(_scattered(key, edges, rows) if key.scattered else np.diff(_below(key, edges, rows)))


def ages_pmf(key: KeySpec, most: int) -> FloatArray:
    """Of `latest`: how many rows ago the row drawn was inserted, 0..most-1."""
    assert key.skew is not None
    weights = np.arange(1, most + 1) ** -key.skew
    return np.asarray(weights / weights.sum())


def _below(key: KeySpec, edges: IntArray, rows: int) -> FloatArray:
    """Share of the draws below each of these rows."""
    x = edges / rows
    hot, share, skew = key.hot_fraction or 0.0, key.hot_share or 0.0, key.skew or 1.0
    match key.distribution:
        case "special":
            middle = np.clip((x - (0.5 - hot / 2.0)) / hot, 0.0, 1.0)
            return np.asarray(share * middle + (1.0 - share) * _mean_of_draws(x))
        case "hot_spot":
            others = np.clip((x - hot) / (1.0 - hot), 0.0, 1.0)
            return np.asarray(share * np.minimum(x / hot, 1.0) + (1.0 - share) * others)
        case "pareto":
            return np.asarray(x ** (math.log(1.0 - skew) / math.log(skew)))
        case "zipf":
            ranks = float(key.ranks or rows)
            below = np.asarray(edges * (ranks / rows), dtype=np.float64)
            return np.asarray(_harmonic(below, skew) / _harmonic(np.array([ranks]), skew))
        case "exponential":
            return np.asarray(np.expm1(-skew * x) / math.expm1(-skew))
        case "gaussian":
            low = scipy.special.ndtr(-skew)
            return np.asarray((scipy.special.ndtr(skew * (2.0 * x - 1.0)) - low) / (1.0 - 2.0 * low))
        case "nurand":
            return np.concatenate([[0.0], np.cumsum(nurand_pmf(2 ** (key.bits or 1) - 1, 0, rows - 1))])[edges]
        case _:
            return np.asarray(x)


def _mean_of_draws(x: FloatArray) -> FloatArray:
    """Distribution of the mean of `SPECIAL_DRAWS` even draws (Irwin 1927, Hall 1927)."""
    n, total = SPECIAL_DRAWS, np.zeros(len(x))
    low = np.minimum(x, 1.0 - x)  # it is symmetric, and the sum below is exact in its lower half
    for k in range(n // 2 + 1):
        total += (-1.0) ** k * math.comb(n, k) * np.maximum(n * low - k, 0.0) ** n
    below = total / math.factorial(n)
    return np.asarray(np.where(x <= 0.5, below, 1.0 - below))


def _harmonic(numbers: FloatArray, exponent: float) -> FloatArray:
    """Sums of 1 / rank ** exponent up to these ranks, the first few exactly, the others by Euler and Maclaurin."""
    exact = 1000
    head = np.concatenate([[0.0], np.cumsum(np.arange(1, exact + 1) ** -exponent)])

    def integral(upper: FloatArray) -> FloatArray:
        if exponent == 1.0:
            return np.asarray(np.log(upper / exact))
        return np.asarray((upper ** (1.0 - exponent) - exact ** (1.0 - exponent)) / (1.0 - exponent))

    large = np.maximum(numbers, exact)
    tail = integral(large) + (large**-exponent - exact**-exponent) / 2.0
    few = np.interp(np.minimum(numbers, exact), np.arange(exact + 1), head)
    return np.asarray(few + np.where(numbers > exact, tail, 0.0))


def _scattered(key: KeySpec, edges: IntArray, rows: int) -> FloatArray:
    """Popular rows anywhere: the row of each of the first ranks lies in a part drawn at random, the others evenly."""
    ranks, exponent = key.ranks or rows, key.skew or 1.0
    below = _harmonic(np.arange(min(SINGLE_RANKS, ranks) + 1.0), exponent)
    shares = np.diff(below) / _harmonic(np.array([float(ranks)]), exponent)
    places = np.random.default_rng(SCATTER_SEED).integers(0, rows, len(shares)) // int(edges[1])
    found = np.bincount(places, weights=shares, minlength=len(edges) - 1)
    return np.asarray(found + (1.0 - shares.sum()) * np.diff(edges) / rows)
