"""Figures that every engine derives from others: the bottleneck, interrupts, connections, and warnings."""

import math
from collections.abc import Sequence
from dataclasses import replace

from oltpsim.simulator.form import Interrupts, System, Terminals, to_s
from oltpsim.simulator.results.result import (
    Bottleneck,
    ClassResult,
    CpuResult,
    DeviceResult,
    LimitResult,
    LockResult,
    StationResult,
)

CONNECTIONS = "connections"
"""name of the station of connections that serve terminals"""
ROW_LOCKS = "row locks"
"""name of what waits for row locks, among locks and among the parts of a response time"""
UNIT_NAMES = {"requests": "requests", "mib": "MiB"}
MOST_ERRORS = 5
"""standard errors of a Poisson count by which completions may lag behind arrivals before it's called overload"""


def bottleneck_of(
    cpu: CpuResult,
    devices: Sequence[DeviceResult],
    locks: Sequence[LockResult],
    stations: Sequence[StationResult],
    main: ClassResult,
    volume_limits: Sequence[LimitResult] = (),
) -> Bottleneck:
    """Bottleneck: the part with the highest utilisation. A device that its cap keeps busy goes by the cap's name.

    Caps of all volumes together go by theirs; row locks count with their share of the main class's response time.
    """
    shares = [(cpu.utilisation, "cpu"), *((device.utilisation, _name(device)) for device in devices)]
    shares += [(limit.utilisation, limit.name) for limit in volume_limits]
    shares += [(lock.utilisation, lock.name) for lock in locks if lock.name != ROW_LOCKS]
    shares += [(station.utilisation, station.name) for station in stations]
    if main.mean_s > 0:
        shares.append((main.time_by_s[ROW_LOCKS] / main.mean_s, ROW_LOCKS))
    ordered = sorted(shares, key=lambda item: (-item[0], item[1]))
    return Bottleneck(ordered[0][1], ordered[0][0], ordered[1][1], ordered[1][0])


def _name(device: DeviceResult) -> str:
    caps = [limit for limit in device.limits if limit.utilisation >= device.utilisation]
    return caps[0].name if caps else device.name


LEAST_CREDITS_S = 1.0
"""time for which credits lasted below which there were none from the start"""


def warnings_of_credits(devices: Sequence[DeviceResult], volume_limits: Sequence[LimitResult]) -> list[str]:
    """Warnings of limits whose credits ran out; volumes that are alike share one."""
    alike: dict[str, list[LimitResult]] = {}
    for limit in [limit for device in devices for limit in device.limits]:
        if limit.ran_out and limit.credits_lasted_s >= LEAST_CREDITS_S:
            cap = limit.name.partition(" (")[2]
            alike.setdefault(cap, []).append(limit)
    groups = [*alike.values(), *([limit] for limit in volume_limits if limit.ran_out)]
    return [_ran_out(sorted(group, key=lambda limit: limit.credits_lasted_s)) for group in groups]


def _ran_out(limits: list[LimitResult]) -> str:
    first, others = limits[0], f" and {len(limits) - 1} like it" if len(limits) > 1 else ""
    after, rate = f"{first.credits_lasted_s / 60:.3g} min", f"{first.per_s:,.6g} {UNIT_NAMES[first.of]}/s"
    return f"{first.name}{others}: credits ran out after {after}; sustained rate, {rate}, from there on"


def warnings_of_overload(arrivals_per_s: float, completed: float, duration_s: float, connections: int) -> list[str]:
    """Warning that open arrivals are faster than completions, by more than chance and full connections explain."""
    due = arrivals_per_s * duration_s
    if due - completed <= MOST_ERRORS * math.sqrt(due) + connections:
        return []
    per_s, done_per_s = f"{arrivals_per_s:,.4g}", f"{completed / duration_s:,.4g}"
    problem = f"overloaded: of {per_s} transactions/s that arrive {done_per_s} are completed"
    return [f"{problem}; response times grow with the duration"]


def warnings_of_swapping(buffers_per_s: float) -> list[str]:
    """Warning that buffers are read back from swap."""
    if not buffers_per_s:
        return []
    return [f"the machine swaps: {buffers_per_s:.1f} buffers/s are read back from swap; fewer buffers are faster"]


def with_interrupts(
    system: System,
    interrupts: Interrupts,
    cpu: CpuResult,
    devices: Sequence[DeviceResult],
    transactions_per_s: float,
    served_per_s: float,
) -> CpuResult:
    """CPU shares of all processors; `cpu` has the shares of those that are not set aside for interrupts.

    An interrupt for each I/O that the operating system submits to a device, and `per_transaction` for messages. The
    processors set aside serve `served_per_s`.
    """
    requests_per_s = sum(each.reads_per_s + each.writes_per_s for each in devices[: len(system.storage.devices)])
    coming_per_s = requests_per_s + interrupts.per_transaction * transactions_per_s
    if interrupts.station < 0:
        return replace(cpu, interrupts_per_s=coming_per_s)
    aside = system.stations[interrupts.station].servers
    part = system.processors / (system.processors + aside)
    serving = min(served_per_s * interrupts.served_ns / 1e9, aside) / (system.processors + aside)
    user, in_system, waiting = cpu.user * part, cpu.system * part + serving, cpu.iowait * part
    return replace(
        cpu,
        cores=cpu.cores + aside,
        user=user,
        system=in_system,
        iowait=waiting,
        idle=1.0 - user - in_system - waiting,
        by_activity={name: share * part for name, share in cpu.by_activity.items()} | {"interrupts": serving},
        interrupts_per_s=coming_per_s,
    )


def connections_result(
    system: System, terminals: Terminals, classes: Sequence[ClassResult], seconds: float
) -> StationResult:
    """Connections that serve terminals, as a station: each transaction queues for one and holds it until its end.

    By Little's law for what ended.
    """
    count, served = len(system.client_registers), sum(each.completed for each in classes)
    number = sum(each.completed * each.mean_s for each in classes) - served * to_s(terminals.middle_tier_ns)
    busy = number - sum(each.completed * each.time_by_s["connection"] for each in classes)
    return StationResult(
        name=CONNECTIONS,
        servers=count,
        visits_per_s=served / seconds,
        utilisation=min(busy / seconds / count, 1.0),
        mean_number=number / seconds,
    )
