"""Laws that every result must satisfy. A broken one is reported with the result, never hidden."""

from oltpsim.simulator.form import System, Terminals, to_s
from oltpsim.simulator.results.result import ClassResult, CpuResult, Law
from oltpsim.simulator.results.snapshot import Snapshot, Window

ROUNDING = 1e-6


def check_laws(system: System, window: Window, classes: list[ClassResult], cpu: CpuResult) -> list[Law]:
    """Little's law, utilisation, flow balance, sums of shares, over the measured interval."""
    laws = [
        _little(window, classes),
        law_equal("cpu shares sum to 1", cpu.user + cpu.system + cpu.iowait + cpu.idle, 1.0),
        law_at_most_one("cpu utilisation", cpu.utilisation),
    ]
    for number, device in enumerate(system.storage.with_disks):
        laws += _device_laws(device.name, device.servers, number, window)
    if system.terminals:
        laws += [_nobody_lost(system.terminals, snapshot) for snapshot in (window.first, window.last)]
    laws.append(_pool_balance(system, window))
    laws += [law_of_class_times(result) for result in classes if result.completed]
    return laws


def _pool_balance(system: System, window: Window) -> Law:
    """What clients miss comes in, and what merges read, which is counted when it is here."""
    pool, devices, in_transit = window.counters.pool, len(system.storage.devices), len(system.client_registers)
    merged = sum(device.by_purpose.get("merge read", 0) for device in window.counters.devices[:devices])
    if any(any(daemon.operands("merge")) for daemon in system.daemons):
        ends = window.first.levels.devices[:devices], window.last.levels.devices[:devices]
        in_transit += max(sum(device.length for device in levels) for levels in ends)
    grown = pool.evictions + window.growth(lambda now: now.pool.used_pages)
    return law_equal("pool pages in = pages out + growth", pool.misses + merged, grown, in_transit)


def _device_laws(name: str, parallel: int, number: int, window: Window) -> list[Law]:
    device = window.counters.devices[number]
    grown = device.completed + window.growth(lambda now: now.devices[number].length)
    by_response_ns = device.response_ns + window.growth(lambda now: now.devices[number].ages_ns)
    return [
        law_at_most_one(f"{name} utilisation", device.busy_ns / window.ns / parallel),
        law_equal(f"{name} arrivals = completions + growth of queue", device.arrived, grown),
        law_equal(f"{name}: Little", device.queue_ns / window.ns, by_response_ns / window.ns),
    ]


def _nobody_lost(terminals: Terminals, snapshot: Snapshot) -> Law:
    """At an instant: each terminal thinks and types, or its transaction is queued or served."""
    levels = snapshot.levels.terminals
    found = levels.away + levels.waiting if levels else 0
    return law_equal("terminals away + waiting for answers = all", found, terminals.count)


def law_of_class_times(result: ClassResult) -> Law:
    """The parts of a class's response time sum to it."""
    name = f"{result.name}: times sum to the response time"
    return law_equal(name, sum(result.time_by_s.values()), result.mean_s, 1e-9 + ROUNDING * result.mean_s)


def _little(window: Window, classes: list[ClassResult]) -> Law:
    """Mean number in the system = rate x response time, once those who are inside at the ends are counted so far."""
    by_response_s = sum(c.completed * c.mean_s for c in classes) + to_s(window.growth(lambda now: now.ages_ns))
    return law_equal(
        "Little: number in system = rate x response time",
        window.counters.in_system_ns / window.ns,
        by_response_s / window.seconds,
    )


def law_equal(name: str, left: float, right: float, tolerance: float = ROUNDING) -> Law:
    """A law that two figures are equal, up to `tolerance` in their own unit."""
    return Law(name, float(left), float(right), float(tolerance), abs(left - right) <= tolerance)


def law_at_most_one(name: str, value: float, tolerance: float = ROUNDING) -> Law:
    """A law that a share is 1 at most."""
    return Law(f"{name} <= 1", float(value), 1.0, float(tolerance), value <= 1.0 + tolerance)
