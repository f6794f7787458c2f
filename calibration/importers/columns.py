"""Columns of the sysstat family, by name: they come and go with versions, so none is found by its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from calibration.records import Meaning, RecordKey

DEVICE_COLUMNS: dict[str, tuple[str, float, str]] = {
    "r/s": ("reads_per_s", 1.0, "reads completed per s, after merging"),
    "w/s": ("writes_per_s", 1.0, "writes completed per s, after merging"),
    "tps": ("requests_per_s", 1.0, "reads and writes per s, after merging"),
    "rkB/s": ("read_kib_per_s", 1.0, "KiB read per s"),
    "wkB/s": ("write_kib_per_s", 1.0, "KiB written per s"),
    "rkB": ("read_kib_per_s", 1.0, "KiB read per s"),
    "wkB": ("write_kib_per_s", 1.0, "KiB written per s"),
    "kB_read/s": ("read_kib_per_s", 1.0, "KiB read per s"),
    "kB_wrtn/s": ("write_kib_per_s", 1.0, "KiB written per s"),
    "rMB/s": ("read_kib_per_s", 1024.0, "MiB read per s"),
    "wMB/s": ("write_kib_per_s", 1024.0, "MiB written per s"),
    "MB_read/s": ("read_kib_per_s", 1024.0, "MiB read per s"),
    "MB_wrtn/s": ("write_kib_per_s", 1024.0, "MiB written per s"),
    "rsec/s": ("read_kib_per_s", 0.5, "sectors of 512 bytes read per s"),
    "wsec/s": ("write_kib_per_s", 0.5, "sectors of 512 bytes written per s"),
    "r_await": ("read_await_ms", 1.0, "time of a read, queue and service"),
    "w_await": ("write_await_ms", 1.0, "time of a write, queue and service"),
    "await": ("await_ms", 1.0, "time of a request, queue and service"),
    "aqu-sz": ("queue_length", 1.0, "requests waiting or in service"),
    "avgqu-sz": ("queue_length", 1.0, "requests waiting or in service"),
    "util": ("utilisation_fraction", 0.01, "share of time with a request in flight"),
    "%util": ("utilisation_fraction", 0.01, "share of time with a request in flight"),
    "util-percent": ("utilisation_fraction", 0.01, "share of time with a request in flight"),
}
"""Field, factor to its unit, definition; kB of these tools are KiB."""

CPU_SHARES: dict[str, str] = {
    "user": "user",
    "usr": "user",
    "nice": "user",
    "guest": "user",
    "gnice": "user",
    "us": "user",
    "gu": "user",
    "system": "system",
    "sys": "system",
    "irq": "system",
    "soft": "system",
    "sy": "system",
    "iowait": "iowait",
    "wa": "iowait",
    "steal": "steal",
    "st": "steal",
    "idle": "idle",
    "id": "idle",
}
"""To which share of the record each column adds: niced work is user work, interrupts are system work."""

CPU_DEFINITION = {
    "user": "share of all CPUs' time in user mode, niced and guest work with it",
    "system": "share of all CPUs' time in the kernel, interrupts with it",
    "iowait": "share of all CPUs' time idle with I/O pending",
    "steal": "share of all CPUs' time taken by the hypervisor",
    "idle": "share of all CPUs' time idle without I/O pending",
}

Number = Callable[[object, str], float]


def cpu_values(
    words: Mapping[str, object], number: Number, place: str
) -> tuple[dict[RecordKey, float], dict[RecordKey, Meaning]]:
    """Shares of 1 from columns in percent, `%` before a name or not."""
    values: dict[RecordKey, float] = {}
    meanings: dict[RecordKey, Meaning] = {}
    for word, text in words.items():
        share = CPU_SHARES.get(word.strip("%"))
        if share is not None:
            path = ("resources", f"cpu_{share}_fraction")
            values[path] = values.get(path, 0.0) + number(text, f"{place}, {word}") * 0.01
            meanings[path] = Meaning("%", 0.01, CPU_DEFINITION[share])
    return values, meanings


def device_values(
    name: str, words: Mapping[str, object], number: Number, place: str
) -> tuple[dict[RecordKey, float], dict[RecordKey, Meaning]]:
    """The columns that are known, of one device, in the record's units."""
    values: dict[RecordKey, float] = {}
    meanings: dict[RecordKey, Meaning] = {}
    for word, text in words.items():
        if word in DEVICE_COLUMNS:
            key, factor, definition = DEVICE_COLUMNS[word]
            path = ("resources", "devices", name, key)
            values[path] = number(text, f"{place}, {name} {word}") * factor
            meanings[path] = Meaning(word, factor, definition)
    return values, meanings


def moment_s(text: str) -> float | None:
    """Seconds since 1970 of a date with time as these tools print it, taken for UTC; None if it is none."""
    for form in (
        "%Y-%m-%d %H:%M:%S",
        "%m/%d/%y %H:%M:%S",
        "%m/%d/%Y %H:%M:%S",
        "%Y-%m-%dT%H:%M:%S%z",
        "%m/%d/%Y %I:%M:%S %p",
        "%m/%d/%y %I:%M:%S %p",
    ):
        try:
            return datetime.strptime(text.strip(), form).replace(tzinfo=UTC).timestamp()
        except ValueError:
            continue
    return None
