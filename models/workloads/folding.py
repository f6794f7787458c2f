"""Folding: the pages of a few units, as TPC-C's warehouses, stand for those of all (models/wiring/sampling.py)."""

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from oltpsim.simulator.form import FloatArray

ModelPart = TypeVar("ModelPart", bound=Any)


@dataclass(frozen=True)
class UnitSample:
    """`units` of `whole` are held page by page; all of them without sampling."""

    units: int
    whole: int

    @property
    def share(self) -> float:
        """What sizes and times of the caches are multiplied by."""
        return self.units / self.whole

    def scaled(self, amount: int) -> int:
        """The sampled share of a number of pages or bytes, or of a time in ns: at least 1 of anything."""
        return max(1, round(amount * self.share)) if amount else 0

    def with_scaled(self, part: ModelPart, *fields: str) -> ModelPart:
        """A part of a model with its share in some of its fields."""
        return replace(part, **{name: self.scaled(getattr(part, name)) for name in fields})


def merged_pages(popularity: FloatArray, pages: int) -> FloatArray:
    """Popularity of `pages` pages that stand for more: each is the sum of pages about as popular as each other."""
    if pages == len(popularity):
        return popularity
    return np.array([part.sum() for part in np.array_split(np.sort(popularity)[::-1], pages)])
