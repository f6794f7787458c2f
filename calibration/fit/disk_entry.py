"""The catalogue's entry of a disk that was fitted to a table: keys of its kind, with what fio doesn't tell assumed."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from oltpsim.calibration.fit.disk_curve import (
    FULL_SEEK,
    MOST_INTERFACE,
    MOST_SORTED,
    OVERHEAD_MS,
    TRACK_BYTES,
    TRACK_SEEK,
    arm_of,
    arm_service_s,
)
from oltpsim.calibration.fit.disk_kinds import FLASH_PAGE_KIB, DiskTable, TableFit
from oltpsim.models.input import parse_quantity, validated
from oltpsim.models.machine import (
    CHANNEL_MIB_PER_S,
    RAID_LAYOUTS,
    DiskArraySpec,
    FlashDiskSpec,
    RotatingDiskSpec,
    SsdSpec,
)
from oltpsim.simulator.analytic import QUEUES
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import KIB, MIB

SHEET_KIB = 4.0
"""of the requests that an SSD's entry has latencies and rates of"""
MOST_PROTECTED_US = 1000.0
"""Duration of a flush: with power-loss protection 15 to 625 us were measured, without 1 to 6 ms (docs/model/ssd.md)"""
CACHE_MIB, CONTROLLER_MIB = 16.0, 512.0
"""of a drive's and of a controller's write cache (assumptions; fio's rates are those of a full one)"""
LEVELS = ("raid0", "raid10", "raid5", "raid6")
"""by the work of a small write"""
NEEDED = {"flash": ("read_latency_us", "reads_per_s"), "servers": ("read_latency_us", "parallel_requests")}
NEEDED_OF_ARMS = ("seek_average_ms",)
"""numbers without which there is no entry, by kind"""


class FittedEntry(NamedTuple):
    """The entry, where it belongs in a scenario, and what was assumed for it."""

    spec: SsdSpec | FlashDiskSpec | RotatingDiskSpec | DiskArraySpec
    place: str
    assumptions: tuple[str, ...]

    def keys(self) -> dict[str, Any]:
        """Keys of the entry that aren't left at their defaults."""
        return self.spec.model_dump(mode="json", exclude_unset=True)


def disk_capacity_gib(table: DiskTable, capacity: str | None) -> float:
    """Capacity of the disk of a table as a user says it. Raises InputError without one, or for one of 0."""
    files = ", ".join(table.files)
    if capacity is None:
        raise InputError(f"{files}: fio doesn't tell the disk's capacity; add --capacity, such as --capacity 931GiB")
    try:
        capacity_gib = float(parse_quantity(capacity, "memory", "GiB"))
    except ValueError as error:
        raise InputError(f"--capacity: got {capacity!r}; {error}") from error
    if capacity_gib <= 0.0:
        raise InputError(f"{files}: capacity_gib: got {capacity_gib}; must be greater than 0")
    return capacity_gib


def fitted_entry(fit: TableFit, name: str, capacity_gib: float) -> FittedEntry:
    """Entry of the kind that was fitted. Raises InputError if the points don't show enough."""
    files = ", ".join(fit.table.files)
    needed = NEEDED.get(fit.kind.name, NEEDED_OF_ARMS)
    unknown = [name for name in needed if name in fit.unidentified]
    if unknown:
        raise InputError(
            f"{files}: got results that don't show {' and '.join(unknown)}; expected reads alone and writes alone, "
            "at 1, at 64 and at more in flight, beside any mixes; run fio with --rw=randread and --rw=randwrite"
        )
    make = {"flash": _ssd, "servers": _servers}.get(fit.kind.name, _rotating)
    keys, assumptions = make(fit)
    assumptions += [
        f"{name} {keys[name]:g}, which these results don't show" for name in keys if name in fit.unidentified
    ]
    whole = {"name": name, "capacity_gib": round(capacity_gib, 3), **keys, "source": _source(fit, assumptions)}
    if fit.kind.name.startswith("array"):
        array, more = _array(fit, whole)
        assumptions = [*assumptions, *more]
        array["disk"]["source"] = _source(fit, assumptions)
        return FittedEntry(validated(DiskArraySpec, array, files), "machine.disks", tuple(assumptions))
    spec: SsdSpec | FlashDiskSpec | RotatingDiskSpec
    if fit.kind.name == "flash":
        spec = validated(SsdSpec, whole, files)
    elif fit.kind.name == "servers":
        spec = validated(FlashDiskSpec, whole, files)
    else:
        spec = validated(RotatingDiskSpec, whole, files)
    return FittedEntry(spec, "machine.disks.disk", tuple(assumptions))


