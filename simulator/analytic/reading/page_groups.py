"""Groups of pages that share a distribution of the gap between references (pages.py), and what makes pages alike."""

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from oltpsim.simulator.form import FloatArray, ranks, weighted_sum

FINE_RATIO, SPREAD = 1.05, 0.002
"""Pages whose popularity differs by less than the first are alike. A group takes in more popular ones as long as the
variance of its popularity's logarithm, times its share of what counts, stays below the second."""


@dataclass(frozen=True)
class LaidPages:
    """Pages one behind the other in parts of a region, (parts, pages): group or -1, and how many are like each."""

    group: npt.NDArray[np.int64]
    alike: FloatArray


@dataclass(frozen=True, eq=False)
class PageGroups:
    """Groups of references; arrays of shape (groups,). See the text of pages.py.

    One is equal to itself on any number of devices, since no cache knows of those.
    """

    region: npt.NDArray[np.int64]
    rate: FloatArray
    """references to one page per transaction, as far as they come at random; 0 for others"""
    gap: FloatArray
    """moving: transactions since the frontier has passed; infinite for the others"""
    references: FloatArray
    """per transaction"""
    pages: FloatArray
    """pages among which random references choose; 0 for others"""
    gaps: FloatArray
    """gaps of length `gap` that begin per transaction, in which a page stays in the cache until it is its turn"""
    write: FloatArray
    """share of references after which the page is dirty"""
    read: FloatArray
    """1, or 0 where a miss needs no read because the page is new"""
    clustered: FloatArray
    """1 for pages that windows remember"""
    recent: FloatArray
    """1 for references to what a window remembers"""
    views: FloatArray
    """(views, groups): references of one transaction of each class, then of each lock's class until it asks for it"""
    repeated: FloatArray
    """references per transaction to the page just used, by region: they always find it"""
    again: FloatArray
    """the same for each reference of a group"""
    places: FloatArray
    """where a frontier leaves dirty pages in a row: as many rows as groups have one; 0 for others"""
    beside: FloatArray
    """(groups, groups): share of a group's pages whose next one on the same device is in the other"""
    laid: tuple[LaidPages, ...]
    window: float
    """how long a window remembers a page"""
    offspring: float
    """references by way of the window that each reference to a remembered page draws after it"""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PageGroups) and other._arrays == self._arrays

    def __hash__(self) -> int:
        return hash(self._arrays)

    @cached_property
    def _arrays(self) -> tuple[int, ...]:
        """Identities of all arrays but `beside`."""
        return tuple(id(getattr(self, field.name)) for field in fields(self) if field.name != "beside")

    def striped(self, devices: int) -> Self:
        """The same groups of pages that are striped over so many devices."""
        found = np.zeros((len(self.rate), len(self.rate)))
        for pages in self.laid:
            here, there = pages.group[:, :-devices].ravel(), pages.group[:, devices:].ravel()
            both = (here >= 0) & (there >= 0)
            pairs, numbers = here[both] * len(found) + there[both], pages.alike[:, :-devices].ravel()[both]
            found += np.bincount(pairs, numbers, found.size).reshape(found.shape)
        return replace(self, beside=found / np.maximum(self.pages, 1e-300)[:, None])

    @cached_property
    def rows(self) -> tuple[npt.NDArray[np.int64], FloatArray]:
        """Region with rows of pages that frontiers leave, by group, or -1; the number of rows of each such region."""
        regions = np.unique(self.region[self.places > 0])
        member = self.region == regions[:, None]
        row_of = np.full(len(self.rate), -1, dtype=np.int64)
        for row, here in enumerate(member):
            row_of[here] = row
        return row_of, np.maximum(weighted_sum(member, self.places), 1.0)


@dataclass
class Collector:
    """Groups as they are found."""

    views: int
    rows: list[tuple[float, ...]] = field(default_factory=list)
    shares: list[FloatArray] = field(default_factory=list)
    laid: list[LaidPages] = field(default_factory=list)

    def add(  # noqa: PLR0913 - one argument for each column
        self,
        region: int,
        references: float,
        views: FloatArray,
        *,
        rate: float = 0.0,
        gap: float = np.inf,
        gaps: float = 0.0,
        write: float = 0.0,
        read: float = 1.0,
        clustered: float = 0.0,
        recent: float = 0.0,
        places: float = 0.0,
    ) -> None:
        """A group, if anything refers to it; `views` as in PageGroups, without the groups."""
        if references > 0 or gaps > 0:
            pages = references / rate if rate > 0 else 0.0
            row = region, rate, gap, references, pages, gaps, min(write, 1.0), read, clustered, recent, places
            self.rows.append(row)
            self.shares.append(views)


def alike(rates: FloatArray, counts: FloatArray) -> npt.NDArray[np.int64]:
    """Numbers of groups of about one popularity; `counts`: how many pages each stands for.

    What counts is the root of pages times references, as what merging neglects shows where a cache has some of both.
    """
    logs = np.log(rates)
    number_of = ranks(np.floor(logs / np.log(FINE_RATIO)).astype(np.int64))
    pages = np.bincount(number_of, weights=counts)
    means = np.bincount(number_of, weights=counts * logs) / pages
    pages = pages * np.exp((means - means.max(initial=-np.inf)) / 2.0)
    most = SPREAD * pages.sum()
    group_of, group = np.zeros(len(pages), dtype=np.int64), 0
    held, mean, spread = 0.0, 0.0, 0.0
    for number, (count, log) in enumerate(zip(pages.tolist(), means.tolist(), strict=True)):
        apart = (log - mean) ** 2 * held * count / (held + count)
        if spread + apart > most:
            group, held, mean, spread, apart = group + 1, 0.0, 0.0, 0.0, 0.0
        mean = (mean * held + log * count) / (held + count)
        held, spread = held + count, spread + apart
        group_of[number] = group
    return group_of[number_of]
