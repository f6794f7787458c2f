"""Contestants in turn, A B C A B C ..., so that a machine that slows down slows all of them down alike.

Ratios are taken round by round and the median is quoted. Rates are units of work per second of CPU time.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Outcome:
    """One run: its CPU time, the work done in it, and what it found out."""

    seconds: float
    work: float
    answer: float = 0.0

    @property
    def rate(self) -> float:
        return self.work / self.seconds


@dataclass(frozen=True)
class Contestant:
    """A name and what to run; the argument is the number of the round, a seed."""

    name: str
    run: Callable[[int], Outcome]


@dataclass(frozen=True)
class Standing:
    """All runs of one contestant."""

    name: str
    outcomes: tuple[Outcome, ...]

    @property
    def rate(self) -> float:
        return median(outcome.rate for outcome in self.outcomes)

    @property
    def seconds(self) -> float:
        return median(outcome.seconds for outcome in self.outcomes)

    @property
    def answer(self) -> float:
        return sum(outcome.answer for outcome in self.outcomes) / len(self.outcomes)

    def times_faster_than(self, other: Standing) -> float:
        """Median over the rounds of this one's rate by the other's."""
        pairs = zip(self.outcomes, other.outcomes, strict=True)
        return median(own.rate / its.rate for own, its in pairs)


def race(contestants: Sequence[Contestant], rounds: int, warm_up: int = 1) -> list[Standing]:
    """Run everybody once a round, after `warm_up` rounds that do not count."""
    outcomes: list[list[Outcome]] = [[] for _ in contestants]
    for number in range(warm_up + rounds):
        for contestant, own in zip(contestants, outcomes, strict=True):
            gc.collect()
            own.append(contestant.run(number))
    return [Standing(c.name, tuple(own[warm_up:])) for c, own in zip(contestants, outcomes, strict=True)]