def _source(fit: TableFit, assumptions: list[str]) -> str:
    table = fit.table
    measured = f"fio, random requests of {table.words}: {', '.join(table.files)}"
    if not fit.intervals:
        return f"{measured}. Taken as servers, since few depths tell no kind. Assumptions: {'; '.join(assumptions)}."
    known = [
        f"{name} {value:.4g} ({fit.intervals[name][0]:.4g} to {fit.intervals[name][1]:.4g})"
        for name, value in fit.numbers.items()
        if fit.is_identified(name)
    ]
    at = "" if table.sizes(write=False) == table.sizes(write=True) == 1 else f", at {table.least_kib:g} KiB"
    return (
        f"{measured}. Fitted as {fit.kind.name} ({fit.kind.words}), {fit.error:.1%} off in the mean; "
        f"90 % intervals{at}: {', '.join(known) or 'none'}. Assumptions: {'; '.join(assumptions)}."
    )


def _ssd(fit: TableFit) -> tuple[dict[str, Any], list[str]]:
    numbers, least_kib = fit.numbers, fit.table.least_kib
    assumptions = []
    has_writes = "write_latency_us" in numbers
    less_mib = (least_kib - SHEET_KIB) * KIB / MIB
    lone_us = numbers["read_latency_us"]
    read_us = min(1e6 / numbers["reads_per_s"], MOST_INTERFACE * lone_us)
    read_mib = numbers.get("read_mib_per_s")
    if read_mib is None:
        read_mib = least_kib * KIB / MIB / read_us * 1e6
        assumptions.append(
            f"read_mib_per_s is that of the {least_kib:g}-KiB reads, since they had one size (too little for larger)"
        )
    write_mib = numbers.get("write_mib_per_s")
    if write_mib is None:
        write_mib = read_mib
        assumptions.append("write_mib_per_s is as read_mib_per_s, since writes had one size")
    page_mib = (min(least_kib, FLASH_PAGE_KIB) - SHEET_KIB) * KIB / MIB
    read4_us = max(read_us - less_mib / read_mib * 1e6, SHEET_KIB * KIB / MIB / read_mib * 1e6)
    lone4_us = lone_us - read_us + read4_us - page_mib / CHANNEL_MIB_PER_S * 1e6
    lone4_us = max(lone4_us, read4_us / MOST_INTERFACE)
    keys = {
        "kind": "ssd",
        "read_latency_us": _rounded(lone4_us),
        "reads_per_s": _rounded(1e6 / read4_us),
        "read_mib_per_s": _rounded(read_mib),
    }
    if has_writes:
        program_us = 1e6 / numbers["writes_per_s"] * SHEET_KIB / least_kib
        if fit.table.sizes(write=True) > 1:
            program_us = max(1e6 / numbers["writes_per_s"] - less_mib / write_mib * 1e6, program_us)
        lone_write_us = numbers["write_latency_us"] - less_mib / write_mib * 1e6
        keys["writes_per_s"] = _rounded(1e6 / program_us)
        if not fit.is_identified("write_latency_us"):
            lone_write_us = program_us  # even one at a time writes are no faster
    else:
        program_us, lone_write_us = read4_us, lone4_us
        keys["writes_per_s"] = keys["reads_per_s"]
        assumptions.append("writes are as reads (no result with writes)")
    # the interface's part of a write, as SsdSpec has it, is less than the whole
    buffering_us = max(min(program_us, read4_us), SHEET_KIB * KIB / MIB / write_mib * 1e6)
    keys["write_latency_us"] = _rounded(max(lone_write_us, 1.01 * buffering_us))
    keys["write_mib_per_s"] = _rounded(write_mib)
    if fit.is_identified("dies"):
        keys["dies"] = max(round(numbers["dies"]), 1)
    flush_us = fit.table.flush_us
    if math.isnan(flush_us):
        assumptions.append("power-loss protection, which fio shows with --fsync=1 --iodepth=1")
    else:
        keys["flush_us"] = _rounded(flush_us)
        keys["power_loss_protection"] = flush_us <= MOST_PROTECTED_US
    return keys, assumptions


def _servers(fit: TableFit) -> tuple[dict[str, Any], list[str]]:
    numbers, assumptions = fit.numbers, ["larger requests take as long"]
    fewest = fit.table.in_flight.min()
    if not fit.intervals and fewest > 1:
        assumptions.append(f"the latency with {fewest:g} in flight is that of the disk alone")
    if "write_latency_us" not in numbers:
        assumptions.append("a write takes as long as a read (no result with writes)")
    return {
        "kind": "flash",
        "read_latency_us": _rounded(numbers["read_latency_us"]),
        "write_latency_us": _rounded(numbers.get("write_latency_us", numbers["read_latency_us"])),
        "parallel_requests": max(round(numbers["parallel_requests"]), 1),
    }, assumptions


