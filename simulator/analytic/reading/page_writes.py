"""Marks, intervals and an age of the daemons, as the equations take them."""

from typing import NamedTuple

import numpy as np

from oltpsim.simulator.form import (
    ENDLESS_PAGES,
    NEVER_BYTES,
    NEVER_NS,
    NS_PER_S,
    TIMED,
    FloatArray,
    System,
    kept_dirty_pages,
)

SHARES = np.linspace(0.0, 1.0, 51)
"""of a table by a share"""


class DaemonMarks(NamedTuple):
    """Of a background writer, write-back and a checkpointer; what a daemon that isn't there would do never comes."""

    dirty_high_pages: int
    dirty_low_pages: int
    expire_ns: int
    flush_interval_ns: int
    checkpoint_interval_ns: int
    spread_ns: int
    checkpoint_bytes: int = NEVER_BYTES
    """of log after which a checkpoint begins, if that is sooner"""
    background_pages: int = ENDLESS_PAGES
    """dirty pages of the page cache from which on write-back doesn't wait for their age"""
    chunk_pages: int = 0
    """of them that it then takes along at once"""


def marks_of(system: System) -> DaemonMarks:
    """The marks; of daemons of one kind those of the last one, but the lowest that writers leave dirty."""
    low = kept_dirty_pages(system.daemons, system.pool.pages)
    marks = DaemonMarks(low, low, NEVER_NS, NEVER_NS, NEVER_NS, 0)
    for daemon in system.daemons:
        operands = {step.operation: step.operands for step in daemon.steps}
        if "await_dirty" in operands:
            marks = marks._replace(dirty_high_pages=operands["await_dirty"][0])
        if "write_cache_dirty" in operands:
            (keep,), (high,) = operands["write_cache_dirty"], operands.get("await_cache_dirty", (0,))
            marks = marks._replace(background_pages=keep, chunk_pages=max(high - keep, 0))
        if "write_expired" in operands and "sleep" in operands:
            marks = marks._replace(expire_ns=operands["write_expired"][0], flush_interval_ns=operands["sleep"][0])
        begins = operands.get("every_or_logged") or operands.get("every")
        if "note_checkpoint" in operands and begins and "write_dirty" in operands:
            interval_ns, log_bytes = (*begins, NEVER_BYTES)[:2]
            spread_ns = operands["write_dirty"][1]
            marks = marks._replace(checkpoint_interval_ns=interval_ns, spread_ns=spread_ns, checkpoint_bytes=log_bytes)
    return marks


class CleanerMarks(NamedTuple):
    """Of page cleaners, which are all alike."""

    tail_pages: int
    """at the end of the list that they keep clean"""
    sync_bytes: int
    """of log since a page's first change, from which on it is written at once"""
    round_ns: int
    """from one look at the ages to the next"""
    tail_round_ns: int
    """and at the list's end"""
    tail_evictions: int
    """pages that have left the pool, after which they look there sooner"""


def cleaner_marks_of(system: System) -> CleanerMarks:
    """The marks of a system that flushes by age."""
    marks = CleanerMarks(0, 0, NEVER_NS, NEVER_NS, ENDLESS_PAGES)
    for daemon in system.daemons:
        operands = {step.operation: step.operands for step in daemon.steps}
        interval_ns = next((operands[name][0] for name in TIMED if name in operands), NEVER_NS)
        if "write_tail" in operands:
            marks = marks._replace(tail_pages=operands["write_tail"][0], tail_round_ns=interval_ns)
            marks = marks._replace(tail_evictions=operands.get("every_or_evicted", (0, ENDLESS_PAGES))[1])
        if "write_aged" in operands:
            marks = marks._replace(sync_bytes=operands["write_aged"][0], round_ns=interval_ns)
    return marks


def merged_per_s(system: System) -> float:
    """Pages that daemons read and change for changes put aside, at most."""
    rates = (
        milli_pages / 1000.0 * NS_PER_S / max(interval_ns, 1)
        for daemon in system.daemons
        for (milli_pages,) in daemon.operands("merge")
        for interval_ns in [next((each for name in TIMED for each, *_ in daemon.operands(name)), NEVER_NS)]
    )
    return sum(rates)


def cleaner_fields(system: System) -> dict[str, FloatArray]:
    """Fields of one system: what adaptive flushing asks for by a share, in whole per cent as it counts."""
    rules, merged = system.flushing, {"merged_per_s": np.array([merged_per_s(system)])}
    if rules is None:
        none = np.zeros((1, len(SHARES)))
        numbers = dict.fromkeys(
            (
                "cleaners",
                "tail_pages",
                "round_s",
                "tail_round_s",
                "tail_evictions",
                "redo_bytes",
                "redo_sync_bytes",
                "redo_full_bytes",
            ),
            np.zeros(1),
        )
        return {**numbers, **merged, "aged_per_s": none, "dirty_per_s": none}
    marks = cleaner_marks_of(system)
    a_page_each_round_per_s = rules.cleaners * NS_PER_S / marks.round_ns
    per_s, most_per_s = (
        a_page_each_round_per_s * milli / 1000 for milli in (rules.milli_pages, rules.most_milli_pages)
    )

    def by_share(percents: tuple[int, ...]) -> FloatArray:
        return np.minimum(np.interp(100.0 * SHARES, np.arange(101), percents) / 100.0 * per_s, most_per_s)[None]

    return {
        **merged,
        "cleaners": np.array([float(rules.cleaners)]),
        "tail_pages": np.array([float(marks.tail_pages)]),
        "round_s": np.array([marks.round_ns / NS_PER_S]),
        "tail_round_s": np.array([marks.tail_round_ns / NS_PER_S]),
        "tail_evictions": np.array([float(marks.tail_evictions)]),
        "redo_bytes": np.array([float(rules.whole_age_bytes)]),
        "redo_sync_bytes": np.array([float(marks.sync_bytes)]),
        "redo_full_bytes": np.array([float(rules.full_bytes)]),
        "aged_per_s": by_share(rules.percent_by_age),
        "dirty_per_s": by_share(rules.percent_by_dirty),
    }
