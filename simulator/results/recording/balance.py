"""Flow balance of a run: writes that it deferred, checkpoints that it missed, credits that it spent.

A rate can be even while the machine falls behind: pages become dirty faster than they are written until writers are
held back, or a volume bursts until its credits are gone. In a long run stocks don't grow (flow balance; Denning and
Buzen, "The operational analysis of queueing network models", Computing Surveys 10, 1978).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from oltpsim.simulator.form import PS_PER_NS, Daemon, System, to_s
from oltpsim.simulator.results.result import DeviceResult
from oltpsim.simulator.results.snapshot import Levels, Window

NEAR_LIMIT = 0.6
"""utilisation of data disks below which more writes cost no rate"""


class Imbalance(NamedTuple):
    """A stock that grows or shrinks, as it can't in a long run: what that is worth as a share of the rate, and why."""

    rate_fraction: float
    reason: str


def imbalances(system: System, window: Window, devices: Sequence[DeviceResult]) -> list[Imbalance]:
    """What is out of balance in a measured interval. `devices`: results of the system's devices, in its order.

    A deferred page counts as a request of the mean length of the data disks' (an upper bound: write-back
    merges neighbours), and as nothing while these would not be near their limit with it.
    """
    data = devices[: system.storage.data_devices]
    requests_per_s = sum(each.reads_per_s + each.writes_per_s for each in data)
    utilisation = sum(each.utilisation for each in data) / len(data)
    found = list(_spent_credits(system, window))
    if requests_per_s > 0:
        for requests, reason in _deferred_writes(system, window):
            owed = utilisation * requests / window.seconds / requests_per_s
            with_it = utilisation + max(owed, 0.0)
            if with_it >= NEAR_LIMIT:
                found.append(Imbalance(abs(owed) / with_it, reason))
    return found


def _dirty_pages(levels: Levels) -> int:
    return levels.pool.dirty_pages + levels.page_cache.dirty_pages


def _deferred_writes(system: System, window: Window) -> Iterator[tuple[float, str]]:
    """Pages that a long run would have written in this time beyond those that were, negative for fewer, and why."""
    times_s = np.array([to_s(each.at_ns - window.first.at_ns) for each in window.inside])
    pages = np.array([_dirty_pages(each.levels) for each in window.inside], dtype=np.float64)
    if times_s.size > 2:
        centred = times_s - times_s.mean()
        growth = float((centred * pages).sum() / (centred * centred).sum()) * window.seconds
        verb = "grow" if growth > 0 else "shrink"
        yield growth, f"dirty pages {verb} by {abs(growth):,.0f} within what is counted"
    for daemon in system.daemons:
        cycle_ns = daemon.checkpoint_cycle_ns(window.counters.log.written_bytes / window.seconds)
        if cycle_ns is not None:
            due = window.ns / cycle_ns
            seen = _checkpoints_in(daemon, cycle_ns, window)
            words = (
                f"{seen:.2g} checkpoints in the {window.seconds:,.4g} s that are counted, where one comes every "
                f"{to_s(cycle_ns):,.4g} s"
            )
            yield (due - seen) * float(pages.mean()), words.replace("0 checkpoints", "no checkpoint", 1)


def _checkpoints_in(daemon: Daemon, cycle_ns: int, window: Window) -> float:
    """Checkpoints that are due in a window, one that is spread over a time in proportion."""
    longest_ns = max(interval for name in ("every", "every_or_logged") for interval, *_ in daemon.operands(name))
    over_ns = max((over for _, over in daemon.operands("write_dirty")), default=0) * cycle_ns // longest_ns
    first_ns, last_ns, seen = window.first.at_ns, window.last.at_ns, 0.0
    for due_ns in range(cycle_ns, last_ns, cycle_ns):
        if over_ns == 0:
            seen += first_ns <= due_ns
        else:
            seen += max(0, min(due_ns + over_ns, last_ns) - max(due_ns, first_ns)) / over_ns
    return seen


def _spent_credits(system: System, window: Window) -> Iterator[Imbalance]:
    """Rate limits whose credits fall, or ran out while it was counted."""
    levels = zip(system.limiters.limits, window.first.levels.limiters, window.last.levels.limiters, strict=True)
    for limit, first, last in levels:
        if limit.burst_per_s <= limit.per_s:
            continue
        before_ps = max(first.full_at_ps - window.first.at_ns * PS_PER_NS, 0)
        after_ps = max(last.full_at_ps - window.last.at_ns * PS_PER_NS, 0)
        overspent = (after_ps - before_ps) / (window.ns * PS_PER_NS)
        name = f"{limit.per_s:,.6g} to {limit.burst_per_s:,.6g} {'MiB' if limit.of == 'mib' else 'requests'}/s"
        if last.out_since_ns is not None:
            if window.first.at_ns < last.out_since_ns:
                fall = 1.0 - limit.per_s / limit.burst_per_s
                yield Imbalance(fall, f"credits of a cap of {name} ran out within what is counted")
        elif overspent > 0:
            left_s = (limit.refill_ps - after_ps) / PS_PER_NS / 1e9 / overspent
            words = f"credits of a cap of {name} fall and would be gone {left_s:,.2g} s later"
            yield Imbalance(overspent / (1.0 + overspent), words)
