"""How far a scenario is from the runs of a calibration: in numbers, and in kind."""

from typing import Literal

from oltpsim.calibration.fit import Calibration
from oltpsim.models.scenario import ScenarioSpec

PartKind = Literal["database", "page size", "disk", "processor"]
WITH_ARTICLE: dict[PartKind, str] = {
    "database": "a database",
    "page size": "a page size",
    "disk": "a kind of disk",
    "processor": "a processor",
}
BESIDE = 1.25
"""a condition is outside of the calibrated range from this factor on"""
OF_WORKLOAD = {"warehouses": "unit_words", "new orders/min": "rate_words"}
"""conditions of the workload, by their names for TPC-C, and the workload's own words for them"""
NUMBERS = {2: "twice", 3: "three times", 4: "four times", 5: "five times"}


def beyond_in_numbers(
    calibration: Calibration, scenario: ScenarioSpec, conditions: dict[str, float]
) -> tuple[str, ...]:
    """Conditions beyond those of all calibrated runs, a sentence each, the farthest first.

    Size and rate of another workload are compared with none: a row of pgbench's is no warehouse.
    """
    found, is_known = [], scenario.workload.compares_with(calibration.base.workload)
    for name, value in conditions.items():
        seen = [run.conditions[name] for run in calibration.runs if name in run.conditions]
        if not seen or min(seen) <= 0 or value <= 0 or (name in OF_WORKLOAD and not is_known):
            continue
        called = getattr(scenario.workload, OF_WORKLOAD[name]) if name in OF_WORKLOAD else name
        if value >= BESIDE * max(seen):
            found.append((value / max(seen), f"{_times(value / max(seen))} the {called} of any run you gave"))
        elif value * BESIDE <= min(seen):
            found.append((min(seen) / value, f"{value / min(seen):.0%} of the least {called} of the runs you gave"))
    return tuple(text for _, text in sorted(found, key=lambda each: -each[0]))


def _times(factor: float) -> str:
    whole = round(factor)
    if whole in NUMBERS and abs(factor / whole - 1.0) < 0.05:
        return NUMBERS[whole]
    return f"{factor:.2g} times" if factor < 10 else f"{factor:,.0f} times"


def beyond_in_kind(calibration: Calibration, scenario: ScenarioSpec) -> tuple[str, ...]:
    """What no calibrated run had, a sentence each: database, page size, kind of disk, processor, workload."""
    unseen = unseen_parts(calibration, scenario)
    parts = [f"{WITH_ARTICLE[part]} that no run of the model had: {name}" for part, name in unseen.items()]
    if not scenario.workload.compares_with(calibration.base.workload):
        parts.append(f"a workload that no run of the model had: {scenario.workload.name}")
    if _is_first_with_whole_pages(calibration, scenario):
        parts.append("full-page writes, which the model's base hasn't")
    return tuple(parts)


def _is_first_with_whole_pages(calibration: Calibration, scenario: ScenarioSpec) -> bool:
    """Whether the log has whole pages, and in the model's base it doesn't."""
    ours, theirs = (each.database.checkpoint for each in (scenario, calibration.base))
    return ours is not None and ours.full_page_writes and not (theirs is not None and theirs.full_page_writes)


def unseen_parts(calibration: Calibration, scenario: ScenarioSpec) -> dict[PartKind, str]:
    """Parts that no calibrated run had, and their names.

    Of a run's machine by name all is known, unless it is the base's and a part isn't as there. Other parts of runs are
    those of the base, and that a parameter names.
    """
    base, machine = calibration.base, scenario.machine
    machines = {run.circumstances.machine for run in calibration.runs if run.circumstances is not None}
    is_known = f"{machine.name}, {scenario.database.name}" in machines
    if is_known and (machine.name, scenario.database.name) != (base.machine.name, base.database.name):
        return {}
    ours, theirs = machine.disks.disk, base.machine.disks.disk
    cpu, cpu_of_base = machine.cpu, base.machine.cpu
    is_other_disk = ours.name != theirs.name if is_known else ours.kind != theirs.kind
    is_other_cpu = cpu.sockets != cpu_of_base.sockets if is_known else False
    names: dict[PartKind, tuple[str, bool]] = {
        "database": (
            scenario.database.name,
            not _has(calibration, base.database.name, scenario.database.name),
        ),
        "page size": (f"{scenario.database.page_kib:g} KiB", scenario.database.page_kib != base.database.page_kib),
        "disk": (ours.name, is_other_disk and not _has(calibration, theirs.name, ours.name)),
        "processor": (
            f"{cpu.model}, {cpu.sockets} sockets" if is_other_cpu else cpu.model,
            is_other_cpu or not _has(calibration, cpu_of_base.model, cpu.model),
        ),
    }
    return {part: name for part, (name, is_new) in names.items() if is_new}


def _has(calibration: Calibration, of_base: str, name: str) -> bool:
    """Whether the base has a part of this name, or a parameter or a run names it."""
    named = {each.key.partition("@")[2] for each in calibration.parameters}
    machines = [run.circumstances.machine for run in calibration.runs if run.circumstances is not None]
    return name == of_base or name in named or any(machine.endswith(f", {name}") for machine in machines)
