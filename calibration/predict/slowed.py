"""A scenario with faster or slower parts: what a figure would be if speeds and times were wrong."""

from __future__ import annotations

from oltpsim.models.machine import DiskSpec, RateLimitSpec
from oltpsim.models.scenario import ScenarioSpec


def faster(scenario: ScenarioSpec, factor: float) -> ScenarioSpec:
    """The scenario with processors so many times as fast. Not checked."""
    machine = scenario.machine
    cpu = machine.cpu.model_copy(update={"relative_speed": machine.cpu.relative_speed * factor})
    return scenario.model_copy(update={"machine": machine.model_copy(update={"cpu": cpu})})


def slower(scenario: ScenarioSpec, disk: DiskSpec, factor: float, *, with_caps: bool = False) -> ScenarioSpec:
    """The scenario with a disk so many times slower wherever it is, in times and rates. Not checked.

    `with_caps`: a volume's caps too, which its provider keeps to the number.
    """
    said = {name: value for name in type(disk).model_fields if (value := getattr(disk, name)) is not None}
    changes = {name: value * factor for name, value in said.items() if name.endswith(("_ms", "_us"))}
    changes |= {name: value / factor for name, value in said.items() if name.endswith("_per_s")}
    machine = scenario.machine
    volume_limits = machine.volume_limits
    if with_caps:
        volume_limits = _lower(volume_limits, factor)
        changes |= {"limits": _lower(said["limits"], factor)} if "limits" in said else {}
    changed = disk.model_copy(update=changes)
    disks = machine.disks.model_copy(update={"disk": changed}) if machine.disks.disk == disk else machine.disks
    log_disk = changed if machine.log_disk == disk else machine.log_disk
    parts = {"disks": disks, "log_disk": log_disk, "volume_limits": volume_limits}
    return scenario.model_copy(update={"machine": machine.model_copy(update=parts)})


def _lower(limits: tuple[RateLimitSpec, ...], factor: float) -> tuple[RateLimitSpec, ...]:
    """Limits that let through less."""
    lower = []
    for limit in limits:
        burst_per_s = None if limit.burst_per_s is None else limit.burst_per_s / factor
        lower.append(limit.model_copy(update={"per_s": limit.per_s / factor, "burst_per_s": burst_per_s}))
    return tuple(lower)


def all_slower(scenario: ScenarioSpec, factor: float) -> ScenarioSpec:
    """The scenario with processors and disks so many times slower, and its volumes' caps lower. Not checked."""
    found = faster(scenario, 1.0 / factor)
    disk, log_disk = scenario.machine.disks.disk, scenario.machine.log_disk
    found = slower(found, disk, factor, with_caps=True)
    if log_disk is not None and log_disk != disk:
        found = slower(found, log_disk, factor, with_caps=True)
    return found
