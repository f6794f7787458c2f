"""Devices of a result and their rate limits: utilisation, queue, times, credits, over the measured interval."""

from collections.abc import Sequence

from oltpsim.simulator.form import ALL_VOLUMES, PS_PER_NS, PS_PER_S, Limiters, RateLimit, System, to_s
from oltpsim.simulator.results.result import DeviceResult, LimitResult
from oltpsim.simulator.results.snapshot import Snapshot, Window


def device_results(system: System, window: Window) -> list[DeviceResult]:
    """A result for each device that the operating system sees, then one for each disk of its RAID sets.

    A set's utilisation and service time are means over its disks, its queue and response time its own. While a rate
    limit holds requests back, a device counts as busy.
    """
    storage, results = system.storage, []
    limiters = system.limiters
    limits = [
        _limits(limiters, rows, device.name, window)
        for device, rows in zip(storage.with_disks, limiters.of_devices, strict=True)
    ]
    counters = window.counters.devices
    for number, device in enumerate(storage.with_disks):
        disks = storage.disks_of(number)
        parallel = sum(storage.with_disks[disk].servers for disk in disks)
        busy_ns = sum(counters[disk].busy_ns for disk in disks)
        closed = sum(max((limit.utilisation for limit in limits[disk]), default=0.0) for disk in disks)
        service_ns = sum(counters[disk].service_ns for disk in disks)
        requests = counters[number]
        count = max(requests.completed, 1)
        results.append(
            DeviceResult(
                name=device.name,
                kind=device.kind,
                reads_per_s=requests.reads / window.seconds,
                writes_per_s=requests.writes / window.seconds,
                utilisation=max(busy_ns / window.ns / parallel, closed / len(disks)),
                mean_queue=requests.queue_ns / window.ns,
                mean_service_s=to_s(service_ns / count),
                mean_response_s=to_s(requests.response_ns / count),
                by_purpose_per_s={
                    purpose: number / window.seconds for purpose, number in sorted(requests.by_purpose.items())
                },
                limits=limits[number],
                occupied_fraction=requests.occupied_ns / window.ns,
                occupied_per_request_s=to_s(requests.occupied_ns / count),
            )
        )
    return results


def shared_limits(system: System, window: Window) -> list[LimitResult]:
    """Rate limits that devices share: those of all volumes together, then those of each controller."""
    limiters = system.limiters
    results = _limits(limiters, limiters.shared, ALL_VOLUMES, window)
    for number, rows in enumerate(limiters.controllers, 1):
        results += _limits(limiters, rows, f"controller {number}", window)
    return results


def closed_fractions(rows: Sequence[range], steps: Sequence[tuple[Snapshot, Snapshot]], disks: range) -> list[float]:
    """Fraction of each step for which a disk's own rate limits are closed (`LimiterCounters`), mean over the disks.

    `rows`: each device's own limits among all. `steps`: snapshots at the begin and the end of each.
    """

    def share(disk: int, a: Snapshot, b: Snapshot) -> float:
        before, after = a.counters.limiters, b.counters.limiters
        closed_ps = (after[row].closed_ps - before[row].closed_ps for row in rows[disk])
        return _closed_share(max(closed_ps, default=0), b.at_ns - a.at_ns)

    return [sum(share(disk, a, b) for disk in disks) / len(disks) for a, b in steps]


def _closed_share(change_ps: int, ns: int) -> float:
    """Time closed as a share of `ns`; a limit may be closed beyond the end, which doesn't count."""
    return min(change_ps / (ns * PS_PER_NS), 1.0)


def _limits(limiters: Limiters, rows: range, owner: str, window: Window) -> list[LimitResult]:
    return [_limit(limiters.limits[row], row, owner, window) for row in rows]


def _limit(limit: RateLimit, row: int, owner: str, window: Window) -> LimitResult:
    end_ns, level = window.last.at_ns, window.last.levels.limiters[row]
    spent = (level.full_at_ps - end_ns * PS_PER_NS) / PS_PER_S * limit.per_s
    return LimitResult(
        name=limit.label(owner),
        of=limit.of,
        per_s=limit.per_s,
        burst_per_s=limit.burst_per_s,
        utilisation=_closed_share(window.counters.limiters[row].closed_ps, window.ns),
        credits=limit.credits,
        credits_left=min(max(limit.credits - max(spent, 0.0), 0.0), limit.credits),
        ran_out=level.out_since_ns is not None,
        credits_lasted_s=to_s(end_ns if level.out_since_ns is None else level.out_since_ns),
    )