def _rotating(fit: TableFit) -> tuple[dict[str, Any], list[str]]:
    numbers, table = fit.numbers, fit.table
    seek_ms = numbers["seek_average_ms"]
    assumptions = [
        f"{table.rpm:g} rpm (--rpm)",
        f"a tenth of the average seek from track to track and twice as much over all, {OVERHEAD_MS:g} ms of overhead",
        "the operating system sorts nothing beyond what was in flight",
    ]
    if "transfer_mib_per_s" not in numbers:
        assumptions.append("1 MiB in a track, since fio had one size")
    keys: dict[str, Any] = {
        "kind": "rotating",
        "rpm": round(table.rpm),
        "seek_track_to_track_ms": _rounded(TRACK_SEEK * seek_ms),
        "seek_average_ms": _rounded(seek_ms),
        "seek_full_stroke_ms": _rounded(FULL_SEEK * seek_ms),
        "overhead_ms": OVERHEAD_MS,
        "transfer_mib_per_s": _rounded(numbers.get("transfer_mib_per_s", TRACK_BYTES / MIB * table.rpm / 60.0)),
        "queue_depth": max(round(numbers["queue_depth"]), 1),
        "scheduler": "fcfs",
    }
    if "write_settle_ms" in numbers and fit.is_identified("write_settle_ms"):
        keys["write_settle_ms"] = _rounded(numbers["write_settle_ms"])
    if fit.kind.name == "arm behind a cache":
        keys["write_cache_mib"] = CACHE_MIB
        keys["write_cache_sorted"], reached = _sorted_among(keys, fit, numbers["destaged_per_s"])
        assumptions.append(f"a cache of {CACHE_MIB:g} MiB, {reached}")
    return keys, assumptions


def _array(fit: TableFit, disk: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The section machine.disks: so many disks, the lowest RAID level that explains the writes, its cache."""
    numbers = fit.numbers
    arms = numbers["arms"]
    assumptions = ["disks by the arms that reads show"]
    array: dict[str, Any] = {"level": "raid0", "disk": disk}
    if "destaged_per_s" in numbers:
        per_arm = numbers["destaged_per_s"] / arms
        possible = [level for level in LEVELS if arms >= RAID_LAYOUTS[level].least_disks]
        explaining = [level for level in possible if 1.0 / _write_s(disk, fit, 1, level) <= per_arm]
        level = (explaining or possible[-1:])[0]
        sorted_per_disk, reached = _sorted_among(disk, fit, per_arm, level)
        assumptions.append(f"{level}, the lowest level whose writes are as slow as these (if it is another, write it)")
        cache = {"mib": CONTROLLER_MIB, "sorted_per_disk": sorted_per_disk}
        if fit.is_identified("write_latency_us"):
            cache["write_us"] = _rounded(numbers["write_latency_us"])
        assumptions.append(f"a controller's cache of {CONTROLLER_MIB:g} MiB, {reached}")
        array |= {"level": level, "controller_cache": {**cache, "source": disk["source"]}}
    else:
        assumptions.append("raid0: fio doesn't tell the level")
    layout = RAID_LAYOUTS[array["level"]]
    array["count"] = max(layout.copies * round(arms / layout.copies), layout.least_disks)
    disks = array["count"] // layout.copies - layout.parities
    disk["capacity_gib"] = round(disk["capacity_gib"] / disks, 3)
    return array, assumptions


def _write_s(keys: dict[str, Any], fit: TableFit, among: float, level: str = "raid0") -> float:
    """Mean time of a disk for its part of a write of the least size, the nearest of so many.

    Of a small write each copy is written, data and parities after a turn since they are read first.
    """
    track_bytes = round(keys["transfer_mib_per_s"] * MIB * 60.0 / keys["rpm"])
    settle_ms = keys.get("write_settle_ms", RotatingDiskSpec.model_fields["write_settle_ms"].default)
    arm = arm_of(fit.table.rpm, keys["seek_average_ms"], track_bytes, settle_ms)
    times = arm_service_s(arm, round(fit.table.least_kib * KIB), write=True)
    service_s = float(np.interp(math.log(among), np.log(QUEUES), times))
    layout = RAID_LAYOUTS[level]
    turn_s = 60.0 / fit.table.rpm if layout.parities else 0.0
    return layout.copies * (1 + layout.parities) * (service_s + turn_s)


def _sorted_among(keys: dict[str, Any], fit: TableFit, per_s: float, level: str = "raid0") -> tuple[int, str]:
    """Cached writes among which an arm chooses to write so many a second, and how that was found."""
    rates = np.array([1.0 / _write_s(keys, fit, among, level) for among in range(1, MOST_SORTED + 1)])
    among = int(np.argmin(np.abs(rates - per_s))) + 1
    found = float(rates[among - 1])
    if not 0.9 <= found / per_s <= 1.1:
        return among, f"whose arm does {found:.0f} writes a second in its best order, where {per_s:.0f} were fitted"
    return among, f"of which the arm sorts {among} for {per_s:.0f} writes a second"


def _rounded(number: float) -> float:
    """Four significant digits."""
    return float(f"{number:.4g}")
