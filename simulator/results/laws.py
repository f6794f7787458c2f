"""Laws that every result must satisfy. A broken one is reported with the result, never hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.form import Model, Terminals, to_s
from simulator.results.result import ClassResult, CpuResult, Law

if TYPE_CHECKING:
    from simulator.results.summarise import Window

ROUNDING = 1e-6


def check_laws(model: Model, window: Window, classes: list[ClassResult], cpu: CpuResult) -> list[Law]:
    """Little's law, utilisation, flow balance, sums of shares, over the measured interval."""
    laws = [
        _little(window, classes),
        equal("cpu shares sum to 1", cpu.user + cpu.system + cpu.iowait + cpu.idle, 1.0),
    ]
    laws.append(at_most("cpu utilisation", cpu.utilisation))
    for number, device in enumerate(model.storage.with_disks):
        laws.append(
            at_most(
                f"{device.name} utilisation",
                window.change(f"{number} busy") / window.ns / getattr(device, "parallel", 1),
            )
        )
        served = window.change(f"{number} reads") + window.change(f"{number} writes")
        waiting = window.change(f"{number} length now")
        laws.append(
            equal(
                f"{device.name} arrivals = completions + growth of queue",
                window.change(f"{number} arrived"),
                served + waiting,
            )
        )
        laws.append(_device_little(device.name, number, window))
    if model.terminals:
        laws += [_nobody_lost(model.terminals, each.values) for each in (window.first, window.last)]
    misses = window.change("pool references") - window.change("pool hits")
    grown = window.change("pool evictions") + window.change("pool used now")
    in_transit = len(model.client_registers)
    laws.append(equal("pool pages in = pages out + growth", misses, grown, in_transit))
    laws += [class_times(result) for result in classes if result.completed]
    return laws


def _nobody_lost(terminals: Terminals, values: dict[str, int]) -> Law:
    """At an instant: each terminal thinks and types, or its transaction is queued or served."""
    found = values["terminals away now"] + values["terminals waiting now"]
    return equal("terminals away + waiting for answers = all", found, terminals.count)


def class_times(result: ClassResult) -> Law:
    """The parts of a class's response time sum to it."""
    name = f"{result.name}: times sum to the response time"
    return equal(name, sum(result.time_by_s.values()), result.mean_s, 1e-9 + ROUNDING * result.mean_s)


def _little(window: Window, classes: list[ClassResult]) -> Law:
    """Mean number in the system = rate x response time, once those who are inside at the ends are counted so far."""
    by_response = sum(c.completed * c.mean_s for c in classes) + to_s(window.change("ages now"))
    return equal(
        "Little: number in system = rate x response time",
        window.change("in system") / window.ns,
        by_response / window.seconds,
    )


def _device_little(name: str, number: int, window: Window) -> Law:
    queue = window.change(f"{number} queue") / window.ns
    by_response = window.change(f"{number} response") + window.change(f"{number} ages now")
    return equal(f"{name}: Little", queue, by_response / window.ns)


def equal(name: str, left: float, right: float, tolerance: float = ROUNDING) -> Law:
    """A law that two figures are equal, up to `tolerance` in their own unit."""
    return Law(name, float(left), float(right), float(tolerance), abs(left - right) <= tolerance)


def at_most(name: str, value: float, tolerance: float = ROUNDING) -> Law:
    """A law that a share is 1 at most."""
    return Law(f"{name} <= 1", float(value), 1.0, float(tolerance), value <= 1.0 + tolerance)
