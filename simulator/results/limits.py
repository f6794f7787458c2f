"""What a run's rate limits show over its measured interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from simulator.form import Model, RateLimit, each_limit, to_s
from simulator.kernel.rate_limits import NEVER, PS_PER_NS, PS_PER_S, limits_of
from simulator.results.result import LimitResult

if TYPE_CHECKING:
    from simulator.results.summarise import Snapshot, Window


def limit_results(model: Model, window: Window, whose: str, rows: range) -> list[LimitResult]:
    """The limits in so many rows of the limiters' table, which belong to a device of this name, or to all volumes."""
    each = each_limit(model.storage, model.volume_limits, model.controllers)
    return [_result(each[row], row, whose, window) for row in rows]


def closed_steps(model: Model, pairs: Sequence[tuple[Snapshot, Snapshot]], disks: range) -> list[float]:
    """Share of each step in which the next request of a disk had to wait for its own limits, on average over disks."""
    own = limits_of(model.storage, model.volume_limits, model.controllers).own

    def share(disk: int, a: Snapshot, b: Snapshot) -> float:
        closed = (b.values[f"limit {row} closed"] - a.values[f"limit {row} closed"] for row in own[disk])
        return _closed_share(max(closed, default=0), b.at_ns - a.at_ns)

    return [sum(share(disk, a, b) for disk in disks) / len(disks) for a, b in pairs]


def _closed_share(change_ps: int, ns: int) -> float:
    """What reaches beyond the end of the time is left out."""
    return min(change_ps / (ns * PS_PER_NS), 1.0)


def _result(limit: RateLimit, row: int, whose: str, window: Window) -> LimitResult:
    last = window.last
    spent = (last.values[f"limit {row} full at now"] - last.at_ns * PS_PER_NS) / PS_PER_S * limit.per_s
    out_since_ns = last.values[f"limit {row} out since now"]
    return LimitResult(
        name=limit.said(whose),
        of=limit.of,
        per_s=limit.per_s,
        burst_per_s=limit.burst_per_s,
        utilisation=_closed_share(window.change(f"limit {row} closed"), window.ns),
        credits=limit.credits,
        credits_left=min(max(limit.credits - max(spent, 0.0), 0.0), limit.credits),
        ran_out=out_since_ns != NEVER,
        credits_lasted_s=to_s(last.at_ns if out_since_ns == NEVER else out_since_ns),
    )
