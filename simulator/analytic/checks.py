"""Laws that the analytic engine's results must satisfy. Each compares figures that were found on different ways."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simulator.analytic.figures import Case
from simulator.results import (
    ClassResult,
    CpuResult,
    DeviceResult,
    Law,
    StationResult,
    TableResult,
    law_at_most_one,
    law_equal,
    law_of_class_times,
)

CONVERGED = 0.02
"""relative error that the fixed point of rate, caches and writes may be left with"""
EXACT = 1e-9
"""relative error of sums"""


def check(
    case: Case,
    classes: Sequence[ClassResult],
    cpu: CpuResult,
    devices: Sequence[DeviceResult],
    tables: Sequence[TableResult],
    stations: Sequence[StationResult],
) -> list[Law]:
    """Little's law, utilisation, flow balance, sums of shares."""
    r, d, rate = case.solution.residence, case.solution.demands, case.rate
    needed = case.mean(d.cpu_s) + case.mean(d.section_s) + float(d.background_cpu_s[0])
    at_work = rate * needed * float(r.slowdown[0]) / case.model.processors
    demanded = at_work + min(float(r.handing_over[0]) / case.model.processors, max(1.0 - at_work, 0.0))
    laws = [
        _population(case, classes),
        law_equal("cpu shares sum to 1", cpu.user + cpu.system + cpu.iowait + cpu.idle, 1.0),
        law_equal("cpu utilisation = rate x demand", cpu.utilisation, demanded, CONVERGED),
        law_at_most_one("cpu utilisation", demanded, CONVERGED),
    ]
    laws += [law_at_most_one(f"{device.name} utilisation", device.utilisation) for device in devices]
    laws += [law_at_most_one(f"{station.name} utilisation", station.utilisation, CONVERGED) for station in stations]
    counted_s = case.transactions / rate
    by_tables = sum(table.disk_reads for table in tables) / counted_s
    asked = devices[: len(case.model.storage.devices)]
    at_devices = sum(device.by_purpose_per_s.get("data read", 0.0) for device in asked)
    rounding = len(tables) / counted_s
    laws.append(
        law_equal("disk reads of tables = reads of devices", by_tables, at_devices, EXACT * at_devices + rounding)
    )
    pending = rate * case.mean(d.reads) * float(r.disk_read_s[0])
    laws.append(
        law_equal("Little: reads pending = reads x response", case.reads_pending, pending, EXACT + EXACT * pending)
    )
    laws += [law_of_class_times(result) for result in classes]
    return laws


def _population(case: Case, classes: Sequence[ClassResult]) -> Law:
    """Closed: every client is thinking or in the system. Open: no more transactions than connections are served."""
    clients = len(case.model.client_registers)
    mix = case.workload.mix.tolist()
    served = sum(
        share * (result.mean_s - result.time_by_s["connection"]) for share, result in zip(mix, classes, strict=True)
    )
    if case.model.arrivals_per_s > 0:
        return law_at_most_one("connections in use", case.rate * served / clients, CONVERGED)
    if case.model.terminals:
        means = np.array([result.mean_s for result in classes]) - case.tier_s
        inside = case.rate * (float(means @ case.workload.awaited) + case.workload.away_s)
        return law_equal(
            "Little: terminals = rate x (response + time away)",
            case.model.terminals.count,
            inside,
            CONVERGED * case.model.terminals.count,
        )
    inside = case.rate * (served + case.workload.think_s)
    return law_equal("Little: clients = rate x (response + think time)", clients, inside, CONVERGED * clients)
