"""Flushing by age: dirty pages in the order of their first change, how many of them go, and when commits must wait."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Flushing:
    """Rules of adaptive flushing: how many dirty pages each of `cleaners` writes in a round, oldest first.

    The age of a dirty page is the log that was committed since its first change. The number is the mean of three,
    `most_milli_pages` at most: `milli_pages` times a per cent, by the oldest page's age or by how many pages are dirty,
    whichever is more; what the cleaner wrote in a round, on average; and how many pages reach the oldest one's age in a
    round, at most twice `most_milli_pages`. Every `rounds` the averages move half way to those of the rounds since.
    """

    whole_age_bytes: int
    """age that is 100 %"""
    full_bytes: int
    """age beyond which commits wait until older pages are written"""
    cleaners: int
    milli_pages: int
    """thousandths of pages in a round, at 100 %; what is left of a page is written later"""
    most_milli_pages: int
    rounds: int
    percent_by_age: tuple[int, ...]
    """by the oldest page's age in whole per cent; the last is for all beyond"""
    percent_by_dirty: tuple[int, ...]
    """by dirty pages in whole per cent of the pool; the last is for all beyond"""

    def percent(self, age_bytes: int, dirty_pages: int, pool_pages: int) -> int:
        """Per cent of `milli_pages` that the oldest page's age and the number of dirty ones ask for."""
        by_age, by_dirty = self.percent_by_age, self.percent_by_dirty
        return max(
            by_age[min(100 * age_bytes // self.whole_age_bytes, len(by_age) - 1)],
            by_dirty[min(100 * dirty_pages // pool_pages, len(by_dirty) - 1)],
        )
