"""Time series of a run: rates and shares in each step, warm-up included."""

import itertools
from collections.abc import Callable, Sequence

from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import System, to_s
from oltpsim.simulator.results.recording.devices import closed_fractions
from oltpsim.simulator.results.result import RATE_KEY, Series, utilisation_key
from oltpsim.simulator.results.snapshot import Counters, Snapshot

Step = tuple[Snapshot, Snapshot]


def time_series(system: System, snapshots: Sequence[Snapshot], step_ns: int) -> Series:
    """Means over steps of `step_ns`; fractions of caches are those at the steps' ends."""
    steps = list(itertools.pairwise(each for each in snapshots if each.at_ns % step_ns == 0))
    seconds, storage = to_s(step_ns), system.storage

    def grown(counter: Callable[[Counters], int]) -> list[int]:
        return [counter(b.counters) - counter(a.counters) for a, b in steps]

    def per(counter: Callable[[Counters], int], scale: float) -> list[float]:
        return [change * scale for change in grown(counter)]

    def ratio(part: Callable[[Counters], int], whole: Callable[[Counters], int]) -> list[float]:
        return [change / max(of, 1) for change, of in zip(grown(part), grown(whole), strict=True)]

    capacity_ns = step_ns * system.processors
    caches = [(end.levels.pool, end.levels.page_cache) for _, end in steps]
    values = {
        RATE_KEY: per(lambda c: c.ended_main, 60 / seconds),
        "transactions_per_s": per(lambda c: c.ended, 1 / seconds),
        "cpu_user": [_cpu_share(step, capacity_ns, user=True) for step in steps],
        "cpu_system": [_cpu_share(step, capacity_ns, user=False) for step in steps],
        "reads_pending": per(lambda c: c.reads_pending_ns, 1 / step_ns),
        "pool_hit_ratio": ratio(lambda c: c.pool.hits, lambda c: c.pool.references),
        "page_cache_hit_ratio": ratio(lambda c: c.page_cache.hits, lambda c: c.pool.misses),
        "pool_dirty_fraction": [pool.dirty_pages / pool.capacity_pages for pool, _ in caches],
        "page_cache_dirty_fraction": [cache.dirty_pages / max(cache.capacity_pages, 1) for _, cache in caches],
    }
    limits = system.limiters.of_devices
    for number, device in enumerate(storage.with_disks):
        disks = storage.disks_of(number)
        scale = 1 / step_ns / sum(storage.with_disks[disk].servers for disk in disks)
        busy = [per(_busy_ns(disk), scale) for disk in disks]
        closed = closed_fractions(limits, steps, disks)
        values[utilisation_key(device.name)] = [max(sum(step), c) for *step, c in zip(*busy, closed, strict=True)]
    return Series(seconds, values)


def _busy_ns(device: int) -> Callable[[Counters], int]:
    return lambda c: c.devices[device].busy_ns


def _cpu_share(step: Step, capacity_ns: int, user: bool) -> float:
    """Busy time of a step, split between user and system in proportion to the CPU time that was handed out in it."""
    before, after = (snapshot.counters for snapshot in step)
    handed_ns, user_ns = after.cpu_time.total - before.cpu_time.total, after.cpu_time.user - before.cpu_time.user
    part_ns = user_ns if user else handed_ns - user_ns
    return (after.cpu_busy_ns - before.cpu_busy_ns) / capacity_ns * part_ns / max(handed_ns, 1)


def steps_at_full_work(system: System, snapshots: Sequence[Snapshot], step_ns: int) -> int:
    """Steps of the series before the first client has done its work, at least one: there the rate is steady or not.

    Raises InputError if a run of fixed work was shorter than a step.
    """
    if system.work is None:
        return len(snapshots)
    clients = len(system.client_registers)
    ends = [each.levels.clients_at_work for each in snapshots if each.at_ns % step_ns == 0]
    if len(ends) < 2:
        raise InputError(
            f"work.main_per_client: the last client was through after {to_s(snapshots[-1].at_ns):.2g} s, too "
            "short for a rate; ask for more of them"
        )
    return max(sum(at_work == clients for at_work in ends) - 1, 1)
