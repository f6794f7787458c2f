"""Interrupts in a result: how many, and the processors that are set aside for them as a part of the whole machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from simulator.form import Interrupts, Model
from simulator.results.result import CpuResult, DeviceResult


def with_interrupts(
    model: Model, interrupts: Interrupts, cpu: CpuResult, devices: Sequence[DeviceResult], transactions_per_s: float,
    served_per_s: float,
) -> CpuResult:  # fmt: skip
    """The shares of all processors, of which `cpu` has those that are not set aside; these serve `served_per_s`.

    One interrupt for each I/O that the operating system asked of a device, and those of the messages.
    """
    requests_per_s = sum(each.reads_per_s + each.writes_per_s for each in devices[: len(model.storage.devices)])
    coming_per_s = requests_per_s + interrupts.per_transaction * transactions_per_s
    if interrupts.station < 0:
        return replace(cpu, interrupts_per_s=coming_per_s)
    aside = model.stations[interrupts.station].servers
    part = model.processors / (model.processors + aside)
    serving = min(served_per_s * interrupts.served_ns / 1e9, aside) / (model.processors + aside)
    user, system, waiting = cpu.user * part, cpu.system * part + serving, cpu.iowait * part
    return replace(
        cpu,
        cores=cpu.cores + aside,
        user=user,
        system=system,
        iowait=waiting,
        idle=1.0 - user - system - waiting,
        by_activity={name: share * part for name, share in cpu.by_activity.items()} | {"interrupts": serving},
        interrupts_per_s=coming_per_s,
    )
