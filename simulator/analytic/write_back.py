"""The operating system's write-back of what the pool writes because of its age: what reaches the disks, and how."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.analytic.parameters import Parameters
from simulator.form import FloatArray

LEAST = 1e-100
STEPS, LONGEST = 24, 30.0
"""of searches for times, and their greatest logarithm"""
CROWDED_POWER = 6.0
"""how sharply the page cache's limit of dirty pages is felt"""


@dataclass(frozen=True)
class Cleaned:
    """Pages that a pool writes per transaction, by group, (configurations, groups)."""

    again: FloatArray
    """pages that are written again and again"""
    among: FloatArray
    """those pages' number"""
    once: FloatArray
    """pages that are not written again"""

    @property
    def pages(self) -> FloatArray:
        """All of them."""
        return self.again + self.once

    def distinct(self, time: FloatArray) -> FloatArray:
        """How many different ones are written in so many transactions."""
        after = time[:, None]
        few = np.maximum(self.among, LEAST)
        return (few * -np.expm1(-np.minimum(self.again * after / few, 700.0)) + self.once * after).sum(axis=1)


def crowding(room: FloatArray) -> FloatArray:
    """How much the page cache's limit is felt, 0 to 1, a half if `room`, the limit over what there is, is 1."""
    return np.asarray(1.0 / (1.0 + np.minimum(room, 1e6) ** CROWDED_POWER))


def most_per_s(p: Parameters) -> FloatArray:
    """Pages that write-back hands to the disks: of those that let reads go first it has the turns left to it."""
    each = p.data_devices * p.parallel / p.disk_writes(np.ones(1))
    turns = each / (1.0 + p.reads_per_write) / p.write_s[:, 0]
    return np.minimum(p.in_flight / p.flush_s, np.where(p.reads_per_write > 0, turns, np.inf))


def until(cleaned: Cleaned, pages: FloatArray) -> FloatArray:
    """Transactions in which so many different pages are written."""
    low, high = np.zeros(len(pages)), np.full(len(pages), LONGEST)
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        few = cleaned.distinct(np.exp(middle)) < pages
        low, high = np.where(few, middle, low), np.where(few, high, middle)
    return np.exp(high)


def written_back(cleaned: Cleaned, p: Parameters, rate: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Share of the pages that reach the disks, and whether they wait until there are too many, (configurations,).

    A page that is written again while it is dirty in the page cache goes to disk once. It stays there until it is old
    enough; or, if more come than write-back may have at the disks at once, until so many of them are rewritten that no
    more do; or until the page cache may hold no more dirty ones, and all go together.
    """
    ages = np.maximum(rate * (p.expire_s + p.flush_s / 2.0), 1e-3)
    most = np.maximum(most_per_s(p) / np.maximum(rate, LEAST), LEAST)
    low, high = np.log(ages), np.maximum(np.log(ages), LONGEST)
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        many = cleaned.distinct(np.exp(middle)) / np.exp(middle) > most
        low, high = np.where(many, middle, low), np.where(many, high, middle)
    slow = cleaned.distinct(ages) / ages > most
    stays = np.where(slow, np.exp(high), ages)
    full = until(cleaned, np.maximum(p.cache_dirty_limit, 1.0))
    crowded = crowding(full / stays)
    stays = np.minimum(stays, full)
    share = cleaned.distinct(stays) / np.maximum(stays * cleaned.pages.sum(axis=1), LEAST)
    direct = p.direct > 0
    return np.where(direct, 1.0, np.minimum(share, 1.0)), np.where(direct, 0.0, crowded)
