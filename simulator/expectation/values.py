"""What a register may hold, as far as it is known before any draw: distributions of integers, and moving frontiers.

A value is a mixture of parts. A part is either `Numbers`, a distribution over integers, or a `Frontier`, the place that
a counter of the client's group has reached. Parts are compared by identity: two operations that find the same part in
a register refer to the same draw.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from oltpsim.simulator.form import FloatArray, weighted_sum

LEAST_WEIGHT = 1e-12


@dataclass(frozen=True, eq=False)
class Numbers:
    """A distribution over `low`, `low` + 1, ...; `share` sums to 1."""

    low: int
    share: FloatArray
    apart: float = 1.0
    """how many groups of clients there are that never draw each other's numbers"""

    @property
    def mean(self) -> float:
        """Expected value."""
        return self.low + float(weighted_sum(np.arange(len(self.share)), self.share))

    @property
    def deviation(self) -> float:
        """Standard deviation."""
        apart = np.arange(len(self.share)) - self.mean + self.low
        return float(np.sqrt(weighted_sum(apart**2, self.share)))


@dataclass(frozen=True, eq=False)
class Frontier:
    """`factor` times counter table `counter` of the client's group, plus `offset`."""

    counter: int
    factor: int
    offset: Numbers


Part = Numbers | Frontier
Value = tuple[tuple[float, Part], ...]
"""(probability, part); the probabilities sum to 1."""


def constant(number: int) -> Numbers:
    """One integer for certain."""
    return Numbers(number, np.ones(1))


def evenly(bound: int, add: int) -> Numbers:
    """`add` .. `add` + `bound` - 1, each as likely as the others."""
    return Numbers(add, np.full(bound, 1.0 / bound))


def only(part: Part) -> Value:
    """A value that is this part for certain."""
    return ((1.0, part),)


def joined(values: Sequence[tuple[float, Value]]) -> Value:
    """The value where paths of these probabilities meet. The same part by several ways stays one part."""
    total = sum(weight for weight, _ in values)
    first = values[0][1]
    if all(value is first for _, value in values):
        return first
    weights: dict[int, float] = {}
    parts: dict[int, Part] = {}
    for weight, value in values:
        for share, part in value:
            parts[id(part)] = part
            weights[id(part)] = weights.get(id(part), 0.0) + weight * share / total
    return tuple((weights[key], part) for key, part in parts.items())


def affine(part: Part, factor: int, add: int, modulus: int) -> Part:
    """`part` * `factor` + `add`, modulo `modulus` if that is not 0."""
    if isinstance(part, Frontier):
        if modulus:
            return evenly(modulus, 0)  # a counter that runs on visits every residue
        return Frontier(part.counter, part.factor * factor, _spread(part.offset, factor, add, 0))
    return _spread(part, factor, add, modulus)


def _spread(numbers: Numbers, factor: int, add: int, modulus: int) -> Numbers:
    if factor == 1 and not modulus:
        return Numbers(numbers.low + add, numbers.share, numbers.apart)
    if factor == 1 and len(numbers.share) <= modulus:
        return _rotated(numbers, add, modulus)
    at = (numbers.low + np.arange(len(numbers.share))) * factor + add
    if modulus:
        at %= modulus
    low = int(at.min())
    share = np.asarray(np.bincount(at - low, weights=numbers.share), dtype=np.float64)
    return Numbers(low, share, 1.0 if modulus else numbers.apart)


def _rotated(numbers: Numbers, add: int, modulus: int) -> Numbers:
    """`numbers` + `add` modulo `modulus`, of which there are no fewer."""
    low, beyond = (numbers.low + add) % modulus, len(numbers.share)
    until = modulus - low
    if beyond <= until:
        return Numbers(low, numbers.share)
    share = np.zeros(modulus)
    share[low:], share[: beyond - until] = numbers.share[:until], numbers.share[until:]
    return Numbers(0, share)


def total(high: Part, factor: int, low: Part) -> Part:
    """`high` * `factor` + `low`, of independent parts."""
    if isinstance(low, Frontier):
        high, factor, low = low, 1, affine(high, factor, 0, 0)
    if isinstance(low, Frontier):
        return evenly(1, 0)  # of two counters together nothing is known: no program has such a row
    if isinstance(high, Frontier):
        scaled = affine(high, factor, 0, 0)
        assert isinstance(scaled, Frontier)
        return Frontier(scaled.counter, scaled.factor, _sum(scaled.offset, low))
    return _sum(_spread(high, factor, 0, 0), low)


def _sum(a: Numbers, b: Numbers) -> Numbers:
    """The sum of two independent numbers: each of the fewer shifts all of the others."""
    few, many = (a, b) if np.count_nonzero(a.share) <= np.count_nonzero(b.share) else (b, a)
    share = np.zeros(len(a.share) + len(b.share) - 1)
    for place in np.flatnonzero(few.share):
        share[place : place + len(many.share)] += few.share[place] * many.share
    return Numbers(a.low + b.low, share, max(a.apart, b.apart))


def without_own(own: Numbers, bound: int) -> Numbers:
    """Evenly one of 0 .. bound - 1 but one's own, if there is another."""
    if bound == 1:
        return evenly(1, 0)
    share = np.full(bound, 1.0)
    share[own.low : own.low + len(own.share)] -= own.share[: max(bound - own.low, 0)]
    return Numbers(0, share / share.sum())


def mapped(value: Value, change: Callable[[Part], Part]) -> Value:
    """The value with every part changed."""
    return tuple((weight, change(part)) for weight, part in value if weight > LEAST_WEIGHT)


def shares_of(value: Value, size: int) -> FloatArray:
    """Distribution of a register over 0 .. size - 1; what follows a counter is spread evenly."""
    shares = np.zeros(size)
    for weight, part in value:
        if isinstance(part, Frontier):
            shares += weight / size
            continue
        at = part.low + np.arange(len(part.share))
        inside = (at >= 0) & (at < size)
        shares[at[inside]] += weight * part.share[inside]
    return shares


def chances_of(value: Value, numbers: npt.NDArray[np.int64]) -> FloatArray:
    """Probability that a register holds each of these numbers; what follows a counter holds none of them."""
    chances = np.zeros(len(numbers))
    for weight, part in value:
        if isinstance(part, Numbers):
            at = numbers - part.low
            inside = (at >= 0) & (at < len(part.share))
            chances[inside] += weight * part.share[at[inside]]
    return chances


def effective(shares: FloatArray) -> float:
    """How many are in use: as many even ones as would meet as often by chance."""
    total = float(shares.sum())
    return 1.0 / float(((shares / total) ** 2).sum()) if total > 0 else 1.0
