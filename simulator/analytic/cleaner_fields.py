"""What the equations know of page cleaners: fields of `Parameters`."""

import numpy as np

from oltpsim.simulator.analytic.daemon_marks import cleaner_marks_of, merged_per_s
from oltpsim.simulator.form import NS_PER_S, FloatArray, System

SHARES = np.linspace(0.0, 1.0, 51)
"""of a table by a share"""


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
